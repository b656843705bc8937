#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/policy/pattern.h"

enum { FOR_BOTH = 0, FOR_DENY_ONLY };

struct good {
    const char *entry;
    int use;
    enum pattern_kind kind;
    const char *text; /* of the name, or the address */
    unsigned first, last;
};

static const struct good good[] = {
    {"example.com", 0, PATTERN_NAME, "example.com", 1, 65535},
    {"API.A.Test", 0, PATTERN_NAME, "api.a.test", 1, 65535},
    {"api.a.test.", 0, PATTERN_NAME, "api.a.test", 1, 65535},
    {"api.a.test.:443", 0, PATTERN_NAME, "api.a.test", 443, 443},
    {"example.com:443", 0, PATTERN_NAME, "example.com", 443, 443},
    {"example.com:1-1023", 0, PATTERN_NAME, "example.com", 1, 1023},
    {"example.com:65535", 0, PATTERN_NAME, "example.com", 65535, 65535},
    {"localhost", 0, PATTERN_NAME, "localhost", 1, 65535},
    {"LocalHost:3000", 0, PATTERN_NAME, "localhost", 3000, 3000},
    {"_dmarc.x.y", 0, PATTERN_NAME, "_dmarc.x.y", 1, 65535},
    {"-a.b", 0, PATTERN_NAME, "-a.b", 1, 65535},
    {"*.example.com", 0, PATTERN_BELOW, "example.com", 1, 65535},
    {"*.Example.com.:8443", 0, PATTERN_BELOW, "example.com", 8443, 8443},
    {"*.co.uk", 0, PATTERN_BELOW, "co.uk", 1, 65535}, /* suffix.h has the last word */
    {"a.*.b.test", 0, PATTERN_NAME, "a.*.b.test", 1, 65535},
    {"*.a.*.b.test", 0, PATTERN_BELOW, "a.*.b.test", 1, 65535},
    {"*.*.example.com", 0, PATTERN_BELOW, "*.example.com", 1, 65535},
    {"b\xc3\xbc"
     "cher.test",
     0, PATTERN_NAME, "xn--bcher-kva.test", 1, 65535},
    {"B\xc3\x9c"
     "CHER.test:80",
     0, PATTERN_NAME, "xn--bcher-kva.test", 80, 80},
    {"*.b\xc3\xbc"
     "cher.test",
     0, PATTERN_BELOW, "xn--bcher-kva.test", 1, 65535},
    /* Nontransitional: the sharp s stays a letter of its own. */
    {"fa\xc3\x9f.test", 0, PATTERN_NAME, "xn--fa-hia.test", 1, 65535},
    {"XN--BCHER-KVA.test", 0, PATTERN_NAME, "xn--bcher-kva.test", 1, 65535},
    {"127.0.0.1", 0, PATTERN_ADDR, "127.0.0.1", 1, 65535},
    {"127.0.0.1:18080", 0, PATTERN_ADDR, "127.0.0.1", 18080, 18080},
    {"[::1]", 0, PATTERN_ADDR, "::1", 1, 65535},
    {"[::1]:443", 0, PATTERN_ADDR, "::1", 443, 443},
    {"[0:0:0:0:0:0:0:1]", 0, PATTERN_ADDR, "::1", 1, 65535},
    {"[0:0:0:0:0:0:0:1]:80", 0, PATTERN_ADDR, "::1", 80, 80},
    {"[::ffff:127.0.0.1]", 0, PATTERN_ADDR, "127.0.0.1", 1, 65535},
    {"[2001:DB8::1]:8000-8099", 0, PATTERN_ADDR, "2001:db8::1", 8000, 8099},
    {"*", FOR_DENY_ONLY, PATTERN_ANY, "", 1, 65535},
    {"*:25", FOR_DENY_ONLY, PATTERN_ANY, "", 25, 25},
    {"*.com", FOR_DENY_ONLY, PATTERN_BELOW, "com", 1, 65535},
    {"*.internal", FOR_DENY_ONLY, PATTERN_BELOW, "internal", 1, 65535},
};

