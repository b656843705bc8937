/* The gateway file, read anew while the gateway serves: when somebody asks (SIGHUP),
 * and when one of its files has changed. All of it is read and checked first; on any
 * error everything stays as it was. A reload is over when each worker has said that it
 * judges by the new one alone, and until then the next one waits. */
#ifndef PROXY_RELOAD_H
#define PROXY_RELOAD_H

#include <ev.h>

#include "proxy/fleet.h"
#include "proxy/notify.h"

struct reload;

struct reload_options {
    struct ev_loop *loop; /* borrowed, as what follows */
    const char *file;
    struct fleet *fleet;
    struct sites *sites;
    const struct notify *notify;
};

/* `config` is the one in force, of which it takes a reference. */
struct reload *reload_new(const struct reload_options *options, struct config *config);
void reload_free(struct reload **r);

/* Starts one, or lets another follow the one that runs. `why` is for the log. */
void reload_start(struct reload *r, const char *why);
/* All workers have carried out all orders: fleet_done_fn. */
void reload_carried_out(struct reload *r);
/* No more from now on: the end is near. The sites may go, and one that is under way is
 * carried out by the workers without being told. */
void reload_stop(struct reload *r);

struct reload_state {
    unsigned long generation; /* of what all workers have: 1 is that of the start */
    unsigned long done, failed;
    bool last_failed; /* what is in force is not what the files say */
};
struct reload_state reload_state(const struct reload *r);
/* What is in force in all workers. Valid until the loop turns. */
const struct config *reload_config(const struct reload *r);

#endif
