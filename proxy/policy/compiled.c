#include "proxy/policy/compiled.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

bool policy_new(struct policy **out, struct err *e)
{
    struct hash_key key;
    struct policy *p;

    if (!hash_key_make(&key, e))
        return false;
    p = calloc(1, sizeof *p);
    if (p == NULL)
        abort();
    p->refs = 1;
    p->sni = SNI_MATCH;
    p->trie = trie_new(&key);
    *out = p;
    return true;
}

struct policy *policy_ref(struct policy *p)
{
    unsigned had = atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);

    assert(had > 0);
    return p;
}

void policy_unref(struct policy **p)
{
    struct policy *old = *p;

    *p = NULL;
    if (old == NULL ||
        atomic_fetch_sub_explicit(&old->refs, 1, memory_order_acq_rel) != 1)
        return;
    trie_free(&old->trie);
    for (unsigned i = 0; i < POLICY_LAYERS_MAX; i++) {
        radix_free(&old->listed[i]);
        free(old->labels[i]);
    }
    entries_done(&old->entries);
    free(old);
}

unsigned long policy_generation(const struct policy *p)
{
    return p->generation;
}

struct verdict policy_answer(const struct policy *p, bool allow, enum reason reason,
                             struct rule rule)
{
    return (struct verdict){allow, reason, rule, p->generation};
}

const char *policy_rule_text(const struct policy *p, const struct rule *r, char *buf,
                             size_t size)
{
    static const char *const keys[] = {
        [RULE_ALLOWED_DOMAINS] = "allowedDomains",
        [RULE_DENIED_DOMAINS] = "deniedDomains",
        [RULE_DENIED_ADDRESSES] = "deniedResolvedAddresses",
        [RULE_NAT64_PREFIXES] = "nat64Prefixes",
        [RULE_PRIVATE_ADDRESSES] = "privateAddresses",
        [RULE_MODE] = "mode",
        [RULE_SNI] = "sni",
    };
    const char *label = "";
    int len;

    buf[0] = '\0';
    if (r->list <= RULE_NONE || r->list > RULE_SNI)
        return buf;
    if (r->level < POLICY_LAYERS_MAX && p->labels[r->level] != NULL)
        label = p->labels[r->level];
    len = snprintf(buf, size, "%snetwork.%s", label, keys[r->list]);
    if (entries_find(&p->entries, r) != NULL && len > 0 && (size_t)len < size)
        snprintf(buf + len, size - (size_t)len, "[%u]", r->index);
    return buf;
}

const char *policy_remedy_label(const struct policy *p, const struct verdict *v)
{
    bool denies = v->reason == REASON_DENY_LIST || v->reason == REASON_ADDRESS_LISTED;
    unsigned level =
        denies && v->generation == p->generation ? v->rule.level : p->allow_level;

    return level < POLICY_LAYERS_MAX && p->labels[level] != NULL ? p->labels[level]
                                                                 : "";
}

struct str policy_rule_entry(const struct policy *p, const struct rule *r)
{
    const struct entry *entry = entries_find(&p->entries, r);

    if (entry == NULL)
        return (struct str){"", 0};
    return (struct str){p->entries.text + entry->text_at, entry->text_len};
}

struct str policy_deny_text(const struct policy *p, const struct rule *r)
{
    const struct entry *entry = entries_find(&p->entries, r);

    if (entry == NULL || entry->reason_len == 0)
        return (struct str){"", 0};
    return (struct str){p->entries.text + entry->reason_at, entry->reason_len};
}
