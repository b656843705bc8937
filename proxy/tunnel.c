/* The second half of a connection: the tunnel stands. The relay runs from the start,
 * but the client's first bytes are held until they are judged; the server's never are.
 */
#include "proxy/conn_step.h"
#include "proxy/peek.h"

/* From the first byte of a TLS hello to its last. */
static const double hello_seconds = 10;

static enum step run_relay(struct conn *c)
{
    if (relay_run(&c->relay) == RELAY_GOES_ON)
        return STEP_WAIT;
    c->request.event.close = c->relay.close;
    /* The server closed before it had read all; the client may still be sending, and
     * must not lose the server's last word to a reset. */
    return c->relay.up.dead ? conn_linger(c) : conn_enter(c, CONN_END);
}

/* Too late for an answer: an alert, unless it would fall into the middle of what the
 * server said. Nothing of the hello has reached the server. */
static enum step refuse_hello(struct conn *c, enum hello_kind kind)
{
    struct str alert = peek_alert(kind);
    size_t n;

    if (buf_len(&c->relay.down.left) == 0)
        stream_write(&c->client, alert.p, alert.n, &n);
    return conn_linger(c);
}

static enum step judge_hello(struct conn *c, const struct peek *peek, bool eof)
{
    bool allowed =
        request_judge_hello(&c->request, c->session, peek->kind, peek_name(peek));

    c->session->core->counters.sni[peek_seen(peek, allowed)]++;
    if (!allowed)
        return refuse_hello(c, peek->kind);
    relay_release(&c->relay, &c->in, eof);
    return conn_enter(c, CONN_RELAY);
}

static enum step hello_late(struct conn *c)
{
    if (c->due == 0)
        return conn_cut(c, "idle");
    request_refuse(&c->request, REASON_TIMEOUT);
    return refuse_hello(c, HELLO_KIND_BAD);
}

enum step step_hello(struct conn *c)
{
    enum io io = conn_read_ahead(c);
    struct peek peek;

    if (c->late)
        return hello_late(c);
    if (io == IO_ERROR)
        return conn_cut(c, "error");
    if (peek_parse(buf_view(&c->in), io == IO_EOF, &peek))
        return judge_hello(c, &peek, io == IO_EOF);
    if (buf_len(&c->in) > 0 && c->due == 0)
        conn_due(c, hello_seconds);
    return run_relay(c);
}

enum step step_relay(struct conn *c)
{
    if (c->late)
        return conn_cut(c, "idle");
    return run_relay(c);
}
