#include "proxy/race.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "proxy/base/fd.h"
#include "proxy/base/stream.h"

enum {
    /* Under way at once. The ninth takes the place of the first, which by then has had
     * eight delays. */
    ATTEMPTS_MAX = 8,
};

/* RFC 8305 5: how long an attempt has before the next one starts beside it. */
static const double attempt_delay = 0.25;

struct attempt {
    struct race *race;
    const struct addr *addr; /* in the race */
    int fd;                  /* -1: this place is free */
    ev_io watch;
};

struct race {
    struct ev_loop *loop; /* borrowed */
    struct race_spare spare;
    race_done_fn *done;
    void *owner;
    struct addr addrs[RACE_MAX]; /* in the order to try */
    size_t count, next;
    struct attempt attempts[ATTEMPTS_MAX];
    ev_timer delay;            /* to the next attempt; at once for the first */
    struct race_result result; /* so far */
};

int race_socket(struct race_spare spare, int family)
{
    int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, fd = socket(family, type, 0);
    int error = errno;

    if (fd < 0 && (error == EMFILE || error == ENFILE) && spare.call != NULL &&
        spare.call(spare.owner))
        return socket(family, type, 0);
    errno = error;
    return fd;
}

static void attempt_close(struct attempt *a)
{
    ev_io_stop(a->race->loop, &a->watch);
    fd_close(&a->fd);
}

static void race_free(struct race *r)
{
    ev_timer_stop(r->loop, &r->delay);
    for (size_t i = 0; i < ATTEMPTS_MAX; i++)
        attempt_close(&r->attempts[i]);
    free(r);
}

static void finish(struct race *r)
{
    struct race_result result = r->result;
    race_done_fn *done = r->done;
    void *owner = r->owner;

    race_free(r);
    done(owner, &result);
}

static void note_failure(struct race *r, const struct addr *addr, int error)
{
    r->result.addr = *addr;
    r->result.error = error;
}

static bool same_addr(const struct addr *a, const struct addr *b)
{
    struct ip ip = addr_ip(a), other = addr_ip(b);

    return ip_equal(&ip, &other) && addr_port(a) == addr_port(b);
}

/* 0, or an errno. That the peer is the address which was asked for is asked of the
 * kernel and not assumed: it is the one that was checked. */
static int connect_outcome(const struct attempt *a)
{
    struct addr peer = {.len = sizeof peer.v6};
    int error = 0;
    socklen_t len = sizeof error;

    if (getpeername(a->fd, &peer.sa, &peer.len) == 0)
        return same_addr(&peer, a->addr) ? 0 : EADDRNOTAVAIL;
    if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error == 0)
        return ENOTCONN;
    return error;
}

static void won(struct race *r, struct attempt *a)
{
    stream_set_nodelay(a->fd);
    ev_io_stop(r->loop, &a->watch);
    r->result.addr = *a->addr;
    r->result.error = 0;
    r->result.fd = fd_steal(&a->fd);
    finish(r);
}

static void try_next(struct race *r);

static void on_connect(struct ev_loop *loop, ev_io *w, int events)
{
    struct attempt *a = w->data;
    struct race *r = a->race;
    int error = connect_outcome(a);

    (void)loop, (void)events;
    if (error == 0) {
        won(r, a);
        return;
    }
    note_failure(r, a->addr, error);
    attempt_close(a);
    try_next(r);
}

/* The place of an attempt: a free one, or that of the oldest. */
static struct attempt *attempt_place(struct race *r)
{
    struct attempt *oldest = &r->attempts[0];

    for (size_t i = 0; i < ATTEMPTS_MAX; i++) {
        if (r->attempts[i].fd < 0)
            return &r->attempts[i];
        if (r->attempts[i].addr < oldest->addr)
            oldest = &r->attempts[i];
    }
    attempt_close(oldest);
    return oldest;
}

static bool attempt_start(struct race *r, const struct addr *addr)
{
    autofd int fd = race_socket(r->spare, addr->sa.sa_family);
    struct attempt *a;

    if (fd < 0 || (connect(fd, &addr->sa, addr->len) != 0 && errno != EINPROGRESS)) {
        note_failure(r, addr, errno);
        return false;
    }
    a = attempt_place(r);
    a->addr = addr;
    a->fd = fd_steal(&fd);
    ev_io_set(&a->watch, a->fd, EV_WRITE);
    ev_io_start(r->loop, &a->watch);
    return true;
}

static bool under_way(const struct race *r)
{
    for (size_t i = 0; i < ATTEMPTS_MAX; i++)
        if (r->attempts[i].fd >= 0)
            return true;
    return false;
}

/* Starts one more attempt, and the delay to the one after it. */
static void try_next(struct race *r)
{
    bool started = false;

    while (!started && r->next < r->count)
        started = attempt_start(r, &r->addrs[r->next++]);
    if (!started && !under_way(r)) {
        finish(r);
        return;
    }
    if (r->next < r->count)
        ev_timer_again(r->loop, &r->delay);
    else
        ev_timer_stop(r->loop, &r->delay);
}

static void on_delay(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)events;
    try_next(w->data);
}

/* RFC 8305 4: families by turns, IPv6 first; within a family the given order. */
static void interleave(struct race *r, const struct addr *addrs)
{
    static const int families[] = {AF_INET6, AF_INET};
    size_t next[] = {0, 0}, n = 0, turn = 0;

    while (n < r->count) {
        size_t *i = &next[turn];

        while (*i < r->count && addrs[*i].sa.sa_family != families[turn])
            ++*i;
        if (*i < r->count)
            r->addrs[n++] = addrs[(*i)++];
        turn = 1 - turn;
    }
}

struct race *race_start(struct ev_loop *loop, struct race_spare spare,
                        const struct addr *addrs, size_t count, race_done_fn *done,
                        void *owner)
{
    struct race *r = calloc(1, sizeof *r);

    assert(count > 0 && count <= RACE_MAX);
    if (r == NULL)
        abort();
    r->loop = loop;
    r->spare = spare;
    r->done = done;
    r->owner = owner;
    r->count = count;
    r->result.fd = -1;
    interleave(r, addrs);
    for (size_t i = 0; i < ATTEMPTS_MAX; i++) {
        r->attempts[i] = (struct attempt){.race = r, .fd = -1};
        ev_init(&r->attempts[i].watch, on_connect);
        r->attempts[i].watch.data = &r->attempts[i];
    }
    /* All attempts start from the loop, since one can fail within the call. */
    ev_timer_init(&r->delay, on_delay, 0, attempt_delay);
    r->delay.data = r;
    ev_feed_event(loop, &r->delay, EV_TIMER);
    return r;
}

void race_cancel(struct race **r)
{
    if (*r != NULL)
        race_free(*r);
    *r = NULL;
}

struct addr race_last(const struct race *r)
{
    return r->next > 0 ? r->addrs[r->next - 1] : (struct addr){.len = 0};
}
