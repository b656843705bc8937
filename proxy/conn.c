/* A client connection as a whole: how it begins and ends, its deadline, what is done to
 * it from outside. Its life is told in conn_step.h. */
#include "proxy/conn.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "proxy/conn_step.h"
#include "proxy/plain.h"
#include "tls/hello.h"
#include "tls/stream.h"

enum {
    READ_SIZE = 4096,  /* one read of a head, or of what is thrown away */
    ANSWER_MAX = 8192, /* an answer with its body */
    REFUSING_MAX = 32, /* connections that are being told of a limit */
    LINGER_BYTES = 1024 * 1024,
};
static const double answer_seconds = 10, linger_seconds = 2;
static const double keep_alive_seconds = 60; /* between two requests */
static const double lasting_seconds = 30;    /* then it is a long one */

struct ev_loop *conn_loop(const struct conn *c)
{
    return c->session->core->loop;
}

const struct limits *conn_limits(const struct conn *c)
{
    return &c->session->core->limits;
}

enum io conn_read_ahead(struct conn *c)
{
    size_t room, n;
    char *tail;
    enum io io;

    if ((c->client.ready & EV_READ) == 0)
        return IO_AGAIN;
    tail = buf_tail(&c->in, READ_SIZE, &room);
    if (room == 0)
        return IO_AGAIN;
    io = stream_read(&c->client, tail, room, &n);
    buf_filled(&c->in, n);
    if (n > 0)
        stream_tell_rest(&c->client, conn_loop(c));
    buf_drain(&c->in, 0); /* lets go of the memory when nothing came */
    return io;
}

/* Seconds a connection may stay in a state; 0: a dial has a bound of its own, and a
 * tunnel may be old, but not idle. */
double conn_patience(const struct conn *c)
{
    switch (c->state) {
    case CONN_PROXIED:
    case CONN_REQUEST:
        return c->between ? keep_alive_seconds : conn_limits(c)->head_seconds;
    case CONN_ANSWER:
        return answer_seconds;
    case CONN_OVER:
    case CONN_LINGER:
        return linger_seconds;
    default:
        return 0;
    }
}

bool conn_in_tunnel(const struct conn *c)
{
    return c->state >= CONN_HELLO && c->state <= CONN_RELAY;
}

/* Bytes move from one side to the other: it may be old, but not idle. */
static bool is_moving(const struct conn *c)
{
    return conn_in_tunnel(c) || c->state == CONN_EXCHANGE;
}

/* A tunnel in which one side has said its last may have a patience of its own. */
static double idle_seconds(const struct conn *c)
{
    if (c->state == CONN_EXCHANGE)
        return plain_patience(c->plain, conn_limits(c));
    return relay_half_closed(&c->relay) ? conn_limits(c)->half_closed_seconds
                                        : conn_limits(c)->idle_seconds;
}

static double time_left(const struct conn *c)
{
    ev_tstamp now = ev_now(conn_loop(c)), idle;

    if (!is_moving(c))
        return c->due - now;
    idle = c->state == CONN_EXCHANGE ? plain_moved(c->plain) : c->relay.moved;
    idle += idle_seconds(c);
    return (c->due > 0 && c->due < idle ? c->due : idle) - now;
}

/* The least of what the patience may become. */
static double look_seconds(const struct conn *c)
{
    const struct limits *limits = conn_limits(c);
    double least = c->state == CONN_EXCHANGE ? limits->response_seconds
                                             : limits->half_closed_seconds;

    if (!c->lasting && lasting_seconds < least)
        least = lasting_seconds;
    return least < limits->idle_seconds ? least : limits->idle_seconds;
}

/* The timer is not touched by traffic, nor when one side has said its last: it wakes
 * from time to time and looks. */
static void set_timer(struct conn *c)
{
    double left = time_left(c), look = look_seconds(c);

    ev_timer_stop(conn_loop(c), &c->deadline);
    ev_timer_set(&c->deadline, is_moving(c) && left > look ? look : left, 0);
    ev_timer_start(conn_loop(c), &c->deadline);
}

/* Most connections are over long before a peer could be missed. */
static void make_lasting(struct conn *c)
{
    if (is_moving(c) && !c->lasting && c->server.fd >= 0) {
        stream_set_keepalive(c->server.fd);
        c->lasting = true;
    }
}

static void on_deadline(struct ev_loop *loop, ev_timer *w, int events)
{
    static const double now = 0.001; /* nearer than that is too late */
    struct conn *c = w->data;

    (void)loop, (void)events;
    make_lasting(c);
    if (time_left(c) > now) {
        set_timer(c);
        return;
    }
    c->late = true;
    conn_advance(c);
}

