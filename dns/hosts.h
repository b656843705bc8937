/* The hosts file (hosts(5)): names to addresses, read anew when it changes, and the
 * names that have an answer without any server (RFC 6761, RFC 7686). */
#ifndef DNS_HOSTS_H
#define DNS_HOSTS_H

#include "dns/answer.h"

struct hosts;

/* `path` "": there is no hosts file. Reads nothing yet. */
struct hosts *hosts_new(const char *path);
void hosts_free(struct hosts **h);

/* The answer, with a reference for the caller; NULL when a server is to be asked. A
 * file that is there and cannot be read or is too large answers every name with
 * LOOKUP_FAILED: it might say that a name is not what the servers say. */
struct answer *hosts_lookup(struct hosts *h, const char *name, double now);

/* Replaces all that is known by what `text` says. Lines that make no sense are left
 * out, as everybody does. For the tests. */
void hosts_parse(struct hosts *h, struct str text);

#endif
