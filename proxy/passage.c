/* See passage.h. In the order of life: resolve, connect, talk. The bytes of the talk
 * are read as exactly as it needs them, so that those of the server stay in the socket
 * for whoever comes next. */
#include "proxy/passage.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "proxy/base/fd.h"
#include "proxy/connect_error.h"
#include "proxy/policy/here.h"
#include "proxy/race.h"
#include "tls/stream.h"

_Static_assert((int)LOOKUP_MAX <= (int)RACE_MAX, "all addresses of a name can race");

enum { READS_MAX = 64 }; /* in one turn, so that nobody starves */

/* Between two tries at a Unix socket whose queue is full. */
static const double queue_seconds = 0.02;

struct passage {
    const struct dialler *dialler; /* borrowed, as these two */
    const struct parent *parent;
    const struct target *to;
    passage_done_fn *done;
    void *owner;
    ev_timer start; /* for what would end within passage_start(); until the next try */
    struct lookup *lookup; /* while resolving */
    struct race *race;     /* while connecting */
    struct stream stream;  /* once connected */
    struct buf out;        /* what it has not taken */
    struct parent_talk talk;
};

static void passage_free(struct passage *p)
{
    struct ev_loop *loop = p->dialler->loop;

    ev_timer_stop(loop, &p->start);
    if (p->lookup != NULL)
        lookup_cancel(&p->lookup);
    race_cancel(&p->race);
    stream_done(&p->stream, loop);
    buf_done(&p->out);
    free(p);
}

void passage_cancel(struct passage **p)
{
    if (*p != NULL)
        passage_free(*p);
    *p = NULL;
}

static struct passage_result told(const struct passage *p)
{
    const struct talk_failure *f = &p->talk.failure;

    return (struct passage_result){
        .fd = -1, .reason = f->reason, .why = f->why, .error = f->error};
}

/* `failure` is filled. */
static void fail(struct passage *p)
{
    struct passage_result result = told(p);
    struct talk_failure failure = p->talk.failure;
    passage_done_fn *done = p->done;
    void *owner = p->owner;

    result.why = failure.why;
    passage_free(p);
    done(owner, &result);
}

static void fail_own(struct passage *p)
{
    talk_fail(&p->talk, REASON_ADDRESS_OWN, "proxy_loop_detected",
              "is this proxy itself: connections would come back without end");
    fail(p);
}

static void fail_connect(struct passage *p, int error)
{
    struct connect_error c = connect_error(error);
    enum reason reason =
        c.reason == REASON_CONNECT_FAILURE ? REASON_PARENT_FAILURE : c.reason;

    talk_fail(&p->talk, reason, c.error, "cannot be reached: %s", c.what);
    fail(p);
}

static void succeed(struct passage *p)
{
    passage_done_fn *done = p->done;
    void *owner = p->owner;
    struct passage_result result;

    stream_want(&p->stream, p->dialler->loop, 0);
    result = (struct passage_result){.fd = p->stream.fd, .layer = p->stream.layer};
    stream_none(&p->stream);
    passage_free(p);
    done(owner, &result);
}

/* The connection is dead, or the parent sends no more: fills `failure`. */
static void note_closed(struct passage *p)
{
    static const char bad_certificate[] = "certificate verify failed";
    const char *why = p->stream.layer != NULL ? tls_why(p->stream.layer) : "";
    bool verified = strncmp(why, bad_certificate, sizeof bad_certificate - 1) != 0;

    if (why[0] != '\0')
        talk_fail(&p->talk, REASON_PARENT_FAILURE,
                  verified ? "tls_protocol_error" : "tls_certificate_error",
                  "cannot be used, by TLS: %s", why);
    else
        parent_talk_closed(&p->talk);
}

