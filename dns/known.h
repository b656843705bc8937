/* What can be said about a name without asking: the hosts file, the names that need no
 * server, and what was answered before, for as long as that may be believed. */
#ifndef DNS_KNOWN_H
#define DNS_KNOWN_H

#include "dns/answer.h"

struct known;

/* `options` is used for hosts_file, cache_max and the times, with defaults filled in.
 * Reads nothing yet. */
struct known *known_new(const struct resolver_options *options);
void known_free(struct known **k);

/* With a reference for the caller; NULL when the servers are to be asked. Times are
 * seconds of any clock that does not jump. */
struct answer *known_get(struct known *k, const char *name, double now);
/* What the servers said. A failure is not kept. */
void known_learn(struct known *k, const char *name, struct answer *a, double now);
/* Forgets what the servers said. */
void known_forget(struct known *k);

#endif
