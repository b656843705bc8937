#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/wording.h"

static const struct row {
    struct str text;
    const char *ascii, *utf8;
} rows[] = {
    {STR(""), "", ""},
    {STR("host is on the deny list"), "host is on the deny list",
     "host is on the deny list"},
    {STR("  a \t b\n"), "a b", "a b"},
    {STR("a\r\nSet-Cookie: x"), "a Set-Cookie: x", "a Set-Cookie: x"},
    {STR("<b>bold</b>"), "bbold/b", "bbold/b"},
    {STR("a < b"), "a b", "a b"},
    {STR("<>"), "", ""},
    {STR("nul\0in it\x1b[2J\x7f!"), "nul in it [2J !", "nul in it [2J !"},
    {STR("caf\xc3\xa9"), "caf?", "caf\xc3\xa9"},
    {STR("\xe2\x82\xac \xf0\x9f\x9a\xab"), "? ?", "\xe2\x82\xac \xf0\x9f\x9a\xab"},
    /* a right-to-left override, a zero-width blank, a soft hyphen, C1, a byte order
     * mark, a tag: each is a blank, a run of them is one */
    {STR("a\xe2\x80\xae"
         "b"),
     "a b", "a b"},
    {STR("a\xe2\x80\x8b\xc2\xad\xc2\x85\xef\xbb\xbf\xf3\xa0\x80\x81"
         "b"),
     "a b", "a b"},
    {STR("a\xe2\x80\xa8"
         "b"),
     "a b", "a b"},
    /* not UTF-8: a lone continuation, a cut sequence, an overlong slash, a surrogate,
     * beyond the last character */
    {STR("a\x80z"), "a?z", "a?z"},
    {STR("a\xe2\x82"), "a??", "a??"},
    {STR("\xc0\xaf"), "??", "??"},
    {STR("\xed\xa0\x80"), "???", "???"},
    {STR("\xf4\x90\x80\x80"), "????", "????"},
    {STR("\xff"), "?", "?"},
};

static void test_table(void **state)
{
    char out[WORDING_MAX + 1];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(wording_clean(rows[i].text, WORDING_ASCII, out),
                            rows[i].ascii);
        assert_string_equal(wording_clean(rows[i].text, WORDING_UTF8, out),
                            rows[i].utf8);
    }
}

static void test_length(void **state)
{
    char text[4 * WORDING_MAX], out[WORDING_MAX + 1];

    (void)state;
    memset(text, 'a', sizeof text);
    assert_int_equal(
        strlen(wording_clean((struct str){text, sizeof text}, WORDING_ASCII, out)),
        WORDING_MAX);
    /* Cut between characters: 499 bytes and a character of two. */
    memcpy(text + WORDING_MAX - 1, "\xc3\xa9", 2);
    assert_int_equal(
        strlen(wording_clean((struct str){text, sizeof text}, WORDING_UTF8, out)),
        WORDING_MAX - 1);
    /* 500 bytes and a blank: no blank at the end. */
    text[WORDING_MAX - 1] = 'a';
    text[WORDING_MAX] = ' ';
    wording_clean((struct str){text, sizeof text}, WORDING_UTF8, out);
    assert_int_equal(strlen(out), WORDING_MAX);
    assert_int_equal(out[WORDING_MAX - 1], 'a');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
