#include "proxy/fleet.h"

#include <sched.h>
#include <stdlib.h>

#include "proxy/base/fd.h"
#include "proxy/base/log.h"

struct fleet {
    struct fleet_options options;
    ev_async told; /* by the workers */
    struct worker **workers;
    unsigned count;
    ev_tstamp asked; /* when all were last asked for a sign of life */
};

static bool all_idle(const struct fleet *f)
{
    for (unsigned i = 0; i < f->count; i++)
        if (!worker_is_idle(f->workers[i]))
            return false;
    return true;
}

static void on_told(struct ev_loop *loop, ev_async *w, int events)
{
    struct fleet *f = w->data;

    (void)loop, (void)events;
    if (all_idle(f))
        f->options.done(f->options.owner);
}

/* One a processor that this process may use. */
static unsigned how_many(const struct config *config)
{
    cpu_set_t set;
    int cpus;

    if (config->settings.workers > 0)
        return config->settings.workers;
    cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return cpus > WORKERS_MAX ? WORKERS_MAX : (unsigned)cpus;
}

static bool add_worker(struct fleet *f, struct config *config, unsigned all,
                       struct err *e)
{
    const struct gateway_settings *s = &config->settings;
    struct worker_options options = {
        .core = {.limits = s->limits,
                 .resolver = {.servers = (const char *const *)s->resolver_servers,
                              .hosts_file = s->resolver_hosts},
                 .audit = f->options.audit,
                 .clients = f->options.clients,
                 .index = f->count,
                 .siblings = all},
        .told_loop = f->options.loop,
        .told = &f->told,
    };

    if (!worker_new(&options, config, &f->workers[f->count], e))
        return false;
    f->count++;
    return true;
}

/* The same for all of them. When one cannot have its copies none gets any. */
static bool give_sites(struct fleet *f, struct config *config, struct sites *sites,
                       struct err *e)
{
    struct opened(*copies)[SITES_MAX] = calloc(f->count, sizeof *copies);
    size_t count = 0, got = 0;
    unsigned i = 0;

    if (copies == NULL)
        abort();
    for (; i < f->count && sites_copy(sites, copies[i], &got, e); i++)
        count = got;
    for (unsigned j = 0; i == f->count && j < f->count; j++)
        worker_adopt(f->workers[j], config, copies[j], count);
    for (unsigned j = 0; i < f->count && j < i; j++)
        for (size_t k = 0; k < count; k++)
            fd_close(&copies[j][k].fd);
    free(copies);
    return i == f->count;
}

bool fleet_new(const struct fleet_options *options, struct config *config,
               struct sites *sites, struct fleet **out, struct err *e)
{
    unsigned all = how_many(config);
    struct fleet *f = calloc(1, sizeof *f);
    bool ok = true;

    if (f == NULL || (f->workers = calloc(all, sizeof(struct worker *))) == NULL)
        abort();
    f->options = *options;
    ev_async_init(&f->told, on_told);
    f->told.data = f;
    ev_async_start(options->loop, &f->told);
    while (ok && f->count < all)
        ok = add_worker(f, config, all, e);
    if (!ok || !give_sites(f, config, sites, e)) {
        fleet_free(&f);
        return false;
    }
    *out = f;
    return true;
}

bool fleet_start(struct fleet *f, struct err *e)
{
    f->asked = ev_now(f->options.loop);
    for (unsigned i = 0; i < f->count; i++)
        if (!worker_start(f->workers[i], e))
            return false;
    return true;
}

void fleet_free(struct fleet **pointer)
{
    struct fleet *f = *pointer;

    if (f == NULL)
        return;
    while (f->count > 0)
        worker_free(&f->workers[--f->count]);
    ev_async_stop(f->options.loop, &f->told);
    free(f->workers);
    free(f);
    *pointer = NULL;
}

unsigned fleet_size(const struct fleet *f)
{
    return f->count;
}

unsigned fleet_connections_max(const struct fleet *f)
{
    return worker_connections_max(f->workers[0]);
}

void fleet_own(struct fleet *f, const struct addr *a)
{
    for (unsigned i = 0; i < f->count; i++)
        worker_own(f->workers[i], a);
}

bool fleet_adopt(struct fleet *f, struct config *config, struct sites *sites,
                 struct err *e)
{
    return give_sites(f, config, sites, e);
}

void fleet_rest(struct fleet *f)
{
    for (unsigned i = 0; i < f->count; i++)
        worker_rest(f->workers[i]);
}

void fleet_shed(struct fleet *f)
{
    for (unsigned i = 0; i < f->count; i++)
        worker_shed(f->workers[i]);
}

void fleet_close_idle(struct fleet *f, double silent)
{
    for (unsigned i = 0; i < f->count; i++)
        worker_close_idle(f->workers[i], silent);
}

double fleet_silence(struct fleet *f)
{
    ev_tstamp now = ev_now(f->options.loop);

    if (!all_idle(f))
        return now - f->asked;
    f->asked = now;
    for (unsigned i = 0; i < f->count; i++)
        worker_ask(f->workers[i]);
    return 0;
}

void fleet_sum(const struct fleet *f, struct counters *total)
{
    for (unsigned i = 0; i < f->count; i++)
        counters_sum(total, worker_counters(f->workers[i]));
}

size_t fleet_connections(const struct fleet *f)
{
    size_t n = 0;

    for (unsigned i = 0; i < f->count; i++)
        n += count_read(&worker_counters(f->workers[i])->connections);
    return n;
}
