#include "proxy/clients.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

#include "tls/digest.h"

enum { FIRST_BUCKETS = 64, NETWORK_BYTES = 8, FAMILY_NAME = 255 };

struct client_count {
    struct client_count *next; /* in the bucket */
    struct ip ip;
    unsigned count;
};

struct clients {
    pthread_mutex_t lock;          /* of what follows */
    struct client_count **buckets; /* NULL until the first client */
    size_t bucket_count, count, connections;
    size_t named;  /* entries that are names, and no clients more */
    uint64_t seed; /* of the hash: a client cannot choose its bucket */
};

struct clients *clients_new(void)
{
    struct clients *c = calloc(1, sizeof *c);

    if (c == NULL)
        abort();
    pthread_mutex_init(&c->lock, NULL);
    /* Without entropy the counts are still right, only their places can be guessed. */
    if (getrandom(&c->seed, sizeof c->seed, GRND_NONBLOCK) != sizeof c->seed)
        c->seed = (uintptr_t)c;
    return c;
}

static void free_entries(struct clients *c)
{
    for (size_t i = 0; i < c->bucket_count; i++) {
        struct client_count *entry = c->buckets[i];

        while (entry != NULL) {
            struct client_count *next = entry->next;

            free(entry);
            entry = next;
        }
    }
}

void clients_free(struct clients **c)
{
    if (*c == NULL)
        return;
    free_entries(*c);
    free((*c)->buckets);
    pthread_mutex_destroy(&(*c)->lock);
    free(*c);
    *c = NULL;
}

static struct ip whom(const struct ip *ip)
{
    struct ip who = *ip;

    ip_unmap(&who);
    if (who.family == 6)
        memset(who.bytes + NETWORK_BYTES, 0, sizeof who.bytes - NETWORK_BYTES);
    return who;
}

static size_t place(const struct clients *c, size_t bucket_count, const struct ip *who)
{
    uint64_t h = c->seed ^ who->family;

    for (size_t i = 0; i < NETWORK_BYTES; i++) {
        h = (h ^ who->bytes[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h & (bucket_count - 1);
}

static void grow(struct clients *c)
{
    size_t bigger = c->bucket_count > 0 ? c->bucket_count * 2 : FIRST_BUCKETS;
    struct client_count **buckets = calloc(bigger, sizeof *buckets);

    if (buckets == NULL)
        abort();
    for (size_t i = 0; i < c->bucket_count; i++) {
        struct client_count *entry = c->buckets[i];

        while (entry != NULL) {
            struct client_count *next = entry->next;
            struct client_count **bucket = &buckets[place(c, bigger, &entry->ip)];

            entry->next = *bucket;
            *bucket = entry;
            entry = next;
        }
    }
    free(c->buckets);
    c->buckets = buckets;
    c->bucket_count = bigger;
}

/* Where the entry of that client hangs, or would hang. */
static struct client_count **find(struct clients *c, const struct ip *who)
{
    struct client_count **at = &c->buckets[place(c, c->bucket_count, who)];

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
    c->named += who->family == FAMILY_NAME;
    return entry;
}

/* Of one that is new nothing is counted yet. */
static struct client_count *find_or_add(struct clients *c, const struct ip *who)
{
    struct client_count *entry;

    if (c->count >= c->bucket_count)
        grow(c);
    entry = *find(c, who);
    return entry != NULL ? entry : add(c, who);
}

/* A name in the place of an address. */
static struct ip whom_named(struct str name)
{
    struct ip who = {.family = FAMILY_NAME};
    uint8_t digest[DIGEST_SIZE];

    digest_of(name, digest);
    memcpy(who.bytes, digest, sizeof who.bytes);
    return who;
}

/* The lock is held. */
static bool enter(struct clients *c, const struct ip *who, unsigned most, unsigned each)
{
    struct client_count *entry;

    if (c->connections >= most || each == 0)
        return false;
    entry = find_or_add(c, who);
    if (entry->count >= each)
        return false;
    entry->count++;
    c->connections++;
    return true;
}

bool clients_enter(struct clients *c, const struct ip *ip, unsigned most, unsigned each)
{
    struct ip who = whom(ip);
    bool entered;

    pthread_mutex_lock(&c->lock);
    entered = enter(c, &who, most, each);
    pthread_mutex_unlock(&c->lock);
    return entered;
}

/* The lock is held. */
static void leave(struct clients *c, const struct ip *who)
{
    struct client_count **at = find(c, who), *entry = *at;

    assert(entry != NULL && entry->count > 0);
    if (--entry->count > 0)
        return;
    *at = entry->next;
    free(entry);
    c->count--;
    c->named -= who->family == FAMILY_NAME;
}

void clients_leave(struct clients *c, const struct ip *ip)
{
    struct ip who = whom(ip);

    pthread_mutex_lock(&c->lock);
    leave(c, &who);
    c->connections--;
    pthread_mutex_unlock(&c->lock);
}

unsigned clients_enter_named(struct clients *c, struct str name)
{
    struct ip who = whom_named(name);
    unsigned count;

    pthread_mutex_lock(&c->lock);
    count = ++find_or_add(c, &who)->count;
    pthread_mutex_unlock(&c->lock);
    return count;
}

void clients_leave_named(struct clients *c, struct str name)
{
    struct ip who = whom_named(name);

    pthread_mutex_lock(&c->lock);
    leave(c, &who);
    pthread_mutex_unlock(&c->lock);
}

size_t clients_connections(struct clients *c)
{
    size_t n;

    pthread_mutex_lock(&c->lock);
    n = c->connections;
    pthread_mutex_unlock(&c->lock);
    return n;
}

size_t clients_count(struct clients *c)
{
    size_t n;

    pthread_mutex_lock(&c->lock);
    n = c->count - c->named;
    pthread_mutex_unlock(&c->lock);
    return n;
}
