#include "dns/cache.h"

#include <search.h>
#include <stdlib.h>
#include <sys/queue.h>

struct cached {
    const char *name; /* stands behind this struct */
    struct answer *answer;
    double until;
    TAILQ_ENTRY(cached) by_use;
};

struct cache {
    void *by_name;                   /* of tsearch() */
    TAILQ_HEAD(used, cached) by_use; /* the one used last comes first */
    unsigned count, max;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct cached *)a)->name, ((const struct cached *)b)->name);
}

struct cache *cache_new(unsigned max)
{
    struct cache *c = calloc(1, sizeof *c);

    if (c == NULL)
        abort();
    TAILQ_INIT(&c->by_use);
    c->max = max;
    return c;
}

void cache_free(struct cache **c)
{
    if (*c == NULL)
        return;
    cache_clear(*c);
    free(*c);
    *c = NULL;
}

static void drop(struct cache *c, struct cached *n)
{
    tdelete(n, &c->by_name, compare);
    TAILQ_REMOVE(&c->by_use, n, by_use);
    c->count--;
    answer_unref(&n->answer);
    free(n);
}

static struct cached *find(struct cache *c, const char *name)
{
    const struct cached key = {.name = name};
    void *node = tfind(&key, &c->by_name, compare);

    return node != NULL ? *(struct cached **)node : NULL;
}

struct answer *cache_get(struct cache *c, const char *name, double now)
{
    struct cached *n = find(c, name);

    if (n == NULL)
        return NULL;
    if (n->until <= now) {
        drop(c, n);
        return NULL;
    }
    TAILQ_REMOVE(&c->by_use, n, by_use);
    TAILQ_INSERT_HEAD(&c->by_use, n, by_use);
    return n->answer;
}

void cache_put(struct cache *c, const char *name, struct answer *a, double until)
{
    size_t size = strlen(name) + 1;
    struct cached *n = find(c, name);

    if (c->max == 0)
        return;
    if (n != NULL)
        drop(c, n);
    if (c->count == c->max)
        drop(c, TAILQ_LAST(&c->by_use, used));
    n = calloc(1, sizeof *n + size);
    if (n == NULL)
        abort();
    n->name = memcpy(n + 1, name, size);
    n->answer = answer_ref(a);
    n->until = until;
    if (tsearch(n, &c->by_name, compare) == NULL)
        abort();
    TAILQ_INSERT_HEAD(&c->by_use, n, by_use);
    c->count++;
}

void cache_clear(struct cache *c)
{
    while (!TAILQ_EMPTY(&c->by_use))
        drop(c, TAILQ_FIRST(&c->by_use));
}
