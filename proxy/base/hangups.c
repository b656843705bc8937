#include "proxy/base/hangups.h"

#include <sys/epoll.h>

#include "proxy/base/fd.h"

enum { BATCH = 16 };

/* Callbacks come from the loop, so nothing ends while there are more events. */
static void on_hangups(struct ev_loop *loop, ev_io *w, int events)
{
    struct epoll_event seen[BATCH];
    int n = epoll_wait(w->fd, seen, BATCH, 0);

    (void)events;
    for (int i = 0; i < n; i++)
        ev_feed_event(loop, seen[i].data.ptr, EV_READ | EV_WRITE | EV_ERROR);
}

bool hangups_init(struct hangups *h, struct ev_loop *loop, struct err *e)
{
    *h = (struct hangups){.loop = loop, .fd = epoll_create1(EPOLL_CLOEXEC)};
    if (h->fd < 0)
        return err_sys(e, "hang-ups cannot be watched");
    ev_io_init(&h->watch, on_hangups, h->fd, EV_READ);
    ev_io_start(loop, &h->watch);
    return true;
}

void hangups_done(struct hangups *h)
{
    if (h->fd < 0)
        return;
    ev_io_stop(h->loop, &h->watch);
    fd_close(&h->fd);
}

/* EPOLLERR and EPOLLHUP come without being asked for. Where the kernel has no memory
 * for one more the deadlines of the stream's owner do. */
void hangups_watch(const struct hangups *h, struct stream *s)
{
    struct epoll_event once = {.events = EPOLLONESHOT, .data.ptr = &s->watch};

    if (h->fd >= 0)
        epoll_ctl(h->fd, EPOLL_CTL_ADD, s->fd, &once);
}

void hangups_forget(const struct hangups *h, struct stream *s)
{
    if (h->fd >= 0)
        epoll_ctl(h->fd, EPOLL_CTL_DEL, s->fd, NULL);
}
