#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/base/idn.h"

static const struct {
    const char *label, *ascii; /* NULL: refused */
} rows[] = {
    {"b\xc3\xbc"
     "cher",
     "xn--bcher-kva"},
    {"B\xc3\x9c"
     "CHER",
     "xn--bcher-kva"},
    {"bu\xcc\x88"
     "cher",
     "xn--bcher-kva"}, /* u and a combining diaeresis */
    {"fa\xc3\x9f", "xn--fa-hia"},
    {"\xd0\xb0pple", "xn--pple-43d"},   /* a Cyrillic a stays one */
    {"\xef\xbd\x81\xef\xbd\x82", "ab"}, /* wide letters */
    {"a\xc2\xad"
     "b",
     "ab"}, /* a soft hyphen is nothing */
    {"abc", "abc"},
    {"", NULL},
    {"a\xe3\x80\x82"
     "b",
     NULL}, /* an ideographic full stop would make two */
    {"\xe2\x80\x8b", NULL},
    {"\xff", NULL},
    {"\xc3", NULL},
    {"\xcc\x88", NULL}, /* nothing to combine with */
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[IDN_LABEL_SIZE] = "";
        bool ok = idn_to_ascii(str_from(rows[i].label), out);

        if (ok != (rows[i].ascii != NULL) || (ok && strcmp(out, rows[i].ascii) != 0))
            fail_msg("row %zu: %d %s", i, ok, out);
    }
}

static void test_bounds(void **state)
{
    char long_label[400], out[IDN_LABEL_SIZE];

    (void)state;
    memset(long_label, 'a', sizeof long_label);
    assert_true(idn_to_ascii((struct str){long_label, 63}, out));
    assert_int_equal(strlen(out), 63);
    assert_false(idn_to_ascii((struct str){long_label, 64}, out));
    assert_false(idn_to_ascii((struct str){long_label, sizeof long_label}, out));
    assert_false(idn_to_ascii(STR("a\0b"), out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
