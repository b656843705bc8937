/* One client connection, from accept to the last byte. See the head of conn.c. */
#ifndef PROXY_CONN_H
#define PROXY_CONN_H

#include "proxy/internal.h"
#include "tls/context.h"

/* What comes in front of what a client says. */
struct conn_front {
    bool proxied; /* the address is that of a proxy in front, which begins with a PROXY
                   * header */
    struct tls_context *tls; /* borrowed; NULL: nothing is encrypted */
};

/* Takes over `fd`, which is non-blocking. `from`: the client's address, family 0 on a
 * Unix socket. From here the connection runs, ends and frees itself. Over a limit it is
 * told so and closed. */
void conn_open(struct session *s, int fd, const struct ip *from,
               const struct conn_front *in_front);

/* Ends all connections of a session now, without an answer. */
void conn_close_all(struct session *s);

/* Closes those that have asked for nothing, and tunnels without a byte, for `silent`
 * seconds. */
void conn_close_idle(struct session *s, double silent);

/* Cuts idle tunnels of all sessions, the longest silent first, `most` at once, so that
 * others can have their descriptors and memory. Returns how many. */
size_t conn_shed(struct core *core, size_t most);
/* The same, for this core. When there are none it is noted that others should make
 * room. */
bool conn_make_room(struct core *core, size_t most);

/* The core's limits have changed. */
void conn_fit_all(struct session *s);

/* The session has a new policy: tunnels that it denies are cut. */
void conn_judge_all(struct session *s);

/* Whether a connection is still whose it was; `proof` is what session_identify_fn said.
 */
typedef bool conn_holds_fn(void *owner, const struct caller *who, uint32_t proof);

/* Ends the connections of a session of which `holds` says no, without an answer
 * (policy-revoked); NULL: all. */
void conn_revoke(struct session *s, conn_holds_fn *holds, void *owner);

/* What an idle tunnel costs beside its target, in bytes. */
size_t conn_size(void);

#endif
