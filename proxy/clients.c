#include "proxy/clients.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>

enum { FIRST_BUCKETS = 64, NETWORK_BYTES = 8 };

struct client_count {
    struct client_count *next; /* in the bucket */
    struct ip ip;
    unsigned count;
};

void clients_init(struct clients *c)
{
    *c = (struct clients){0};
    /* Without entropy the counts are still right, only their places can be guessed. */
    if (getrandom(&c->seed, sizeof c->seed, GRND_NONBLOCK) != sizeof c->seed)
        c->seed = (uintptr_t)c;
}

void clients_done(struct clients *c)
{
    for (size_t i = 0; i < c->bucket_count; i++) {
        struct client_count *entry = c->buckets[i];

        while (entry != NULL) {
            struct client_count *next = entry->next;

            free(entry);
            entry = next;
        }
    }
    free(c->buckets);
    *c = (struct clients){.seed = c->seed};
}

static struct ip whom(const struct ip *ip)
{
    struct ip who = *ip;

    ip_unmap(&who);
    if (who.family == 6)
        memset(who.bytes + NETWORK_BYTES, 0, sizeof who.bytes - NETWORK_BYTES);
    return who;
}

static size_t place(const struct clients *c, const struct ip *who)
{
    uint64_t h = c->seed ^ who->family;

    for (size_t i = 0; i < NETWORK_BYTES; i++) {
        h = (h ^ who->bytes[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h & (c->bucket_count - 1);
}

static void grow(struct clients *c)
{
    struct clients bigger = *c;

    bigger.bucket_count = c->bucket_count > 0 ? c->bucket_count * 2 : FIRST_BUCKETS;
    bigger.buckets = calloc(bigger.bucket_count, sizeof *bigger.buckets);
    if (bigger.buckets == NULL)
        abort();
    for (size_t i = 0; i < c->bucket_count; i++) {
        struct client_count *entry = c->buckets[i];

        while (entry != NULL) {
            struct client_count *next = entry->next, **bucket;

            bucket = &bigger.buckets[place(&bigger, &entry->ip)];
            entry->next = *bucket;
            *bucket = entry;
            entry = next;
        }
    }
    free(c->buckets);
    *c = bigger;
}

/* Where the entry of that client hangs, or would hang. */
static struct client_count **find(struct clients *c, const struct ip *who)
{
    struct client_count **at = &c->buckets[place(c, who)];

    while (*at != NULL && !ip_equal(&(*at)->ip, who))
        at = &(*at)->next;
    return at;
}

static struct client_count *add(struct clients *c, const struct ip *who)
{
    struct client_count *entry = calloc(1, sizeof *entry), **at;

    if (entry == NULL)
        abort();
    at = find(c, who);
    entry->ip = *who;
    *at = entry;
    c->count++;
    return entry;
}

bool clients_enter(struct clients *c, const struct ip *ip, unsigned max)
{
    struct ip who = whom(ip);
    struct client_count *entry;

    if (max == 0)
        return false;
    if (c->count >= c->bucket_count)
        grow(c);
    entry = *find(c, &who);
    if (entry == NULL)
        entry = add(c, &who);
    else if (entry->count >= max)
        return false;
    entry->count++;
    return true;
}

void clients_leave(struct clients *c, const struct ip *ip)
{
    struct ip who = whom(ip);
    struct client_count **at = find(c, &who), *entry = *at;

    assert(entry != NULL && entry->count > 0);
    if (--entry->count > 0)
        return;
    *at = entry->next;
    free(entry);
    c->count--;
}