void conn_due(struct conn *c, double seconds)
{
    c->due = seconds > 0 ? ev_now(conn_loop(c)) + seconds : 0;
    if (c->due > 0 || is_moving(c))
        set_timer(c);
    else
        ev_timer_stop(conn_loop(c), &c->deadline);
}

enum step conn_enter(struct conn *c, enum conn_state state)
{
    c->state = (unsigned char)state;
    c->late = false;
    conn_due(c, conn_patience(c));
    return STEP_NEXT;
}

enum step conn_cut(struct conn *c, const char *close)
{
    c->request.event.close = close;
    stream_reset(&c->client);
    stream_reset(&c->server);
    return conn_enter(c, CONN_END);
}

static void end_request(struct conn *c)
{
    c->request.event.bytes_up = c->relay.up.bytes;
    c->request.event.bytes_down = c->relay.down.bytes;
    if (c->plain != NULL)
        plain_count(c->plain, &c->request.event);
    request_end(&c->request, c->session, &c->from);
}

enum step conn_again(struct conn *c)
{
    unsigned long id = c->request.event.id;

    end_request(c);
    plain_free(&c->plain);
    request_done(&c->request);
    request_init(&c->request, id, ev_now(conn_loop(c)));
    c->granted = c->keep = c->dialled = c->lasting = false;
    stream_want(&c->client, conn_loop(c), EV_READ);
    c->between = buf_len(&c->in) == 0;
    return conn_enter(c, CONN_REQUEST);
}

enum step conn_linger(struct conn *c)
{
    end_request(c);
    plain_free(&c->plain);
    stream_done(&c->server, conn_loop(c));
    relay_done(&c->relay);
    buf_done(&c->in);
    stream_shut(&c->client);
    stream_want(&c->client, conn_loop(c), EV_READ);
    return conn_enter(c, CONN_LINGER);
}

static enum step step_linger(struct conn *c)
{
    char scrap[READ_SIZE];
    size_t n = 0;
    enum io io = IO_AGAIN;

    if ((c->client.ready & EV_READ) != 0)
        io = stream_read(&c->client, scrap, sizeof scrap, &n);
    c->lingered += (unsigned)n;
    if (c->late || io == IO_EOF || io == IO_ERROR || c->lingered > LINGER_BYTES)
        return conn_enter(c, CONN_END);
    return STEP_WAIT;
}

static enum step step_end(struct conn *c)
{
    end_request(c);
    return STEP_END;
}

static void leave_session(struct conn *c)
{
    struct session *s = c->session;

    if (s->door != NULL)
        clients_leave_named(s->core->clients, str_from(s->name));
    s->connections--;
    if (c->prev != NULL)
        c->prev->next = c->next;
    else
        s->conns = c->next;
    if (c->next != NULL)
        c->next->prev = c->prev;
}

static void leave_core(struct conn *c)
{
    struct core *core = c->session->core;

    count_less(&core->counters.connections);
    if (c->counted)
        clients_leave(core->clients, &c->from);
    else
        core->refusing--;
}

static void conn_free(struct conn *c)
{
    ev_timer_stop(conn_loop(c), &c->deadline);
    plain_free(&c->plain);
    request_done(&c->request);
    relay_done(&c->relay);
    stream_done(&c->client, conn_loop(c));
    stream_done(&c->server, conn_loop(c));
    buf_done(&c->in);
    buf_done(&c->out);
    leave_core(c);
    leave_session(c);
    free(c);
}

void conn_advance(struct conn *c)
{
    static enum step (*const steps[])(struct conn *) = {
        [CONN_OVER] = step_over,         [CONN_PROXIED] = step_proxied,
        [CONN_REQUEST] = step_request,   [CONN_TARGET] = step_target,
        [CONN_DIAL] = step_dial,         [CONN_EXCHANGE] = step_exchange,
        [CONN_ANSWER] = step_answer,     [CONN_HELLO] = step_hello,
        [CONN_ANSWERED] = step_answered, [CONN_RELAY] = step_relay,
        [CONN_LINGER] = step_linger,     [CONN_END] = step_end,
    };
    enum step next;

    do
        next = steps[c->state](c);
    while (next == STEP_NEXT);
    if (next == STEP_END)
        conn_free(c);
}

void conn_on_server(struct ev_loop *loop, ev_io *w, int events)
{
    struct conn *c = w->data;

    (void)loop;
    stream_note(&c->server, events);
    conn_advance(c);
}

static void on_client(struct ev_loop *loop, ev_io *w, int events)
{
    struct conn *c = w->data;

    (void)loop;
    stream_note(&c->client, events);
    conn_advance(c);
}

static void enter_session(struct conn *c, struct session *s)
{
    struct core *core = s->core;

    c->session = s;
    c->crowded =
        s->door != NULL && clients_enter_named(core->clients, str_from(s->name)) >
                               core->limits.connections_per_client;
    s->connections++;
    c->prev = NULL;
    c->next = s->conns;
    if (c->next != NULL)
        c->next->prev = c;
    s->conns = c;
}

