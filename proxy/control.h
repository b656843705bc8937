/* The core's end of one control connection: takes the hand-off, makes the session, and
 * ends it when the other end closes (base/handoff.h). */
#ifndef PROXY_CONTROL_H
#define PROXY_CONTROL_H

#include "proxy/session.h"

struct control;

/* The policy of that name for this attacher; NULL refuses. *parents is what goes with
 * it. Not new references. */
typedef struct policy *control_policy_fn(void *owner, const char *name,
                                         struct parents **parents);

struct control_hooks {
    control_policy_fn *policy;
    void (*attached)(void *owner, struct session *s); /* may be NULL */
    void (*closed)(void *owner); /* the peer has gone and the session with it; the
                                  * control is freed after this call. May be NULL */
    void *owner;
};

/* Takes over `fd`, a connected SOCK_SEQPACKET Unix socket. */
struct control *control_new(struct core *c, int fd, const struct control_hooks *hooks);
void control_free(struct control **c);

#endif
