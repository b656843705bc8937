/* See plain.h, and conn_step.h for the states. */
#include "proxy/plain.h"

#include <stdlib.h>

enum { PLAINS_MAX = 10000 }; /* requests on one connection */

static const double drain_seconds = 10; /* for a body that nobody wants any more */

struct plain {
    struct exchange exchange;
    struct upstream_facts facts; /* of the server; texts are in the request's arena */
    unsigned long ways;          /* of the session, when the way was chosen */
    bool reused;                 /* the connection to it has been used before */
    bool fresh;                  /* it must be a new one */
    bool draining;
};

bool plain_begin(struct conn *c, const struct http_head *head)
{
    struct plain *p = calloc(1, sizeof *p);

    if (p == NULL)
        abort();
    c->plain = p;
    c->request.plain = true;
    c->request.bodyless = str_equal(head->method, STR("HEAD"));
    if (!exchange_init(&p->exchange, &c->session->core->exchanges, head, &c->client,
                       &c->in)) {
        p->exchange.last = true;
        return false;
    }
    p->exchange.last |= c->plains + 1 >= PLAINS_MAX || c->session->core->ending;
    p->fresh = !exchange_repeatable(&p->exchange);
    return true;
}

void plain_free(struct plain **p)
{
    if (*p == NULL)
        return;
    exchange_done(&(*p)->exchange);
    free(*p);
    *p = NULL;
}

/* The end of what it sends is no end of its asking (`nc -N`): it is read once more when
 * there is an answer to write. */
bool plain_read_ahead(struct conn *c)
{
    enum io io = IO_AGAIN;

    if (buf_len(&c->in) < EXCHANGE_AHEAD_MAX)
        io = conn_read_ahead(c);
    if (io == IO_EOF || buf_len(&c->in) >= EXCHANGE_AHEAD_MAX)
        stream_want(&c->client, conn_loop(c), 0);
    return io != IO_ERROR;
}

bool plain_reuse(struct conn *c)
{
    struct request *r = &c->request;
    struct plain *p = c->plain;

    p->ways = c->session->ways;
    if (p->fresh || !upstream_take(c->session, &r->target, &r->arena, &p->facts,
                                   &c->server, conn_on_server, c))
        return false;
    p->reused = true;
    r->event.addr = p->facts.addr;
    r->event.via = p->facts.via;
    return true;
}

void plain_dialled(struct conn *c, const struct dial_result *result)
{
    c->plain->facts = (struct upstream_facts){
        .addr = result->addr,
        .via = c->request.event.via,
        .absolute = result->absolute,
        .authorization = arena_dup(&c->request.arena, result->authorization),
        .since = ev_now(conn_loop(c)),
    };
}

enum step plain_start(struct conn *c)
{
    struct plain *p = c->plain;
    const struct rewrite_route route = {
        .target = &c->request.target,
        .absolute = p->facts.absolute,
        .authorization = p->facts.authorization,
    };

    exchange_begin(&p->exchange, &c->server, &route);
    c->granted = true;
    return conn_enter(c, CONN_EXCHANGE);
}

bool plain_ends_here(const struct conn *c)
{
    const struct http_head *head = &c->plain->exchange.request;
    const struct str *hops = http_get(head, STR("Max-Forwards"));

    return hops != NULL && str_equal(*hops, STR("0")) &&
           str_equal(head->method, STR("OPTIONS"));
}

enum step plain_answer_here(struct conn *c)
{
    c->keep = plain_may_drop(c->plain);
    buf_printf(&c->out,
               "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: %s\r\n\r\n",
               c->keep ? "keep-alive" : "close");
    return conn_enter(c, CONN_ANSWER);
}

bool plain_may_drop(const struct plain *p)
{
    return exchange_droppable(&p->exchange);
}

enum step plain_drop(struct conn *c)
{
    exchange_drop(&c->plain->exchange);
    conn_enter(c, CONN_EXCHANGE);
    c->plain->draining = true;
    conn_due(c, drain_seconds);
    return STEP_NEXT;
}

