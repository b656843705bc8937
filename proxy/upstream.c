#include "proxy/upstream.h"

#include <stdlib.h>

#include "proxy/internal.h"

struct idle {
    struct upstreams *all;
    struct idle *prev, *next;
    struct session *session; /* borrowed: it drops what it has before it goes */
    struct arena arena;      /* of all texts here */
    struct target target;
    struct upstream_facts facts;
    struct stream stream;
    ev_tstamp left; /* when it was put here */
};

struct upstreams {
    struct core *core;    /* borrowed */
    struct ev_loop *loop; /* of the core */
    struct idle *first;   /* the one that was put here last */
    size_t count;
    ev_timer look; /* runs while there is any */
};

/* What a text takes in an arena beside its bytes. */
enum { ONE_TEXT = 32 };
static const double look_seconds = 5;

static void leave(struct idle *i)
{
    struct upstreams *u = i->all;

    if (i->prev != NULL)
        i->prev->next = i->next;
    else
        u->first = i->next;
    if (i->next != NULL)
        i->next->prev = i->prev;
    i->session->upstreams--;
    u->count--;
    if (u->count == 0)
        ev_timer_stop(u->loop, &u->look);
}

static void idle_free(struct idle *i)
{
    leave(i);
    stream_done(&i->stream, i->all->loop);
    arena_done(&i->arena);
    free(i);
}

/* The server has closed; or says something that nobody has asked for. */
static void on_ready(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop, (void)events;
    idle_free(w->data);
}

static bool is_old(const struct idle *i, ev_tstamp now)
{
    return now - i->left >= UPSTREAM_IDLE_SECONDS ||
           now - i->facts.since >= UPSTREAM_AGE_SECONDS;
}

static void on_look(struct ev_loop *loop, ev_timer *w, int events)
{
    struct upstreams *u = w->data;

    (void)events;
    for (struct idle *i = u->first, *next; i != NULL; i = next) {
        next = i->next;
        if (is_old(i, ev_now(loop)))
            idle_free(i);
    }
    upstream_fit(u);
}

struct upstreams *upstreams_new(struct core *core)
{
    struct upstreams *u = calloc(1, sizeof *u);

    if (u == NULL)
        abort();
    u->core = core;
    u->loop = core->loop;
    ev_timer_init(&u->look, on_look, look_seconds, look_seconds);
    u->look.data = u;
    return u;
}

void upstreams_free(struct upstreams **u)
{
    if (*u == NULL)
        return;
    upstream_shed(*u);
    free(*u);
    *u = NULL;
}

static void enter(struct upstreams *u, struct idle *i)
{
    if (u->count++ == 0)
        ev_timer_again(u->loop, &u->look);
    i->session->upstreams++;
    i->next = u->first;
    if (u->first != NULL)
        u->first->prev = i;
    u->first = i;
}

/* The one of the session that was put here first, or of all when `s` is NULL. */
static struct idle *oldest(const struct upstreams *u, const struct session *s)
{
    struct idle *last = NULL;

    for (struct idle *i = u->first; i != NULL; i = i->next)
        if (s == NULL || i->session == s)
            last = i;
    return last;
}

static void leave_at_most(struct upstreams *u, const struct session *s, size_t most)
{
    while ((s != NULL ? s->upstreams : u->count) > most)
        idle_free(oldest(u, s));
}

/* Those that wait here have only the descriptors that clients leave: where one more
 * client would fit are two. Other cores have as many places. */
static size_t places(const struct upstreams *u)
{
    const struct core *c = u->core;
    size_t now = clients_connections(c->clients);
    size_t room = now < c->fit ? (c->fit - now) * 2 / c->id_step : 0;

    return room < UPSTREAMS_MAX ? room : UPSTREAMS_MAX;
}

void upstream_fit(struct upstreams *u)
{
    if (u->count > 0)
        leave_at_most(u, NULL, places(u));
}

