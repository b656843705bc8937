#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/summary.h"

/* Adds an event for "host:port"; NULL: what was no target. */
static void add(struct summary *s, const char *authority, bool allow,
                enum reason reason)
{
    struct audit_event event = {.verdict = {.allow = allow, .reason = reason}};
    struct target target;
    struct arena arena;

    arena_init(&arena, 1024);
    if (authority != NULL) {
        assert_true(target_parse(&target, &arena, str_from(authority)));
        event.target = &target;
    }
    summary_add(s, &event);
    arena_done(&arena);
}

static void assert_prints(const struct summary *s, const char *settings,
                          const char *wanted)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    summary_print(s, settings, out);
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_nothing(void **state)
{
    struct summary *s = summary_new();

    (void)state;
    add(s, "a.test:1", true, REASON_ALLOW_LIST);
    add(s, "b.test:1", false, REASON_CONNECT_FAILURE);
    add(s, "c.test:1", false, REASON_DNS_FAILURE);
    add(s, "d.test:1", false, REASON_CLIENT_LEFT);
    assert_prints(s, NULL, "");
    summary_free(&s);
    assert_null(s);
}

static void test_counts(void **state)
{
    struct summary *s = summary_new();

    (void)state;
    add(s, "bad.test:443", false, REASON_DENY_LIST);
    assert_prints(s, NULL,
                  "weir: denied 1 connection: bad.test:443 is on the deny list\n");
    add(s, "db:5432", false, REASON_NOT_ON_ALLOW_LIST); /* no entry could hold it */
    assert_prints(s, NULL,
                  "weir: denied 2 connections: bad.test:443 is on the deny list, "
                  "db:5432 is not on the allow list\n");
    add(s, "Evil.test:443", false, REASON_NOT_ON_ALLOW_LIST);
    add(s, "evil.test:443", false, REASON_NOT_ON_ALLOW_LIST);
    add(s, "[::1]:80", false, REASON_ADDRESS_LOOPBACK);
    add(s, NULL, false, REASON_MALFORMED_HOST);
    assert_prints(s, "/s.json",
                  "weir: denied 6 connections: bad.test:443 is on the deny list, "
                  "db:5432 is not on the allow list, "
                  "evil.test:443 is not on the allow list (2), [::1]:80 is a "
                  "loopback address, a request: malformed host\n"
                  "weir: to allow it: --allow evil.test:443, or \"evil.test:443\" in "
                  "network.allowedDomains of /s.json\n");
    summary_free(&s);
}

static void test_many(void **state)
{
    struct summary *s = summary_new();
    char authority[64];

    (void)state;
    for (unsigned i = 1; i <= 1000; i++) {
        snprintf(authority, sizeof authority, "h.test:%u", i);
        add(s, authority, false, REASON_DENY_LIST);
    }
    assert_prints(s, NULL,
                  "weir: denied 1000 connections: h.test:1 is on the deny list, "
                  "h.test:2 is on the deny list, h.test:3 is on the deny list, "
                  "h.test:4 is on the deny list, h.test:5 is on the deny list, "
                  "h.test:6 is on the deny list, h.test:7 is on the deny list, "
                  "h.test:8 is on the deny list, and 992 others\n");
    summary_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
