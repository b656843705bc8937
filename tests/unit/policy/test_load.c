#include "tests/unit/policy/loaded.h"

/* One layer that must be refused: what the message must hold. */
struct bad {
    const char *network, *message;
};

static void check_bad(const struct bad *rows, size_t count)
{
    int wrong = 0;

    for (size_t i = 0; i < count; i++) {
        struct warnings w;
        struct err e = {""};
        struct policy *p = load_layers(&rows[i].network, 1, &w, &e);

        if (p != NULL || strstr(e.text, rows[i].message) == NULL) {
            print_error("%s: %s (without: %s)\n", rows[i].network,
                        p != NULL ? "loads" : e.text, rows[i].message);
            wrong++;
        }
        policy_unref(&p);
    }
    assert_int_equal(wrong, 0);
}

/* CFG-04: each file's entry, which loads as `kept` or is refused with `message`. */
struct spelling {
    const char *entry; /* JSON */
    const char *opens; /* NULL: refused */
    const char *message;
};

static const struct spelling spellings[] = {
    {"\"xn--bcher-kva.test\"", "xn--bcher-kva.test:443", NULL},
    {"\"10.0.0.0/8\"", NULL, "\"10.0.0.0/8\": an address range cannot be allowed"},
    {"\"a.test,b.test\"", NULL, "\"a.test,b.test\": one host an entry"},
    {"\"api.a.test.\"", "api.a.test:443", NULL},
    {"\"api.a.test..\"", NULL, "\"api.a.test..\": ends in an empty label"},
    {"\"\"", NULL, "allowedDomains[0]: \"\": is empty"},
    {"\"localhost:3000\"", "localhost:3000", NULL},
    {"\"b\xc3\xbc"
     "cher.test\"",
     "xn--bcher-kva.test:443", NULL},
    {"\"127.0.0.1\"", "127.0.0.1:80", NULL},
    {"\"2130706433\"", NULL, "\"2130706433\": is no canonical spelling"},
    {"\".a.test\"", NULL, "\".a.test\": starts with a dot"},
    {"\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.test\"", NULL,
     "64 bytes"},
    {"null", NULL, "allowedDomains[0]: expected a string"},
    {"7", NULL, "allowedDomains[0]: expected a string"},
    {"{\"host\": \"a.test\"}", NULL, "allowedDomains[0]: expected a string"},
    {"[\"a.test\"]", NULL, "allowedDomains[0]: expected a string"},
    {"\"api.a.test/x\"", NULL, "write \"api.a.test\""},
    {"\"api.a.test:0\"", NULL, "from 1 to 65535"},
    {"\"api.a.test:*\"", NULL, "without a port every port"},
    {"\"~^a\\\\.test$\"", NULL, "\"~^a\\\\.test$\": has \"~\" in it"},
    {"\"https://api.a.test\"", NULL,
     "\"https://api.a.test\": an entry is a host, not a URL: write \"api.a.test:443\""},
    {"\"api.a.test/\"", NULL, "write \"api.a.test\""},
    {"\" api.a.test \"", NULL, "write \"api.a.test\""},
    {"\"*\"", NULL, "\"*\": \"*\" cannot be allowed"},
    {"\"*.\"", NULL, "needs a name behind it"},
    {"\"*a.test\"", NULL, "whole labels"},
    {"\"ex*ample.com\"", NULL, "whole labels"},
    {"\"*.com\"", NULL, "\"*.com\": \"*.com\" would match everything"},
    {"\"*.*.com\"", NULL, "\"*.*.com\": com is a public suffix"},
    {"\"API.A.Test\"", "api.a.test:443", NULL},
    {"\"u@a.test\"", NULL, "write \"a.test\""},
    {"\"[::1]:443\"", "[::1]:443", NULL},
    {"\"[0:0:0:0:0:0:0:1]\"", "[::1]:443", NULL},
    {"\"::1:443\"", NULL, "\"::1:443\": an IPv6 address stands in brackets"},
    /* CFG-10 and H13. */
    {"\"contains.in.the.end.*\"", NULL, "at the end"},
    {"\"*.co.uk\"", NULL, "co.uk is a public suffix"},
    {"\"a.*.com\"", NULL, "com is a public suffix"},
    {"\"*.a.*.co.uk\"", NULL, "co.uk is a public suffix"},
    {"\"*.kawasaki.jp\"", NULL, "kawasaki.jp is a public suffix"},
    {"\"*evil.com\"", NULL, "whole labels"},
};

