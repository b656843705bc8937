/* Several `network` objects as one policy: what an inner one may and may not do. */
#include "tests/unit/policy/loaded.h"

static struct policy *load(const char *outer, const char *inner)
{
    const char *const texts[] = {outer, inner};
    struct warnings w;
    struct err e = {""};
    struct policy *p = load_layers(texts, 2, &w, &e);

    if (p == NULL)
        fail_msg("%s", e.text);
    return p;
}

static void test_allow_is_replaced(void **state)
{
    struct policy *p = load("{\"allowedDomains\": [\"a.test\", \"b.test\"]}",
                            "{\"allowedDomains\": [\"b.test\", \"c.test\"]}");

    (void)state;
    assert_verdict(p, ask_target(p, "a.test:1"), "not-on-allow-list");
    assert_verdict(p, ask_target(p, "b.test:1"),
                   "allow-list clients[0].network.allowedDomains[0]");
    assert_verdict(p, ask_target(p, "c.test:1"),
                   "allow-list clients[0].network.allowedDomains[1]");
    policy_unref(&p);
    p = load("{\"allowedDomains\": [\"a.test\"]}", "{\"allowedDomains\": []}");
    assert_verdict(p, ask_target(p, "a.test:1"), "not-on-allow-list");
    policy_unref(&p);
    p = load("{\"allowedDomains\": [\"a.test\"]}", "{}");
    assert_verdict(p, ask_target(p, "a.test:1"),
                   "allow-list network.allowedDomains[0]");
    policy_unref(&p);
}

static void test_command_line_adds(void **state)
{
    const char *const texts[] = {
        "{\"allowedDomains\": [\"a.test\"], \"deniedDomains\": [\"d.test\"]}", "{}",
        "{}", "{\"allowedDomains\": [\"b.test\", \"d.test\"]}"};
    struct warnings w;
    struct err e;
    struct policy *p = load_layers(texts, 4, &w, &e);

    (void)state;
    assert_non_null(p);
    assert_verdict(p, ask_target(p, "a.test:1"),
                   "allow-list network.allowedDomains[0]");
    assert_verdict(p, ask_target(p, "b.test:1"),
                   "allow-list command.network.allowedDomains[0]");
    assert_verdict(p, ask_target(p, "c.test:1"), "not-on-allow-list");
    assert_verdict(p, ask_target(p, "d.test:1"), "deny-list network.deniedDomains[0]");
    assert_int_equal(w.count, 1);
    assert_non_null(strstr(w.text,
                           "command.network.allowedDomains[1]: \"d.test\": never "
                           "allows anything: network.deniedDomains[0]"));
    policy_unref(&p);
}

static void test_denies_add_up(void **state)
{
    struct policy *p =
        load("{\"deniedDomains\": [\"x.test\", \"a.test:25\"], "
             "\"deniedDomainReasons\": {\"x.test\": \"outer\"}}",
             "{\"allowedDomains\": [\"*.test.example\", \"x.test\", \"a.test\"], "
             "\"deniedDomains\": [\"y.test.example\", \"a.test:80\"]}");
    struct verdict v = ask_target(p, "x.test:1");

    (void)state;
    assert_verdict(p, v, "deny-list network.deniedDomains[0]");
    assert_true(str_equal(policy_deny_text(p, &v.rule), STR("outer")));
    assert_verdict(p, ask_target(p, "y.test.example:1"),
                   "deny-list clients[0].network.deniedDomains[0]");
    assert_verdict(p, ask_target(p, "a.test:25"), "deny-list network.deniedDomains[1]");
    assert_verdict(p, ask_target(p, "a.test:80"),
                   "deny-list clients[0].network.deniedDomains[1]");
    assert_verdict(p, ask_target(p, "a.test:443"),
                   "allow-list clients[0].network.allowedDomains[2]");
    policy_unref(&p);
}

/* An address in an allow list lifts the address rules beside it, no others. */
static void test_address_rules_hold(void **state)
{
    struct policy *p = load(
        "{\"deniedResolvedAddresses\": [\"10.0.0.0/8\"]}",
        "{\"allowedDomains\": [\"n.test\", \"10.1.1.1\", \"192.168.1.1\", "
        "\"172.16.0.1\", \"127.0.0.1\"], \"deniedResolvedAddresses\": "
        "[\"192.168.0.0/16\", \"172.16.0.0/12\"], \"privateAddresses\": \"deny\"}");

    (void)state;
    assert_verdict(p, ask_target(p, "10.1.1.1:80"),
                   "address-listed network.deniedResolvedAddresses[0]");
    assert_verdict(p, ask_addr(p, "n.test:80", "10.1.1.1"),
                   "address-listed network.deniedResolvedAddresses[0]");
    assert_verdict(p, ask_target(p, "192.168.1.1:80"),
                   "allow-list clients[0].network.allowedDomains[2]");
    assert_verdict(p, ask_addr(p, "n.test:80", "192.168.1.2"),
                   "address-listed clients[0].network.deniedResolvedAddresses[0]");
    assert_verdict(p, ask_target(p, "127.0.0.1:80"),
                   "allow-list clients[0].network.allowedDomains[4]");
    policy_unref(&p);
    p = load("{\"privateAddresses\": \"deny\"}",
             "{\"allowedDomains\": [\"10.1.1.1\"], \"privateAddresses\": \"allow\"}");
    assert_verdict(p, ask_target(p, "10.1.1.1:80"),
                   "address-private network.privateAddresses");
    policy_unref(&p);
    /* Stricter inside holds too: the outer list is not of the hand that closed it. */
    p = load("{\"allowedDomains\": [\"10.1.1.1\"]}",
             "{\"privateAddresses\": \"deny\"}");
    assert_verdict(p, ask_target(p, "10.1.1.1:80"),
                   "address-private clients[0].network.privateAddresses");
    policy_unref(&p);
}

