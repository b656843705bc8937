/* How many connections there are, and how many each client address has. The workers of
 * a gateway share one of these, so a limit holds over all of them; any thread may call.
 * IPv6 counts by its /64, since who has one address of that has them all; all clients
 * of a Unix socket count as one. Holds no more entries than there are connections. */
#ifndef PROXY_CLIENTS_H
#define PROXY_CLIENTS_H

#include "proxy/base/addr.h"

struct clients;

struct clients *clients_new(void);
void clients_free(struct clients **c);

/* False, and nothing is counted, when there are `most` connections already, or `each`
 * of that client. */
bool clients_enter(struct clients *c, const struct ip *ip, unsigned most,
                   unsigned each);
void clients_leave(struct clients *c, const struct ip *ip);

/* The same connections once more, by the name of the client that they turned out to
 * be: how many that one has, with this. */
unsigned clients_enter_named(struct clients *c, struct str name);
void clients_leave_named(struct clients *c, struct str name);

/* How many connections are counted now, and of how many clients. */
size_t clients_connections(struct clients *c);
size_t clients_count(struct clients *c);

#endif
