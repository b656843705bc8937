/* Policies from JSON text, for tests: a test names the `network` objects, outermost
 * first, and asks about authorities as a client would write them. */
#ifndef TESTS_POLICY_LOADED_H
#define TESTS_POLICY_LOADED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/policy/policy.h"

enum { WARNINGS_SIZE = 8192 };

struct warnings {
    size_t count;
    char text[WARNINGS_SIZE]; /* a line each */
};

static inline void on_warning(void *owner, const char *text)
{
    struct warnings *w = owner;
    size_t len = strlen(w->text);

    w->count++;
    snprintf(w->text + len, sizeof w->text - len, "%s\n", text);
}

/* Up to four layers, the text of each a `network` object; NULL when refused. The fourth
 * adds to the allow list, as the command line does. */
static inline struct policy *load_layers(const char *const texts[], size_t count,
                                         struct warnings *w, struct err *e)
{
    static const char *const labels[] = {"", "clients[0].", "session.", "command."};
    struct json_doc *docs[4] = {NULL};
    struct policy_layer layers[4];
    struct policy *p = NULL;

    *w = (struct warnings){0};
    for (size_t i = 0; i < count; i++) {
        if (!json_parse(str_from(texts[i]), JSON_SETTINGS, &docs[i], e))
            fail_msg("%s: %s", texts[i], e->text);
        layers[i] =
            (struct policy_layer){labels[i], docs[i], json_root(docs[i]), i == 3};
    }
    if (!policy_load(layers, count, on_warning, w, &p, e))
        p = NULL;
    for (size_t i = 0; i < count; i++)
        json_free(&docs[i]);
    return p;
}

/* One layer that must load. */
static inline struct policy *load_text(const char *text)
{
    struct warnings w;
    struct err e = {""};
    struct policy *p = load_layers(&text, 1, &w, &e);

    if (p == NULL)
        fail_msg("%s: %s", text, e.text);
    return p;
}

/* This host, as most tests have it. */
static inline const struct hostaddrs *test_host(void)
{
    static const struct ip interfaces[] = {
        {4, {127, 0, 0, 1}},
        {6, {[15] = 1}},
        {4, {192, 0, 2, 77}},
        {6, {0x20, 0x01, 0x0d, 0xb8, [15] = 0x77}},
    };
    static struct addr own[2];
    static struct hostaddrs host = {
        .interfaces = interfaces, .interface_count = 4, .own = own, .own_count = 2};

    own[0] = addr_from_ip(&interfaces[0], 3128);
    own[1] = addr_from_ip(&interfaces[1], 9128);
    return &host;
}

/* The authority is one that a client may write; its host is copied to a place that
 * lasts until the next call. */
static inline struct target test_target(const char *authority)
{
    static char host[HOST_NAME_MAX_LEN + 1];
    struct target t;
    struct arena a;

    arena_init(&a, 512);
    if (!target_parse(&t, &a, str_from(authority)))
        fail_msg("%s: is no target", authority);
    memcpy(host, t.host.p, t.host.n + 1);
    t.host.p = host;
    arena_done(&a);
    return t;
}

static inline struct verdict ask_target(const struct policy *p, const char *authority)
{
    struct target t = test_target(authority);

    return policy_check_target(p, &t, test_host());
}

static inline struct verdict ask_addr(const struct policy *p, const char *authority,
                                      const char *address)
{
    struct target t = test_target(authority);
    struct ip ip;

    if (!ip_parse(str_from(address), &ip))
        fail_msg("%s: is no address", address);
    return policy_check_addr(p, &t, &ip, test_host());
}

/* "allow-list" or "deny-list network.deniedDomains[0]". */
static inline const char *verdict_text(const struct policy *p, struct verdict v)
{
    static char text[256];
    char rule[128];

    policy_rule_text(p, &v.rule, rule, sizeof rule);
    snprintf(text, sizeof text, "%s%s%s", reason_name(v.reason), rule[0] ? " " : "",
             rule);
    assert_int_equal(v.allow,
                     v.reason == REASON_ALLOW_LIST || v.reason == REASON_REPORT_MODE);
    return text;
}

#define assert_verdict(p, v, text) assert_string_equal(verdict_text(p, v), text)

#endif