static void copy(struct idle *i, const struct target *target,
                 const struct upstream_facts *facts)
{
    struct str via = str_from(facts->via != NULL ? facts->via : "");

    arena_init(&i->arena,
               target->host.n + via.n + facts->authorization.n + 4 * ONE_TEXT);
    i->target = *target;
    i->target.host = arena_dup(&i->arena, target->host);
    i->facts = *facts;
    i->facts.authorization = arena_dup(&i->arena, facts->authorization);
    if (facts->via != NULL)
        i->facts.via = arena_dup(&i->arena, via).p;
}

void upstream_put(struct session *s, const struct target *target,
                  const struct upstream_facts *facts, struct stream *stream)
{
    struct upstreams *u = s->core->upstreams;
    ev_tstamp now = ev_now(u->loop);
    size_t most = places(u);
    struct idle *i;

    if (most == 0 || (facts->since > 0 && now - facts->since >= UPSTREAM_AGE_SECONDS)) {
        stream_done(stream, u->loop);
        return;
    }
    leave_at_most(u, s, UPSTREAMS_EACH - 1);
    leave_at_most(u, NULL, most - 1);
    i = calloc(1, sizeof *i);
    if (i == NULL)
        abort();
    i->all = u;
    i->session = s;
    i->left = now;
    copy(i, target, facts);
    if (i->facts.since <= 0)
        i->facts.since = now;
    stream_move(&i->stream, stream, u->loop, on_ready, i);
    stream_want(&i->stream, u->loop, EV_READ);
    enter(u, i);
}

/* The name was judged by whoever takes it. Through a parent no address is. */
static bool is_allowed(const struct session *s, const struct idle *i)
{
    const struct hostaddrs *host = hostaddrs_now(s->core->dialler.host);
    struct ip ip = addr_ip(&i->facts.addr);

    if (i->facts.via != NULL || i->target.kind != HOST_NAME)
        return true;
    return host != NULL && ip.family != 0 &&
           policy_check_addr(s->policy, &i->target, &ip, host).allow;
}

static bool is_for(const struct idle *i, const struct session *s,
                   const struct target *target)
{
    return i->session == s && i->target.port == target->port &&
           target_same_host(&i->target, target);
}

bool upstream_take(struct session *s, const struct target *target, struct arena *a,
                   struct upstream_facts *facts, struct stream *stream,
                   stream_ready_fn *ready, void *owner)
{
    struct upstreams *u = s->core->upstreams;
    ev_tstamp now = ev_now(u->loop);

    for (struct idle *i = u->first, *next; i != NULL; i = next) {
        next = i->next;
        if (!is_for(i, s, target))
            continue;
        if (is_old(i, now) || !is_allowed(s, i)) {
            idle_free(i);
            continue;
        }
        *facts = i->facts;
        facts->authorization = arena_dup(a, i->facts.authorization);
        if (facts->via != NULL)
            facts->via = arena_dup(a, str_from(i->facts.via)).p;
        stream_move(stream, &i->stream, u->loop, ready, owner);
        idle_free(i);
        return true;
    }
    return false;
}

void upstream_judge(struct session *s)
{
    const struct hostaddrs *host = hostaddrs_now(s->core->dialler.host);
    struct upstreams *u = s->core->upstreams;

    for (struct idle *i = u->first, *next; i != NULL; i = next) {
        next = i->next;
        if (i->session == s &&
            (i->facts.via != NULL || !is_allowed(s, i) ||
             !policy_check_target(s->policy, &i->target, host).allow))
            idle_free(i);
    }
}

void upstream_drop(struct session *s)
{
    for (struct idle *i = s->core->upstreams->first, *next; i != NULL; i = next) {
        next = i->next;
        if (i->session == s)
            idle_free(i);
    }
}

bool upstream_shed(struct upstreams *u)
{
    bool any = u->count > 0;

    leave_at_most(u, NULL, 0);
    return any;
}

size_t upstream_count(const struct upstreams *u)
{
    return u->count;
}
