/* The second half of a connection: the tunnel stands. The relay runs from the start,
 * but the client's first bytes are held until they are judged; the server's never are.
 */
#include "proxy/conn_step.h"
#include "proxy/peek.h"

_Static_assert((int)RELAY_HEARD_MAX >= (int)HELLO_ANSWER_LEN, "all that tells");

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

static enum step release(struct conn *c, bool eof)
{
    relay_release(&c->relay, &c->in, eof);
    buf_done(&c->out);
    return conn_enter(c, CONN_RELAY);
}

/* Of an address the name is not compared. */
static bool may_be_asked_again(const struct conn *c, const struct peek *peek)
{
    return c->request.target.kind == HOST_NAME && peek->kind != HELLO_KIND_NONE &&
           peek->kind != HELLO_KIND_BAD;
}

static enum step judge_hello(struct conn *c, const struct peek *peek, bool eof)
{
    bool allowed =
        request_judge_hello(&c->request, c->session, peek->kind, peek_name(peek));

    count_add(&c->session->core->counters.sni[peek_seen(peek, allowed)], 1);
    if (!allowed)
        return refuse_hello(c, peek->kind);
    if (!may_be_asked_again(c, peek))
        return release(c, eof);
    relay_ask(&c->relay, str_head(buf_view(&c->in), peek->hello.used), &c->out);
    buf_drain(&c->in, peek->hello.used);
    return conn_enter(c, CONN_ANSWERED);
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

static enum step judge_second(struct conn *c, const struct peek *peek, bool eof)
{
    if (request_judge_hello(&c->request, c->session, peek->kind, peek_name(peek)))
        return release(c, eof);
    count_add(&c->session->core->counters.sni[peek_seen(peek, false)], 1);
    return refuse_hello(c, peek->kind);
}

/* The server asks for a second hello. Before it has answered the first nobody knows,
 * and nothing of the client passes; hardly any client sends something then (TLS 1.3
 * early data). */
static enum step hear_client(struct conn *c, enum hello_answer answer, bool eof)
{
    const struct peek none = {.kind = HELLO_KIND_BAD};
    struct peek peek;

    if (eof && buf_len(&c->in) == 0)
        return release(c, true);
    if (answer == HELLO_RETRY && peek_parse_second(buf_view(&c->in), eof, &peek))
        return judge_second(c, &peek, eof);
    if (eof || buf_len(&c->in) > conn_limits(c)->early_bytes)
        return judge_second(c, &none, eof);
    if (answer == HELLO_RETRY && c->due == 0)
        conn_due(c, hello_seconds);
    return STEP_WAIT;
}

enum step step_answered(struct conn *c)
{
    enum io io = conn_read_ahead(c);
    enum hello_answer answer;
    enum step next;

    if (c->late)
        return hello_late(c);
    if (io == IO_ERROR)
        return conn_cut(c, "error");
    next = run_relay(c);
    if (next != STEP_WAIT)
        return next;
    answer = hello_answer(buf_view(&c->out));
    if (answer == HELLO_ANSWERED || c->relay.down.eof)
        return release(c, io == IO_EOF);
    return hear_client(c, answer, io == IO_EOF);
}

enum step step_relay(struct conn *c)
{
    if (c->late)
        return conn_cut(c, "idle");
    return run_relay(c);
}
