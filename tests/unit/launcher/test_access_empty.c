/* Access without a rule: where the user has no secrets and nothing may be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "launcher/access.h"

static void test_without_rules_all_is_read_only(void **state)
{
    struct access_list list;
    struct err e;

    (void)state;
    access_init(&list);
    assert_true(access_compile(&list, &e));
    assert_int_equal(list.mount_count, 0);
    assert_int_equal(access_at(&list, "/etc/passwd"), ACCESS_READ);
    assert_null(access_decider(&list, "/etc/passwd"));
    access_done(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_rules_all_is_read_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
