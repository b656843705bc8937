/* The first half of a connection: what the client asks, and the answer. settle() is the
 * only way to an answer. Up to it, whatever the client sends is bounded in bytes and in
 * time, and when it leaves nothing is dialled any more. */
#include "proxy/conn_step.h"
#include "proxy/opening.h"
#include "proxy/plain.h"
#include "proxy/refusal.h"
#include "tls/stream.h"

enum {
    /* Of a request's arena; twice what was sent comes on top, for views and their ends.
     */
    ARENA_MIN = 8192,
    WRONG_LOGINS_MAX = 4, /* of a connection */
};

/* The asking is over, one way or another: the client gets its answer. The verdict of a
 * refusal says why; `why` is for what it cannot tell. */
static enum step settle(struct conn *c, bool granted, unsigned status, const char *why)
{
    struct front_answer yes = {.ok = true, .target = &c->request.target};

    c->granted = granted;
    if (c->plain != NULL)
        c->keep = plain_may_drop(c->plain) && c->wrong_logins < WRONG_LOGINS_MAX &&
                  !c->crowded;
    if (granted)
        c->front->answer(&c->out, &yes);
    else if (why != NULL)
        refusal_write_as(&c->out, c->front, &c->request, status, str_from(why),
                         c->keep);
    else
        refusal_write(&c->out, c->front, &c->request, c->session, c->keep);
    return conn_enter(c, CONN_ANSWER);
}

/* A plain request is answered by its server. */
static enum step grant(struct conn *c)
{
    return c->plain != NULL ? plain_start(c) : settle(c, true, 0, NULL);
}

enum step asking_deny(struct conn *c)
{
    return settle(c, false, 0, NULL);
}

enum step asking_refuse(struct conn *c, enum reason reason, unsigned status,
                        const char *why)
{
    request_refuse(&c->request, reason);
    return settle(c, false, status, why);
}

/* Without a word: there is nothing that the client would understand. */
static enum step drop_over(struct conn *c)
{
    request_refuse(&c->request, REASON_LIMIT);
    return conn_enter(c, CONN_END);
}

enum step step_over(struct conn *c)
{
    enum io io = conn_read_ahead(c);

    if (io == IO_AGAIN && !c->late)
        return STEP_WAIT;
    c->request.begun = true;
    if (io != IO_OK)
        return drop_over(c);
    c->front = opening_front(buf_view(&c->in).p[0]);
    if (c->front == NULL)
        return drop_over(c);
    if (c->front->turned_away.n == 0)
        return asking_refuse(c, REASON_LIMIT, 503, "too many connections");
    request_refuse(&c->request, REASON_LIMIT);
    buf_add(&c->out, c->front->turned_away);
    return conn_enter(c, CONN_ANSWER);
}

/* Or it sends no more and has sent nothing that somebody could answer. */
enum step asking_leave(struct conn *c)
{
    dial_cancel(&c->request.dial);
    request_refuse(&c->request, REASON_CLIENT_LEFT);
    c->request.event.close = "client";
    return conn_enter(c, CONN_END);
}

static enum step refuse_late(struct conn *c)
{
    if (!c->request.begun)
        return conn_enter(c, CONN_END);
    return asking_refuse(c, REASON_TIMEOUT, 408, "the request took too long");
}

/* Whose it is, as far as that can be told. What one login has opened another one, or
 * none, on the same connection does not find open. */
static enum identity identify(struct conn *c, const struct login *login)
{
    struct session *door = session_door(c->session), *whose = door;
    struct caller who = conn_caller(c);
    enum identity identity = IDENTITY_KNOWN;

    if (door->identify != NULL)
        identity = door->identify(door->identify_owner, &who, login, &whose, &c->proof);
    c->login_wanted = identity == IDENTITY_LOGIN;
    if (identity != IDENTITY_KNOWN)
        whose = door;
    conn_move(c, whose);
    return identity;
}

/* For a client that may log in; what it sends next is another request. */
static enum step want_login(struct conn *c, const struct login *login)
{
    c->wrong_logins += login->given;
    c->keep = c->wrong_logins < WRONG_LOGINS_MAX;
    return asking_refuse(c, REASON_AUTH, 407,
                         login->given ? "the proxy does not know these credentials"
                                      : "the proxy wants credentials");
}

static enum step drop_stranger(struct conn *c)
{
    request_refuse(&c->request, REASON_AUTH);
    return conn_enter(c, CONN_END);
}