static void check_good(const struct good *row, enum pattern_use use)
{
    char text[IP_TEXT_MAX];
    struct pattern p;
    struct err e = {""};

    if (!pattern_parse(str_from(row->entry), use, &p, &e))
        fail_msg("%s: %s", row->entry, e.text);
    if (p.kind != row->kind || p.first_port != row->first || p.last_port != row->last)
        fail_msg("%s: kind %d, ports %u to %u", row->entry, p.kind, p.first_port,
                 p.last_port);
    assert_string_equal(p.kind == PATTERN_ADDR ? ip_text(&p.ip, text) : p.text,
                        row->text);
    assert_int_equal(p.name.n, strlen(p.text));
}

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        check_good(&good[i], PATTERN_DENY);
        if (good[i].use == FOR_BOTH)
            check_good(&good[i], PATTERN_ALLOW);
    }
}

/* What the message must hold: the fix, where there is one. */
struct bad {
    const char *entry, *hint;
};

static const struct bad bad_for_both[] = {
    {"", "is empty"},
    {" ", "is blank"},
    {" api.a.test ", "write \"api.a.test\""},
    {"exa mple.com", "blank"},
    {"https://api.a.test", "write \"api.a.test:443\""},
    {"http://a.b", "write \"a.b:80\""},
    {"HTTP://u:p@A.b/x?y", "write \"A.b:80\""},
    {"https://a.b:8443/x", "write \"a.b:8443\""},
    {"ftp://a.b", "write \"a.b\""},
    {"api.a.test/", "write \"api.a.test\""},
    {"api.a.test/x", "write \"api.a.test\""},
    {"u@a.test", "write \"a.test\""},
    {"a.test,b.test", "write \"a.test\""},
    {"example.com?x", "\"?\""},
    {"~^a\\.test$", "\"~\""},
    {"a\tb.test", "blank"},
    {"a\nb.test", "0x0a"},
    {"10.0.0.0/8", "deniedResolvedAddresses"},
    {"2001:db8::/32", "deniedResolvedAddresses"},
    {"::1", "write \"[::1]\""},
    {"::1:443", "write \"[::1]:443\""},
    {"2001:db8::1:443", "write \"[2001:db8::1]:443\""},
    {"a.b:80:81", "more than one \":\""},
    {"[::1", "\"]\""},
    {"[::1]x", "\":port\""},
    {"[::1]443", "\":port\""},
    {"[::1]:", "port"},
    {"[]", "IPv6"},
    {"[a.test]", "IPv6"},
    {"[[a.test]]", "\":port\""},
    {"[1.2.3.4]", "write \"1.2.3.4\""},
    {"[fe80::1%eth0]", "zones"},
    {"a[b].test", "brackets"},
    {"127.1", "write \"127.0.0.1\""},
    {"2130706433", "write \"127.0.0.1\""},
    {"0x7f.1", "write \"127.0.0.1\""},
    {"0x7f000001", "write \"127.0.0.1\""},
    {"0x7f.0.0.1", "write \"127.0.0.1\""},
    {"0177.0.0.1", "write \"127.0.0.1\""},
    {"017700000001:80", "write \"127.0.0.1\""},
    {"127.0.0.1.", "write \"127.0.0.1\""},
    {"256.1.1.1", "number"},
    {"1.2.3.4.5", "number"},
    {"a.0x7f", "number"},
    {"*.0.0.1", "number"},
    {"*.1", "number"},
    {"\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.1", "write \"127.0.0.1\""}, /* wide digits */
    {".", "empty label"},
    {"..", "empty label"},
    {"api.a.test..", "empty label"},
    {"example..com", "empty label"},
    {".a.test", "\"*.a.test\""},
    {"*.", "needs a name"},
    {"*..com", "dot"},
    {":443", "no host"},
    {"*a.test", "whole labels"},
    {"a*.x.y", "whole labels"},
    {"ex*ample.com", "whole labels"},
    {"bob.ex*ample.com", "whole labels"},
    {"**.a.test", "whole labels"},
    {"a.*", "right"},
    {"contains.in.the.end.*", "right"},
    {"*.*", "right"},
    {"a.*.*.b.test", "more than one"},
    {"*.*.*.b.test", "more than one"},
    {"com", "dot"},
    {"host", "a name without a dot cannot be listed"},
    {"metadata", "dot"},
    {"host:80", "dot"},
    {"api.a.test:*", "without a port"},
    {"a.b:0", "1 to 65535"},
    {"a.b:", "1 to 65535"},
    {"a.b:070", "1 to 65535"},
    {"a.b:+80", "\"+\""},
    {"a.b:65536", "1 to 65535"},
    {"a.b:65979", "1 to 65535"},
    {"a.b:80-", "1 to 65535"},
    {"a.b:-80", "1 to 65535"},
    {"a.b:80-80-80", "1 to 65535"},
    {"a.b:90-80", "above"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.test",
     "64 bytes"},
    {"a%2etest.com", "%"},
    {"allowed\xe3\x80\x82"
     "com",
     "no valid"}, /* an ideographic full stop is no dot here */
    {"a.\xff.test", "no valid"},
    {"\xe2\x80\x8b.test", "no valid"}, /* a zero width space is nothing */
};

