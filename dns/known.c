#include "dns/known.h"

#include <stdlib.h>

#include "dns/cache.h"
#include "dns/hosts.h"

struct known {
    struct hosts *hosts;
    struct cache *cache;
    double floor, ceiling, negative; /* seconds */
};

struct known *known_new(const struct resolver_options *options)
{
    struct known *k = calloc(1, sizeof *k);

    if (k == NULL)
        abort();
    k->hosts = hosts_new(options->hosts_file);
    k->cache = cache_new(options->cache_max);
    k->floor = options->ttl_floor;
    k->ceiling = options->ttl_ceiling;
    k->negative = options->negative_ttl;
    return k;
}

void known_free(struct known **k)
{
    if (*k == NULL)
        return;
    hosts_free(&(*k)->hosts);
    cache_free(&(*k)->cache);
    free(*k);
    *k = NULL;
}

struct answer *known_get(struct known *k, const char *name, double now)
{
    struct answer *a = hosts_lookup(k->hosts, name, now);

    if (a != NULL)
        return a;
    a = cache_get(k->cache, name, now);
    return a != NULL ? answer_ref(a) : NULL;
}

static double clamp(double value, double floor, double ceiling)
{
    if (value > ceiling)
        value = ceiling;
    return value > floor ? value : floor;
}

/* Seconds that an answer is believed; 0 for one that is not kept. */
static double time_of(const struct known *k, const struct answer *a)
{
    if (a->status == LOOKUP_NOT_FOUND)
        return k->negative;
    if (a->status != LOOKUP_OK)
        return 0;
    /* The family that failed may do better soon. */
    return clamp(a->ttl, k->floor, a->partial ? k->negative : k->ceiling);
}

void known_learn(struct known *k, const char *name, struct answer *a, double now)
{
    double time = time_of(k, a);

    if (time > 0)
        cache_put(k->cache, name, a, now + time);
}

void known_forget(struct known *k)
{
    cache_clear(k->cache);
}
