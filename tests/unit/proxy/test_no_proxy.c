#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/no_proxy.h"

static struct no_proxy *made_of(const char *entry)
{
    char note[NO_PROXY_NOTE_MAX];
    struct no_proxy *n = NULL;
    struct err e = {""};

    assert_true(no_proxy_new(&n, &e));
    if (!no_proxy_add(n, str_from(entry), note, &e))
        fail_msg("%s: %s", entry, e.text);
    no_proxy_seal(n);
    return n;
}

static bool matches(const struct no_proxy *n, const char *host)
{
    struct arena a;
    struct target t;
    bool has;

    arena_init(&a, 1024);
    assert_true(target_set(&t, &a, str_from(host), strchr(host, ':') != NULL, 443));
    has = no_proxy_has(n, &t);
    arena_done(&a);
    return has;
}

static const struct {
    const char *entry, *host;
    bool has;
} rows[] = {
    {"*", "a.test", true},
    {"*", "192.0.2.1", true},
    {"*", "2001:db8::1", true},
    {"example.test", "example.test", true},
    {"example.test", "EXAMPLE.test.", true},
    {"example.test", "a.b.example.test", true},
    {"example.test", "notexample.test", false},
    {"example.test", "example.test.evil.test", false},
    {"example.test", "test", false},
    {".example.test", "example.test", true},
    {".example.test", "a.example.test", true},
    {"*.example.test", "example.test", true},
    {"*.example.test", "a.example.test", true},
    {"Example.TEST.", "a.example.test", true},
    {"example.test:8080", "example.test", true},
    {"test", "a.test", true},
    {"corp", "corp", true},
    {"192.0.2.1", "192.0.2.1", true},
    {"192.0.2.1", "192.0.2.2", false},
    {"192.0.2.1:80", "192.0.2.1", true},
    {"::ffff:192.0.2.1", "192.0.2.1", true},
    {"192.0.2.1", "::ffff:192.0.2.1", true},
    {"2001:db8::1", "2001:db8:0::1", true},
    {"[2001:db8::1]", "2001:db8::1", true},
    {"[2001:db8::1]:443", "2001:db8::1", true},
    {"10.0.0.0/8", "10.255.0.1", true},
    {"10.0.0.0/8", "11.0.0.1", false},
    {"10.1.2.3/8", "10.9.9.9", true},
    {"2001:db8::/32", "2001:db8:ffff::1", true},
    {"2001:db8::/32", "2001:db9::1", false},
    {"0.0.0.0/0", "192.0.2.1", true},
    {"0.0.0.0/0", "2001:db8::1", false},
    /* A range is for addresses, whatever a name resolves to. */
    {"0.0.0.0/0", "a.test", false},
    /* What a name ends in is no name. */
    {"1.example.test", "192.0.2.1", false},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct no_proxy *n = made_of(rows[i].entry);

        if (matches(n, rows[i].host) != rows[i].has)
            fail_msg("%s: %s", rows[i].entry, rows[i].host);
        no_proxy_free(&n);
        assert_null(n);
    }
}

static void test_bad(void **state)
{
    static const char *const entries[] = {
        "",      ".",           "*.",   "**",       "a*.test",       "a.*.test",
        "a b",   "a..test",     "..a",  "http://a", "10.0.0.0/33",   "10.0.0.0/",
        "a/8",   "[a.test]",    "[::1", "[::1]x",   "[192.0.2.1]",   "127.1",
        "a:b:c", "a.test:",     ":80",  "a.test:x", "\xc3\xbc.test", "a\n",
        "*:80",  "<-loopback>", "10.*",
    };
    struct no_proxy *n = NULL;
    char note[NO_PROXY_NOTE_MAX];
    struct err e = {""};

    (void)state;
    assert_true(no_proxy_new(&n, &e));
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (no_proxy_add(n, str_from(entries[i]), note, &e))
            fail_msg("\"%s\" was taken", entries[i]);
    no_proxy_free(&n);
}

static void test_notes(void **state)
{
    struct no_proxy *n = NULL;
    char note[NO_PROXY_NOTE_MAX];
    struct err e = {""};

    (void)state;
    assert_true(no_proxy_new(&n, &e));
    assert_true(no_proxy_add(n, STR("a.test"), note, &e));
    assert_string_equal(note, "");
    assert_true(no_proxy_add(n, STR("a.test:80"), note, &e));
    assert_non_null(strstr(note, "the port counts for nothing"));
    assert_true(no_proxy_add(n, STR("10.1.1.1/8"), note, &e));
    assert_non_null(strstr(note, "10.0.0.0/8"));
    no_proxy_seal(n);
    assert_true(matches(n, "a.test"));
    no_proxy_free(&n);
    no_proxy_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_notes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
