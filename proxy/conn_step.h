/*
 * The inside of a client connection, for the files that hold its steps.
 *
 * A connection passes through the states below, top to bottom. Each has one step, and
 * the steps stand in their files in the order in which they run:
 *
 *   OVER     over a limit: its first byte says in which words it is     asking.c
 *            told so
 *   PROXIED  a proxy in front says for whom it asks (proxy_header.h)    proxied.c
 *   REQUEST  the client says where it wants to go (front.h)             asking.c
 *   TARGET   policy is asked about the name
 *   DIAL     resolve, ask policy about the addresses, connect (dial.h)
 *   EXCHANGE a plain HTTP request and its response (exchange.h); then   plain.c
 *            REQUEST again
 *   ANSWER   the client is told yes, or no
 *   HELLO    its first bytes are read before the server gets them       tunnel.c
 *            (peek.h); what the server says passes at once
 *   ANSWERED the server may ask for a second hello, which is read too
 *   RELAY    bytes both ways (relay.h)
 *   LINGER   after a refusal: what the client still sends is thrown     conn.c
 *            away, so that it can read what it was told
 *   END      nothing left to do
 *
 * Callbacks (readable, dialled, too late) note what happened and call conn_advance().
 * Only conn_advance() runs steps, and only conn_advance() frees.
 */
#ifndef PROXY_CONN_STEP_H
#define PROXY_CONN_STEP_H

#include "proxy/base/stream.h"
#include "proxy/conn.h"
#include "proxy/front.h"
#include "proxy/request.h"

enum conn_state {
    CONN_OVER,     /* `in` is empty; it will be refused, whatever comes */
    CONN_PROXIED,  /* `in` holds the start of a PROXY header; `from` is the proxy */
    CONN_REQUEST,  /* `in` holds what was sent; nothing is understood */
    CONN_TARGET,   /* request.target is set; `in` holds what came after the request */
    CONN_DIAL,     /* policy has allowed the target; no server yet */
    CONN_EXCHANGE, /* `plain` is at work; `in` holds what came behind it */
    CONN_ANSWER,   /* `out` is on its way; there is a server if it was granted */
    CONN_HELLO,    /* the relay runs, but `in` holds all that the client has sent */
    CONN_ANSWERED, /* the server has the hello, and `out` the start of its answer; `in`
                    * holds what came behind the hello */
    CONN_RELAY,    /* `in` and `out` are empty and hold no memory */
    CONN_LINGER,   /* the request has ended; no server */
    CONN_END,
};

enum step {
    STEP_NEXT, /* the state changed: go on */
    STEP_WAIT, /* a callback will come */
    STEP_END,  /* free the connection */
};

struct plain; /* plain.h */

struct conn {
    struct session *session;  /* borrowed: it outlives its connections */
    struct conn *prev, *next; /* in session->conns */
    struct stream client, server;
    struct request request;
    const struct front *front; /* NULL until the first byte */
    struct buf in, out;        /* from and to the client, before the relay */
    struct relay relay;        /* from HELLO on; zero before */
    struct plain *plain; /* a plain HTTP request; NULL: a tunnel, or nothing yet */
    ev_timer deadline;
    ev_tstamp due; /* when the state is too old; 0: it may be as old as it likes */
    struct ip from;
    unsigned char state; /* enum conn_state */
    unsigned char phase; /* of the front */
    unsigned char wrong_logins;
    bool login_wanted : 1; /* whose it is only a login can tell */
    bool counted : 1;      /* with core->clients; else with core->refusing */
    bool keep : 1;         /* refused, but the client may ask again */
    bool granted : 1;      /* the answer is yes */
    bool dialled : 1;      /* the dial is over */
    bool crowded : 1;      /* its client, by name, has too many */
    bool late : 1;         /* the state is too old, or the tunnel idle */
    bool between : 1;      /* two requests: nothing has come of the next one */
    bool lasting : 1;      /* the server's socket has the options of a long life */
    unsigned short plains; /* plain requests that have ended */
    unsigned lingered;     /* bytes thrown away */
    uint32_t proof;        /* of whose it is, as the door told; 0: none */
};

/* Runs steps as long as they lead to others; may free the connection. */
void conn_advance(struct conn *c);

/* All changes of the state go through these. Each returns STEP_NEXT. */
enum step conn_enter(struct conn *c, enum conn_state state);
/* To END, and neither side shall take what it has for the whole. */
enum step conn_cut(struct conn *c, const char *close);
/* Ends the request; closes the server; the client has its last word. */
enum step conn_linger(struct conn *c);

/* Who it is, without what it says itself. */
struct caller conn_caller(const struct conn *c);
/* The connection comes from `from`, and counts there. False: that is one too many. */
bool conn_comes_from(struct conn *c, const struct ip *from);
/* So many are being told of a limit that one more is closed without a word. */
bool conn_refusing_enough(const struct core *core);
/* The connection turns out to be of session `to`, which is a client of the door or the
 * door itself. */
void conn_move(struct conn *c, struct session *to);
/* The request has ended, and another one may follow on this connection. */
enum step conn_again(struct conn *c);

/* Ends it from outside, and not from within its callbacks: it is freed. */
void conn_end_now(struct conn *c, const char *close);

bool conn_in_tunnel(const struct conn *c);
/* Seconds that it may stay in its state; 0: no bound. */
double conn_patience(const struct conn *c);
/* How much is read ahead before it is too much. */
size_t conn_ahead_max(const struct limits *limits);

/* A bound on the state that becomes known only within it. */
void conn_due(struct conn *c, double seconds);

/* One read of what the client sends before its bytes go to a server, into `in`.
 * IO_AGAIN also when `in` is full, which then is more than any limit allows. */
enum io conn_read_ahead(struct conn *c);

struct ev_loop *conn_loop(const struct conn *c);
const struct limits *conn_limits(const struct conn *c);

enum step step_over(struct conn *c);
enum step step_proxied(struct conn *c);
enum step step_request(struct conn *c);
enum step step_target(struct conn *c);
enum step step_dial(struct conn *c);
enum step step_exchange(struct conn *c);
enum step step_answer(struct conn *c);
enum step step_hello(struct conn *c);
enum step step_answered(struct conn *c);
enum step step_relay(struct conn *c);

/* The only ways to an answer that is no. The first one's verdict is there already; the
 * second has its own, and `why` for what the reason does not tell. */
enum step asking_deny(struct conn *c);
enum step asking_refuse(struct conn *c, enum reason reason, unsigned status,
                        const char *why);
/* The client has gone before there was an answer. */
enum step asking_leave(struct conn *c);
/* The callback of `server`. */
void conn_on_server(struct ev_loop *loop, ev_io *w, int events);

#endif
