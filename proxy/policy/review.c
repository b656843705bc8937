#include "proxy/policy/review.h"

#include "proxy/base/utf8.h"
#include "proxy/policy/suffix.h"

enum { RULE_TEXT_MAX = 160, SHOWN_MAX = 64 };

static const char allowed_key[] = "allowedDomains", denied_key[] = "deniedDomains";

static void note_inner_star(const struct loading *l, const struct pattern *p,
                            const cJSON *node, const char *key, int index)
{
    if (p->has_inner_star)
        loading_warn(l, l->level, node, key, index,
                     "the \"*\" inside stands for exactly one label");
}

static bool check_suffix(const struct loading *l, const struct pattern *p,
                         const cJSON *node, int index, struct err *e)
{
    const char *base = pattern_base(p);

    switch (suffix_of(base)) {
    case SUFFIX_NONE:
        return true;
    case SUFFIX_PRIVATE:
        loading_warn(l, l->level, node, allowed_key, index,
                     "%s is a public suffix: the names of all its customers match, not "
                     "of one owner",
                     base);
        return true;
    case SUFFIX_PUBLIC:
        break;
    }
    return err_set(e,
                   "%s is a public suffix: everybody's names would match; name the "
                   "domain, as in \"*.example.%s\"",
                   base, base);
}

bool review_allowed(const struct loading *l, const struct pattern *p, const cJSON *node,
                    int index, struct err *e)
{
    bool has_star = p->kind == PATTERN_BELOW || p->has_inner_star;

    if (has_star && !check_suffix(l, p, node, index, e))
        return false;
    note_inner_star(l, p, node, allowed_key, index);
    if (p->kind == PATTERN_NAME && str_equal(p->name, STR("localhost")) &&
        !pattern_has_port(p))
        loading_warn(l, l->level, node, allowed_key, index,
                     "opens every port of this host's loopback (127.0.0.0/8 and ::1): "
                     "databases, debuggers, other people's servers; name the port, as "
                     "in \"localhost:8080\"");
    return true;
}

void review_denied(const struct loading *l, const struct pattern *p, const cJSON *node,
                   int index)
{
    note_inner_star(l, p, node, denied_key, index);
}

void review_twice(void *owner, uint32_t first, uint32_t second)
{
    const struct loading *l = owner;
    struct rule a = entries_rule(&l->p->entries, first);
    struct rule b = entries_rule(&l->p->entries, second);
    const char *key = b.list == RULE_ALLOWED_DOMAINS ? allowed_key : denied_key;

    /* Lists of several layers may well say the same. */
    if (l->warn == NULL || a.level != b.level)
        return;
    loading_warn(l, b.level, l->nodes[second], key, (int)b.index, "is the same as [%u]",
                 a.index);
}

/* An allow entry, and the deny entry that holds all of it. */
struct cover {
    const struct pattern *p;
    const struct span *by;
};

static bool on_match(void *owner, const struct trie_match *match)
{
    struct cover *c = owner;
    const struct span *span = spans_find(match->spans, match->count, c->p->first_port);

    if (match->use == PATTERN_DENY && span != NULL && span->last >= c->p->last_port)
        c->by = span;
    return c->by == NULL;
}

static void review_entry(const struct loading *l, uint32_t number)
{
    const struct entries *es = &l->p->entries;
    struct rule allowed = entries_rule(es, number), denied;
    char text[RULE_TEXT_MAX];
    struct pattern p;
    struct cover c = {&p, NULL};
    struct err e;

    if (!pattern_parse(entries_text(es, number), PATTERN_ALLOW, &p, &e))
        return;
    trie_visit_pattern(l->p->trie, &p, on_match, &c);
    if (c.by == NULL)
        return;
    denied = entries_rule(es, c.by->entry);
    loading_warn(l, allowed.level, l->nodes[number], allowed_key, (int)allowed.index,
                 "never allows anything: %s (\"%.*s\") denies all of it",
                 policy_rule_text(l->p, &denied, text, sizeof text),
                 STR_ARG(utf8_head(entries_text(es, c.by->entry), SHOWN_MAX)));
}

static bool has_denied(const struct loading *l)
{
    for (size_t level = 0; level < l->layer_count; level++)
        if (l->p->entries.counts[level][RULE_DENIED_DOMAINS] > 0)
            return true;
    return false;
}

void review_covered(const struct loading *l)
{
    const struct entries *es = &l->p->entries;

    if (l->warn == NULL || !has_denied(l))
        return;
    for (uint32_t i = 0; i < es->count; i++)
        if (es->entry[i].list == RULE_ALLOWED_DOMAINS &&
            loading_allows(l, es->entry[i].level))
            review_entry(l, i);
}
