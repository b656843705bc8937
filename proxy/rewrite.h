/* The heads of messages as they are passed on: written anew from what was understood,
 * without what is for one hop alone, with a Host made from the target, and framed as
 * the body will be. Nothing is added that tells of this proxy. */
#ifndef PROXY_REWRITE_H
#define PROXY_REWRITE_H

#include "proxy/base/buf.h"
#include "proxy/base/http_body.h"
#include "proxy/base/target.h"
#include "proxy/hops.h"

/* Where a request goes. */
struct rewrite_route {
    const struct target *target;
    bool absolute;            /* to a parent proxy, in absolute form */
    struct str authorization; /* then for the parent; empty: none */
};

/* The client asks for a WebSocket, the only upgrade that is passed on (RFC 6455 4.1).
 */
bool rewrite_wants_websocket(const struct http_head *head, const struct hops *hops);

/* `head->target` is in origin form. False: no room in `out`. */
bool rewrite_request(struct buf *out, const struct http_head *head,
                     const struct hops *hops, const struct rewrite_route *route);

/* How a response is told to the client. */
struct rewrite_answer {
    enum http_framing framing; /* of the body as the client gets it */
    bool bodiless_length;      /* there is none, but Content-Length says how long it
                                * would be (HEAD, 304) */
    bool keep;                 /* the client may ask again on this connection */
    bool websocket;            /* it is the 101 that the client asked for */
};

/* False: no room in `out`. */
bool rewrite_response(struct buf *out, const struct http_head *head,
                      const struct hops *hops, const struct rewrite_answer *answer);

#endif
