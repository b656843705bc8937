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

struct running_options {
    struct audit *audit; /* borrowed; NULL: none */
    struct policy
        *policy; /* borrowed; for the one policy name that the launcher asks */
    struct parents *parents; /* borrowed; NULL: none */
    session_event_fn *on_event;
    void *owner;
    bool own_group; /* the command is not in our process group: see plan.h */
};

/* Serves until the command has ended. The sandbox's descriptors are taken over. *status
 * is what the command ended with, or, on false, what to exit with. */
bool running_serve(struct sandbox *sandbox, const struct running_options *options,
                   int *status, struct err *e);

#endif
