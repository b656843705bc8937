/* See listener.h. When the system has no descriptor or memory for one more connection,
 * accepting rests for a moment: the connections wait in the kernel's queue, the loop
 * does not spin, and nobody has to wake it. */
#include "proxy/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "proxy/base/fd.h"
#include "proxy/base/log.h"
#include "proxy/base/stream.h"
#include "proxy/conn.h"
#include "proxy/endpoint.h"
#include "proxy/ranges.h"

enum {
    BLOCKED_MAX = 10 * 1000, /* microseconds; see stay_nonblocking() */
    SHED_BATCH = 8,          /* tunnels that are cut at once */
};

static const double rest_seconds = 0.2, tell_seconds = 10;

struct listener {
    struct session *session;
    struct listener *next; /* in the session */
    int fd;
    int gate;                       /* what the loop watches: see open_gate() */
    bool shared;                    /* somebody else may hold a copy */
    bool counts;                    /* its address is with the core's own */
    ev_tstamp told;                 /* of the last rest; 0: never */
    struct addr addr;               /* of a socket that counts */
    const struct ip_range *proxies; /* see listener_set_proxies() */
    size_t proxy_count;
    struct tls_context *tls; /* NULL: clients speak in clear */
    ev_io watch;
    ev_timer rest;
};

/* The flag belongs to the open socket, so whoever holds a copy of a socket that was
 * handed over can clear it, and the accept after the last one would stop the loop.
 * There is no accept that takes the flag with it; so it is set before each batch, and
 * should somebody be quick enough in between, the receive time-out ends the wait. */
static void stay_nonblocking(const struct listener *l)
{
    struct timeval soon = {.tv_usec = BLOCKED_MAX};

    fcntl(l->fd, F_SETFL, O_RDWR | O_NONBLOCK);
    if (l->shared)
        setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
}

static void rest(struct listener *l, int error)
{
    struct core *core = l->session->core;

    if (l->told == 0 || ev_now(core->loop) - l->told > tell_seconds) {
        log_warn("session %s: accepting rests: %s; it goes on by itself",
                 l->session->name, strerrordesc_np(error));
        l->told = ev_now(core->loop);
    }
    ev_io_stop(core->loop, &l->watch);
    /* A timer that has fired keeps what was left of its time: none. */
    ev_timer_set(&l->rest, rest_seconds, 0);
    ev_timer_start(core->loop, &l->rest);
}

static void on_rested(struct ev_loop *loop, ev_timer *w, int events)
{
    struct listener *l = w->data;

    (void)events;
    ev_io_start(loop, &l->watch);
}

/* Room is made where nobody loses anything, then where somebody has not used his for
 * long; else waiting is all there is. */
static void make_room(struct listener *l, int error)
{
    struct core *core = l->session->core;

    counters_accept_error(&core->counters, error);
    if (error == EINVAL ||
        (!upstream_shed(core->upstreams) && !conn_make_room(core, SHED_BATCH)))
        rest(l, error);
}

/* EINVAL: somebody with a copy has shut the socket down; it would be readable for ever.
 */
static bool must_rest(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM ||
           error == EINVAL;
}

