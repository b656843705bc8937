/* All workers of a gateway, as one: what is ordered is ordered to each of them, and
 * done when all have done it. */
#ifndef PROXY_FLEET_H
#define PROXY_FLEET_H

#include "proxy/counters.h"
#include "proxy/gateway_config.h"
#include "proxy/sites.h"

struct fleet;

/* All orders so far were carried out by all. From the loop; may come more often than
 * there were orders. */
typedef void fleet_done_fn(void *owner);

struct fleet_options {
    struct ev_loop *loop; /* of the caller; borrowed, as what follows */
    struct audit *audit;
    struct clients *clients;
    fleet_done_fn *done;
    void *owner;
};

/* Makes as many as `config` says. They have the sockets of `sites`, and serve from
 * fleet_start() on. */
bool fleet_new(const struct fleet_options *options, struct config *config,
               struct sites *sites, struct fleet **out, struct err *e);
bool fleet_start(struct fleet *f, struct err *e);
/* Ends all at once, their connections too. */
void fleet_free(struct fleet **f);

unsigned fleet_size(const struct fleet *f);
/* See core_connections_max(). */
unsigned fleet_connections_max(const struct fleet *f);
/* An address that clients may not reach; before fleet_start(). */
void fleet_own(struct fleet *f, const struct addr *a);

/* The same for all of them: worker.h. `sites` has what `config` listens on. On false
 * nothing was ordered: there are not enough descriptors. */
bool fleet_adopt(struct fleet *f, struct config *config, struct sites *sites,
                 struct err *e);
void fleet_rest(struct fleet *f);
void fleet_shed(struct fleet *f);
void fleet_close_idle(struct fleet *f, double silent);

/* Asks all for a sign of life. Returns for how many seconds the slowest has not given
 * one since it was first asked for; 0 when all have. */
double fleet_silence(struct fleet *f);

/* Adds what all have counted. */
void fleet_sum(const struct fleet *f, struct counters *total);
size_t fleet_connections(const struct fleet *f);

#endif
