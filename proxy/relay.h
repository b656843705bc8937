/* Bytes both ways between two sockets, until each side has said its last. A half-close
 * is passed on, and neither direction waits for the other.
 *
 * What is read is sent at once, out of one buffer that all relays of a core share; only
 * what the other side did not take is kept, and then its source is not read. So an idle
 * relay holds no memory, and no view of the shared buffer outlives a call. */
#ifndef PROXY_RELAY_H
#define PROXY_RELAY_H

#include "proxy/base/buf.h"
#include "proxy/base/stream.h"
#include "proxy/counters.h"

enum {
    RELAY_BUFFER = 256 * 1024,
    RELAY_LEFT_MAX = 64 * 1024 * 1024, /* of what all relays of a core keep */
    RELAY_SHORT_READ = 4096,           /* one read, when that is used up */
    RELAY_HEARD_MAX = 64,              /* of an answer that is listened to */
};

/* What the relays of one core share. */
struct relay_pool {
    struct ev_loop *loop;      /* borrowed */
    struct counters *counters; /* borrowed: bytes are counted there as they are taken */
    char *buffer;    /* NULL until the first byte; poisoned under ASan while no
                      * relay works with it */
    size_t left;     /* bytes of memory for what all of them keep */
    size_t left_max; /* RELAY_LEFT_MAX; a test lowers it */
};

void relay_pool_init(struct relay_pool *p, struct ev_loop *loop,
                     struct counters *counters);
void relay_pool_done(struct relay_pool *p);

/* One direction. */
struct relay_way {
    struct stream *from, *to; /* borrowed: the connection owns them */
    struct buf left;          /* was read and not taken yet */
    unsigned long long bytes; /* that `to` took */
    bool held;                /* `from` is read by the owner: see relay_release() */
    bool eof;                 /* `from` has said its last */
    bool shut;                /* and `to` was told so */
    bool dead;                /* `to` takes nothing any more: what comes is dropped */
    bool crowded;             /* the pool is used up: waits until `to` takes more */
};

struct relay {
    struct relay_pool *pool;
    struct relay_way up, down; /* client to server, server to client */
    ev_tstamp moved;           /* when a byte last moved, either way */
    const char *close;         /* who ended it: "client", "server", "error"; NULL */
    struct buf *heard;         /* borrowed: see relay_ask(); NULL when nobody listens */
};

enum relay_status { RELAY_OVER = 0, RELAY_GOES_ON };

/* The streams outlive the relay and are watched by it from the first relay_run() on.
 * The client's bytes are held back: the owner reads them until relay_release(). */
void relay_init(struct relay *r, struct relay_pool *pool, struct stream *client,
                struct stream *server);
/* The streams stay as they are. May be called twice, and on a zeroed struct. */
void relay_done(struct relay *r);

/* `first` goes to the server, and the first RELAY_HEARD_MAX bytes of its answer into
 * `heard` too, which outlives the listening: until relay_release(). The client's bytes
 * are held still. */
void relay_ask(struct relay *r, struct str first, struct buf *heard);

/* The owner has seen enough: `first` (RELAY_BUFFER bytes at most, emptied here) goes to
 * the server ahead of whatever else comes; `eof` when the client has already said its
 * last. */
void relay_release(struct relay *r, struct buf *first, bool eof);

/* Acts on what the streams' callbacks noted, and asks for what is needed next. At most
 * one read a direction, so that a fast pair cannot starve the rest. When it is over
 * because one side died, the other is set to be reset, so that what was cut does not
 * look complete. */
enum relay_status relay_run(struct relay *r);

/* One side has said its last, the other goes on. */
bool relay_half_closed(const struct relay *r);
/* Nothing has moved for `seconds`, and nothing waits to be taken. */
bool relay_silent(const struct relay *r, double seconds);

#endif
