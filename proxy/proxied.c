/* A connection that a proxy in front of the gateway has passed on: before the client
 * can say anything, the proxy says where it comes from. The header is taken off the
 * socket by itself, since what follows may be for another layer. */
#include "proxy/conn_step.h"
#include "proxy/proxy_header.h"

/* Nobody is there who could be told: the proxy would pass it on to its client as an
 * answer. */
static enum step drop(struct conn *c, enum reason reason)
{
    struct request *r = &c->request;

    r->begun = true;
    r->event.front = "proxy-header";
    request_refuse(r, reason);
    return conn_enter(c, CONN_END);
}

/* One that counts nowhere may not stay until it is told so whenever it likes: a client
 * behind the proxy would have as many as it can open. */
static enum step cut_short(struct conn *c)
{
    count_add(&c->session->core->counters.cut_short, 1);
    return drop(c, REASON_LIMIT);
}

static enum step take_header(struct conn *c, const struct proxy_header *header)
{
    bool enough = conn_refusing_enough(c->session->core);

    buf_drain(&c->in, buf_len(&c->in));
    /* There may be more already. */
    stream_note(&c->client, EV_READ);
    if (header->local ? c->counted : conn_comes_from(c, &header->from))
        return conn_enter(c, CONN_REQUEST);
    return enough ? cut_short(c) : conn_enter(c, CONN_OVER);
}

/* `n` bytes behind those of `in` were looked at; those of the header are taken off the
 * socket. */
static enum step step_header(struct conn *c, char *tail, size_t n)
{
    size_t before = buf_len(&c->in), used = 0, taken = 0;
    struct str in = {tail - before, before + n};
    struct proxy_header header;
    enum proxy_header_parse parsed = proxy_header_parse(in, &header, &used);

    if (parsed == PROXY_HEADER_REFUSED)
        return drop(c, REASON_MALFORMED_REQUEST);
    if (parsed == PROXY_HEADER_MORE)
        used = in.n;
    if (stream_take(&c->client, tail, used - before, &taken) != IO_OK ||
        taken != used - before)
        return conn_enter(c, CONN_END);
    buf_filled(&c->in, taken);
    return parsed == PROXY_HEADER_DONE ? take_header(c, &header) : STEP_WAIT;
}

enum step step_proxied(struct conn *c)
{
    size_t room, n;
    char *tail;

    if (c->late)
        return buf_len(&c->in) > 0 ? drop(c, REASON_TIMEOUT) : conn_enter(c, CONN_END);
    if ((c->client.ready & EV_READ) == 0)
        return STEP_WAIT;
    tail = buf_tail(&c->in, PROXY_HEADER_V2_MAX, &room);
    switch (stream_peek(&c->client, tail, room, &n)) {
    case IO_OK:
        return step_header(c, tail, n);
    case IO_AGAIN:
        buf_drain(&c->in, 0);
        return STEP_WAIT;
    default:
        /* A proxy that looks whether somebody listens says nothing. */
        return buf_len(&c->in) > 0 ? drop(c, REASON_CLIENT_LEFT)
                                   : conn_enter(c, CONN_END);
    }
}
