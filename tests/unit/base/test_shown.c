#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/base/shown.h"

static const struct {
    const char *text, *shown;
} cases[] = {
    {"", ""},
    {"plain", "plain"},
    {"ex\xc3\xa4mple \xe2\x82\xac \xf0\x9f\x98\x80", /* words of any language */
     "ex\xc3\xa4mple \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"a\nweir: b\x1b[2J\x7f\t", "a\\x0aweir: b\\x1b[2J\\x7f\\x09"},
    {"\xc2\x80.\xc2\x9b.\xc2\x9f.\xc2\xa0", /* C1: the second is CSI */
     "\\xc2\\x80.\\xc2\\x9b.\\xc2\\x9f.\xc2\xa0"},
    {"\x9b.", "\\x9b."},                         /* CSI in one byte */
    {"\xe2\x80\xae/cte", "\\xe2\\x80\\xae/cte"}, /* from right to left */
    {"\xe2\x81\xa6x\xe2\x80\x8b", "\\xe2\\x81\\xa6x\\xe2\\x80\\x8b"},
    {"\xd8\x9c", "\\xd8\\x9c"},
    {"\xe2\x82", "\\xe2\\x82"}, /* cut */
    {"\xc0\x8a", "\\xc0\\x8a"}, /* overlong */
};

static void test_escape(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t want = strlen(cases[i].shown);
        char *out = malloc(want + 1);

        assert_int_equal(shown_escape(out, want + 1, str_from(cases[i].text)), want);
        assert_memory_equal(out, cases[i].shown, want);
        free(out);
    }
}

/* Never more than fits, and no piece of an escape. */
static void test_no_room(void **state)
{
    char out[8];

    (void)state;
    assert_int_equal(shown_escape(out, 0, STR("a")), 0);
    assert_int_equal(shown_escape(out, 4, STR("a\nb")), 1);
    assert_int_equal(shown_escape(out, 5, STR("a\nb")), 5);
    assert_int_equal(shown_escape(out, 2, STR("a\xc3\xa4")), 1);
}

static void test_printf(void **state)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    (void)state;
    assert_non_null(out);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rewind(out);
        shown_printf(out, "%d: %s", 7, cases[i].text);
        assert_int_equal(fflush(out), 0);
        assert_memory_equal(text, "7: ", 3);
        assert_int_equal(len, strlen(cases[i].shown) + 3);
        assert_memory_equal(text + 3, cases[i].shown, len - 3);
    }
    fclose(out);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_printf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