/* TLS has said so already, in an alert. */
static enum step drop_uncertified(struct conn *c)
{
    c->request.begun = true;
    return drop_stranger(c);
}

/* Over ssh even a stranger is told why a host is denied by the list that holds for all:
 * there is no other way to say that it will never be opened. */
static enum step refuse_nameless(struct conn *c)
{
    if (c->request.target.port == REFUSAL_SSH_PORT &&
        !request_judge_target(&c->request, c->session) &&
        request_own_words(&c->request, c->session).n > 0)
        return asking_deny(c);
    return asking_refuse(c, REASON_AUTH, 407, "the proxy wants credentials");
}

static enum step step_understood(struct conn *c, const struct front_asked *asked)
{
    struct request *r = &c->request;

    r->event.front = asked->form;
    r->target = asked->target;
    if (asked->head != NULL && !plain_begin(c, asked->head))
        return asking_refuse(c, REASON_MALFORMED_REQUEST, 400,
                             "Connection names too many fields");
    /* Who has logged in by a protocol of its own (SOCKS) says nothing here. */
    if (c->front->logged_in == NULL) {
        switch (identify(c, &asked->login)) {
        case IDENTITY_UNKNOWN:
            return drop_stranger(c);
        case IDENTITY_LOGIN:
            return want_login(c, &asked->login);
        case IDENTITY_KNOWN:
            break;
        }
    } else if (c->login_wanted) {
        return refuse_nameless(c);
    }
    if (c->crowded)
        return asking_refuse(c, REASON_LIMIT, 503,
                             "this client has too many connections");
    return conn_enter(c, CONN_TARGET);
}

static enum step check_login(struct conn *c, const struct login *login)
{
    bool known = identify(c, login) == IDENTITY_KNOWN;

    c->front->logged_in(&c->out, known);
    if (known)
        return STEP_NEXT;
    request_refuse(&c->request, REASON_AUTH);
    return conn_enter(c, CONN_ANSWER);
}

/* One parse of what is there. STEP_NEXT in the same state: there may be more. */
static enum step understand(struct conn *c)
{
    struct request *r = &c->request;
    struct front_asked asked = {0};
    struct front_call call = {.in = buf_view(&c->in),
                              .head_max = conn_limits(c)->head_bytes,
                              .arena = &r->arena,
                              .login_wanted = c->login_wanted,
                              .login_heard = session_door(c->session)->logins,
                              .phase = &c->phase};
    size_t used = 0;
    enum front_parse parsed;

    /* Parsing starts anew each time; what it takes is in proportion to what was sent.
     */
    arena_done(&r->arena);
    arena_init(&r->arena, ARENA_MIN + 2 * buf_len(&c->in));
    parsed = opening_parse(&c->front, &call, &asked, &used);
    buf_drain(&c->in, used);
    switch (parsed) {
    case FRONT_MORE:
        return STEP_WAIT;
    case FRONT_REPLY:
        buf_add(&c->out, asked.reply);
        return STEP_NEXT;
    case FRONT_LOGIN:
        r->event.front = asked.form;
        return check_login(c, &asked.login);
    case FRONT_DONE:
        return step_understood(c, &asked);
    case FRONT_REFUSED:
        break;
    }
    r->event.front = asked.form;
    r->target = asked.target;
    r->event.raw = asked.raw;
    if (asked.reply.n == 0)
        return asking_refuse(c, asked.reason, asked.status, asked.why);
    request_refuse(r, asked.reason);
    buf_add(&c->out, asked.reply);
    return conn_enter(c, CONN_ANSWER);
}

/* What a front says while it is asked. A client that does not take these few bytes gets
 * them before the answer. False: it is gone. */
static bool send_replies(struct conn *c)
{
    struct str out = buf_view(&c->out);
    size_t n = 0;

    if (out.n > 0 && stream_write(&c->client, out.p, out.n, &n) == IO_ERROR)
        return false;
    buf_drain(&c->out, n);
    return true;
}

/* The first bytes of a client; before them nobody is asked who it is. */
static bool begin(struct conn *c)
{
    if (c->request.begun)
        return true;
    c->request.begun = true;
    c->request.started = ev_now(conn_loop(c));
    if (c->plains > 0)
        conn_due(c, conn_limits(c)->head_seconds);
    return c->front != NULL || identify(c, NULL) != IDENTITY_UNKNOWN;
}

enum step step_request(struct conn *c)
{
    enum io io = conn_read_ahead(c);
    enum step next = STEP_NEXT;

