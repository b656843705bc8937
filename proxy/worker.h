/* One thread of a gateway that serves: its loop, its core, its door. It shares with
 * others what never changes (config.h), the audit, who is connected, and the listening
 * sockets, nothing else. Whoever made it gives it orders, which it carries out between
 * two turns of its loop, and can see how far it has come without waiting. */
#ifndef PROXY_WORKER_H
#define PROXY_WORKER_H

#include "proxy/core.h"
#include "proxy/counters.h"
#include "proxy/gateway_config.h"

struct worker;

/* A listening socket for entry `index` of the config's listeners. */
struct opened {
    size_t index;
    int fd; /* owned */
};

struct worker_options {
    struct core_options core; /* borrowed as there; `index` is the worker's number */
    struct ev_loop *told_loop;
    ev_async
        *told; /* is sent when an order was carried out; borrowed, and outlives it */
};

/* Makes all that can fail; the thread does not run yet, and worker_own() may be called.
 * Takes a reference of its own to `config`. */
bool worker_new(const struct worker_options *options, struct config *config,
                struct worker **out, struct err *e);
/* An address that clients may not reach, beside those of the listeners. */
void worker_own(struct worker *w, const struct addr *a);
/* Before worker_start(); see core_connections_max(). */
unsigned worker_connections_max(const struct worker *w);
/* Signals are not for it. */
bool worker_start(struct worker *w, struct err *e);
/* Ends the thread, if it runs, and with it all connections, at once. */
void worker_free(struct worker **w);

/* Orders. From one thread alone, and none waits for another: what was not carried out
 * yet is overtaken. */

/* From now on `config` holds, of which the worker takes a reference. Takes over the
 * descriptors of `opened`, those of listeners that it does not have yet; the list is
 * copied. One that cannot be accepted on is told in the log. */
void worker_adopt(struct worker *w, struct config *config, const struct opened *opened,
                  size_t count);
/* Stops accepting for good. */
void worker_rest(struct worker *w);
/* See door_close_idle(). */
void worker_close_idle(struct worker *w, double silent);
/* See core_shed(). */
void worker_shed(struct worker *w);
/* Asks for a sign of life. */
void worker_ask(struct worker *w);

/* Every order up to now was carried out. */
bool worker_is_idle(const struct worker *w);
/* Of its core: any thread may read them. */
const struct counters *worker_counters(const struct worker *w);

#endif
