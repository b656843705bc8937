#include "proxy/core.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "proxy/conn.h"
#include "proxy/internal.h"
#include "proxy/listener.h"

enum {
    /* Not for clients: audit, listeners, those that are being refused, attempts that
     * run beside each other; and what each core has: loop, resolver, addresses. */
    DESCRIPTORS_KEPT = 112,
    DESCRIPTORS_CORE = 16,
    SHED_FOR_OTHERS = 8,
    DESCRIPTORS_EACH = 2,         /* a client and its server */
    DESCRIPTORS_WANTED = 1 << 20, /* an unlimited process does not need more */
};

void core_raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= DESCRIPTORS_WANTED)
        return;
    limit.rlim_cur =
        limit.rlim_max < DESCRIPTORS_WANTED ? limit.rlim_max : DESCRIPTORS_WANTED;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* More connections than there are descriptors for would all be accepted, and none of
 * them could be served. It is better to refuse the last ones in words. Servers that
 * wait for another request (upstream.h) have only what these leave. */
static void fit_connections(struct core *c)
{
    struct rlimit limit;
    rlim_t kept = DESCRIPTORS_KEPT + c->id_step * DESCRIPTORS_CORE, fit;

    c->fit = UINT_MAX;
    c->short_of_descriptors = false;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    if (kept > limit.rlim_cur / 2)
        kept = limit.rlim_cur / 2;
    fit = (limit.rlim_cur - kept) / DESCRIPTORS_EACH;
    c->fit = fit < UINT_MAX ? (unsigned)fit : UINT_MAX;
    if (fit >= c->limits.connections)
        return;
    c->limits.connections = c->fit;
    c->short_of_descriptors = true;
}

void core_set_limits(struct core *c, const struct limits *limits)
{
    c->limits = *limits;
    fit_connections(c);
    c->dialler.seconds = limits->connect_seconds;
    for (struct session *s = c->sessions; s != NULL; s = s->next)
        conn_fit_all(s);
}

static bool spare(void *owner)
{
    const struct core *c = owner;

    return upstream_shed(c->upstreams);
}

static bool is_own(void *owner, int fd)
{
    const struct core *c = owner;

    for (const struct session *s = c->sessions; s != NULL; s = s->next)
        if (listener_is_peer(s, fd))
            return true;
    return false;
}

void core_shed(struct core *c)
{
    if (!upstream_shed(c->upstreams))
        conn_shed(c, SHED_FOR_OTHERS);
}

void core_set_ending(struct core *c)
{
    c->ending = true;
}

bool core_new(struct ev_loop *loop, const struct core_options *options,
              struct core **out, struct err *e)
{
    struct core *c = calloc(1, sizeof *c);

    if (c == NULL)
        abort();
    c->loop = loop;
    c->audit = options->audit;
    c->owns_clients = options->clients == NULL;
    c->clients = c->owns_clients ? clients_new() : options->clients;
    c->id_step = options->siblings > 0 ? options->siblings : 1;
    c->last_id = options->index;
    c->dialler.loop = loop;
    c->dialler.spare = (struct race_spare){spare, c};
    c->dialler.is_own = is_own;
    c->dialler.is_own_owner = c;
    core_set_limits(c, &options->limits);
    relay_pool_init(&c->relays, loop, &c->counters);
    exchange_room_init(&c->exchanges, &c->relays, &c->hangups);
    c->upstreams = upstreams_new(c);
    if (!hangups_init(&c->hangups, loop, e) ||
        !hostaddrs_watch_new(&c->dialler.host, e) ||
        !resolver_new(loop, &options->resolver, &c->dialler.resolver, e)) {
        core_free(&c);
        return false;
    }
    hostaddrs_watch_turns(c->dialler.host, loop);
    *out = c;
    return true;
}

void core_free(struct core **c)
{
    if (*c == NULL)
        return;
    while ((*c)->sessions != NULL) {
        struct session *s = (*c)->sessions;

        session_free(&s);
    }
    upstreams_free(&(*c)->upstreams);
    exchange_room_done(&(*c)->exchanges);
    relay_pool_done(&(*c)->relays);
    hangups_done(&(*c)->hangups);
    if ((*c)->dialler.resolver != NULL)
        resolver_free(&(*c)->dialler.resolver);
    if ((*c)->dialler.host != NULL)
        hostaddrs_watch_free(&(*c)->dialler.host);
    if ((*c)->owns_clients)
        clients_free(&(*c)->clients);
    free(*c);
    *c = NULL;
}

const struct counters *core_counters(const struct core *c)
{
    return &c->counters;
}

unsigned core_connections_max(const struct core *c)
{
    return c->limits.connections;
}

void core_add_own(struct core *c, const struct addr *a)
{
    hostaddrs_add_own(c->dialler.host, a);
}
