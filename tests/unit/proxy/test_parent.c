#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "proxy/parent.h"

static const struct {
    const char *url, *name, *user, *password, *authorization;
} good[] = {
    {"http://proxy.test:3128", "http://proxy.test:3128", NULL, NULL, ""},
    {"HTTP://Proxy.TEST./", "http://proxy.test:80", NULL, NULL, ""},
    {"http://192.0.2.1:8080/", "http://192.0.2.1:8080", NULL, NULL, ""},
    {"http://[2001:DB8::1]", "http://[2001:db8::1]:80", NULL, NULL, ""},
    {"http://[2001:db8::1]:1", "http://[2001:db8::1]:1", NULL, NULL, ""},
    {"http://proxy", "http://proxy:80", NULL, NULL, ""},
    {"https://u:p@proxy.test", "https://proxy.test:443", "u", "p", "Basic dTpw"},
    {"socks5://proxy.test", "socks5://proxy.test:1080", NULL, NULL, ""},
    {"socks5h://u:p@proxy.test:9", "socks5h://proxy.test:9", "u", "p", ""},
    {"socks5://u@proxy.test", "socks5://proxy.test:1080", "u", "", ""},
    /* The example of RFC 7617 2. */
    {"http://Aladdin:open%20sesame@proxy.test", "http://proxy.test:80", "Aladdin",
     "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="},
    {"http://u@proxy.test", "http://proxy.test:80", "u", "", "Basic dTo="},
    {"http://:p@proxy.test", "http://proxy.test:80", "", "p", "Basic OnA="},
    {"http://u:a:b%3A%40@proxy.test", "http://proxy.test:80", "u", "a:b:@",
     "Basic dTphOmI6QA=="},
    /* An "@" that should have been encoded: the last one ends the password. */
    {"http://u:p@ss@proxy.test", "http://proxy.test:80", "u", "p@ss", "Basic dTpwQHNz"},
    {"http://%c3%bc:%C3%bc@proxy.test", "http://proxy.test:80", "\xc3\xbc", "\xc3\xbc",
     "Basic w7w6w7w="},
    {"http://@proxy.test", "http://proxy.test:80", NULL, NULL, ""},
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct parent p;
        struct err e = {""};

        if (!parent_from_url(str_from(good[i].url), &p, &e))
            fail_msg("%s: %s", good[i].url, e.text);
        assert_string_equal(p.name, good[i].name);
        assert_true(str_equal(p.authorization, str_from(good[i].authorization)));
        if (good[i].user == NULL) {
            assert_null(p.user.p);
        } else {
            assert_true(str_equal(p.user, str_from(good[i].user)));
            assert_true(str_equal(p.password, str_from(good[i].password)));
        }
        assert_true((p.kind == PARENT_SOCKS5) == (good[i].url[0] == 's'));
        parent_done(&p);
        assert_int_equal(p.kind, PARENT_NONE);
    }
}