/* False: it has failed, and is gone. */
static bool write_out(struct passage *p)
{
    struct str out = buf_view(&p->out);
    size_t n = 0;

    if (out.n > 0 && stream_write(&p->stream, out.p, out.n, &n) == IO_ERROR) {
        note_closed(p);
        fail(p);
        return false;
    }
    buf_drain(&p->out, n);
    return true;
}

/* One read of what the parent surely has to say. */
static enum io read_some(struct passage *p, enum talk *talk)
{
    char bytes[TALK_SOCKS_MAX];
    size_t need = parent_talk_need(&p->talk), n = 0;
    enum io io;

    assert(need > 0 && need <= sizeof bytes);
    io = stream_read(&p->stream, bytes, need, &n);
    if (io == IO_OK)
        *talk = parent_talk_feed(&p->talk, (struct str){bytes, n}, &p->out);
    if (io == IO_EOF || io == IO_ERROR) {
        note_closed(p);
        *talk = TALK_FAILED;
    }
    return io;
}

/* Nothing but TLS is to be agreed upon. A parent that has not been asked for anything
 * says nothing, so a read gives no byte and drives the handshake. */
static void shake(struct passage *p)
{
    char byte;
    size_t n;
    enum io io = stream_read(&p->stream, &byte, 1, &n);

    if (io == IO_AGAIN && tls_is_open(p->stream.layer)) {
        succeed(p);
    } else if (io == IO_AGAIN) {
        stream_want(&p->stream, p->dialler->loop, EV_READ);
    } else if (io == IO_OK) {
        talk_fail(&p->talk, REASON_PARENT_FAILURE, "http_protocol_error",
                  "speaks before it was asked");
        fail(p);
    } else {
        note_closed(p);
        fail(p);
    }
}

static void talk_on(struct passage *p)
{
    enum talk talk = TALK_MORE;
    int reads = 0;

    while (talk == TALK_MORE && reads++ < READS_MAX) {
        if (!write_out(p))
            return;
        if (read_some(p, &talk) == IO_AGAIN)
            break;
    }
    if (talk == TALK_OPEN)
        succeed(p);
    else if (talk == TALK_FAILED)
        fail(p);
    else
        stream_want(&p->stream, p->dialler->loop,
                    EV_READ | (buf_len(&p->out) > 0 ? EV_WRITE : 0));
}

static void go_on(struct passage *p)
{
    if (p->to != NULL)
        talk_on(p);
    else if (p->stream.layer != NULL)
        shake(p);
    else
        succeed(p);
}

static void on_stream(struct ev_loop *loop, ev_io *w, int events)
{
    struct passage *p = w->data;

    (void)loop;
    stream_note(&p->stream, events);
    go_on(p);
}

/* Takes over `fd`. */
static void connected(struct passage *p, int fd)
{
    stream_init(&p->stream, fd, on_stream, p);
    if (p->parent->tls)
        stream_set_layer(&p->stream,
                         tls_connect(p->parent->context, fd, p->parent->at.host,
                                     p->parent->at.kind == HOST_ADDR));
    if (p->to != NULL)
        parent_talk_start(&p->talk, p->parent, p->to, &p->out);
    go_on(p);
}

static void on_raced(void *owner, const struct race_result *raced)
{
    struct passage *p = owner;

    p->race = NULL;
    if (raced->fd < 0)
        fail_connect(p, raced->error);
    else
        connected(p, raced->fd);
}

/* The peer is whoever made the listening socket: this process, unless it was passed on.
 */
static bool is_ours(const struct passage *p, int fd)
{
    const struct dialler *d = p->dialler;
    struct ucred peer = {.pid = 0};
    socklen_t len = sizeof peer;

    return (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
            peer.pid == getpid()) ||
           (d->is_own != NULL && d->is_own(d->is_own_owner, fd));
}

/* A queue that is full is a matter of a moment; TCP would wait for it by itself. */
static void connect_failed(struct passage *p, int error)
{
    if (error != EAGAIN) {
        fail_connect(p, error);
        return;
    }
    ev_timer_set(&p->start, queue_seconds, 0);
    ev_timer_start(p->dialler->loop, &p->start);
}

