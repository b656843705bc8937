#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/proxy/config_file.h"

#define TWO_CLIENTS                                                     \
    "\"clients\": [{\"name\": \"plain\", \"from\": [\"10.0.0.0/8\"]}, " \
    "{\"name\": \"own\", \"from\": [\"11.0.0.0/8\"], \"network\": {"    \
    "\"allowedDomains\": [\"own.test\", \"denied.test\"]}}]"

static bool allows(struct policy *p, const char *host)
{
    const struct hostaddrs none = {.own_count = 0};
    struct target t = {0};
    struct verdict v;
    struct arena a;

    arena_init(&a, 256);
    assert_true(target_set(&t, &a, str_from(host), false, 443));
    v = policy_check_target(p, &t, &none);
    arena_done(&a);
    return v.allow;
}

static struct policy *policy_of(const struct config *c, const char *name)
{
    const struct config_client *client = config_find(c, str_from(name));

    assert_non_null(client);
    return client->policy;
}

static void test_layers(void **state)
{
    struct config *c =
        config_from("\"network\": {\"allowedDomains\": [\"all.test\"], "
                    "\"deniedDomains\": [\"denied.test\"]}, " TWO_CLIENTS);

    (void)state;
    assert_true(allows(c->policy, "all.test"));
    assert_true(allows(policy_of(c, "plain"), "all.test"));
    assert_false(allows(policy_of(c, "plain"), "own.test"));
    assert_true(allows(policy_of(c, "own"), "own.test"));
    assert_false(allows(policy_of(c, "own"), "all.test"));
    assert_false(allows(policy_of(c, "own"), "denied.test"));
    assert_false(allows(c->nobody, "all.test"));
    assert_null(config_find(c, STR("gateway")));
    assert_null(config_find(c, STR("")));
    config_unref(&c);
}

/* Report mode is for clients: who is none is let through nowhere, whatever it says. */
static void test_report_mode(void **state)
{
    struct config *c = config_from("\"network\": {\"mode\": \"report\"}, " TWO_CLIENTS);

    (void)state;
    assert_true(allows(c->policy, "all.test"));
    assert_true(allows(policy_of(c, "plain"), "all.test"));
    assert_false(allows(c->nobody, "all.test"));
    config_unref(&c);
}

static void test_no_network(void **state)
{
    struct config *c = config_from(TWO_CLIENTS);

    (void)state;
    assert_false(allows(c->policy, "all.test"));
    assert_false(allows(policy_of(c, "plain"), "all.test"));
    assert_true(allows(policy_of(c, "own"), "own.test"));
    assert_false(allows(c->nobody, "all.test"));
    config_unref(&c);
}

static void count(void *owner, const char *text)
{
    assert_non_null(strstr(text, "gateway.json: "));
    ++*(unsigned *)owner;
}

/* What is doubtful in the gateway's own network is told once, and not for each client.
 */
static void test_warnings(void **state)
{
    struct config *c = config_from(
        "\"network\": {\"allowedDomains\": [\"a.test\", \"a.test\"]}, \"clients\": ["
        "{\"name\": \"a\", \"from\": [\"10.0.0.0/8\"], \"network\": {}},"
        "{\"name\": \"b\", \"from\": [\"11.0.0.0/8\"], \"network\": "
        "{\"allowedDomains\": [\"b.test\", \"b.test\"]}}]");
    unsigned warnings = 0;
    char path[96];
    struct err e;

    (void)state;
    config_unref(&c);
    config_path(path, "gateway.json");
    assert_true(config_load(path, count, &warnings, &c, &e));
    assert_int_equal(warnings, 2);
    config_unref(&c);
}

static void test_references(void **state)
{
    struct config *c = config_from(TWO_CLIENTS), *other = config_ref(c);

    (void)state;
    config_unref(&c);
    assert_null(c);
    assert_false(allows(other->nobody, "a.test"));
    config_unref(&other);
    config_unref(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),     cmocka_unit_test(test_report_mode),
        cmocka_unit_test(test_no_network), cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_references),
    };

    return cmocka_run_group_tests(tests, config_folder_make, config_folder_remove);
}
