#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "proxy/base/err.h"

static void test_set(void **state)
{
    struct err e;

    (void)state;
    assert_false(err_set(&e, "%s %d", "no", 1));
    assert_string_equal(e.text, "no 1");
}

static void test_sys(void **state)
{
    struct err e;

    (void)state;
    errno = ENOENT;
    assert_false(err_sys(&e, "%s", "/a/b"));
    assert_string_equal(e.text, "/a/b: No such file or directory");
}

static void test_wrap(void **state)
{
    struct err e;

    (void)state;
    err_set(&e, "expected a number");
    assert_false(err_wrap(&e, "ports[%d]", 2));
    assert_false(err_wrap(&e, "%s", "policy.json"));
    assert_string_equal(e.text, "policy.json: ports[2]: expected a number");
}

/* Long texts are cut, and what went wrong is not crowded out by the place. */
static void test_long(void **state)
{
    char text[2000];
    struct err e;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_set(&e, "%s", text);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    errno = EACCES;
    err_sys(&e, "%s", text);
    assert_non_null(strstr(e.text, ": Permission denied"));
    err_set(&e, "the cause");
    err_wrap(&e, "%s", text);
    assert_non_null(strstr(e.text, ": the cause"));
    err_wrap(&e, "outer");
    assert_int_equal(strncmp(e.text, "outer: x", 8), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_sys),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
