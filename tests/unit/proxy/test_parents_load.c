#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/proxy/parents_from.h"

#define PARENT(keys) "{\"parentProxy\": {" keys "}}"
#define MITM(keys)   "{\"mitmProxy\": {" keys "}}"
#define SOCKET       "\"socketPath\": \"/run/m\", "

static const struct {
    const char *network, *why;
} bad[] = {
    {"{\"parentProxy\": []}", "line 1: network.parentProxy: expected an object"},
    {"{\"parentProxy\": null}", "network.parentProxy: expected an object"},
    {PARENT("\"htp\": \"http://p.test\""), "network.parentProxy: unknown key \"htp\""},
    {PARENT("\"socks\": \"socks5://p.test\""), "unknown key \"socks\""},
    {PARENT("\"http\": 3128"), "network.parentProxy.http: expected a URL"},
    {PARENT("\"http\": \"\""), "network.parentProxy.http: expected a URL"},
    {PARENT("\n\"http\": \"http://u:secret@\""), "line 2: network.parentProxy.http: "},
    {PARENT("\"https\": \"quic://p.test\""), "network.parentProxy.https: the scheme"},
    {PARENT("\"https\": \"https://p.test\", \"caFile\": \"ca.pem\""),
     "network.parentProxy.caFile: expected an absolute path"},
    {PARENT("\"https\": \"https://p.test\", \"caFile\": \"/nowhere/ca.pem\""),
     "network.parentProxy.caFile: "},
    {PARENT("\"https\": \"http://p.test\", \"caFile\": \"/nowhere/ca.pem\""),
     "network.parentProxy.caFile: no parent is reached over TLS"},
    {PARENT("\"noProxy\": 1"), "network.parentProxy.noProxy: expected a list"},
    {PARENT("\"noProxy\": [1]"), "network.parentProxy.noProxy[0]: expected a string"},
    {PARENT("\"noProxy\": [\"a.test\", \"a b\"]"),
     "network.parentProxy.noProxy[1]: \"a b\": is no"},
    {PARENT("\"noProxy\": [\"\"]"), "noProxy[0]: \"\": is empty"},
    {PARENT("\"noProxy\": \"a.test, 10.0.0.0/99\""), "\"10.0.0.0/99\": the prefix"},
    {PARENT("\"resolve\": true"), "network.parentProxy.resolve: expected \"local\""},
    {PARENT("\"resolve\": \"Local\""), "network.parentProxy.resolve: expected"},
    {MITM(""), "network.mitmProxy.socketPath: expected the absolute path"},
    {MITM("\"socketPath\": \"m.sock\", \"domains\": [\"a.test\"]"),
     "network.mitmProxy.socketPath: expected an absolute path"},
    {MITM(SOCKET "\"resolve\": \"parent\""), "network.mitmProxy.domains: expected"},
    {MITM(SOCKET "\"domains\": []"), "network.mitmProxy.domains: expected a list"},
    {MITM(SOCKET "\"domains\": [\"a.test:443\"]"), "domains[0]: \"a.test:443\""},
    {MITM(SOCKET "\"domains\": [\"*\"]"), "network.mitmProxy.domains[0]: \"*\": "},
    {MITM(SOCKET "\"domains\": [\"a.test\", 7]"), "domains[1]: expected a string"},
    {MITM(SOCKET "\"host\": \"a.test\""), "network.mitmProxy: unknown key"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct parents *p = NULL;
        struct told told;
        struct err e = {""};

        if (parents_from(&bad[i].network, 1, NULL, &told, &p, &e))
            fail_msg("%s: was taken", bad[i].network);
        if (strstr(e.text, bad[i].why) == NULL)
            fail_msg("%s: %s", bad[i].network, e.text);
        assert_null(strstr(e.text, "secret"));
        assert_null(p);
    }
}

static void test_none(void **state)
{
    (void)state;
    assert_null(parents_of("{}"));
    assert_null(parents_of(PARENT("")));
    assert_null(parents_of(PARENT("\"noProxy\": \"a.test\"")));
}

static void test_resolve(void **state)
{
    struct parents *p = parents_of(
        "{\"parentProxy\": {\"http\": \"http://p.test\", \"resolve\": \"local\"},"
        " \"mitmProxy\": {" SOCKET
        "\"domains\": [\"a.test\"], \"resolve\": \"parent\"}}");

    (void)state;
    assert_true(parents_get(p, PARENTS_HTTP)->resolve_local);
    assert_false(parents_get(p, PARENTS_MITM)->resolve_local);
    parents_unref(&p);
    p = parents_of(PARENT("\"http\": \"http://p.test\", \"resolve\": \"parent\""));
    assert_false(parents_get(p, PARENTS_HTTP)->resolve_local);
    parents_unref(&p);
}

/* A client's own stands in the place of the gateway's, each of both for itself. */
static void test_layers(void **state)
{
    static const char gateway[] =
        "{\"parentProxy\": {\"http\": \"http://outer.test:1\"}, \"mitmProxy\": {" SOCKET
        "\"domains\": [\"a.test\"]}}";
    const char *own[] = {gateway, PARENT("\"http\": \"http://inner.test:1\"")};
    const char *none[] = {gateway, PARENT("")};
    const char *wrong[] = {gateway, PARENT("\"http\": \"x\"")};
    struct parents *p = NULL;
    struct told told;
    struct err e = {""};

    (void)state;
    assert_true(parents_from(own, 2, NULL, &told, &p, &e));
    assert_string_equal(parents_get(p, PARENTS_HTTP)->name, "http://inner.test:1");
    assert_string_equal(parents_get(p, PARENTS_MITM)->name, "unix:/run/m");
    parents_unref(&p);
    assert_true(parents_from(none, 2, NULL, &told, &p, &e));
    assert_null(parents_get(p, PARENTS_HTTP));
    assert_non_null(parents_get(p, PARENTS_MITM));
    parents_unref(&p);
    assert_false(parents_from(wrong, 2, NULL, &told, &p, &e));
    assert_non_null(strstr(e.text, "clients[0].network.parentProxy.http: "));
}

static void test_warnings(void **state)
{
    static const char *const text =
        PARENT("\"https\": \"http://p.test\", \"noProxy\": \"a.test:80\"");
    struct parents *p = NULL;
    struct told told;
    struct err e = {""};

    (void)state;
    assert_true(parents_from(&text, 1, NULL, &told, &p, &e));
    assert_int_equal(told.count, 2);
    assert_non_null(strstr(told.text, "line 1: network.parentProxy.noProxy: the port"));
    assert_non_null(strstr(told.text, "network.parentProxy: has no \"http\""));
    parents_unref(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),      cmocka_unit_test(test_none),
        cmocka_unit_test(test_resolve),  cmocka_unit_test(test_layers),
        cmocka_unit_test(test_warnings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