static void connect_unix(struct passage *p)
{
    const struct sockaddr_un *path = &p->parent->path;
    autofd int fd = race_socket(p->dialler->spare, AF_UNIX);

    if (fd < 0)
        fail_connect(p, errno);
    else if (connect(fd, (const struct sockaddr *)path, sizeof *path) != 0)
        connect_failed(p, errno);
    else if (is_ours(p, fd))
        fail_own(p);
    else
        connected(p, fd_steal(&fd));
}

/* Without this host's addresses any could be the proxy's own. */
static bool is_own(const struct passage *p, const struct ip *ip)
{
    const struct hostaddrs *host = hostaddrs_now(p->dialler->host);

    return host == NULL || here_is_own(host, ip, p->parent->at.port);
}

static void connect_inet(struct passage *p, const struct ip *ips, size_t count)
{
    struct addr addrs[LOOKUP_MAX];
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct ip ip = ips[i];

        ip_unmap(&ip);
        if (!is_own(p, &ip))
            addrs[n++] = addr_from_ip(&ip, p->parent->at.port);
    }
    if (n == 0)
        fail_own(p);
    else
        p->race =
            race_start(p->dialler->loop, p->dialler->spare, addrs, n, on_raced, p);
}

static void on_resolved(void *owner, const struct lookup_result *found)
{
    static const struct {
        enum reason reason;
        const char *error;
    } failures[] = {
        [LOOKUP_FAILED] = {REASON_PARENT_FAILURE, "dns_error"},
        [LOOKUP_NOT_FOUND] = {REASON_PARENT_FAILURE, "dns_error"},
        [LOOKUP_TIMED_OUT] = {REASON_TIMEOUT, "dns_timeout"},
        [LOOKUP_BUSY] = {REASON_LIMIT, NULL},
    };
    struct passage *p = owner;

    p->lookup = NULL;
    if (found->status == LOOKUP_OK) {
        connect_inet(p, found->ips, found->count);
        return;
    }
    talk_fail(&p->talk, failures[found->status].reason, failures[found->status].error,
              "could not be resolved: %s", found->why);
    fail(p);
}

static void on_start(struct ev_loop *loop, ev_timer *w, int events)
{
    struct passage *p = w->data;

    (void)loop, (void)events;
    if (p->parent->at.kind == HOST_NONE)
        connect_unix(p);
    else
        connect_inet(p, &p->parent->at.ip, 1);
}

struct passage *passage_start(const struct dialler *dialler,
                              const struct parent *parent, const struct target *to,
                              passage_done_fn *done, void *owner)
{
    struct passage *p = calloc(1, sizeof *p);

    if (p == NULL)
        abort();
    p->dialler = dialler;
    p->parent = parent;
    p->to = to;
    p->done = done;
    p->owner = owner;
    p->talk.parent = parent;
    stream_none(&p->stream);
    buf_init(&p->out, TALK_OUT_MAX);
    ev_timer_init(&p->start, on_start, 0, 0);
    p->start.data = p;
    if (parent->at.kind == HOST_NAME)
        p->lookup =
            resolver_lookup(dialler->resolver, parent->at.host, NULL, on_resolved, p);
    else
        ev_feed_event(dialler->loop, &p->start, EV_TIMER);
    return p;
}

struct passage_result passage_late(struct passage *p)
{
    if (p->stream.fd >= 0)
        talk_fail(&p->talk, REASON_TIMEOUT, "connection_read_timeout",
                  "did not answer in time");
    else if (p->lookup != NULL)
        talk_fail(&p->talk, REASON_TIMEOUT, "dns_timeout",
                  "could not be resolved in time");
    else
        talk_fail(&p->talk, REASON_TIMEOUT, "connection_timeout",
                  "could not be connected to in time");
    return told(p);
}
