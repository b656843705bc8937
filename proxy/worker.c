#include "proxy/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "proxy/base/fd.h"
#include "proxy/base/log.h"
#include "proxy/door.h"

struct orders {
    struct config *config; /* a reference; NULL: stays as it is */
    struct opened *opened; /* owned, with the descriptors */
    size_t opened_count;
    bool rest, close_idle, shed, end;
    double silent;
};

struct worker {
    struct worker_options options;
    struct ev_loop *loop;
    struct core *core;
    struct door *door;
    ev_async wake;
    pthread_t thread;
    bool runs;
    unsigned long given;   /* the orders so far; of the thread that gives them */
    atomic_ulong done;     /* how many of them were carried out */
    pthread_mutex_t lock;  /* of what follows */
    struct orders orders;  /* what is to be done */
    unsigned long ordered; /* the last of them */
};

static void close_opened(struct orders *o)
{
    for (size_t i = 0; i < o->opened_count; i++)
        fd_close(&o->opened[i].fd);
    free(o->opened);
    o->opened = NULL;
    o->opened_count = 0;
}

static void orders_done(struct orders *o)
{
    close_opened(o);
    config_unref(&o->config);
}

static void listen_on(struct worker *w, struct orders *o)
{
    struct err e;

    for (size_t i = 0; i < o->opened_count; i++)
        if (!door_listen(w->door, o->opened[i].index, fd_steal(&o->opened[i].fd), &e))
            log_error("listen[%zu]: %s", o->opened[i].index, e.text);
}

static void adopt(struct worker *w, struct orders *o)
{
    door_set_config(w->door, o->config);
    core_set_limits(w->core, &o->config->settings.limits);
    listen_on(w, o);
}

static void carry_out(struct worker *w, struct orders *o)
{
    if (o->config != NULL)
        adopt(w, o);
    if (o->rest) {
        core_set_ending(w->core);
        door_rest(w->door);
    }
    if (o->close_idle)
        door_close_idle(w->door, o->silent);
    if (o->shed)
        core_shed(w->core);
    if (o->end)
        ev_break(w->loop, EVBREAK_ALL);
}

static void on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
    struct worker *w = watcher->data;
    struct orders orders;
    unsigned long ordered;

    (void)loop, (void)events;
    pthread_mutex_lock(&w->lock);
    orders = w->orders;
    ordered = w->ordered;
    w->orders = (struct orders){0};
    pthread_mutex_unlock(&w->lock);
    carry_out(w, &orders);
    orders_done(&orders);
    atomic_store(&w->done, ordered);
    ev_async_send(w->options.told_loop, w->options.told);
}

static void *run(void *arg)
{
    struct worker *w = arg;

    ev_run(w->loop, 0);
    door_free(&w->door);
    return NULL;
}

bool worker_new(const struct worker_options *options, struct config *config,
                struct worker **out, struct err *e)
{
    struct worker *w = calloc(1, sizeof *w);

    if (w == NULL)
        abort();
    w->options = *options;
    pthread_mutex_init(&w->lock, NULL);
    w->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (w->loop == NULL)
        err_set(e, "cannot make an event loop");
    if (w->loop == NULL || !core_new(w->loop, &options->core, &w->core, e)) {
        worker_free(&w);
        return false;
    }
    w->door = door_new(w->core, config);
    ev_async_init(&w->wake, on_wake);
    w->wake.data = w;
    ev_async_start(w->loop, &w->wake);
    *out = w;
    return true;
}

void worker_own(struct worker *w, const struct addr *a)
{
    core_add_own(w->core, a);
}

unsigned worker_connections_max(const struct worker *w)
{
    return core_connections_max(w->core);
}

bool worker_start(struct worker *w, struct err *e)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&w->thread, NULL, run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return err_set(e, "cannot start a thread: %s", strerror(error));
    w->runs = true;
    return true;
}

/* The lock is held from begin_order() to end_order(). */
static struct orders *begin_order(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->ordered = ++w->given;
    return &w->orders;
}

static void end_order(struct worker *w)
{
    pthread_mutex_unlock(&w->lock);
    ev_async_send(w->loop, &w->wake);
}

static void end_thread(struct worker *w)
{
    begin_order(w)->end = true;
    end_order(w);
    pthread_join(w->thread, NULL);
    w->runs = false;
}

void worker_free(struct worker **pointer)
{
    struct worker *w = *pointer;

    if (w == NULL)
        return;
    if (w->runs)
        end_thread(w);
    door_free(&w->door);
    core_free(&w->core);
    orders_done(&w->orders);
    if (w->loop != NULL)
        ev_loop_destroy(w->loop);
    pthread_mutex_destroy(&w->lock);
    free(w);
    *pointer = NULL;
}

/* Behind those of an order that was not carried out yet. */
static void add_opened(struct orders *o, const struct opened *opened, size_t count)
{
    size_t all = o->opened_count + count;

    o->opened = reallocarray(o->opened, all + 1, sizeof *o->opened);
    if (o->opened == NULL)
        abort();
    memcpy(o->opened + o->opened_count, opened, count * sizeof *opened);
    o->opened_count = all;
}

void worker_adopt(struct worker *w, struct config *config, const struct opened *opened,
                  size_t count)
{
    struct orders *o = begin_order(w);

    config_unref(&o->config);
    o->config = config_ref(config);
    add_opened(o, opened, count);
    end_order(w);
}

void worker_rest(struct worker *w)
{
    begin_order(w)->rest = true;
    end_order(w);
}

void worker_close_idle(struct worker *w, double silent)
{
    struct orders *o = begin_order(w);

    o->close_idle = true;
    o->silent = silent;
    end_order(w);
}

void worker_shed(struct worker *w)
{
    begin_order(w)->shed = true;
    end_order(w);
}

void worker_ask(struct worker *w)
{
    begin_order(w);
    end_order(w);
}

bool worker_is_idle(const struct worker *w)
{
    return atomic_load(&w->done) == w->given;
}

const struct counters *worker_counters(const struct worker *w)
{
    return core_counters(w->core);
}