static const struct bad bad_to_allow[] = {
    {"*", "cannot be allowed"},     {"*:443", "cannot be allowed"},
    {"*.com", "\"*.example.com\""}, {"*.local", "\"*.example.local\""},
    {"*.localhost", "top-level"},
};

static void check_bad(const struct bad *row, enum pattern_use use)
{
    struct pattern p;
    struct err e = {""};

    if (pattern_parse(str_from(row->entry), use, &p, &e))
        fail_msg("%s: taken", row->entry);
    if (strstr(e.text, row->hint) == NULL)
        fail_msg("%s: %s (without: %s)", row->entry, e.text, row->hint);
}

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_for_both / sizeof *bad_for_both; i++) {
        check_bad(&bad_for_both[i], PATTERN_ALLOW);
        check_bad(&bad_for_both[i], PATTERN_DENY);
    }
    for (size_t i = 0; i < sizeof bad_to_allow / sizeof *bad_to_allow; i++)
        check_bad(&bad_to_allow[i], PATTERN_ALLOW);
}

static void test_nul(void **state)
{
    struct pattern p;
    struct err e;

    (void)state;
    assert_false(pattern_parse(STR("a\0.test"), PATTERN_ALLOW, &p, &e));
    assert_false(pattern_parse(STR("evil.test\0.a.test"), PATTERN_DENY, &p, &e));
    assert_false(pattern_parse(STR("a.test\0"), PATTERN_DENY, &p, &e));
}

/* `len` bytes of labels of 63. */
static const char *long_name(size_t len, char *buf)
{
    for (size_t i = 0; i < len; i++)
        buf[i] = i % 64 == 63 ? '.' : 'a';
    buf[len] = '\0';
    return buf;
}

static void test_length(void **state)
{
    char name[300], below[300];
    struct pattern p;
    struct err e;

    (void)state;
    assert_true(pattern_parse(str_from(long_name(253, name)), PATTERN_ALLOW, &p, &e));
    assert_false(pattern_parse(str_from(long_name(254, name)), PATTERN_ALLOW, &p, &e));
    /* The shortest name below one of 251 bytes has 253. */
    snprintf(below, sizeof below, "*.%s", long_name(251, name));
    assert_true(pattern_parse(str_from(below), PATTERN_ALLOW, &p, &e));
    snprintf(below, sizeof below, "*.%s", long_name(252, name));
    assert_false(pattern_parse(str_from(below), PATTERN_ALLOW, &p, &e));
}

static void test_base(void **state)
{
    struct pattern p;
    struct err e;

    (void)state;
    assert_true(pattern_parse(STR("*.a.*.b.test"), PATTERN_ALLOW, &p, &e));
    assert_string_equal(pattern_base(&p), "b.test");
    assert_true(pattern_parse(STR("*.b.test"), PATTERN_ALLOW, &p, &e));
    assert_string_equal(pattern_base(&p), "b.test");
    assert_false(pattern_has_port(&p));
    assert_true(pattern_parse(STR("*.b.test:1-65534"), PATTERN_ALLOW, &p, &e));
    assert_true(pattern_has_port(&p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_nul),  cmocka_unit_test(test_length),
        cmocka_unit_test(test_base),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
