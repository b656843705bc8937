#include "proxy/policy/policy.h"

#include <assert.h>
#include <limits.h>

#include "proxy/policy/addrclass.h"
#include "proxy/policy/compiled.h"
#include "proxy/policy/here.h"

/* No layer has this level. */
enum { NO_LEVEL = POLICY_LAYERS_MAX };

static const struct rule no_rule;

static struct verdict allow(const struct policy *p, enum reason reason,
                            struct rule rule)
{
    return policy_answer(p, true, reason, rule);
}

static struct verdict deny(const struct policy *p, enum reason reason, struct rule rule)
{
    return policy_answer(p, false, reason, rule);
}

/* What the lists say of one host and port. */
struct listing {
    unsigned port;
    const struct span *denied, *allowed; /* NULL: not there */
    unsigned weight;                     /* of what allowed */
};

static bool on_match(void *owner, const struct trie_match *match)
{
    struct listing *l = owner;
    const struct span *span = spans_find(match->spans, match->count, l->port);

    if (span == NULL)
        return true;
    if (match->use == PATTERN_DENY) {
        l->denied = span;
        return false;
    }
    if (l->allowed == NULL || match->weight > l->weight) {
        l->allowed = span;
        l->weight = match->weight;
    }
    return true;
}

static struct listing list_name(const struct policy *p, struct str name, unsigned port)
{
    struct listing l = {.port = port};

    trie_visit_name(p->trie, name, on_match, &l);
    return l;
}

/* One address in question, with everything that it may stand for. */
struct question {
    const struct policy *p;
    const struct hostaddrs *host;
    struct forms forms;
    unsigned port;
};

/* Field by field: most of the room for forms stays untouched. */
static void ask(struct question *q, const struct policy *p,
                const struct hostaddrs *host, const struct ip *ip, unsigned port)
{
    assert(host != NULL);
    q->p = p;
    q->host = host;
    q->port = port;
    forms_of(ip, p->nat64, p->nat64_count, &q->forms);
}

/* A deny entry for any of the forms counts; an allow entry only for the address. */
static struct listing list_addr(const struct question *q)
{
    struct listing l = {.port = q->port};

    for (size_t i = 0; i < q->forms.count && l.denied == NULL; i++) {
        struct listing hidden = {.port = q->port};

        trie_visit_addr(q->p->trie, &q->forms.form[i].ip, on_match, &hidden);
        l.denied = hidden.denied;
        if (i == 0)
            l.allowed = hidden.allowed;
    }
    return l;
}

static bool is_own(const struct question *q)
{
    for (size_t i = 0; i < q->forms.count; i++)
        if (here_is_own(q->host, &q->forms.form[i].ip, q->port))
            return true;
    return false;
}

static bool is_this_host(const struct question *q)
{
    for (size_t i = 0; i < q->forms.count; i++)
        if (here_has(q->host, &q->forms.form[i].ip))
            return true;
    return false;
}

/* deniedResolvedAddresses of every layer but `except`. */
static bool is_listed(const struct question *q, unsigned except, struct rule *rule)
{
    const struct policy *p = q->p;
    uint32_t entry;

    for (unsigned level = 0; level < POLICY_LAYERS_MAX; level++) {
        if (p->listed[level] == NULL || level == except)
            continue;
        for (size_t i = 0; i < q->forms.count; i++) {
            if (radix_find(p->listed[level], &q->forms.form[i].ip, &entry)) {
                *rule = entries_rule(&p->entries, entry);
                return true;
            }
        }
    }
    return false;
}

/* privateAddresses of every layer but `except`. */
static bool is_denied_private(const struct question *q, unsigned except,
                              struct rule *rule)
{
    unsigned level = 0;

    while (level < POLICY_LAYERS_MAX &&
           (!q->p->denies_private[level] || level == except))
        level++;
    if (level == POLICY_LAYERS_MAX)
        return false;
    for (size_t i = 0; i < q->forms.count; i++) {
        if (addr_is_private(&q->forms.form[i].ip)) {
            *rule = (struct rule){RULE_PRIVATE_ADDRESSES, level, 0};
            return true;
        }
    }
    return false;
}

/* The first class in the order of srt that one of the forms has; *rule names the
 * configured prefix that showed it. */
static enum addr_class class_of(const struct question *q, struct rule *rule)
{
    enum addr_class first = ADDR_CLASS_OTHER;

    for (size_t i = 0; i < q->forms.count; i++) {
        const struct form *form = &q->forms.form[i];
        enum addr_class class = addr_class_of(&form->ip);

        if (class >= first)
            continue;
        first = class;
        *rule = form->prefix == FORM_NOT_CONFIGURED
                    ? no_rule
                    : entries_rule(&q->p->entries, q->p->nat64_entry[form->prefix]);
    }
    return first;
}

static enum reason reason_of(enum addr_class class)
{
    switch (class) {
    case ADDR_CLASS_LOOPBACK:
        return REASON_ADDRESS_LOOPBACK;
    case ADDR_CLASS_LINK_LOCAL:
        return REASON_ADDRESS_LINK_LOCAL;
    case ADDR_CLASS_MULTICAST:
    case ADDR_CLASS_BROADCAST:
        return REASON_ADDRESS_MULTICAST;
    case ADDR_CLASS_METADATA:
        return REASON_ADDRESS_METADATA;
    case ADDR_CLASS_NONE_AT_ALL:
    case ADDR_CLASS_UNSPECIFIED:
    case ADDR_CLASS_OTHER:
        break;
    }
    return REASON_ADDRESS_UNSPECIFIED;
}

