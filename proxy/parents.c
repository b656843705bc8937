#include "proxy/parents.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "proxy/parents_table.h"
#include "proxy/policy/addrclass.h"

enum { RULE_TEXT_MAX = 128, REVIEW_MAX = 768 };

struct parents *parents_ref(struct parents *p)
{
    if (p != NULL) {
        unsigned had = atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);

        assert(had > 0);
    }
    return p;
}

void parents_unref(struct parents **pointer)
{
    struct parents *p = *pointer;

    *pointer = NULL;
    if (p == NULL || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < PARENTS_COUNT; i++)
        parent_done(&p->parent[i]);
    no_proxy_free(&p->no_proxy);
    host_set_free(&p->mitm_hosts);
    free(p);
}

bool parents_take_contexts(struct parents *p, const char *ca_file, struct err *e)
{
    struct tls_context *context = NULL;

    for (size_t i = 0; i < PARENTS_COUNT; i++) {
        if (!p->parent[i].tls)
            continue;
        if (context == NULL && !tls_client_new(ca_file, &context, e))
            return false;
        p->parent[i].context = tls_context_ref(context);
    }
    tls_context_unref(&context);
    return true;
}

void parents_review(const struct parents *p, const struct policy *policy,
                    const char *label, policy_warn_fn *warn, void *owner)
{
    const struct target any = {.kind = HOST_NAME};
    struct verdict v = policy_check_unresolved(policy, &any);
    char rule[RULE_TEXT_MAX], text[REVIEW_MAX];

    for (size_t i = 0; !v.allow && p != NULL && warn != NULL && i < PARENTS_COUNT;
         i++) {
        const struct parent *one = &p->parent[i];

        if (one->kind == PARENT_NONE || one->resolve_local)
            continue;
        snprintf(text, sizeof text,
                 "%snetwork: every name that goes through the parent proxy %s is "
                 "refused (%s), because of %s; see \"resolve\"",
                 label, one->name, reason_name(v.reason),
                 policy_rule_text(policy, &v.rule, rule, sizeof rule));
        warn(owner, text);
    }
}

const struct parent *parents_get(const struct parents *p, enum parents_which which)
{
    if (p == NULL || p->parent[which].kind == PARENT_NONE)
        return NULL;
    return &p->parent[which];
}

/* Another host's loopback is never what is meant. */
static bool is_loopback(const struct target *t)
{
    if (t->kind == HOST_ADDR)
        return addr_class_of(&t->ip) == ADDR_CLASS_LOOPBACK;
    return str_equal(t->host, STR("localhost")) || str_ends(t->host, STR(".localhost"));
}

const struct parent *parents_route(const struct parents *p, const struct target *t,
                                   enum dial_use use)
{
    const struct parent *https;

    if (p == NULL)
        return NULL;
    if (p->mitm_hosts != NULL && host_set_has(p->mitm_hosts, t))
        return parents_get(p, PARENTS_MITM);
    if (is_loopback(t) || (p->no_proxy != NULL && no_proxy_has(p->no_proxy, t)))
        return NULL;
    https = parents_get(p, PARENTS_HTTPS);
    return use == DIAL_EXCHANGE || https == NULL ? parents_get(p, PARENTS_HTTP) : https;
}
