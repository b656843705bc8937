/* What is done to connections from outside: to all of a session, or to those of a core
 * that can best be spared. Never from within their callbacks. */
#include "proxy/conn_step.h"
#include "proxy/upstream.h"

/* Where nothing could be shed nothing is looked for so soon again. */
static const double shed_pause = 0.2;

void conn_close_all(struct session *s)
{
    while (s->conns != NULL)
        conn_end_now(s->conns, "shutdown");
}

/* It has asked for nothing since so long. Before that it may be on its way: a client
 * that was let in just before the end loses nothing by it. */
static bool has_waited(const struct conn *c, double seconds)
{
    return c->state <= CONN_REQUEST &&
           conn_patience(c) - (c->due - ev_now(conn_loop(c))) >= seconds;
}

void conn_close_idle(struct session *s, double silent)
{
    for (struct conn *c = s->conns, *next; c != NULL; c = next) {
        next = c->next;
        if (has_waited(c, silent) ||
            (conn_in_tunnel(c) && relay_silent(&c->relay, silent)))
            conn_end_now(c, "shutdown");
    }
}

/* Raised only: what was let in already stays. */
void conn_fit_all(struct session *s)
{
    size_t max = conn_ahead_max(&s->core->limits);

    for (struct conn *c = s->conns; c != NULL; c = c->next)
        if (c->in.max < max)
            c->in.max = max;
}

void conn_judge_all(struct session *s)
{
    for (struct conn *c = s->conns, *next; c != NULL; c = next) {
        next = c->next;
        /* Those without an answer are judged again before they get it. */
        if (!c->granted || c->state > CONN_RELAY || request_judge_again(&c->request, s))
            continue;
        c->request.event.verdict.reason = REASON_POLICY_REVOKED;
        conn_end_now(c, "revoked");
    }
    upstream_judge(s);
}

void conn_revoke(struct session *s, conn_holds_fn *holds, void *owner)
{
    for (struct conn *c = s->conns, *next; c != NULL; c = next) {
        struct caller who = conn_caller(c);

        next = c->next;
        if (holds != NULL && holds(owner, &who, c->proof))
            continue;
        request_refuse(&c->request, REASON_POLICY_REVOKED);
        conn_end_now(c, "revoked");
    }
}

/* The tunnel of all sessions that has been silent for longest, and for long enough to
 * count as idle; NULL when there is none. */
static struct conn *find_idle(const struct core *core)
{
    struct conn *oldest = NULL;

    for (struct session *s = core->sessions; s != NULL; s = s->next)
        for (struct conn *c = s->conns; c != NULL; c = c->next)
            if (conn_in_tunnel(c) &&
                relay_silent(&c->relay, core->limits.shed_seconds) &&
                (oldest == NULL || c->relay.moved < oldest->relay.moved))
                oldest = c;
    return oldest;
}

/* That there is nothing to be shed is not looked for again at once: where many come and
 * none can be served, each look would cost more than they do. */
size_t conn_shed(struct core *core, size_t most)
{
    ev_tstamp now = ev_now(core->loop);
    struct conn *c = NULL;
    size_t n = 0;

    if (now < core->shed_again)
        return 0;
    while (n < most && (c = find_idle(core)) != NULL) {
        count_add(&core->counters.shed, 1);
        conn_end_now(c, "shed");
        n++;
    }
    if (c == NULL)
        core->shed_again = now + shed_pause;
    return n;
}

bool conn_make_room(struct core *core, size_t most)
{
    bool made = conn_shed(core, most) > 0;

    if (!made)
        count_add(&core->counters.needs, 1);
    return made;
}
