#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/base/addr.h"

static const char *const good[] = {
    "127.0.0.1:0",      "192.0.2.1:65535",      "[::1]:443",
    "[2001:db8::1]:80", "[::ffff:192.0.2.1]:1", "0.0.0.0:3128",
};

static const char *const bad[] = {
    "",
    ":",
    ":443",
    "127.0.0.1",
    "127.0.0.1:",
    "127.0.0.1:65536",
    "127.0.0.1:01",
    "127.0.0.1:+1",
    "127.0.0.1:1:2",
    "127.1:80",
    "[127.0.0.1]:80",
    "::1",
    "::1:80",
    "[::1]",
    "[::1]:",
    "[::1]80",
    "[::1:80",
    "[]:80",
    "[fe80::1%lo]:80",
    "localhost:80",
    "*:80",
    " 127.0.0.1:80",
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct addr a = {0};
        char text[ADDR_TEXT_MAX];

        assert_true(addr_parse(str_from(good[i]), &a));
        assert_string_equal(addr_text(&a, text), good[i]);
    }
}

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct addr a = {.len = 77};

        if (addr_parse(str_from(bad[i]), &a))
            fail_msg("\"%s\" is accepted", bad[i]);
        assert_int_equal(a.len, 77);
    }
    assert_false(addr_parse(STR("127.0.0.1\0:80"), &(struct addr){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
