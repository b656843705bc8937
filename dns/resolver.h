/* Names to addresses, without blocking, on c-ares. Knows nothing of policy: the caller
 * decides which names to ask for and which answers to use.
 *
 * A and AAAA are asked side by side; the hosts file answers first; search domains are
 * never applied. Equal questions under way are asked once. Answers are cached for their
 * TTL, within a floor and a ceiling; "no such name" shortly, a failure not at all. */
#ifndef DNS_RESOLVER_H
#define DNS_RESOLVER_H

#include <ev.h>

#include "proxy/base/addr.h"
#include "proxy/base/err.h"

struct resolver;
struct lookup; /* one question under way */

enum { LOOKUP_MAX = 32 };

enum lookup_status {
    LOOKUP_FAILED = 0, /* SERVFAIL, no server reachable, malformed answer */
    LOOKUP_OK,         /* at least one address */
    LOOKUP_NOT_FOUND,  /* NXDOMAIN, or a name without addresses */
    LOOKUP_TIMED_OUT,
    LOOKUP_BUSY, /* too many questions outstanding, of all or of this asker */
};

struct lookup_result {
    enum lookup_status status;
    const struct ip *ips; /* valid during the call; no duplicates; in the order in which
                           * they came, IPv6 and IPv4 not interleaved; not unmapped */
    size_t count;
    const char *why; /* for people, when status is not LOOKUP_OK */
    double seconds;  /* since resolver_lookup(); 0 from the cache */
};

/* On whose behalf is asked. */
struct lookup_asker {
    const void *known; /* of whom more is known than the address; compared, and not
                        * followed. NULL: the address counts */
    struct ip ip;      /* family 0: all of those are one */
};

/* Called once, from the event loop, never from within resolver_lookup(). */
typedef void lookup_done_fn(void *owner, const struct lookup_result *result);

struct resolver_options {
    const char *const *servers; /* "192.0.2.1", "192.0.2.1:5353", "[2001:db8::1]:53";
                                 * NULL-terminated. NULL: resolv.conf, and a change of
                                 * it is noticed (within 5 s of a lookup) */
    const char *hosts_file;     /* NULL: /etc/hosts; "" for none. One that is there and
                                 * cannot be read fails every lookup */
    const char *resolv_conf;    /* NULL: /etc/resolv.conf */
    double deadline;            /* seconds a lookup may take; 0: 5 */
    unsigned outstanding_max;   /* distinct questions under way; 0: 1000 */
    unsigned share_max;         /* of these on behalf of one asker; 0: a quarter */
    unsigned waiting_max;       /* lookups waiting on them, all together; 0: 10000 */
    unsigned cache_max;         /* names; 0: 10000 */
    double ttl_floor, ttl_ceiling; /* seconds; 0: 1 and 300 */
    double negative_ttl;           /* seconds; 0: 2 */
};

/* Sets up c-ares only at the first lookup. On false *e names the server that cannot be
 * used. Nothing of `options` is kept. */
bool resolver_new(struct ev_loop *loop, const struct resolver_options *options,
                  struct resolver **out, struct err *e);
/* No lookup may be under way. Not from within `done`. */
void resolver_free(struct resolver **r);

/* `name` is canonical (target.h), no address, and is copied. `asker` is copied too;
 * NULL for who has the resolver alone. Never NULL; gone when `done` is called. */
struct lookup *resolver_lookup(struct resolver *r, struct str name,
                               const struct lookup_asker *asker, lookup_done_fn *done,
                               void *owner);
void lookup_cancel(struct lookup **l); /* `done` will not come any more */

/* Forgets all cached answers. */
void resolver_flush(struct resolver *r);

#endif
