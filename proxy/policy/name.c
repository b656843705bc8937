/* What may be said of a name before a port is known: the question of a name server. */
#include <limits.h>

#include "proxy/policy/compiled.h"

enum { PORT_MAX = 65535, WORD_BITS = 64, WORDS = (PORT_MAX + 1) / WORD_BITS };

/* Enough for one canonical host. */
enum { ARENA_SIZE = 512 };

/* The ports on which the name is denied, and the best entry that allows another. */
struct survey {
    uint64_t denied[WORDS];
    const struct span *deny, *allow; /* NULL: none */
    const struct span *shut;         /* allows, but not where it is not denied */
    bool by_star;                    /* what `allow` says */
};

static bool is_denied(const struct survey *s, unsigned port)
{
    return (s->denied[port / WORD_BITS] >> port % WORD_BITS & 1) != 0;
}

static bool on_denied(void *owner, const struct trie_match *match)
{
    struct survey *s = owner;

    if (match->use != PATTERN_DENY)
        return true;
    s->deny = match->spans;
    for (size_t i = 0; i < match->count; i++)
        for (unsigned port = match->spans[i].first; port <= match->spans[i].last;
             port++)
            s->denied[port / WORD_BITS] |= 1ull << port % WORD_BITS;
    return true;
}

static bool is_open(const struct survey *s, const struct span *span)
{
    for (unsigned port = span->first; port <= span->last; port++)
        if (!is_denied(s, port))
            return true;
    return false;
}

static bool on_allowed(void *owner, const struct trie_match *match)
{
    struct survey *s = owner;

    if (match->use != PATTERN_ALLOW || (s->allow != NULL && !s->by_star))
        return true;
    for (size_t i = 0; i < match->count; i++) {
        if (is_open(s, &match->spans[i])) {
            s->allow = &match->spans[i];
            s->by_star = match->by_star;
            return true;
        }
        s->shut = &match->spans[i];
    }
    return true;
}

static struct rule rule_of(const struct policy *p, const struct span *span)
{
    return entries_rule(&p->entries, span->entry);
}

static struct name_verdict judge(const struct policy *p, struct str name)
{
    struct survey s = {0};

    trie_visit_name(p->trie, name, on_denied, &s);
    trie_visit_name(p->trie, name, on_allowed, &s);
    if (s.allow != NULL)
        return (struct name_verdict){
            s.by_star ? NAME_ALLOWED_WILDCARD : NAME_ALLOWED_EXACT,
            REASON_ALLOW_LIST,
            rule_of(p, s.allow),
        };
    if (s.shut != NULL ||
        (s.deny != NULL && !is_open(&s, &(struct span){1, PORT_MAX, 0})))
        return (struct name_verdict){NAME_DENIED, REASON_DENY_LIST, rule_of(p, s.deny)};
    /* Nobody listed it, so only resolving tells whether it exists: as for a wildcard.
     */
    if (p->mode == MODE_REPORT)
        return (struct name_verdict){NAME_ALLOWED_WILDCARD, REASON_REPORT_MODE,
                                     (struct rule){RULE_MODE, p->mode_level, 0}};
    return (struct name_verdict){NAME_DENIED, REASON_NOT_ON_ALLOW_LIST, {0}};
}

struct name_verdict policy_check_name(const struct policy *p, struct str name)
{
    struct name_verdict v = {NAME_DENIED, REASON_MALFORMED_HOST, {0}};
    struct target t;
    struct arena a;

    arena_init(&a, ARENA_SIZE);
    if (target_set(&t, &a, name, false, 1) && t.kind == HOST_NAME)
        v = judge(p, t.host);
    arena_done(&a);
    return v;
}
