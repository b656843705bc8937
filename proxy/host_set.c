#include "proxy/host_set.h"

#include <stdlib.h>

#include "proxy/policy/trie.h"

struct host_set {
    struct trie *trie;
};

bool host_set_new(struct host_set **out, struct err *e)
{
    struct host_set *s;
    struct hash_key key;

    if (!hash_key_make(&key, e))
        return false;
    s = calloc(1, sizeof *s);
    if (s == NULL)
        abort();
    s->trie = trie_new(&key);
    *out = s;
    return true;
}

void host_set_free(struct host_set **s)
{
    if (*s == NULL)
        return;
    trie_free(&(*s)->trie);
    free(*s);
    *s = NULL;
}

void host_set_add(struct host_set *s, const struct pattern *p)
{
    trie_add(s->trie, p, PATTERN_ALLOW, 0);
}

/* What is there twice changes nothing. */
static void on_twice(void *owner, uint32_t first, uint32_t second)
{
    (void)owner, (void)first, (void)second;
}

void host_set_seal(struct host_set *s)
{
    trie_seal(s->trie, on_twice, NULL);
}

static bool on_match(void *owner, const struct trie_match *match)
{
    bool *found = owner;

    (void)match;
    *found = true;
    return false;
}

bool host_set_has(const struct host_set *s, const struct target *t)
{
    bool found = false;

    if (t->kind == HOST_ADDR)
        trie_visit_addr(s->trie, &t->ip, on_match, &found);
    else if (t->kind == HOST_NAME)
        trie_visit_name(s->trie, t->host, on_match, &found);
    return found;
}