static void test_spellings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const struct spelling *s = &spellings[i];
        char text[256];
        const char *network = text;
        struct warnings w;
        struct err e = {""};
        struct policy *p;

        snprintf(text, sizeof text, "{\"allowedDomains\": [\n%s]}", s->entry);
        p = load_layers(&network, 1, &w, &e);
        if ((p != NULL) != (s->opens != NULL))
            fail_msg("%s: %s", s->entry, p != NULL ? "loads" : e.text);
        if (p != NULL)
            assert_verdict(p, ask_target(p, s->opens),
                           "allow-list network.allowedDomains[0]");
        else if (strstr(e.text, s->message) == NULL ||
                 strstr(e.text, "line 2: network.allowedDomains[0]: ") != e.text)
            fail_msg("%s: %s", s->entry, e.text);
        policy_unref(&p);
    }
}

/* CFG-06, CFG-13, and values of the wrong kind. */
static void test_refused(void **state)
{
    static const struct bad rows[] = {
        {"null", "network: expected an object"},
        {"[]", "network: expected an object"},
        {"\"a.test\"", "network: expected an object"},
        {"{\"allowedDomains\": null}", "allowedDomains: expected a list"},
        {"{\"allowedDomains\": \"a.test\"}", "allowedDomains: expected a list"},
        {"{\"deniedDomains\": {}}", "deniedDomains: expected a list"},
        {"{\"deniedDomains\": [\"a.test\", 7]}", "deniedDomains[1]: expected a string"},
        {"{\n\n\"deniedDomains\": [\"127.1\"]}",
         "line 3: network.deniedDomains[0]: \"127.1\""},
        {"{\"allowedHosts\": [\"a.test\"]}", "did you mean \"allowedDomains\"?"},
        {"{\"allowLocalOutbound\": true}", "unknown key \"allowLocalOutbound\""},
        {"{\"AllowedDomains\": []}", "did you mean \"allowedDomains\"?"},
        {"{\"mode\": \"Report\"}", "mode: expected \"enforce\" or \"report\""},
        {"{\"mode\": true}", "mode: expected"},
        {"{\"sni\": \"strict\"}", "sni: expected \"require\" or \"match\" or \"off\""},
        {"{\"sni\": null}", "sni: expected"},
        {"{\"privateAddresses\": true}", "expected \"deny\" or \"allow\""},
        {"{\"strictAllowlist\": 1}", "strictAllowlist: expected true or false"},
        {"{\"deniedDomainReasons\": []}", "expected an object"},
        {"{\"deniedDomains\": [\"a.test\"], \"deniedDomainReasons\": {\"a.test\": "
         "\"\"}}",
         "is a string that is not empty"},
        {"{\"deniedDomains\": [\"a.test\"], \"deniedDomainReasons\": {\"a.test\": 1}}",
         "is a string that is not empty"},
        {"{\"deniedResolvedAddresses\": [\"a.test\"]}", "goes to deniedDomains"},
        {"{\"deniedResolvedAddresses\": [\"10.0.0.0/33\"]}", "from 0 to 32"},
        {"{\"deniedResolvedAddresses\": [\"::ffff:0:0/95\"]}", "write the IPv4 range"},
        {"{\"nat64Prefixes\": [\"64:ff9b::/97\"]}", "32, 40, 48, 56, 64 or 96"},
        {"{\"nat64Prefixes\": [\"10.0.0.0/8\"]}", "is an IPv6 range"},
    };

    (void)state;
    check_bad(rows, sizeof rows / sizeof *rows);
}

/* Keys of srt that ask for what cannot be had. */
static void test_not_supported(void **state)
{
    static const struct bad rows[] = {
        {"{\"tlsTerminate\": {}}", "tlsTerminate: not supported yet"},
        {"{\"filterRequest\": \"f\"}", "filterRequest: not supported yet"},
        {"{\"allowPlaintextHeaderSet\": true}", "not supported yet"},
        {"{\"stripResponseHeaders\": [\"server\"]}", "not supported yet"},
        {"{\"refuseOpaqueTunnels\": true}", "not supported yet"},
        {"{\"requireHostMatch\": true}", "not supported yet"},
        {"{\"ambiguousRequestTarget\": \"normalize\"}", "not supported yet"},
        {"{\"httpProxyPort\": 8888}", "httpProxyPort: not supported yet"},
        {"{\"socksProxyPort\": 1080}", "socksProxyPort: not supported yet"},
        {"{\"allowAllUnixSockets\": true}", "allowAllUnixSockets: not supported yet"},
        {"{\"allowAllUnixSockets\": \"no\"}", "expected true or false"},
        {"{\"allowUnixSockets\": \"/s\"}", "expected a list"},
    };

    (void)state;
    check_bad(rows, sizeof rows / sizeof *rows);
}