static const struct {
    const char *url, *why;
} bad[] = {
    {"", "expected a URL"},
    {"proxy.test:3128", "expected a URL"},
    {"//proxy.test", "expected a URL"},
    {"://proxy.test", "the scheme of a parent proxy is"},
    {"ftp://proxy.test", "the scheme of a parent proxy is"},
    {"socks4://proxy.test", "the scheme of a parent proxy is"},
    {"http+unix://x", "the scheme of a parent proxy is"},
    {"http://", "expected a host name"},
    {"http://:80", "expected a host name"},
    {"http://a b", "a blank"},
    {"http://a\tb", "a blank"},
    {"http://a\r\nHost: b", "a blank"},
    {"http://a\\b", "a blank"},
    {"http://pr\xc3\xb6xy.test", "beyond ASCII"},
    {"http://proxy.test/path", "expected nothing behind the port"},
    {"http://proxy.test?x", "expected nothing behind the port"},
    {"http://proxy.test#x", "expected nothing behind the port"},
    {"http://proxy.test//", "expected nothing behind the port"},
    {"http://u:secret/x@proxy.test", "in a password"},
    {"http://proxy.test:0", "expected a port"},
    {"http://proxy.test:65536", "expected a port"},
    {"http://proxy.test:080", "expected a port"},
    {"http://proxy.test:", "expected a port"},
    {"http://proxy.test:80:80", "expected a port"},
    {"http://127.1", "expected a host name"},
    {"http://0x7f.0.0.1", "expected a host name"},
    {"http://[::1%25lo]", "expected a host name"},
    {"http://[::1", "without \"]\""},
    {"http://[::1]80", "expected \":\""},
    {"http://[127.0.0.1]", "expected a host name"},
    {"http://-%41.test", "expected a host name"},
    {"http://u:%zz@proxy.test", "hexadecimal"},
    {"http://u:%4@proxy.test", "hexadecimal"},
    {"http://u:%@proxy.test", "hexadecimal"},
    {"http://u:a%0d%0aX-Evil:1@proxy.test", "a control character in the credentials"},
    {"http://u%00:p@proxy.test", "a control character in the credentials"},
    {"http://a%3Ab:p@proxy.test", "a \":\" in the user name"},
    {"socks5://:p@proxy.test", "1 to 255 bytes"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct parent p = {.kind = PARENT_NONE};
        struct err e = {""};

        if (parent_from_url(str_from(bad[i].url), &p, &e))
            fail_msg("%s: was taken", bad[i].url);
        if (strstr(e.text, bad[i].why) == NULL)
            fail_msg("%s: %s", bad[i].url, e.text);
        assert_null(strstr(e.text, "secret"));
        assert_null(p.texts.base);
    }
}

/* Lengths: a login of SOCKS has one byte for its own; nothing is cut in silence. */
static void test_lengths(void **state)
{
    char url[4096], user[600];
    struct parent p;
    struct err e = {""};

    (void)state;
    for (size_t n = 250; n < 260; n++) {
        memset(user, 'u', n);
        user[n] = '\0';
        snprintf(url, sizeof url, "socks5://%s:%s@proxy.test", user, user);
        assert_int_equal(parent_from_url(str_from(url), &p, &e), n <= 255);
        if (n <= 255)
            parent_done(&p);
        snprintf(url, sizeof url, "http://%s:%s@proxy.test", user, user);
        assert_true(parent_from_url(str_from(url), &p, &e));
        assert_int_equal(p.authorization.n, 6 + (2 * n + 1 + 2) / 3 * 4);
        parent_done(&p);
    }
    memset(url, 'a', sizeof url);
    memcpy(url, "http://", 7);
    assert_false(parent_from_url((struct str){url, sizeof url}, &p, &e));
    assert_non_null(strstr(e.text, "a URL of 4096 bytes"));
    /* The longest URL has room for all that is made of it. */
    memset(url, 'u', 2048);
    memcpy(url, "http://", 7);
    memcpy(url + 2048 - 11, "@proxy.test", 11);
    assert_true(parent_from_url((struct str){url, 2048}, &p, &e));
    parent_done(&p);
}

static void test_path(void **state)
{
    char path[200];
    struct parent p;
    struct err e = {""};

    (void)state;
    assert_true(parent_from_path(STR("/run/mitm.sock"), &p, &e));
    assert_string_equal(p.name, "unix:/run/mitm.sock");
    assert_string_equal(p.path.sun_path, "/run/mitm.sock");
    assert_int_equal(p.at.kind, HOST_NONE);
    assert_int_equal(p.kind, PARENT_HTTP);
    parent_done(&p);
    assert_false(parent_from_path(STR("mitm.sock"), &p, &e));
    assert_non_null(strstr(e.text, "absolute"));
    assert_false(parent_from_path(STR(""), &p, &e));
    memset(path, 'a', sizeof path);
    path[0] = '/';
    assert_true(parent_from_path((struct str){path, 107}, &p, &e));
    parent_done(&p);
    assert_false(parent_from_path((struct str){path, 108}, &p, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
