#include "proxy/policy/review.h"

#include "proxy/policy/suffix.h"

enum { RULE_TEXT_MAX = 160 };

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

/* The node of an entry, for its line. */
static const cJSON *node_of(const struct loading *l, const struct rule *rule,
                            const char *key)
{
    const cJSON *list = json_get(l->layers[rule->level].network, key);

    /* Only for a warning: the walk along the list is what cJSON offers. */
    return cJSON_GetArrayItem(list, (int)rule->index);
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
    loading_warn(l, b.level, node_of(l, &b, key), key, (int)b.index,
                 "is the same as [%u]", a.index);
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

static void review_entry(const struct loading *l, const cJSON *node, int index)
{
    char text[RULE_TEXT_MAX];
    struct pattern p;
    struct cover c = {&p, NULL};
    struct rule rule;
    struct str entry;
    struct err e;

    if (!pattern_parse(str_from(node->valuestring), PATTERN_ALLOW, &p, &e))
        return;
    trie_visit_pattern(l->p->trie, &p, on_match, &c);
    if (c.by == NULL)
        return;
    rule = entries_rule(&l->p->entries, c.by->entry);
    entry = entries_text(&l->p->entries, c.by->entry);
    loading_warn(l, l->p->allow_level, node, allowed_key, index,
                 "never allows anything: %s (\"%.*s\") denies all of it",
                 policy_rule_text(l->p, &rule, text, sizeof text),
                 STR_ARG(str_head(entry, 64)));
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
    const cJSON *list, *node;
    int index = 0;

    if (l->warn == NULL || !has_denied(l))
        return;
    list = json_get(l->layers[l->p->allow_level].network, allowed_key);
    cJSON_ArrayForEach(node, list)
        review_entry(l, node, index++);
}