/* What loads, and what is said about it. */
struct noted {
    const char *network;
    size_t count;
    const char *text;
};

static void check_noted(const struct noted *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct warnings w;
        struct err e = {""};
        struct policy *p = load_layers(&rows[i].network, 1, &w, &e);

        if (p == NULL)
            fail_msg("%s: %s", rows[i].network, e.text);
        if (w.count != rows[i].count || strstr(w.text, rows[i].text) == NULL)
            fail_msg("%s: %s", rows[i].network, w.text);
        policy_unref(&p);
    }
}

static void test_noted_hosts(void **state)
{
    static const struct noted rows[] = {
        {"{\"allowedDomains\": [\"npm.example\", \"*.npm.example\", "
         "\"registry.npm.example\"], \"deniedDomains\": []}",
         0, ""},
        {"{\"allowedDomains\": [\"*.github.io\"]}", 1,
         "line 1: network.allowedDomains[0]: \"*.github.io\": github.io is a public "
         "suffix"},
        {"{\"allowedDomains\": [\"*.s3.amazonaws.com:443\"]}", 1, "all its customers"},
        {"{\"allowedDomains\": [\"contains.*.in.the.middle\"]}", 1,
         "\"contains.*.in.the.middle\": the \"*\" inside stands for exactly one label"},
        {"{\"allowedDomains\": [\"localhost\"]}", 1,
         "every port of this host's loopback"},
        {"{\"allowedDomains\": [\"localhost:80\"]}", 0, ""},
        {"{\"deniedDomains\": [\"localhost\"]}", 0, ""},
        {"{\"allowedDomains\": [\"a.test\",\n\"A.test.\"]}", 1,
         "line 2: network.allowedDomains[1]: \"A.test.\": is the same as [0]"},
        {"{\"allowedDomains\": [\"a.test\", \"a.test:443\"]}", 0, ""},
        {"{\"allowedDomains\": [\"127.0.0.1:1\", \"[::ffff:127.0.0.1]:1\"]}", 1,
         "is the same as [0]"},
        {"{\"deniedDomains\": [\"*\", \"*\"]}", 1, "deniedDomains[1]: \"*\": is the"},
        {"{\"allowedDomains\": [\"a.test\"], \"deniedDomains\": [\"a.test:80\"]}", 0,
         ""},
        {"{\"allowedDomains\": [\"a.test:80-90\"], \"deniedDomains\": "
         "[\"a.test:1-85\"]}",
         0, ""},
        {"{\"allowedDomains\": [\"a.test:80\"], \"deniedDomains\": [\"a.test:1-99\"]}",
         1, "never allows anything: network.deniedDomains[0] (\"a.test:1-99\")"},
        {"{\"allowedDomains\": [\"a.b.test\", \"*.b.test\", \"b.test\"], "
         "\"deniedDomains\": [\"*.b.test\"]}",
         2, "network.allowedDomains[1]: \"*.b.test\": never allows"},
        {"{\"allowedDomains\": [\"*.a.b.test\"], \"deniedDomains\": [\"x.a.b.test\"]}",
         0, ""},
        {"{\"allowedDomains\": [\"192.0.2.1\"], \"deniedDomains\": [\"*\"]}", 1,
         "(\"*\") denies all of it"},
        {"{\"allowedDomains\": [\"[::1]\"], \"deniedDomains\": [\"[::1]\"]}", 1,
         "never allows"},
    };

    (void)state;
    check_noted(rows, sizeof rows / sizeof *rows);
}