/* False when there is nothing more to accept now. */
static bool accept_one(struct listener *l)
{
    struct addr from = {.len = sizeof from.v6};
    int fd = accept4(l->fd, &from.sa, &from.len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct conn_front in_front = {.tls = l->tls};
    struct ip ip;

    if (fd < 0) {
        bool again = !must_rest(errno) && errno != EAGAIN;

        if (must_rest(errno))
            make_room(l, errno);
        /* Other errors are a connection's own misfortune (ECONNABORTED, EPROTO). */
        return again;
    }
    ip = addr_ip(&from);
    in_front.proxied = ranges_have(l->proxies, l->proxy_count, &ip);
    conn_open(l->session, fd, &ip, &in_front);
    return true;
}

static void on_acceptable(struct ev_loop *loop, ev_io *w, int events)
{
    struct listener *l = w->data;

    (void)loop, (void)events;
    if (l->shared)
        stay_nonblocking(l);
    for (unsigned i = 0; i < LISTENER_BATCH; i++)
        if (!accept_one(l))
            break;
}

static size_t count_listeners(const struct session *s)
{
    size_t n = 0;

    for (const struct listener *l = s->listeners; l != NULL; l = l->next)
        n++;
    return n;
}

static void add_own(struct listener *l)
{
    l->addr.len = sizeof l->addr.v6;
    if (getsockname(l->fd, &l->addr.sa, &l->addr.len) != 0 ||
        addr_ip(&l->addr).family == 0)
        return;
    hostaddrs_add_own(l->session->core->dialler.host, &l->addr);
    l->counts = true;
}

/* The socket may stay open elsewhere when we close it: other workers and whoever passed
 * it on have it too. The kernel would then go on telling the loop of it, under a number
 * that may be that of another file by then. An epoll of its own ends when it is closed,
 * whoever has the socket. */
static int open_gate(int fd)
{
    autofd int gate = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event readable = {.events = EPOLLIN};

    if (gate < 0 || epoll_ctl(gate, EPOLL_CTL_ADD, fd, &readable) != 0)
        return -1;
    return fd_steal(&gate);
}

bool listener_open(struct session *s, int taken, bool own_namespace, struct err *e)
{
    autofd int fd = taken, gate = open_gate(fd);
    struct listener *l;

    if (!endpoint_is_listening(fd))
        return err_set(e, "descriptor %d is not a listening stream socket", fd);
    if (count_listeners(s) >= SESSION_LISTENERS_MAX)
        return err_set(e, "more than %d listening sockets", SESSION_LISTENERS_MAX);
    if (gate < 0)
        return err_sys(e, "a listening socket cannot be watched");
    l = calloc(1, sizeof *l);
    if (l == NULL)
        abort();
    /* Accepted sockets inherit this, which saves as many calls for each of them. */
    stream_set_options(fd);
    l->session = s;
    l->fd = fd_steal(&fd);
    l->gate = fd_steal(&gate);
    l->shared = !own_namespace;
    stay_nonblocking(l);
    if (own_namespace)
        add_own(l);
    ev_io_init(&l->watch, on_acceptable, l->gate, EV_READ);
    l->watch.data = l;
    ev_init(&l->rest, on_rested);
    l->rest.data = l;
    ev_io_start(s->core->loop, &l->watch);
    l->next = s->listeners;
    s->listeners = l;
    return true;
}

static void listener_free(struct listener *l)
{
    struct core *core = l->session->core;

    ev_io_stop(core->loop, &l->watch);
    ev_timer_stop(core->loop, &l->rest);
    /* At the end somebody else may have the socket, and serve on it as we did. */
    if (l->counts && !core->ending)
        hostaddrs_remove_own(core->dialler.host, &l->addr);
    tls_context_unref(&l->tls);
    close(l->gate);
    close(l->fd);
    free(l);
}

void listener_set_proxies(struct listener *l, const struct ip_range *proxies,
                          size_t count)
{
    l->proxies = proxies;
    l->proxy_count = count;
}

void listener_set_tls(struct listener *l, struct tls_context *tls)
{
    struct tls_context *old = l->tls;

    l->tls = tls != NULL ? tls_context_ref(tls) : NULL;
    tls_context_unref(&old);
}

/* A name of a Unix socket is what it was bound to, on both ends. */
bool listener_is_peer(const struct session *s, int fd)
{
    struct sockaddr_un peer, own;
    socklen_t peer_len = sizeof peer, own_len;

    if (getpeername(fd, (struct sockaddr *)&peer, &peer_len) != 0)
        return false;
    for (const struct listener *l = s->listeners; l != NULL; l = l->next) {
        own_len = sizeof own;
        if (getsockname(l->fd, (struct sockaddr *)&own, &own_len) == 0 &&
            own.sun_family == AF_UNIX && own_len == peer_len &&
            memcmp(&own, &peer, own_len) == 0)
            return true;
    }
    return false;
}

void listener_close(struct session *s, struct listener *l)
{
    struct listener **at = &s->listeners;

    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    listener_free(l);
}

void listener_close_all(struct session *s)
{
    while (s->listeners != NULL) {
        struct listener *l = s->listeners;

        s->listeners = l->next;
        listener_free(l);
    }
}
