#include "tests/oracle/policies.h"

#include "proxy/base/buf.h"

enum { SETTINGS_MAX = 64 * 1024, WORD_MAX = 16 * 1024 };

static const struct {
    char kind;
    const char *key;
} lists[] = {
    {'a', "allowedDomains"},
    {'d', "deniedDomains"},
    {'r', "deniedResolvedAddresses"},
    {'p', "nat64Prefixes"},
};

static void add_entry(struct buf *b, const struct entry *e, bool first)
{
    char word[WORD_MAX];
    size_t n = json_quote(e->text, word, sizeof word);

    buf_printf(b, first ? "" : ",");
    buf_add(b, (struct str){word, n});
}

/* `only` alone, or every entry that both load (prefixes are ours alone). */
static void add_list(struct buf *b, const struct group *g, char kind,
                     const struct entry *only)
{
    bool first = true;

    for (size_t i = 0; i < g->entry_count; i++) {
        const struct entry *e = &g->entries[i];
        bool wanted = only != NULL ? e == only : e->srt && e->ours;

        if (e->kind != kind || !(wanted || (only == NULL && kind == 'p')))
            continue;
        add_entry(b, e, first);
        first = false;
    }
}

static struct policy *load(struct str text, struct err *e)
{
    struct json_doc *doc = NULL;
    struct policy *p = NULL;

    if (json_parse(text, JSON_SETTINGS, &doc, e)) {
        struct policy_layer layer = {
            .label = "", .doc = doc, .network = json_root(doc)};

        if (!policy_load(&layer, 1, NULL, NULL, &p, e))
            p = NULL;
    }
    json_free(&doc);
    return p;
}

static struct policy *make(const struct group *g, const struct entry *only,
                           struct err *e)
{
    struct buf b;
    struct policy *p;

    buf_init(&b, SETTINGS_MAX);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        buf_printf(&b, "%s\"%s\":[", i == 0 ? "{" : "],", lists[i].key);
        add_list(&b, g, lists[i].kind, only);
    }
    if (buf_add(&b, STR("]}")))
        p = load(buf_view(&b), e);
    else
        p = (err_set(e, "the group's settings are too long"), NULL);
    buf_done(&b);
    return p;
}

void policies_alone(struct group *g)
{
    for (size_t i = 0; i < g->entry_count; i++) {
        struct entry *e = &g->entries[i];
        struct err why;

        if (g->kind == 'H' && e->kind != 'r') {
            e->ours = e->srt;
            continue;
        }
        e->alone = make(g, e, &why);
        e->ours = e->alone != NULL;
    }
}

void policies_free(struct group *g)
{
    for (size_t i = 0; i < g->entry_count; i++)
        policy_unref(&g->entries[i].alone);
}

struct policy *policies_together(const struct group *g, struct err *e)
{
    return make(g, NULL, e);
}