static void test_noted_keys(void **state)
{
    static const struct noted rows[] = {
        {"{\"deniedDomains\": [\"a.test\"], \"deniedDomainReasons\": {\"b.test\": "
         "\"no\"}}",
         1, "\"b.test\" is no entry of deniedDomains"},
        {"{\"deniedResolvedAddresses\": [\"10.1.2.3/8\"]}", 1,
         "has bits beyond its prefix; it is read as 10.0.0.0/8"},
        {"{\"deniedResolvedAddresses\": [\"fe80::1%eth0\"]}", 1, "without its zone"},
        {"{\"deniedResolvedAddresses\": [\"10.0.0.0/8\", \"::ffff:10.0.0.0/104\"]}", 1,
         "is the same as [0]"},
        {"{\"deniedResolvedAddresses\": [\"10.0.0.0/08\", \"10.0.0.0/9\"]}", 0, ""},
        {"{\"allowUnixSockets\": [\"/var/run/docker.sock\"]}", 1, "is for macOS"},
        {"{\"allowMachLookup\": []}", 1, "is for macOS"},
        {"{\"allowLocalBinding\": false}", 1, "own loopback"},
        /* These ask for nothing that is not so. */
        {"{\"strictAllowlist\": true, \"allowAllUnixSockets\": false, "
         "\"stripResponseHeaders\": [], \"refuseOpaqueTunnels\": false, "
         "\"requireHostMatch\": false, \"allowPlaintextHeaderSet\": false, "
         "\"ambiguousRequestTarget\": \"refuse\"}",
         0, ""},
    };

    (void)state;
    check_noted(rows, sizeof rows / sizeof *rows);
}

/* A long or binary entry is shown cut and escaped, and the place survives. */
static void test_long_entry(void **state)
{
    char text[1200] = "{\"allowedDomains\": [\"";
    const char *network = text;
    struct warnings w;
    struct err e;

    (void)state;
    for (int i = 0; i < 150; i++)
        strncat(text, "\\u0001", sizeof text - strlen(text) - 1);
    strncat(text, "\"]}", sizeof text - strlen(text) - 1);
    assert_null(load_layers(&network, 1, &w, &e));
    assert_non_null(strstr(e.text, "line 1: network.allowedDomains[0]: \"\\u0001"));
    assert_non_null(strstr(e.text, "\"...: has the control character 0x01"));
}

static void test_reasons(void **state)
{
    struct policy *p = load_text(
        "{\"deniedDomains\": [\"a.test\", \"*.b.test\", \"a.test\", \"c.test\"], "
        "\"deniedDomainReasons\": {\"a.test\": \"no a\", \"*.b.test\": \"no b\"}}");
    struct verdict v = ask_target(p, "a.test:1");
    struct rule second = {RULE_DENIED_DOMAINS, 0, 2}, none = {0};

    (void)state;
    assert_true(str_equal(policy_deny_text(p, &v.rule), STR("no a")));
    assert_true(str_equal(policy_deny_text(p, &second), STR("no a")));
    v = ask_target(p, "x.b.test:1");
    assert_true(str_equal(policy_deny_text(p, &v.rule), STR("no b")));
    assert_true(str_equal(policy_rule_entry(p, &v.rule), STR("*.b.test")));
    v = ask_target(p, "c.test:1");
    assert_int_equal(policy_deny_text(p, &v.rule).n, 0);
    assert_int_equal(policy_deny_text(p, &none).n, 0);
    assert_int_equal(policy_rule_entry(p, &none).n, 0);
    policy_unref(&p);
}

static void test_rule_text(void **state)
{
    struct policy *p = load_text("{\"deniedDomains\": [\"a.test\"]}");
    struct rule beyond = {RULE_DENIED_DOMAINS, 0, 9}, foreign = {77, 99, 0};
    struct rule rule = {RULE_DENIED_DOMAINS, 0, 0};
    char text[64], small[8];

    (void)state;
    assert_string_equal(policy_rule_text(p, &rule, text, sizeof text),
                        "network.deniedDomains[0]");
    assert_string_equal(policy_rule_text(p, &rule, small, sizeof small), "network");
    policy_rule_text(p, &beyond, text, sizeof text);
    assert_int_equal(policy_rule_entry(p, &beyond).n, 0);
    assert_string_equal(policy_rule_text(p, &foreign, text, sizeof text), "");
    policy_unref(&p);
}

static void test_generation(void **state)
{
    struct policy *first = load_text("{}"), *second = load_text("{}"), *again;

    (void)state;
    assert_true(policy_generation(second) > policy_generation(first));
    again = policy_ref(first);
    policy_unref(&first);
    assert_int_equal(ask_target(again, "a.test:1").generation,
                     policy_generation(again));
    policy_unref(&again);
    policy_unref(&again);
    policy_unref(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_not_supported), cmocka_unit_test(test_noted_hosts),
        cmocka_unit_test(test_noted_keys),    cmocka_unit_test(test_long_entry),
        cmocka_unit_test(test_reasons),       cmocka_unit_test(test_rule_text),
        cmocka_unit_test(test_generation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
