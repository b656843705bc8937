/* Reads vectors from standard input and asks Weir's policy what srt was asked.
 *
 * A group of names is asked entry by entry (does this one match?) and as a whole, a
 * group of addresses as a whole for each name. Whatever differs must be meant by a
 * predicate. Exit status 0: all is meant; 1: something is not; 2: the vectors cannot be
 * read. */
#include <stdlib.h>

#include "tests/oracle/carrier.h"
#include "tests/oracle/difference.h"
#include "tests/oracle/policies.h"
#include "tests/oracle/spelling.h"

enum { ARENA_MAX = 2048 };

/* Words of the audit for srt's letters; multicast holds the limited broadcast. */
static const struct {
    enum reason reason;
    const char *letters;
} reasons[] = {
    {REASON_DENY_LIST, "d"},
    {REASON_ADDRESS_LOOPBACK, "l"},
    {REASON_ADDRESS_UNSPECIFIED, "u"},
    {REASON_ADDRESS_LINK_LOCAL, "k"},
    {REASON_ADDRESS_MULTICAST, "mb"},
    {REASON_ADDRESS_METADATA, "c"},
    {REASON_ADDRESS_LISTED, "s"},
    {REASON_ADDRESS_THIS_HOST, "t"},
    {REASON_ADDRESS_NOT_LOOPBACK, "n"},
};

static void fatal(const struct group *g, const char *what, const char *detail)
{
    fprintf(stderr, "oracle: group of line %u: %s: %s\n", g->line, what, detail);
    exit(2);
}

static void compare_entries(const struct group *g, struct tally *t)
{
    for (size_t i = 0; i < g->entry_count; i++) {
        const struct entry *e = &g->entries[i];
        struct difference d = {.kind = DIFF_ENTRY, .group = g, .entry = e};

        if (e->kind == 'i' || e->kind == 'p')
            continue;
        t->pairs++;
        /* What is accepted more in a deny list only denies more. */
        d.open = e->kind == 'a' && e->ours && !e->srt;
        if (e->ours != e->srt)
            tally_add(t, &d);
    }
}

/* SOCKS hands over an IPv6 address as an address: there are no brackets, and a colon
 * tells it. */
static bool parse_ask(const struct ask *ask, struct arena *a, struct target *t)
{
    if (ask->form == 'C')
        return target_parse(t, a, ask->raw);
    return target_set(t, a, ask->raw, memchr(ask->raw.p, ':', ask->raw.n) != NULL,
                      ask->port);
}

static bool same_target(const struct ask *ask, const struct target *t)
{
    struct ip ip;

    if (ask->port != t->port)
        return false;
    if (ip_parse(ask->canonical, &ip))
        return t->kind == HOST_ADDR && ip_equal(&ip, &t->ip);
    return t->kind == HOST_NAME && str_equal(ask->canonical, t->host);
}

static bool entry_matches(const struct entry *e, const struct target *t,
                          const struct hostaddrs *host)
{
    struct verdict v = policy_check_target(e->alone, t, host);

    return e->kind == 'a' ? v.allow : v.reason == REASON_DENY_LIST;
}

/* Of all entries that both load: deny first, then allow. */
static char order(const struct group *g, unsigned bits)
{
    char letter = 'N';

    for (size_t i = 0; i < g->entry_count; i++) {
        const struct entry *e = &g->entries[i];

        if (!e->srt || !e->ours || (bits >> i & 1) == 0)
            continue;
        if (e->kind == 'd')
            return 'D';
        letter = 'A';
    }
    return letter;
}

static char decision(const struct verdict *v)
{
    if (v->allow)
        return 'A';
    return v->reason == REASON_DENY_LIST ? 'D' : 'N';
}

/* Both took the request for a target: entry by entry, then the whole. */
static void compare_matches(const struct group *g, const struct policy *together,
                            struct difference *d, struct tally *t)
{
    const struct hostaddrs host = {0};
    struct verdict whole = policy_check_target(together, d->target, &host);
    unsigned ours = 0;

    d->kind = DIFF_MATCH;
    for (size_t i = 0; i < g->entry_count; i++) {
        const struct entry *e = &g->entries[i];
        bool srt = (d->ask->bits >> i & 1) != 0, match;

        if (!e->srt || !e->ours)
            continue;
        match = entry_matches(e, d->target, &host);
        ours |= (unsigned)match << i;
        t->pairs++;
        d->entry = e;
        d->matched = match;
        d->meant = (d->ask->meant >> i & 1) != 0;
        d->open = e->kind == 'a' ? match && !srt : srt && !match;
        if (match != srt || (d->meant && !match))
            tally_add(t, d);
    }
    t->decisions++;
    if (decision(&whole) != order(g, ours))
        fatal(g, "deny lists first, then allow lists", d->ask->raw.p);
}

static void compare_ask(const struct group *g, const struct policy *together,
                        const struct ask *ask, struct tally *t)
{
    struct difference d = {.kind = DIFF_TARGET, .group = g, .ask = ask};
    struct target target = {0};
    struct arena arena;
    bool srt = ask->letter != 'X' && ask->letter != 'M', ours;

    arena_init(&arena, ARENA_MAX);
    ours = parse_ask(ask, &arena, &target);
    d.target = ours ? &target : NULL;
    d.open = ours && !srt;
    t->pairs++;
    if (ours != srt || (ours && !same_target(ask, &target)))
        tally_add(t, &d);
    if (ours && srt)
        compare_matches(g, together, &d, t);
    arena_done(&arena);
}

