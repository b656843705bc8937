#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/base/str.h"

static void test_equal(void **state)
{
    (void)state;
    assert_true(str_equal((struct str){NULL, 0}, STR("")));
    assert_true(str_equal(STR("a\0b"), STR("a\0b")));
    assert_false(str_equal(STR("a\0b"), STR("a\0c")));
    assert_false(str_equal(STR("a"), STR("ab")));
    assert_false(str_equal(STR("a"), STR("A")));
    assert_true(str_equal_nocase(STR("aZ@[`{"), STR("Az@[`{")));
    assert_false(str_equal_nocase(STR("@"), STR("`"))); /* 0x20 apart, no letters */
    assert_false(str_equal_nocase(STR("\xc9"), STR("\xe9")));
    assert_false(str_equal_nocase(STR("ab"), STR("a")));
    assert_true(str_equal_nocase((struct str){NULL, 0}, STR("")));
}

static void test_parts(void **state)
{
    (void)state;
    assert_true(str_starts(STR("abc"), STR("ab")));
    assert_true(str_starts(STR("abc"), STR("")));
    assert_false(str_starts(STR("ab"), STR("abc")));
    assert_true(str_ends(STR("abc"), STR("bc")));
    assert_true(str_ends(STR("abc"), STR("")));
    assert_false(str_ends(STR("bc"), STR("abc")));
    assert_true(str_equal(str_skip(STR("abc"), 1), STR("bc")));
    assert_true(str_equal(str_skip(STR("abc"), 9), STR("")));
    assert_true(str_equal(str_head(STR("abc"), 2), STR("ab")));
    assert_true(str_equal(str_head(STR("abc"), 9), STR("abc")));
    assert_true(str_equal(str_from("abc"), STR("abc")));
}

static void test_cut(void **state)
{
    struct str rest = STR("a::b:");

    (void)state;
    assert_true(str_equal(str_cut(&rest, ':'), STR("a")));
    assert_true(str_equal(str_cut(&rest, ':'), STR("")));
    assert_true(str_equal(str_cut(&rest, ':'), STR("b")));
    assert_int_equal(rest.n, 0);
    assert_true(str_equal(str_cut(&rest, ':'), STR("")));
    rest = STR("whole");
    assert_true(str_equal(str_cut(&rest, ':'), STR("whole")));
    assert_int_equal(rest.n, 0);
    rest = (struct str){NULL, 0};
    assert_int_equal(str_cut(&rest, ':').n, 0);
}

static void test_to_uint(void **state)
{
    static const struct {
        const char *text;
        unsigned max, value;
        bool ok;
    } rows[] = {
        {"0", 10, 0, true},
        {"10", 10, 10, true},
        {"65535", 65535, 65535, true},
        {"999999999", 4000000000u, 999999999, true},
        {"11", 10, 0, false},
        {"65536", 65535, 0, false},
        {"4294967296", 4000000000u, 0, false}, /* 2^32 */
        {"18446744073709551616", 4000000000u, 0, false},
        {"", 10, 0, false},
        {"00", 10, 0, false},
        {"01", 10, 0, false},
        {"+1", 10, 0, false},
        {"-1", 10, 0, false},
        {" 1", 10, 0, false},
        {"1 ", 10, 0, false},
        {"0x1", 10, 0, false},
        {"1a", 10, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned value = 77;

        if (str_to_uint(str_from(rows[i].text), rows[i].max, &value) != rows[i].ok)
            fail_msg("\"%s\"", rows[i].text);
        assert_int_equal(value, rows[i].ok ? rows[i].value : 77);
    }
    assert_false(str_to_uint(STR("1\0"), 10, &(unsigned){0}));
}

static void test_of_uint(void **state)
{
    static const struct {
        unsigned long long number;
        unsigned width;
        const char *text;
    } rows[] = {
        {0, 1, "0"},
        {7, 0, "7"},
        {10, 1, "10"},
        {7, 3, "007"},
        {1234, 2, "1234"},
        {~0ULL, 1, "18446744073709551615"},
        {~0ULL, 99, "18446744073709551615"},
        {1, 99, "00000000000000000001"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char room[STR_UINT_MAX];
        struct str s = str_of_uint(rows[i].number, rows[i].width, room);

        if (!str_equal(s, str_from(rows[i].text)))
            fail_msg("\"" STR_FMT "\", expected \"%s\"", STR_ARG(s), rows[i].text);
    }
}

static void test_trim(void **state)
{
    (void)state;
    assert_true(str_equal(str_trim(STR(" \ta b\t ")), STR("a b")));
    assert_true(str_equal(str_trim(STR(" \t ")), STR("")));
    assert_true(str_equal(str_trim(STR("\ra\n")), STR("\ra\n"))); /* no blanks */
    assert_true(str_equal(str_trim((struct str){NULL, 0}), STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_to_uint),
        cmocka_unit_test(test_of_uint), cmocka_unit_test(test_trim),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