struct caller conn_caller(const struct conn *c)
{
    struct caller who = {.from = c->from, .cert = STR("")};

    if (c->client.layer != NULL)
        who.cert = tls_peer_name(c->client.layer);
    return who;
}

void conn_move(struct conn *c, struct session *to)
{
    if (to == c->session)
        return;
    if (to->door == NULL && to != session_door(c->session))
        to->door = session_door(c->session);
    leave_session(c);
    enter_session(c, to);
}

static void enter_core(struct conn *c, struct core *core, bool counted)
{
    count_add(&core->counters.connections, 1);
    c->counted = counted;
    core->refusing += !counted;
}

bool conn_comes_from(struct conn *c, const struct ip *from)
{
    struct core *core = c->session->core;

    leave_core(c);
    c->from = *from;
    enter_core(c, core,
               clients_enter(core->clients, from, core->limits.connections,
                             core->limits.connections_per_client));
    return c->counted;
}

static unsigned long next_id(struct core *core)
{
    return core->last_id += core->id_step;
}

/* One more than is allowed, so that too much can be told from enough. */
size_t conn_ahead_max(const struct limits *limits)
{
    size_t ahead = (size_t)limits->head_bytes + limits->early_bytes;

    return (ahead > HELLO_MAX ? ahead : HELLO_MAX) + 1;
}

static struct conn *conn_new(struct session *s, int fd, const struct ip *from,
                             bool counted)
{
    struct conn *c = calloc(1, sizeof *c);

    if (c == NULL)
        abort();
    enter_core(c, s->core, counted);
    enter_session(c, s);
    c->from = *from;
    stream_init(&c->client, fd, on_client, c);
    stream_none(&c->server);
    buf_init(&c->in, conn_ahead_max(&s->core->limits));
    buf_init(&c->out, ANSWER_MAX);
    ev_init(&c->deadline, on_deadline);
    c->deadline.data = c;
    request_init(&c->request, next_id(s->core), ev_now(s->core->loop));
    return c;
}

bool conn_refusing_enough(const struct core *core)
{
    return core->refusing * core->id_step >= REFUSING_MAX;
}

/* So many are being told of the limit already that this one is not. */
static void cut_short(struct session *s, int fd, const struct ip *from)
{
    struct request r;

    close(fd);
    count_add(&s->core->counters.cut_short, 1);
    request_init(&r, next_id(s->core), ev_now(s->core->loop));
    r.begun = true;
    request_refuse(&r, REASON_LIMIT);
    request_end(&r, s, from);
    request_done(&r);
}

/* A proxy is no client: those whom it passes on are. */
static bool count_in(struct core *core, const struct ip *from, bool proxied)
{
    unsigned each = proxied ? UINT_MAX : core->limits.connections_per_client;

    return clients_enter(core->clients, from, core->limits.connections, each);
}

/* Where the limit is the number of descriptors, that none is left shows here first. A
 * client that has too many of its own makes no room at the cost of others. */
static bool may_come_in(struct core *core, const struct ip *from, bool proxied)
{
    if (count_in(core, from, proxied))
        return true;
    return core->short_of_descriptors &&
           clients_connections(core->clients) >= core->limits.connections &&
           conn_make_room(core, 1) && count_in(core, from, proxied);
}

/* It holds one of few places, and not for long. Nearly always there is a byte already,
 * and it has its answer now. */
static void refuse_soon(struct conn *c)
{
    conn_due(c, linger_seconds);
    stream_note(&c->client, EV_READ);
    conn_advance(c);
}

void conn_open(struct session *s, int fd, const struct ip *from,
               const struct conn_front *in_front)
{
    struct core *core = s->core;
    bool counted = may_come_in(core, from, in_front->proxied);
    struct conn *c;

    if (!counted && conn_refusing_enough(core)) {
        cut_short(s, fd, from);
        return;
    }
    c = conn_new(s, fd, from, counted);
    upstream_fit(core->upstreams);
    if (in_front->tls != NULL)
        stream_set_layer(&c->client, tls_accept(in_front->tls, fd));
    conn_enter(c, in_front->proxied ? CONN_PROXIED
                  : counted         ? CONN_REQUEST
                                    : CONN_OVER);
    stream_want(&c->client, core->loop, EV_READ);
    if (!counted)
        refuse_soon(c);
}

void conn_end_now(struct conn *c, const char *close)
{
    if (c->state <= CONN_REQUEST)
        c->request.begun = false; /* nothing was understood */
    dial_cancel(&c->request.dial);
    conn_cut(c, close);
    conn_advance(c);
}

size_t conn_size(void)
{
    return sizeof(struct conn);
}
