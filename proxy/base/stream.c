#include "proxy/base/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    KEEPALIVE_IDLE = 60, /* seconds */
    /* Milliseconds. Linux counts a peer that keeps its window shut as dead too, so this
     * is no less than what an idle tunnel may be. */
    USER_TIMEOUT = 600 * 1000,
};

void stream_set_nodelay(int fd)
{
    int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void stream_set_keepalive(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT},
    };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof options[i].value);
}

void stream_set_options(int fd)
{
    stream_set_nodelay(fd);
    stream_set_keepalive(fd);
}

void stream_none(struct stream *s)
{
    *s = (struct stream){.fd = -1};
}

void stream_init(struct stream *s, int fd, stream_ready_fn *on_ready, void *owner)
{
    s->fd = fd;
    s->layer = NULL;
    s->ready = 0;
    s->cut = s->gone = false;
    ev_io_init(&s->watch, on_ready, fd, 0);
    s->watch.data = owner;
}

void stream_set_layer(struct stream *s, struct stream_layer *layer)
{
    s->layer = layer;
}

/* As in stream_want(), the kernel is not to be asked for what it knows already. */
void stream_move(struct stream *to, struct stream *from, struct ev_loop *loop,
                 stream_ready_fn *on_ready, void *owner)
{
    ev_io_stop(loop, &from->watch);
    *to = *from;
    ev_set_cb(&to->watch, on_ready);
    ev_io_modify(&to->watch, 0);
    to->watch.data = owner;
    to->ready = 0;
    stream_none(from);
}

void stream_done(struct stream *s, struct ev_loop *loop)
{
    if (s->fd < 0)
        return;
    ev_io_stop(loop, &s->watch);
    if (s->layer != NULL && !s->cut)
        s->layer->ops->shut(s->layer);
    if (s->layer != NULL)
        s->layer->ops->free(s->layer);
    close(s->fd);
    stream_none(s);
}

/* ev_io_modify() and not ev_io_set(): the latter makes libev ask the kernel anew even
 * when the events come out the same. */
static void watch(struct stream *s, struct ev_loop *loop, int events)
{
    int now = ev_is_active(&s->watch) ? s->watch.events & (EV_READ | EV_WRITE) : 0;

    if (now == events)
        return;
    ev_io_stop(loop, &s->watch);
    ev_io_modify(&s->watch, events);
    if (events != 0)
        ev_io_start(loop, &s->watch);
}

/* Bytes that the layer has already are told as the socket would tell them; last, since
 * a watcher that is stopped forgets what it was to tell. */
void stream_want(struct stream *s, struct ev_loop *loop, int events)
{
    if (s->fd < 0)
        return;
    watch(s, loop, s->layer != NULL ? s->layer->ops->wants(s->layer, events) : events);
    if ((events & EV_READ) != 0)
        stream_tell_rest(s, loop);
}

void stream_tell_rest(struct stream *s, struct ev_loop *loop)
{
    if (s->layer != NULL && s->layer->ops->pending(s->layer))
        ev_feed_event(loop, &s->watch, EV_READ);
}

static enum io failed(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? IO_AGAIN
                                                                     : IO_ERROR;
}

/* The loop is level-triggered: what is left will be told again. */
static enum io receive(struct stream *s, char *into, size_t size, int flags, size_t *n)
{
    ssize_t got = recv(s->fd, into, size, MSG_DONTWAIT | flags);

    s->ready &= ~EV_READ;
    *n = got > 0 ? (size_t)got : 0;
    if (got < 0)
        return failed();
    return got == 0 ? IO_EOF : IO_OK;
}

enum io stream_peek(struct stream *s, char *into, size_t size, size_t *n)
{
    return receive(s, into, size, MSG_PEEK, n);
}

enum io stream_take(struct stream *s, char *into, size_t size, size_t *n)
{
    return receive(s, into, size, 0, n);
}

enum io stream_read(struct stream *s, char *into, size_t size, size_t *n)
{
    if (s->layer == NULL)
        return receive(s, into, size, 0, n);
    s->ready &= ~EV_READ;
    return s->layer->ops->read(s->layer, into, size, n);
}

enum io stream_write(struct stream *s, const char *from, size_t len, size_t *n)
{
    ssize_t sent;

    s->ready &= ~EV_WRITE;
    if (s->layer != NULL)
        return s->layer->ops->write(s->layer, from, len, n);
    sent = send(s->fd, from, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    *n = sent > 0 ? (size_t)sent : 0;
    return sent < 0 ? failed() : IO_OK;
}

void stream_shut(struct stream *s)
{
    if (s->layer != NULL)
        s->layer->ops->shut(s->layer);
    shutdown(s->fd, SHUT_WR);
}

void stream_reset(struct stream *s)
{
    struct linger at_once = {.l_onoff = 1};

    s->cut = true;
    if (s->fd >= 0)
        setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

bool stream_writable(const struct stream *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLOUT};

    return poll(&p, 1, 0) == 1;
}
