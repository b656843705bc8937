#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/settings_live.h"

static void load(const char *path, const char *text, struct settings *out)
{
    struct json_doc *doc = NULL;
    struct err e;

    if (!json_parse(str_from(text), JSON_SETTINGS, &doc, &e) ||
        !settings_from_doc(path, &doc, NULL, NULL, out, &e))
        fail_msg("%s", e.text);
}

#define FILES "\"filesystem\": {\"allowWrite\": [\"a\", \"b\"]}"
#define PARENT(port) \
    "\"network\": {\"parentProxy\": {\"http\": \"http://p.test:" port "\"}}"

static const struct {
    const char *now, *next;
    const char *says; /* NULL: may change */
} rows[] = {
    {"{}", "{}", NULL},
    {"{}", "{\"filesystem\": {}, \"network\": {}, \"credentials\": {}}", NULL},
    {"{\"network\": {\"allowedDomains\": [\"a.test\"]}}",
     "{\"network\": {\"deniedDomains\": [\"a.test\"], \"sni\": \"require\"}}", NULL},
    {"{}", "{\"network\": {\"mitmProxy\": {\"socketPath\": \"/s\", \"domains\": []}}}",
     NULL},
    {"{" FILES "}", "{\"$schema\": \"x\", " FILES ", \"network\": {}}", NULL},
    {"{" FILES "}", "{\"filesystem\": {\"allowWrite\": [\"b\", \"a\"]}}",
     "new: line 1: filesystem: cannot change while the command runs; end it"},
    {"{" FILES "}", "{}", "new: line 1: filesystem: cannot change"},
    {"{}", "{\n" FILES "}", "new: line 2: filesystem: cannot change"},
    /* srt wants these three in each document; the fourth takes back a default. */
    {"{}",
     "{\"filesystem\": {\"allowRead\": [], \"allowWrite\": [], \"denyWrite\": []}}",
     NULL},
    {"{\"filesystem\": {\"denyWrite\": []}}", "{}", NULL},
    {"{}", "{\"filesystem\": {\"denyRead\": []}}", "filesystem: cannot change"},
    {"{\"filesystem\": {\"denyRead\": []}}", "{}", "filesystem: cannot change"},
    {"{}", "{\"filesystem\": {\"allowWrite\": {}}}", "filesystem: cannot change"},
    {"{}", "{\"filesystem\": {\"denyWrites\": []}}", "filesystem: cannot change"},
    {"{}", "{\"filesystem\": {\"disabled\": true}}", "filesystem: cannot change"},
    {"{" PARENT("1") "}", "{" PARENT("1") "}", NULL},
    /* Without one the environment counts, with an empty one it does not. */
    {"{}", "{\"network\": {\"parentProxy\": {}}}",
     "network.parentProxy: cannot change"},
    {"{\"network\": {\"parentProxy\": {}}}", "{}",
     "network.parentProxy: cannot change"},
    {"{}", "{\"network\": {\"parentProxy\": null}}",
     "network.parentProxy: cannot change"},
    {"{" PARENT("1") "}", "{" PARENT("2") "}", "network.parentProxy: cannot change"},
    {"{" PARENT("1") "}", "{}", "network.parentProxy: cannot change"},
    {"{" PARENT("1") "}", "{\"network\": {}}", "network.parentProxy: cannot change"},
    {"{}", "{\"network\":\n{\"parentProxy\": {\"http\": \"http://p.test:1\"}}}",
     "new: line 2: network.parentProxy: cannot change"},
};

static void check(const struct settings *now, const struct settings *next,
                  const char *says)
{
    struct err e = {""};
    bool ok = settings_check_live(now, next, &e);

    if (ok != (says == NULL) || (says != NULL && strstr(e.text, says) == NULL))
        fail_msg("\"%s\", expected \"%s\"", e.text, says != NULL ? says : "nothing");
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settings now, next;

        load("old", rows[i].now, &now);
        load("new", rows[i].next, &next);
        check(&now, &next, rows[i].says);
        settings_done(&now);
        settings_done(&next);
    }
}

static void test_a_run_that_began_without_settings(void **state)
{
    struct settings none, next;

    (void)state;
    settings_none(&none);
    load("new", "{\"network\": {\"allowedDomains\": [\"a.test\"]}}", &next);
    check(&none, &next, NULL);
    settings_done(&next);
    load("new", "{" FILES "}", &next);
    check(&none, &next, "filesystem: cannot change");
    settings_done(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_a_run_that_began_without_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
