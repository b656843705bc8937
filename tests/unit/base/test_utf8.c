#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/base/utf8.h"

static const struct {
    const char *bytes;
    size_t first;
} rows[] = {
    {"", 0},
    {"a", 1},
    {"\x7f", 1},
    {"\x80", 0},
    {"\xc0\x80", 0}, /* an overlong NUL */
    {"\xc1\xbf", 0},
    {"\xc2\x80", 2},
    {"\xc3", 0},
    {"\xc3("
     "x",
     0},
    {"\xe0\x9f\xbf", 0}, /* overlong */
    {"\xe0\xa0\x80", 3},
    {"\xed\x9f\xbf", 3},
    {"\xed\xa0\x80", 0}, /* a surrogate */
    {"\xed\xbf\xbf", 0},
    {"\xee\x80\x80", 3},
    {"\xef\xbf\xbf", 3},
    {"\xf0\x8f\xbf\xbf", 0}, /* overlong */
    {"\xf0\x90\x80\x80", 4},
    {"\xf4\x8f\xbf\xbf", 4},
    {"\xf4\x90\x80\x80", 0}, /* U+110000 */
    {"\xf5\x80\x80\x80", 0},
    {"\xf0\x90\x80", 0},
    {"\xff", 0},
};

static void test_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (utf8_first(str_from(rows[i].bytes)) != rows[i].first)
            fail_msg("row %zu: %zu", i, utf8_first(str_from(rows[i].bytes)));
    assert_int_equal(utf8_first((struct str){"\xc3\xbc", 1}), 0);
}

static void test_head(void **state)
{
    struct str s = STR("a\xc3\xbc\xf0\x9f\x98\x80");

    (void)state;
    assert_int_equal(utf8_head(s, 0).n, 0);
    assert_int_equal(utf8_head(s, 1).n, 1);
    assert_int_equal(utf8_head(s, 2).n, 1);
    assert_int_equal(utf8_head(s, 3).n, 3);
    assert_int_equal(utf8_head(s, 6).n, 3);
    assert_int_equal(utf8_head(s, 7).n, 7);
    assert_int_equal(utf8_head(s, 99).n, 7);
}

static void test_count(void **state)
{
    (void)state;
    assert_int_equal(utf8_count(STR("")), 0);
    assert_int_equal(utf8_count(STR("a\xc3\xbc\xf0\x9f\x98\x80")), 3);
    assert_int_equal(utf8_count(STR("\xff\xff")), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
