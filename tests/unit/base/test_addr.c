#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/base/addr.h"

static const struct ip_row {
    const char *text, *canonical; /* NULL: refused */
    unsigned family;
} ip_rows[] = {
    {"192.0.2.1", "192.0.2.1", 4},
    {"0.0.0.0", "0.0.0.0", 4},
    {"255.255.255.255", "255.255.255.255", 4},
    {"2001:DB8:0:0:0:0:0:1", "2001:db8::1", 6},
    {"::", "::", 6},
    {"::ffff:192.0.2.1", "::ffff:192.0.2.1", 6},
    {"64:ff9b::192.0.2.33", "64:ff9b::c000:221", 6},
    {"", NULL, 0},
    {"1", NULL, 0},
    {"127.1", NULL, 0}, /* what inet_aton() would take */
    {"0x7f.0.0.1", NULL, 0},
    {"2130706433", NULL, 0},
    {"0177.0.0.1", NULL, 0},
    {"01.2.3.4", NULL, 0},
    {"1.2.3", NULL, 0},
    {"1.2.3.4.", NULL, 0},
    {".1.2.3.4", NULL, 0},
    {"1.2.3.4.5", NULL, 0},
    {"1..3.4", NULL, 0},
    {"256.2.3.4", NULL, 0},
    {"1.2.3.-4", NULL, 0},
    {" 1.2.3.4", NULL, 0},
    {"1.2.3.4 ", NULL, 0},
    {"1.2.3.4/8", NULL, 0},
    {"[::1]", NULL, 0},
    {"fe80::1%lo", NULL, 0},
    {":::", NULL, 0},
    {"1:2:3:4:5:6:7", NULL, 0},
    {"1:2:3:4:5:6:7:8:9", NULL, 0},
    {"12345::", NULL, 0},
    {"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", NULL, 0},
};

static void test_ip(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ip_rows / sizeof *ip_rows; i++) {
        struct ip ip = {.family = 99};
        char text[IP_TEXT_MAX];
        bool ok = ip_parse(str_from(ip_rows[i].text), &ip);

        if (ok != (ip_rows[i].canonical != NULL))
            fail_msg("\"%s\" was %s", ip_rows[i].text, ok ? "accepted" : "refused");
        assert_int_equal(ip.family, ok ? ip_rows[i].family : 99);
        if (ok)
            assert_string_equal(ip_text(&ip, text), ip_rows[i].canonical);
    }
    assert_false(ip_parse(STR("1.2.3.4\0"), &(struct ip){0}));
    assert_string_equal(ip_text(&(struct ip){0}, (char[IP_TEXT_MAX]){"x"}), "");
}

static struct ip make_ip(const char *text)
{
    struct ip ip = {0};

    assert_true(ip_parse(str_from(text), &ip));
    return ip;
}

static void test_unmap(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"::ffff:192.0.2.1", "192.0.2.1"},
        {"::ffff:0:0", "0.0.0.0"},
        {"::192.0.2.1", "::192.0.2.1"},
        {"::fffe:192.0.2.1", "::fffe:c000:201"},
        {"1::ffff:c000:201", "1::ffff:c000:201"},
        {"192.0.2.1", "192.0.2.1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ip ip = make_ip(rows[i].in), want = make_ip(rows[i].out);
        char text[IP_TEXT_MAX];

        ip_unmap(&ip);
        assert_string_equal(ip_text(&ip, text), rows[i].out);
        assert_true(ip_equal(&ip, &want));
    }
}

static const struct range_row {
    const char *range, *in, *out; /* `in` NULL: refused unless loose */
    bool loose_only;
} range_rows[] = {
    {"10.0.0.0/8", "10.255.255.255", "11.0.0.0", false},
    {"192.0.2.0/25", "192.0.2.127", "192.0.2.128", false},
    {"192.0.2.1", "192.0.2.1", "192.0.2.0", false},
    {"192.0.2.1/32", "192.0.2.1", "192.0.2.3", false},
    {"0.0.0.0/0", "255.1.2.3", "::1", false},
    {"2001:db8::/33", "2001:db8:7fff::", "2001:db8:8000::", false},
    {"::/0", "ffff::", "1.2.3.4", false},
    {"::1/128", "::1", "::", false},
    {"10.1.2.3/8", "10.9.9.9", "11.0.0.0", true},
    {"2001:db8::1/32", "2001:db8:1::", "2001:db9::", true},
    {"10.0.0.0/33", NULL, NULL, false},
    {"::/129", NULL, NULL, false},
    {"10.0.0.0/", NULL, NULL, false},
    {"10.0.0.0/08", NULL, NULL, false},
    {"10.0.0.0/8/8", NULL, NULL, false},
    {"10.0.0.0/-1", NULL, NULL, false},
    {"/8", NULL, NULL, false},
    {"", NULL, NULL, false},
    {"10/8", NULL, NULL, false},
};

static void test_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof range_rows / sizeof *range_rows; i++) {
        const struct range_row *row = &range_rows[i];
        struct ip_range r = {0};
        struct ip ip;

        if (ip_range_parse(str_from(row->range), false, &r) !=
            (row->in != NULL && !row->loose_only))
            fail_msg("\"%s\"", row->range);
        assert_int_equal(ip_range_parse(str_from(row->range), true, &r),
                         row->in != NULL);
        if (row->in == NULL)
            continue;
        ip = make_ip(row->in);
        assert_true(ip_range_has(&r, &ip));
        ip = make_ip(row->out);
        assert_false(ip_range_has(&r, &ip));
    }
}

static void test_addr(void **state)
{
    struct ip v4 = make_ip("192.0.2.1"), v6 = make_ip("2001:db8::1"), back, none = {0};
    struct addr a = addr_from_ip(&v4, 443);
    char text[ADDR_TEXT_MAX];

    (void)state;
    assert_int_equal(a.len, sizeof(struct sockaddr_in));
    assert_string_equal(addr_text(&a, text), "192.0.2.1:443");
    back = addr_ip(&a);
    assert_true(ip_equal(&back, &v4));
    assert_int_equal(addr_port(&a), 443);
    a = addr_from_ip(&v6, 65535);
    assert_int_equal(a.len, sizeof(struct sockaddr_in6));
    assert_string_equal(addr_text(&a, text), "[2001:db8::1]:65535");
    back = addr_ip(&a);
    assert_true(ip_equal(&back, &v6));
    a = addr_from_ip(&none, 1);
    assert_int_equal(a.len, 0);
    assert_string_equal(addr_text(&a, text), "");
    assert_int_equal(addr_port(&a), 0);
    assert_int_equal(addr_ip(&a).family, 0);
    a = (struct addr){.sa.sa_family = AF_UNIX, .len = 2};
    assert_int_equal(addr_ip(&a).family, 0);
    assert_string_equal(addr_text(&a, text), "");
}

/* The longest there is must fit. */
static void test_longest(void **state)
{
    struct ip ip = make_ip("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255");
    struct addr a = addr_from_ip(&ip, 65535);
    char text[ADDR_TEXT_MAX];

    (void)state;
    assert_string_equal(addr_text(&a, text),
                        "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ip),      cmocka_unit_test(test_unmap),
        cmocka_unit_test(test_ranges),  cmocka_unit_test(test_addr),
        cmocka_unit_test(test_longest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
