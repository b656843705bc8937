/* Whoever shares a policy: one sandbox, or one client of the gateway. It owns listeners
 * and connections; when it goes, they go. */
#ifndef PROXY_SESSION_H
#define PROXY_SESSION_H

#include "proxy/core.h"
#include "proxy/identity.h"
#include "proxy/policy/policy.h"

struct session;

/* For the summary after `weir run` and for the events of a control connection: called
 * for every request that ends, allowed or not, after its audit line was queued. The
 * event is valid during the call, which must not end the session. */
typedef void session_event_fn(void *owner, const struct audit_event *event);

struct parents;

/* Takes references of its own to `policy` and `parents` (NULL: all connections are
 * direct). `name` is copied. */
struct session *session_new(struct core *c, struct str name, struct policy *policy,
                            struct parents *parents);
/* Closes listeners and connections at once, without answers (their audit lines say
 * `shutdown`). */
void session_free(struct session **s);

/* Accepts on `fd`, a listening stream socket, from now on. Takes it over in any case.
 * Every call on it is non-blocking by itself: the flag is shared with whoever holds a
 * copy. When it is an INET socket of the core's own network namespace its address
 * counts as the core's own. */
bool session_listen(struct session *s, int fd, bool own_namespace, struct err *e);

/* Makes it a door: its listeners accept for others, and `fn` tells for whom; until
 * then, and when it is for nobody, a connection is the door's. Without one every
 * connection is the session's own. */
void session_identify(struct session *s, session_identify_fn *fn, void *owner);

/* Stops accepting for good; connections go on. */
void session_rest(struct session *s);
/* Ends connections that have asked for nothing, and tunnels in which no byte has moved,
 * for `silent` seconds. */
void session_close_idle(struct session *s, double silent);
size_t session_connections(const struct session *s);

/* From now on requests are judged by `policy` and go through `parents`; tunnels that
 * the policy would deny are cut (policy-revoked). Those that stand keep their way. */
void session_set_policy(struct session *s, struct policy *policy,
                        struct parents *parents);

void session_on_event(struct session *s, session_event_fn *fn, void *owner);

#endif
