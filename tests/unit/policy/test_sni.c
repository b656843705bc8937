#include "tests/unit/policy/loaded.h"

/* T1, T2: what a hello shows, and where it passes. */
static const struct {
    const char *target;
    enum hello_kind kind;
    const char *name;
    bool match, require;
} rows[] = {
    {"a.test:443", HELLO_KIND_NAME, "a.test", true, true},
    {"a.test:443", HELLO_KIND_NAME, "A.Test", true, true},
    {"A.TEST.:443", HELLO_KIND_NAME, "a.test.", true, true},
    {"a.test:443", HELLO_KIND_NAME, "a.test..", false, false},
    {"a.test:443", HELLO_KIND_NAME, "b.test", false, false},
    {"a.test:443", HELLO_KIND_NAME, "x.a.test", false, false},
    {"a.test:443", HELLO_KIND_NAME, "a.tes", false, false},
    {"a.test:443", HELLO_KIND_NAME, "", false, false},
    {"a.test:443", HELLO_KIND_NAME, ".", false, false},
    {"a.test:443", HELLO_KIND_NAME, "192.0.2.1", false, false},
    {"a.test:443", HELLO_KIND_NO_NAME, "", true, false},
    {"a.test:443", HELLO_KIND_NONE, "", true, false},
    {"a.test:22", HELLO_KIND_NONE, "", true, false}, /* on every port */
    {"a.test:443", HELLO_KIND_BAD, "", false, false},
    {"a.test:443", HELLO_KIND_BAD, "a.test", false, false},
    {"a.test:443", HELLO_KIND_ENCRYPTED, "a.test", true, false},
    {"a.test:443", HELLO_KIND_ENCRYPTED, "cover.test", false, false},
    {"a.test:443", HELLO_KIND_ENCRYPTED, "", false, false},
    {"a.test:443", (enum hello_kind)99, "a.test", false, false},
    {"192.0.2.1:443", HELLO_KIND_NAME, "b.test", true, true},
    {"192.0.2.1:443", HELLO_KIND_NO_NAME, "", true, true},
    {"192.0.2.1:443", HELLO_KIND_ENCRYPTED, "b.test", true, true},
    {"192.0.2.1:443", HELLO_KIND_NONE, "", true, false},
    {"192.0.2.1:443", HELLO_KIND_BAD, "", false, false},
};

static void check_mode(const char *network, int mode)
{
    struct policy *p = load_text(network);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct target t = test_target(rows[i].target);
        struct verdict v =
            policy_check_hello(p, &t, rows[i].kind, str_from(rows[i].name));
        bool expected = mode == 0 ? rows[i].match : mode == 1 ? rows[i].require : true;

        if (v.allow != expected)
            fail_msg("%s %d %s: %d", rows[i].target, rows[i].kind, rows[i].name,
                     v.allow);
        assert_verdict(p, v, expected ? "allow-list" : "sni-mismatch network.sni");
        assert_int_equal(v.generation, policy_generation(p));
    }
    policy_unref(&p);
}

static void test_match(void **state)
{
    (void)state;
    check_mode("{}", 0);
    check_mode("{\"sni\": \"match\"}", 0);
    /* Report mode lifts only what is not on the allow list. */
    check_mode("{\"mode\": \"report\"}", 0);
}

static void test_require(void **state)
{
    (void)state;
    check_mode("{\"sni\": \"require\"}", 1);
}

static void test_off(void **state)
{
    (void)state;
    check_mode("{\"sni\": \"off\"}", 2);
}

/* BYP-01: nothing after a NUL is forgotten. */
static void test_nul(void **state)
{
    struct policy *p = load_text("{}");
    struct target t = test_target("a.test:443");

    (void)state;
    assert_false(policy_check_hello(p, &t, HELLO_KIND_NAME, STR("a.test\0")).allow);
    assert_false(policy_check_hello(p, &t, HELLO_KIND_NAME, STR("a.test\0.b")).allow);
    policy_unref(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_require),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_nul),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
