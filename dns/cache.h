/* Answers by name, each until its time is over. Bounded: when it is full, the answer
 * that was not asked for the longest goes. Kept in a tree rather than in a hash table:
 * names come from clients, and a tree has no bad case that they could choose. */
#ifndef DNS_CACHE_H
#define DNS_CACHE_H

#include "dns/answer.h"

struct cache;

struct cache *cache_new(unsigned max);
void cache_free(struct cache **c);

/* Borrowed until the next call; NULL when nothing is known or its time is over. Times
 * are seconds of any clock that does not jump. */
struct answer *cache_get(struct cache *c, const char *name, double now);
/* Replaces what is there. Takes a reference of its own. */
void cache_put(struct cache *c, const char *name, struct answer *a, double until);
void cache_clear(struct cache *c);

#endif