static void test_localhost_and_outer_rules(void **state)
{
    struct policy *p = load("{\"deniedResolvedAddresses\": [\"127.0.0.0/8\"]}",
                            "{\"allowedDomains\": [\"localhost:80\"]}");

    (void)state;
    assert_verdict(p, ask_addr(p, "localhost:80", "127.0.0.1"),
                   "address-listed network.deniedResolvedAddresses[0]");
    assert_verdict(p, ask_addr(p, "localhost:80", "::1"),
                   "allow-list clients[0].network.allowedDomains[0]");
    policy_unref(&p);
}

static void test_stricter_wins(void **state)
{
    static const struct {
        const char *outer, *inner, *verdict;
    } rows[] = {
        {"{\"mode\": \"report\"}", "{}", "report-mode network.mode"},
        {"{}", "{\"mode\": \"report\"}", "report-mode clients[0].network.mode"},
        {"{\"mode\": \"enforce\"}", "{\"mode\": \"report\"}", "not-on-allow-list"},
        {"{\"mode\": \"report\"}", "{\"mode\": \"enforce\"}", "not-on-allow-list"},
        {"{\"mode\": \"report\"}", "{\"mode\": \"report\"}",
         "report-mode network.mode"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy *p = load(rows[i].outer, rows[i].inner);

        assert_verdict(p, ask_target(p, "a.test:1"), rows[i].verdict);
        policy_unref(&p);
    }
}

static void test_stricter_sni(void **state)
{
    static const struct {
        const char *outer, *inner;
        bool no_name, other; /* pass? */
        const char *rule;
    } rows[] = {
        {"{}", "{}", true, false, "sni-mismatch network.sni"},
        {"{\"sni\": \"off\"}", "{}", true, true, ""},
        {"{}", "{\"sni\": \"off\"}", true, true, ""},
        {"{\"sni\": \"match\"}", "{\"sni\": \"off\"}", true, false,
         "sni-mismatch network.sni"},
        {"{\"sni\": \"off\"}", "{\"sni\": \"match\"}", true, false,
         "sni-mismatch clients[0].network.sni"},
        {"{\"sni\": \"require\"}", "{\"sni\": \"match\"}", false, false,
         "sni-mismatch network.sni"},
        {"{\"sni\": \"match\"}", "{\"sni\": \"require\"}", false, false,
         "sni-mismatch clients[0].network.sni"},
    };
    struct target t = test_target("a.test:443");

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy *p = load(rows[i].outer, rows[i].inner);
        struct verdict none = policy_check_hello(p, &t, HELLO_KIND_NO_NAME, STR(""));
        struct verdict other =
            policy_check_hello(p, &t, HELLO_KIND_NAME, STR("b.test"));

        assert_int_equal(none.allow, rows[i].no_name);
        assert_int_equal(other.allow, rows[i].other);
        if (!other.allow)
            assert_verdict(p, other, rows[i].rule);
        policy_unref(&p);
    }
}

/* A list that is replaced is still checked, and errors name the layer. */
static void test_errors_name_the_layer(void **state)
{
    const char *const texts[] = {"{\"allowedDomains\": [\"127.1\"]}",
                                 "{\"allowedDomains\": [\"a.test\"]}"};
    const char *const swapped[] = {texts[1], texts[0]};
    struct warnings w;
    struct err e;

    (void)state;
    assert_null(load_layers(texts, 2, &w, &e));
    assert_ptr_equal(strstr(e.text, "line 1: network.allowedDomains[0]"), e.text);
    assert_null(load_layers(swapped, 2, &w, &e));
    assert_ptr_equal(strstr(e.text, "line 1: clients[0].network.allowedDomains[0]"),
                     e.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allow_is_replaced),
        cmocka_unit_test(test_command_line_adds),
        cmocka_unit_test(test_denies_add_up),
        cmocka_unit_test(test_address_rules_hold),
        cmocka_unit_test(test_localhost_and_outer_rules),
        cmocka_unit_test(test_stricter_wins),
        cmocka_unit_test(test_stricter_sni),
        cmocka_unit_test(test_errors_name_the_layer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
