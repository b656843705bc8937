/* One plain HTTP request and its response, between a client and a server: heads are
 * written anew (rewrite.h), bodies pass as they come, with back-pressure both ways, and
 * where each of them ends is known to the byte. It decides nothing about who may go
 * where, and knows nothing of the connection that it is a part of.
 *
 * What is read is sent at once, out of one room that all exchanges of a core share;
 * only what the other side did not take is kept, and then its source is not read. */
#ifndef PROXY_EXCHANGE_H
#define PROXY_EXCHANGE_H

#include "proxy/base/buf.h"
#include "proxy/base/hangups.h"
#include "proxy/base/http_body.h"
#include "proxy/base/stream.h"
#include "proxy/policy/policy.h"
#include "proxy/relay.h"
#include "proxy/rewrite.h"

enum {
    EXCHANGE_HEAD_MAX = 64 * 1024, /* of a response */
    EXCHANGE_INTERIM_MAX = 32,     /* 1xx responses before the one that counts */
    EXCHANGE_AHEAD_MAX = 16384,    /* of what a client sends behind its request */
    EXCHANGE_DRAIN_MAX = 16 * 1024 * 1024, /* of a body that nobody wants any more */
    EXCHANGE_DRAIN_KEPT = 64 * 1024, /* the same, when all that it gets is a refusal */
};

/* What the exchanges of one core share. */
struct exchange_room {
    struct relay_pool *relays; /* borrowed: the loop, and the budget for what is kept */
    const struct hangups *hangups; /* borrowed: of clients that are not read */
    char *bytes;                   /* NULL until the first byte */
};

void exchange_room_init(struct exchange_room *room, struct relay_pool *relays,
                        const struct hangups *hangups);
void exchange_room_done(struct exchange_room *room);

enum exchange_status {
    EXCHANGE_FAILED = 0, /* the client was told nothing so far: `failure` says what */
    EXCHANGE_CUT,        /* it broke in the middle of the response */
    EXCHANGE_GOES_ON,
    EXCHANGE_OVER, /* both have all: keep_client and keep_server say what may follow */
    EXCHANGE_TUNNEL, /* the server has switched to WebSocket, the client knows; what is
                      * in `in` is for the server */
};

struct exchange_failure {
    unsigned status; /* what the client is to be answered; 0: nothing, it has left */
    enum reason reason;
    const char *why;   /* a constant sentence */
    const char *error; /* RFC 9209 2.3 */
    bool stale;        /* the server has not seen the request, for all that is known: it
                        * closed before a byte of an answer */
};

struct exchange {
    struct exchange_room *room; /* borrowed, as all of these */
    struct stream *client, *server;
    struct buf *in;           /* what the client has sent and nobody has taken */
    struct http_head request; /* views into the request's arena, which outlives this */
    struct hops hops;         /* of the request */
    struct http_body up, down;
    struct buf to_server, to_client;         /* was to be sent, and not taken yet */
    struct buf head;                         /* of a response that is not whole yet */
    unsigned long long bytes_up, bytes_down; /* that were taken */
    unsigned long long dropped;              /* of a body that nobody wants */
    size_t counted;  /* memory of what is kept, as the budget has it */
    ev_tstamp moved; /* when a byte last moved, either way */
    struct exchange_failure failure;
    unsigned interim;
    bool expects;      /* the client waits for a 100 before it sends its body */
    bool heard;        /* a byte of the response has come */
    bool responded;    /* its head is on the way to the client */
    bool rechunk;      /* the body gets chunks of its own */
    bool websocket;    /* was asked for; after the 101: it is one */
    bool server_gone;  /* takes nothing any more; the rest of the body is dropped */
    bool client_ended; /* sends no more */
    bool unheard;      /* is not read any more; that it hangs up is told */
    bool last;         /* the owner wants no other request on the client's connection */
    bool keep_client, keep_server;
};

/* `request` is copied, what it views is not. Nothing moves before exchange_begin() or
 * exchange_drop(). False: its Connection names too much; it is to be refused. */
bool exchange_init(struct exchange *x, struct exchange_room *room,
                   const struct http_head *request, struct stream *client,
                   struct buf *in);
void exchange_done(struct exchange *x);

/* No body, or one that it is asked to send only when the server says so, and a method
 * that may be sent twice: it may go over a connection that the server is about to
 * close, and if so, again over another (RFC 9110 9.2.2). */
bool exchange_repeatable(const struct exchange *x);
/* After a refusal by somebody else the client may ask again: how much of a body it
 * still sends is known, and little. */
bool exchange_droppable(const struct exchange *x);

/* A connection to the server is there. May be called again after a stale failure. */
void exchange_begin(struct exchange *x, struct stream *server,
                    const struct rewrite_route *route);
/* Somebody else has answered; what is left of the request is to be thrown away. */
void exchange_drop(struct exchange *x);

/* Acts on what the streams' callbacks noted, and asks for what is needed next. At most
 * one read a direction. */
enum exchange_status exchange_run(struct exchange *x);

/* The server has all of the request, and says nothing. */
bool exchange_waits(const struct exchange *x);
/* Only what nobody wants is still read. */
bool exchange_drains(const struct exchange *x);

#endif
