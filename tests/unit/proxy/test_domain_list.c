#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/domain_list.h"

#define HEAD "{ \"network\": { \"allowedDomains\": ["
#define TAIL "] } }\n"

static const struct {
    const char *list, *text;
} rows[] = {
    {"", HEAD TAIL},
    {"\n", HEAD "\n" TAIL},
    {"a.test", HEAD " \"a.test\",\n" TAIL},
    {"a.test\r\n\r\nb.test\r\n", HEAD " \"a.test\",\n\n \"b.test\",\n" TAIL},
    {" a.test , b.test,,\t", HEAD " \"a.test\", \"b.test\",\n" TAIL},
    {".a.test", HEAD " \"a.test\", \"*.a.test\",\n" TAIL},
    {".", HEAD " \".\",\n" TAIL}, /* for the policy to refuse */
    {"# one\na.test # two # three", HEAD " // one\n \"a.test\", // two # three\n" TAIL},
    {"a\"b\\c", HEAD " \"a\\\"b\\\\c\",\n" TAIL},
    {"\xef\xbb\xbf"
     "a.test",
     HEAD " \"a.test\",\n" TAIL},
    {"a b.test", HEAD " \"a b.test\",\n" TAIL},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf out;
        struct err e = {""};

        buf_init(&out, 4096);
        assert_true(domain_list_convert(str_from(rows[i].list), &out, &e));
        if (!str_equal(buf_view(&out), str_from(rows[i].text)))
            fail_msg("%s: " STR_FMT, rows[i].list, STR_ARG(buf_view(&out)));
        buf_done(&out);
    }
}

static void test_bounds(void **state)
{
    char line[2100] = "ok.test\n";
    struct buf out;
    struct err e = {""};

    (void)state;
    memset(line + 8, 'a', 2000);
    buf_init(&out, 4096);
    assert_false(domain_list_convert(str_from(line), &out, &e));
    assert_string_equal(e.text, "line 2: an entry of 2000 bytes");
    buf_done(&out);
    for (size_t max = 0; max < sizeof HEAD + sizeof TAIL; max++) {
        buf_init(&out, max);
        assert_false(domain_list_convert(STR("a.test"), &out, &e));
        assert_non_null(strstr(e.text, "the list is too long"));
        buf_done(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
