/* policy_check_name(): what a name server may say. */
#include "tests/unit/policy/loaded.h"

struct row {
    const char *name;
    enum name_answer answer;
    const char *why; /* reason and rule */
};

static void check_rows(const char *network, const struct row *rows, size_t count)
{
    struct policy *p = load_text(network);

    for (size_t i = 0; i < count; i++) {
        struct name_verdict v = policy_check_name(p, str_from(rows[i].name));
        char why[256], rule[128];

        policy_rule_text(p, &v.rule, rule, sizeof rule);
        snprintf(why, sizeof why, "%s%s%s", reason_name(v.reason), rule[0] ? " " : "",
                 rule);
        if (v.answer != rows[i].answer || strcmp(why, rows[i].why) != 0)
            fail_msg("%s: %d %s", rows[i].name, v.answer, why);
    }
    policy_unref(&p);
}

#define CHECK(network, rows) check_rows(network, rows, sizeof rows / sizeof *rows)

#define ALLOWED(n) "allow-list network.allowedDomains[" #n "]"
#define DENIED(n)  "deny-list network.deniedDomains[" #n "]"
#define EXACT      NAME_ALLOWED_EXACT
#define WILD       NAME_ALLOWED_WILDCARD

static void test_lists(void **state)
{
    static const struct row rows[] = {
        {"a.test", EXACT, ALLOWED(0)},
        {"A.Test.", EXACT, ALLOWED(0)},
        {"b.test", EXACT, ALLOWED(1)},
        {"x.c.test", WILD, ALLOWED(2)},
        {"exact.c.test", EXACT, ALLOWED(3)}, /* also by the wildcard */
        {"c.test", NAME_DENIED, "not-on-allow-list"},
        {"d.x.e.test", WILD, ALLOWED(4)}, /* a star inside is a wildcard as well */
        {"localhost", EXACT, ALLOWED(5)},
        {"other.test", NAME_DENIED, "not-on-allow-list"},
        {"test", NAME_DENIED, "not-on-allow-list"},
        {"denied.c.test", NAME_DENIED, DENIED(0)},
        /* Denied on some ports, open on others. */
        {"some.c.test", WILD, ALLOWED(2)},
        /* Open on port 443 alone, and denied there. */
        {"shut.test", NAME_DENIED, DENIED(2)},
        /* Denied on all ports, in two pieces. */
        {"pieces.c.test", NAME_DENIED, DENIED(3)},
        {"127.0.0.1", NAME_DENIED, "malformed-host"},
        {"::1", NAME_DENIED, "malformed-host"},
        {"1.2.3", NAME_DENIED, "malformed-host"},
        {"", NAME_DENIED, "malformed-host"},
        {".", NAME_DENIED, "malformed-host"},
        {"a..test", NAME_DENIED, "malformed-host"},
        {"a.test..", NAME_DENIED, "malformed-host"},
        {"b\xc3\xbc"
         "cher.test",
         NAME_DENIED, "malformed-host"},
        {"*.c.test", NAME_DENIED, "malformed-host"},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"a.test\", \"b.test:443\", \"*.c.test\", "
          "\"exact.c.test:8443\", \"d.*.e.test\", \"localhost:80\", \"shut.test:443\", "
          "\"127.0.0.1\"], \"deniedDomains\": [\"denied.c.test\", \"some.c.test:25\", "
          "\"shut.test:400-500\", \"pieces.c.test:1-999\", "
          "\"pieces.c.test:1000-65535\"]}",
          rows);
}

static void test_deny_all(void **state)
{
    static const struct row rows[] = {{"a.test", NAME_DENIED, DENIED(0)}};

    (void)state;
    CHECK("{\"allowedDomains\": [\"a.test\"], \"deniedDomains\": [\"*\"]}", rows);
}

static void test_report(void **state)
{
    static const struct row rows[] = {
        {"a.test", EXACT, ALLOWED(0)},
        {"any.test", WILD, "report-mode network.mode"},
        {"denied.test", NAME_DENIED, DENIED(0)},
        {"partly.test", WILD, "report-mode network.mode"},
        {"1.2.3.4", NAME_DENIED, "malformed-host"},
    };

    (void)state;
    CHECK("{\"mode\": \"report\", \"allowedDomains\": [\"a.test\"], \"deniedDomains\": "
          "[\"denied.test\", \"partly.test:25\"]}",
          rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_deny_all),
        cmocka_unit_test(test_report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