    if (c->late)
        return refuse_late(c);
    if (io == IO_ERROR && c->client.layer != NULL && tls_is_stranger(c->client.layer))
        return drop_uncertified(c);
    if (io == IO_EOF || io == IO_ERROR)
        return asking_leave(c);
    if (buf_len(&c->in) == 0)
        return STEP_WAIT;
    if (!begin(c))
        return drop_stranger(c);
    while (next == STEP_NEXT && c->state == CONN_REQUEST && buf_len(&c->in) > 0)
        next = understand(c);
    if (c->state != CONN_REQUEST)
        return STEP_NEXT;
    return send_replies(c) ? STEP_WAIT : asking_leave(c);
}

enum step step_target(struct conn *c)
{
    const struct audit *audit = c->session->core->audit;

    if (audit != NULL && !audit_ready(audit))
        return asking_refuse(c, REASON_LIMIT, 503, "the audit takes no more lines");
    if (!request_judge_target(&c->request, c->session))
        return asking_deny(c);
    if (c->plain != NULL && plain_ends_here(c))
        return plain_answer_here(c);
    return conn_enter(c, CONN_DIAL);
}

static void on_dialled(void *owner, const struct dial_result *result)
{
    struct conn *c = owner;

    request_dialled(&c->request, result);
    if (c->plain != NULL)
        plain_dialled(c, result);
    c->dialled = true;
    if (result->fd >= 0)
        stream_init(&c->server, result->fd, conn_on_server, c);
    if (result->fd >= 0 && result->layer != NULL)
        stream_set_layer(&c->server, result->layer);
    conn_advance(c);
}

/* Nobody sends so much before it was let in; a word to it would only be answered with
 * more. */
static enum step drop_early(struct conn *c)
{
    dial_cancel(&c->request.dial);
    request_refuse(&c->request, REASON_LIMIT);
    return conn_enter(c, CONN_END);
}

/* All that the client wants to say came with its request (`nc -N`). Its end is read
 * again, and passed on, when the tunnel stands; a watcher would only spin on it. */
static bool has_said_all(struct conn *c)
{
    stream_want(&c->client, conn_loop(c), 0);
    return buf_len(&c->in) > 0;
}

/* For a tunnel. STEP_NEXT: it goes on. */
static enum step hear_early(struct conn *c)
{
    enum io io = conn_read_ahead(c);

    if (io == IO_ERROR || (io == IO_EOF && !has_said_all(c)))
        return asking_leave(c);
    if (buf_len(&c->in) > conn_limits(c)->early_bytes)
        return drop_early(c);
    return STEP_NEXT;
}

static void start_dial(struct conn *c)
{
    if (c->plain != NULL && plain_reuse(c))
        c->dialled = true;
    else
        request_dial(&c->request, c->session, &c->from,
                     c->plain != NULL ? DIAL_EXCHANGE : DIAL_TUNNEL, on_dialled, c);
}

enum step step_dial(struct conn *c)
{
    struct request *r = &c->request;

    if (c->plain == NULL)
        hear_early(c);
    else if (!plain_read_ahead(c))
        asking_leave(c);
    if (c->state != CONN_DIAL)
        return STEP_NEXT;
    if (r->dial == NULL && !c->dialled)
        start_dial(c);
    if (!c->dialled)
        return STEP_WAIT;
    /* The policy may have changed meanwhile. */
    if (c->server.fd < 0 || !request_judge_again(r, c->session))
        return asking_deny(c);
    return grant(c);
}

static enum step start_tunnel(struct conn *c)
{
    request_shrink(&c->request);
    relay_init(&c->relay, &c->session->core->relays, &c->client, &c->server);
    return conn_enter(c, CONN_HELLO);
}

enum step step_answer(struct conn *c)
{
    struct str out = buf_view(&c->out);
    size_t n = 0;

    if (c->late)
        return conn_cut(c, "idle");
    if (stream_write(&c->client, out.p, out.n, &n) == IO_ERROR)
        return conn_cut(c, "client");
    buf_drain(&c->out, n);
    if (buf_len(&c->out) == 0 && c->keep)
        return c->plain != NULL ? plain_drop(c) : conn_again(c);
    if (buf_len(&c->out) == 0)
        return c->granted ? start_tunnel(c) : conn_linger(c);
    stream_want(&c->client, conn_loop(c), EV_WRITE);
    return STEP_WAIT;
}
