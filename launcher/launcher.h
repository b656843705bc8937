/* Ways to put a command where the core is the only way out. Each is one file and one
 * line in the table; all are given a plan, and hand their sockets over in the same way.
 */
#ifndef LAUNCHER_LAUNCHER_H
#define LAUNCHER_LAUNCHER_H

#include <signal.h>
#include <sys/types.h>

#include "launcher/plan.h"

/* What the supervisor has in its hands. */
struct launcher_ends {
    int leash, control; /* to the core: leash.h, base/handoff.h */
    const char *session;
    pid_t core;
    sigset_t mask; /* what the command starts with */
    mode_t umask;
};

struct launcher {
    const char *name, *summary;
    unsigned enforces; /* enum plan_kind */
    /* In a new child of the core: makes the sandbox, hands its sockets over, starts the
     * command and stays with it. Returns only when that fails, with *e set. */
    void (*become)(const struct plan *plan, const struct launcher_ends *ends,
                   struct err *e);
};

extern const struct launcher launcher_namespaces;
/* NULL-terminated. */
extern const struct launcher *const launcher_table[];

/* `name` NULL: the first of the table. On false *e names what there is. */
bool launcher_find(const char *name, const struct launcher **out, struct err *e);

/* The core's end of a sandbox. */
struct sandbox {
    pid_t pid; /* of the supervisor; the core's child */
    int pidfd; /* readable when it has ended */
    int leash, control;
};

/* Starts making the sandbox and returns at once: whether it worked is told on the
 * leash. `mask` is the signal mask for the command. To be called before the process has
 * threads; it is not dumpable from then on. */
bool launcher_start(const struct launcher *l, const struct plan *plan,
                    const char *session, const sigset_t *mask, struct sandbox *out,
                    struct err *e);
/* Closes what is open, which ends the sandbox if it still runs, and waits for its end.
 */
void sandbox_done(struct sandbox *s);

#endif
