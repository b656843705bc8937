/* The small server for operators and their tools: /metrics, /healthz, /readyz. It has a
 * loop's worth of nothing to do with clients' connections: own listener, own bounds,
 * and a descriptor in reserve, so that it answers when there are none left.
 *
 * It is reached on loopback or by a Unix socket alone. On loopback the Host field must
 * be the listener's own address or "localhost", since a web page may have any name
 * resolve to loopback, but cannot choose that field (DNS rebinding). */
#ifndef PROXY_ADMIN_H
#define PROXY_ADMIN_H

#include <ev.h>

#include "proxy/base/buf.h"
#include "proxy/endpoint.h"

enum {
    ADMIN_GUESTS_MAX = 16, /* connections; one more, and the oldest has to go */
    ADMIN_HEAD_MAX = 8192,
    ADMIN_BODY_MAX = 256 * 1024,
};

enum admin_page { ADMIN_HEALTH, ADMIN_READY, ADMIN_METRICS };

/* Writes what stands on the page; false: and it is bad news (503). From the loop. */
typedef bool admin_page_fn(void *owner, enum admin_page page, struct buf *body);

struct admin;

/* Takes over the descriptor of `at`, which listens; its address is copied. */
struct admin *admin_new(struct ev_loop *loop, struct endpoint *at, admin_page_fn *page,
                        void *owner);
void admin_free(struct admin **a);

/* Whether a Host field names the listener. `own` is where it listens, port included; of
 * a Unix socket (no address) any name is right: no web page reaches it. */
bool admin_host_is_own(struct str host, const struct addr *own);

#endif
