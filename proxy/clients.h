/* How many connections each client address of a session has. IPv6 counts by its /64,
 * since who has one address of that has them all; all clients of a Unix socket count as
 * one. Holds no more entries than there are connections. */
#ifndef PROXY_CLIENTS_H
#define PROXY_CLIENTS_H

#include "proxy/base/addr.h"

struct client_count;

struct clients {
    struct client_count **buckets; /* NULL until the first client */
    size_t bucket_count, count;
    uint64_t seed; /* of the hash: a client cannot choose its bucket */
};

void clients_init(struct clients *c);
void clients_done(struct clients *c);

/* False, and nothing is counted, when that client has `max` already. */
bool clients_enter(struct clients *c, const struct ip *ip, unsigned max);
void clients_leave(struct clients *c, const struct ip *ip);

#endif