/* An address that no entry names: by its class, then by the address rules. */
static struct verdict judge_class(const struct question *q)
{
    struct rule rule = no_rule;
    enum addr_class class = class_of(q, &rule);

    if (class != ADDR_CLASS_OTHER)
        return deny(q->p, reason_of(class), rule);
    if (is_listed(q, NO_LEVEL, &rule))
        return deny(q->p, REASON_ADDRESS_LISTED, rule);
    if (is_this_host(q))
        return deny(q->p, REASON_ADDRESS_THIS_HOST, no_rule);
    if (is_denied_private(q, NO_LEVEL, &rule))
        return deny(q->p, REASON_ADDRESS_PRIVATE, rule);
    if (q->forms.is_unknown_nat64)
        return deny(q->p, REASON_ADDRESS_PRIVATE, no_rule);
    return allow(q->p, REASON_ALLOW_LIST, no_rule);
}

/* An address that the entry of a span names (itself, or by "localhost"): its class is
 * meant. The address rules of the layer that wrote the entry are, too; those of others
 * are not for it to lift. */
static struct verdict judge_named(const struct question *q, const struct span *span)
{
    struct rule allowed = entries_rule(&q->p->entries, span->entry), rule;

    if (is_listed(q, allowed.level, &rule))
        return deny(q->p, REASON_ADDRESS_LISTED, rule);
    if (is_denied_private(q, allowed.level, &rule))
        return deny(q->p, REASON_ADDRESS_PRIVATE, rule);
    return allow(q->p, REASON_ALLOW_LIST, allowed);
}

static struct verdict judge_unlisted(const struct policy *p)
{
    if (p->mode == MODE_REPORT)
        return allow(p, REASON_REPORT_MODE, (struct rule){RULE_MODE, p->mode_level, 0});
    return deny(p, REASON_NOT_ON_ALLOW_LIST, no_rule);
}

/* True when the question is settled: by what is always refused, by a deny entry, or by
 * an entry that names this address. */
static bool settle_addr(const struct question *q, struct verdict *v)
{
    struct listing l;

    if (is_own(q)) {
        *v = deny(q->p, REASON_ADDRESS_OWN, no_rule);
        return true;
    }
    l = list_addr(q);
    if (l.denied != NULL)
        *v =
            deny(q->p, REASON_DENY_LIST, entries_rule(&q->p->entries, l.denied->entry));
    else if (l.allowed != NULL)
        *v = judge_named(q, l.allowed);
    return l.denied != NULL || l.allowed != NULL;
}

static struct verdict check_literal(const struct policy *p, const struct target *t,
                                    const struct hostaddrs *host)
{
    struct question q;
    struct verdict v;

    ask(&q, p, host, &t->ip, t->port);
    if (settle_addr(&q, &v))
        return v;
    v = judge_class(&q);
    return v.allow ? judge_unlisted(p) : v;
}

struct verdict policy_check_target(const struct policy *p, const struct target *t,
                                   const struct hostaddrs *host)
{
    struct listing l;

    if (t->kind == HOST_ADDR)
        return check_literal(p, t, host);
    if (t->kind != HOST_NAME)
        return deny(p, REASON_MALFORMED_HOST, no_rule);
    l = list_name(p, t->host, t->port);
    if (l.denied != NULL)
        return deny(p, REASON_DENY_LIST, entries_rule(&p->entries, l.denied->entry));
    if (l.allowed != NULL)
        return allow(p, REASON_ALLOW_LIST, entries_rule(&p->entries, l.allowed->entry));
    return judge_unlisted(p);
}

static bool is_localhost(const struct target *t)
{
    return t->kind == HOST_NAME && (str_equal(t->host, STR("localhost")) ||
                                    str_ends(t->host, STR(".localhost")));
}

/* A localhost name leads to loopback and nowhere else (RFC 6761 6.3). Loopback is open
 * to it when the allow list names it; in report mode alone it is not. */
static struct verdict check_localhost(const struct question *q, const struct target *t)
{
    struct listing l = list_name(q->p, t->host, t->port);

    if (addr_class_of(&q->forms.form[0].ip) != ADDR_CLASS_LOOPBACK)
        return deny(q->p, REASON_ADDRESS_NOT_LOOPBACK, no_rule);
    return l.allowed != NULL ? judge_named(q, l.allowed) : judge_class(q);
}

struct verdict policy_check_addr(const struct policy *p, const struct target *t,
                                 const struct ip *ip, const struct hostaddrs *host)
{
    struct question q;
    struct verdict v;

    ask(&q, p, host, ip, t->port);
    if (settle_addr(&q, &v))
        return v;
    return is_localhost(t) ? check_localhost(&q, t) : judge_class(&q);
}

/* The first rule for addresses that somebody wrote; RULE_NONE when nobody did. */
static struct rule first_address_rule(const struct policy *p)
{
    for (unsigned level = 0; level < POLICY_LAYERS_MAX; level++) {
        if (p->listed[level] != NULL)
            return (struct rule){RULE_DENIED_ADDRESSES, level, 0};
        if (p->denies_private[level])
            return (struct rule){RULE_PRIVATE_ADDRESSES, level, 0};
    }
    if (p->denies_addr)
        return entries_rule(&p->entries, p->denied_addr_entry);
    return p->nat64_count > 0 ? entries_rule(&p->entries, p->nat64_entry[0]) : no_rule;
}

struct verdict policy_check_unresolved(const struct policy *p, const struct target *t)
{
    struct rule rule = first_address_rule(p);

    if (t->kind == HOST_NAME && rule.list != RULE_NONE)
        return deny(p, REASON_ADDRESS_UNCHECKED, rule);
    return allow(p, REASON_ALLOW_LIST, no_rule);
}