static void compare_names(const struct group *g, struct tally *t)
{
    struct err e = {""};
    struct policy *together = policies_together(g, &e);

    if (together == NULL)
        fatal(g, "entries that load alone do not load together", e.text);
    for (size_t i = 0; i < g->ask_count; i++)
        compare_ask(g, together, &g->asks[i], t);
    policy_unref(&together);
}

static bool same_class(char letter, const struct verdict *v)
{
    if (v->allow || letter == 'p')
        return v->allow && letter == 'p';
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].reason == v->reason)
            return strchr(reasons[i].letters, letter) != NULL;
    return false;
}

/* Whether an entry of the allow list opens the address: what carries it is not opened.
 */
static bool is_exempt(const struct group *g, const struct ip *ip)
{
    struct ip listed;

    for (size_t i = 0; i < g->entry_count; i++) {
        if (g->entries[i].kind != 'a' ||
            !ip_parse(spelling_of(g->entries[i].text).host, &listed))
            continue;
        ip_unmap(&listed);
        if (ip_equal(&listed, ip))
            return true;
    }
    return false;
}

/* What the address carries, in a form that srt does not decode, by Weir's own word. */
static void look_inside(const struct policy *p, const struct hostaddrs *host,
                        struct difference *d)
{
    struct ip carried[CARRIED_MAX];
    size_t n = carried_by(&d->address->ip, d->group, carried);

    d->carries_denied = d->carries_exempt = false;
    for (size_t i = 0; i < n; i++) {
        d->carries_denied |= !policy_check_addr(p, d->target, &carried[i], host).allow;
        d->carries_exempt |= is_exempt(d->group, &carried[i]);
    }
}

/* Allowed, though no entry names it and it carries what is denied: srt does not see
 * that either, and Weir must. */
static bool is_overlooked(const struct difference *d)
{
    return d->verdict.allow && d->verdict.rule.list == RULE_NONE && d->carries_denied;
}

static void compare_address(const struct policy *p, const struct hostaddrs *host,
                            struct difference *d, struct tally *t)
{
    d->verdict = policy_check_addr(p, d->target, &d->address->ip, host);
    d->open = d->verdict.allow && d->srt != 'p';
    look_inside(p, host, d);
    t->pairs++;
    if (!same_class(d->srt, &d->verdict) || is_overlooked(d))
        tally_add(t, d);
}

/* The name is on the allow list: only its addresses are in question. */
static void compare_name(const struct group *g, const struct policy *p, size_t name,
                         const struct hostaddrs *host, struct tally *t)
{
    struct difference d = {.kind = DIFF_ADDRESS, .group = g};
    struct target target = {0};
    struct arena arena;

    arena_init(&arena, ARENA_MAX);
    if (!target_parse(&target, &arena, g->names[name]) ||
        !policy_check_target(p, &target, host).allow)
        fatal(g, "the name is not allowed", g->names[name].p);
    d.target = &target;
    for (size_t i = 0; i < g->address_count; i++) {
        d.address = &g->addresses[i];
        d.srt = d.address->letters.p[name];
        compare_address(p, host, &d, t);
    }
    arena_done(&arena);
}

static bool all_agreed(const struct group *g)
{
    for (size_t i = 0; i < g->entry_count; i++)
        if (g->entries[i].kind == 'r' && g->entries[i].srt != g->entries[i].ours)
            return false;
    return true;
}

static void compare_addresses(const struct group *g, struct tally *t)
{
    struct ip interfaces[ENTRIES_MAX];
    struct hostaddrs host = {.interfaces = interfaces};
    struct err e = {""};
    struct policy *p = policies_together(g, &e);

    if (p == NULL)
        fatal(g, "does not load", e.text);
    for (size_t i = 0; i < g->entry_count; i++)
        if (g->entries[i].kind == 'i' &&
            !ip_parse(g->entries[i].text, &interfaces[host.interface_count++]))
            fatal(g, "no address", g->entries[i].text.p);
    /* A range that one of the two refuses has been counted; its addresses tell nothing.
     */
    for (size_t i = 0; i < g->name_count && all_agreed(g); i++)
        compare_name(g, p, i, &host, t);
    policy_unref(&p);
}

int main(void)
{
    struct group *g = calloc(1, sizeof *g);
    struct tally t = {0};
    struct reader r;
    struct err e = {""};
    int read;

    if (g == NULL)
        return 2;
    reader_init(&r, stdin);
    while ((read = group_read(&r, g, &e)) == 1) {
        policies_alone(g);
        compare_entries(g, &t);
        if (g->kind == 'G')
            compare_names(g, &t);
        else
            compare_addresses(g, &t);
        policies_free(g);
        group_done(g);
    }
    group_done(g);
    free(g);
    reader_done(&r);
    if (read < 0) {
        fprintf(stderr, "oracle: %s\n", e.text);
        return 2;
    }
    return tally_report(&t) ? 0 : 1;
}
