#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "proxy/front.h"

enum { OUT_MAX = 8192 };

static size_t number(const unsigned char *p)
{
    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

static void check_ssh(struct str why, const char *shown)
{
    const struct str banner = STR("SSH-2.0-Weir\r\n");
    struct buf b;
    struct str said;
    const unsigned char *p;
    size_t len, padding, text;

    buf_init(&b, OUT_MAX);
    assert_true(front_ssh_refusal(&b, why));
    said = buf_view(&b);
    assert_true(str_starts(said, banner));
    said = str_skip(said, banner.n);
    p = (const unsigned char *)said.p;
    len = number(p);
    padding = p[4];
    assert_int_equal(len + 4, said.n);
    assert_true(said.n % 8 == 0 && said.n >= 16);
    assert_true(padding >= 4 && padding < 16);
    assert_int_equal(p[5], 1);          /* SSH_MSG_DISCONNECT */
    assert_int_equal(number(p + 6), 1); /* HOST_NOT_ALLOWED_TO_CONNECT */
    text = number(p + 10);
    assert_true(str_equal((struct str){said.p + 14, text}, str_from(shown)));
    assert_int_equal(number(p + 14 + text), 0); /* language */
    assert_int_equal(14 + text + 4 + padding, said.n);
    buf_done(&b);
}

static void test_ssh(void **state)
{
    char why[600];

    (void)state;
    memset(why, 'a', sizeof why);
    for (size_t n = 0; n < 40; n++) {
        char shown[64];

        snprintf(shown, sizeof shown, "%.*s", (int)n, why);
        check_ssh((struct str){why, n}, shown);
    }
    why[500] = '\0';
    check_ssh((struct str){why, sizeof why}, why);
    check_ssh(STR("a\r\n\x1b[2Jb"), "a [2Jb");
}

static void test_no_room(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 100);
    assert_false(front_ssh_refusal(&b, STR("a reason that makes the packet longer than "
                                           "the room that is left for it here")));
    assert_int_equal(buf_len(&b), 0);
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ssh),
        cmocka_unit_test(test_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
