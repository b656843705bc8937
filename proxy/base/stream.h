/* A connected stream socket in the loop: non-blocking reads and writes, and what its
 * watcher has seen. It does not look at the bytes. A layer may lie between the socket
 * and the bytes, such as TLS; whoever reads and writes does not see that. */
#ifndef BASE_STREAM_H
#define BASE_STREAM_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

enum io {
    IO_ERROR = 0, /* the socket is dead: reset, timed out */
    IO_OK,        /* bytes moved */
    IO_AGAIN,     /* nothing now; the watcher will tell */
    IO_EOF,       /* the other end sends no more */
};

/* The first member of whatever is such a layer. */
struct stream_layer {
    const struct stream_layer_ops *ops;
};

struct stream_layer_ops {
    /* As stream_read() and stream_write(). */
    enum io (*read)(struct stream_layer *l, char *into, size_t size, size_t *n);
    enum io (*write)(struct stream_layer *l, const char *from, size_t len, size_t *n);
    /* What the socket is to be watched for, so that `events` can go on. */
    int (*wants)(struct stream_layer *l, int events);
    /* The other way round: what can go on when the socket is ready for `events`. */
    int (*ready)(struct stream_layer *l, int events);
    /* A read would give bytes that the socket will not tell of. */
    bool (*pending)(struct stream_layer *l);
    void (*shut)(struct stream_layer *l);
    void (*free)(struct stream_layer *l);
};

struct stream {
    ev_io watch;
    struct stream_layer *layer; /* owned; NULL: the bytes are the socket's */
    int fd;                     /* owned; -1 when there is none */
    unsigned char
        ready; /* EV_READ, EV_WRITE: seen by the callback, and not acted upon yet */
    bool cut;  /* stream_reset(): the end must not look like one */
    bool gone; /* the other end has, both ways: see hangups.h */
};

/* The callback adds what it saw to `ready`: stream_note(). */
typedef void stream_ready_fn(struct ev_loop *loop, ev_io *w, int events);

/* What every TCP connection of ours gets: nothing is held back to make packets bigger,
 * and a peer that has gone is noticed. On a listening socket it is for those that are
 * accepted from it. Failures are left alone, as on a Unix socket: the options make a
 * tunnel better, and none makes it safe. */
void stream_set_options(int fd);
/* The two halves of it. Three calls of four are for peers that go without a word, which
 * matters only to connections that live for long. */
void stream_set_nodelay(int fd);
void stream_set_keepalive(int fd);

/* No descriptor yet; stream_done() is safe from here on. */
void stream_none(struct stream *s);
/* Takes over `fd`, which is non-blocking. `on_ready` runs with watch.data == owner. The
 * stream starts unwatched. */
void stream_init(struct stream *s, int fd, stream_ready_fn *on_ready, void *owner);
/* Takes over `layer`, which works on the same descriptor. */
void stream_set_layer(struct stream *s, struct stream_layer *layer);
/* `from` becomes `to`, unwatched and with another owner; `from` has no descriptor then.
 */
void stream_move(struct stream *to, struct stream *from, struct ev_loop *loop,
                 stream_ready_fn *on_ready, void *owner);
/* Stops watching, closes; a layer says that this is the end, unless something was cut.
 * May be called again. */
void stream_done(struct stream *s, struct ev_loop *loop);

static inline void stream_note(struct stream *s, int events)
{
    s->gone |= (events & EV_ERROR) != 0;
    if (s->layer != NULL)
        events = s->layer->ops->ready(s->layer, events);
    s->ready |= events & (EV_READ | EV_WRITE);
}

/* Watches for EV_READ, EV_WRITE, both, or nothing (0). Costs a system call only when it
 * changes something until the loop turns. */
void stream_want(struct stream *s, struct ev_loop *loop, int events);
/* After a read that had no room for all: what the layer still has is told by the
 * callback, as the socket tells by itself what it still has. */
void stream_tell_rest(struct stream *s, struct ev_loop *loop);

/* One system call each. *n is how much was moved, 0 unless IO_OK. */
enum io stream_read(struct stream *s, char *into, size_t size, size_t *n);
/* The same of the socket's own bytes, below any layer, and they stay there; for what
 * comes in front of a layer. */
enum io stream_peek(struct stream *s, char *into, size_t size, size_t *n);
/* And takes them off it. */
enum io stream_take(struct stream *s, char *into, size_t size, size_t *n);
enum io stream_write(struct stream *s, const char *from, size_t len, size_t *n);

/* No more will be written; reading goes on. */
void stream_shut(struct stream *s);
/* The close to come tells the other end that something was lost (TCP reset). */
void stream_reset(struct stream *s);
/* Asks the kernel, now. */
bool stream_writable(const struct stream *s);

#endif
