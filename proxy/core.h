/* What sessions share: loop, resolver, audit, limits, this host's addresses. One core a
 * worker; `weir run` and `weir gateway` both have one. */
#ifndef PROXY_CORE_H
#define PROXY_CORE_H

#include <ev.h>

#include "dns/resolver.h"
#include "proxy/audit.h"
#include "proxy/settings.h"

struct clients;
struct core;
struct counters;

struct core_options {
    struct limits limits;
    struct resolver_options resolver;
    struct audit *audit; /* borrowed; NULL: none is written */

    /* Of a core that is one of several which share what is borrowed here. */
    struct clients *clients;  /* borrowed; NULL: the limits are for this one alone */
    unsigned index, siblings; /* from 0, of how many; 0: it is the only one */
};

/* `loop` is borrowed and outlives the core. On false *e says what could not be set up.
 */
bool core_new(struct ev_loop *loop, const struct core_options *options,
              struct core **out, struct err *e);
/* Ends all sessions first. */
void core_free(struct core **c);

/* Lets this process open as many descriptors as its hard limit allows; core_new() takes
 * no more connections than fit. Not for a process that will execute a command: it would
 * inherit the limit. */
void core_raise_descriptors(void);

/* How many connections it takes: limits.connections, or fewer when there are not enough
 * descriptors. */
unsigned core_connections_max(const struct core *c);

/* What it has counted; any thread may read it (counters.h). */
const struct counters *core_counters(const struct core *c);

/* Of a file that was read anew. They hold for connections from now on, and from their
 * next state on for those that there are. */
void core_set_limits(struct core *c, const struct limits *limits);
/* For other cores that need room: closes servers that wait for another request; when
 * there are none, cuts tunnels that were silent for long. */
void core_shed(struct core *c);
/* The end is near: the next answer is the last of its connection. */
void core_set_ending(struct core *c);

/* The addresses that the core itself listens on, beside those of its sessions: admin,
 * control. They are denied to every client (address-own). */
void core_add_own(struct core *c, const struct addr *a);

#endif