/* A connection is kept only when the way to the server has not changed meanwhile: there
 * may be a parent now, another one, or none any more. */
static void let_server_go(struct conn *c)
{
    const struct plain *p = c->plain;

    if (p->exchange.keep_server && p->ways == c->session->ways)
        upstream_put(c->session, &c->request.target, &p->facts, &c->server);
    else
        stream_done(&c->server, conn_loop(c));
}

static enum step finish(struct conn *c)
{
    const struct exchange *x = &c->plain->exchange;

    if (c->server.fd >= 0)
        let_server_go(c);
    c->plains++;
    if (x->keep_client && !(x->client_ended && buf_len(&c->in) == 0))
        return conn_again(c);
    return x->client_ended ? conn_enter(c, CONN_END) : conn_linger(c);
}

/* The request goes once more, over a new connection: the server has closed the one that
 * was kept, which it may do at any time (RFC 9112 9.3.1). */
static enum step try_again(struct conn *c)
{
    stream_done(&c->server, conn_loop(c));
    c->plain->reused = false;
    c->plain->fresh = true;
    c->granted = c->dialled = false;
    return conn_enter(c, CONN_DIAL);
}

static enum step failed(struct conn *c)
{
    const struct exchange_failure *f = &c->plain->exchange.failure;

    if (f->stale && c->plain->reused)
        return try_again(c);
    /* What was cut must not look whole to the server. */
    stream_reset(&c->server);
    stream_done(&c->server, conn_loop(c));
    if (f->status == 0)
        return asking_leave(c);
    c->request.error = f->error;
    return asking_refuse(c, f->reason, f->status, f->why);
}

static enum step too_late(struct conn *c)
{
    const struct exchange *x = &c->plain->exchange;

    if (exchange_drains(x))
        return conn_linger(c);
    if (!exchange_waits(x) || buf_len(&x->to_client) > 0)
        return conn_cut(c, "idle");
    stream_reset(&c->server);
    stream_done(&c->server, conn_loop(c));
    c->plain->exchange.last = true;
    if (!x->up.done && buf_len(&x->to_server) == 0)
        return asking_refuse(c, REASON_TIMEOUT, 408, "the request took too long");
    c->request.error = "http_response_timeout";
    return asking_refuse(c, REASON_TIMEOUT, 504, "the server did not answer in time");
}

/* What follows is a tunnel; what the client sent behind its request is for it. */
static enum step start_tunnel(struct conn *c)
{
    const struct exchange *x = &c->plain->exchange;
    bool ended = x->client_ended;

    relay_init(&c->relay, &c->session->core->relays, &c->client, &c->server);
    c->relay.up.bytes = x->bytes_up;
    c->relay.down.bytes = x->bytes_down;
    plain_free(&c->plain);
    request_shrink(&c->request);
    relay_release(&c->relay, &c->in, ended);
    return conn_enter(c, CONN_RELAY);
}

enum step step_exchange(struct conn *c)
{
    struct plain *p = c->plain;

    if (c->late)
        return too_late(c);
    switch (exchange_run(&p->exchange)) {
    case EXCHANGE_FAILED:
        return failed(c);
    case EXCHANGE_CUT:
        return conn_cut(c, p->exchange.client_ended ? "client" : "error");
    case EXCHANGE_OVER:
        return finish(c);
    case EXCHANGE_TUNNEL:
        return start_tunnel(c);
    case EXCHANGE_GOES_ON:
        break;
    }
    if (exchange_drains(&p->exchange) && !p->draining) {
        p->draining = true;
        conn_due(c, drain_seconds);
    }
    return STEP_WAIT;
}

void plain_count(const struct plain *p, struct audit_event *event)
{
    event->bytes_up = p->exchange.bytes_up;
    event->bytes_down = p->exchange.bytes_down;
}

ev_tstamp plain_moved(const struct plain *p)
{
    return p->exchange.moved;
}

double plain_patience(const struct plain *p, const struct limits *limits)
{
    return exchange_waits(&p->exchange) && p->exchange.up.done
               ? limits->response_seconds
               : limits->idle_seconds;
}
