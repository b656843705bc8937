/* Accepts on one listening socket that somebody else bound. */
#ifndef PROXY_LISTENER_H
#define PROXY_LISTENER_H

#include "proxy/internal.h"
#include "tls/context.h"

enum {
    LISTENER_BATCH = 64,        /* connections accepted a turn of the loop */
    SESSION_LISTENERS_MAX = 16, /* of one session */
};

/* Takes over `fd` in any case, and hangs itself into session->listeners. */
bool listener_open(struct session *s, int fd, bool own_namespace, struct err *e);
/* The peers whose PROXY headers are believed, and who must send one; borrowed until it
 * is called again. */
void listener_set_proxies(struct listener *l, const struct ip_range *proxies,
                          size_t count);
/* From now on clients speak TLS; NULL: no more. A reference is taken. */
void listener_set_tls(struct listener *l, struct tls_context *tls);
/* Whether `fd`, a connected Unix socket, leads to a listener of the session. */
bool listener_is_peer(const struct session *s, int fd);

void listener_close(struct session *s, struct listener *l);
/* Stops accepting and closes all listeners of a session. */
void listener_close_all(struct session *s);

#endif
