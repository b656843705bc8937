/* A sandbox while it runs: the core serves it, and between the caller's terminal and
 * the command nothing seems to stand. Signals that were sent to us go on to the
 * command; when it stops we stop, so that the shell sees it; when it ends we end. */
#ifndef PROXY_RUNNING_H
#define PROXY_RUNNING_H

#include <signal.h>

#include "launcher/launcher.h"
#include "proxy/session.h"

/* Which signals are ours to pass on; they stay blocked from here until
 * running_restore(). To be called before launcher_start(), which wants *before. */
void running_block_signals(sigset_t *before);
void running_restore_signals(const sigset_t *before);

/* New settings have come, as the `number`th line of the channel. On true they count
 * from now on, and stay with the owner until the next ones come; on false those before
 * them do, and *e is told. */
typedef bool running_update_fn(void *owner, unsigned long number, struct str line,
                               struct policy **policy, struct parents **parents,
                               struct err *e);

struct running_options {
    struct audit *audit; /* borrowed; NULL: none */
    struct policy
        *policy; /* borrowed; for the one policy name that the launcher asks */
    struct parents *parents; /* borrowed; NULL: none */
    session_event_fn *on_event;
    running_update_fn *on_update;
    void *owner;
    int updates_fd; /* of updates.h, taken over; -1: none. When it is lost before the
                     * first line, the command is ended: it would go on under settings
                     * that nobody can take back */
    bool own_group; /* the command is not in our process group: see plan.h */
};

/* Serves until the command has ended. The sandbox's descriptors are taken over. *status
 * is what the command ended with, or, on false, what to exit with. */
bool running_serve(struct sandbox *sandbox, const struct running_options *options,
                   int *status, struct err *e);

#endif
