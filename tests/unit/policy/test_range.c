#include "proxy/policy/range.h"
#include "tests/unit/policy/loaded.h"

static const struct {
    const char *entry, *read; /* as; NULL: refused */
    const char *says;         /* the note, or why */
} rows[] = {
    {"10.0.0.0/8", "10.0.0.0/8", ""},
    {"192.0.2.1", "192.0.2.1/32", ""},
    {"2001:db8::/32", "2001:db8::/32", ""},
    {"::1", "::1/128", ""},
    {"0.0.0.0/0", "0.0.0.0/0", ""},
    {"::/0", "::/0", ""},
    {"10.0.0.0/08", "10.0.0.0/8", ""}, /* as srt */
    {"10.0.0.0/008", "10.0.0.0/8", ""},
    {"10.0.0.0/00", "10.0.0.0/0", "read as 0.0.0.0/0"},
    {"10.1.2.3/8", "10.0.0.0/8", "bits beyond its prefix; it is read as 10.0.0.0/8"},
    {"2001:db8::1/32", "2001:db8::/32", "read as 2001:db8::/32"},
    {"fe80::1%eth0", "fe80::1/128", "without its zone"},
    {"fe80::%eth0/10", "fe80::/10", "without its zone"},
    {"::ffff:10.0.0.1", "10.0.0.1/32", ""},
    {"::ffff:10.0.0.0/104", "10.0.0.0/8", ""},
    {"::ffff:0:0/96", "0.0.0.0/0", ""},
    {"::ffff:0:0/95", NULL, "write the IPv4 range"},
    {"", NULL, "no address"},
    {"/8", NULL, "no address or range"},
    {"10.0.0.0/", NULL, "0 to 32"},
    {"10.0.0.0/33", NULL, "0 to 32"},
    {"10.0.0.0/0008", NULL, "0 to 32"},
    {"10.0.0.0/8/8", NULL, "0 to 32"},
    {"10.0.0.0/-1", NULL, "0 to 32"},
    {"2001:db8::/129", NULL, "0 to 128"},
    {"10.0.0/8", NULL, "no address or range"},
    {"127.1", NULL, "no address or range"},
    {"10.0.0.1%eth0", NULL, "no address or range"},
    {"[::1]", NULL, "write \"::1\""},
    {"[10.0.0.1]", NULL, "write \"10.0.0.1\""},
    {"a.test", NULL, "goes to deniedDomains"},
    {" 10.0.0.0/8", NULL, "no address or range"},
};

static void test_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char note[RANGE_NOTE_MAX] = "", text[IP_TEXT_MAX + 4];
        struct ip_range r;
        struct err e = {""};
        bool ok = range_parse(str_from(rows[i].entry), &r, note, &e);
        const char *says = ok ? note : e.text;

        if (ok != (rows[i].read != NULL) || strstr(says, rows[i].says) == NULL ||
            (rows[i].says[0] == '\0' && says[0] != '\0'))
            fail_msg("%s: %d %s", rows[i].entry, ok, says);
        /* What is cleared is told with its own text. */
        if (ok && strstr(note, "read as") == NULL)
            assert_string_equal(range_text(&r, text), rows[i].read);
    }
}

static void test_nat64(void **state)
{
    static const unsigned good[] = {32, 40, 48, 56, 64, 96};
    char note[RANGE_NOTE_MAX], text[32];
    struct ip_range r;
    struct err e;

    (void)state;
    for (unsigned bits = 0; bits <= 128; bits++) {
        bool expected = false;

        for (size_t i = 0; i < sizeof good / sizeof *good; i++)
            expected = expected || good[i] == bits;
        snprintf(text, sizeof text, "2001:db8::/%u", bits);
        assert_int_equal(range_parse_nat64(str_from(text), &r, note, &e), expected);
    }
    assert_false(range_parse_nat64(STR("10.0.0.0/32"), &r, note, &e));
    assert_false(range_parse_nat64(STR("::ffff:0:0/96"), &r, note, &e));
    assert_false(range_parse_nat64(STR("64:ff9b::"), &r, note, &e));
}

static void test_holds_mapped(void **state)
{
    static const struct {
        const char *text;
        bool holds;
    } ranges[] = {
        {"::/0", true},        {"::/80", true},   {"::fff0:0:0/92", true},
        {"8000::/1", false},   {"::/96", false},  {"2001:db8::/32", false},
        {"::ffff:0:0", false}, {"::/128", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct ip_range r;

        assert_true(ip_range_parse(str_from(ranges[i].text), false, &r));
        if (range_holds_mapped(&r) != ranges[i].holds)
            fail_msg("%s", ranges[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_nat64),
        cmocka_unit_test(test_holds_mapped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
