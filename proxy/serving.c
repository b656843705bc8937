/* See serving.h. What can fail comes first, in an order in which a failure leaves
 * nothing behind: sockets, then the audit file, then threads. */
#include "proxy/serving.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>

#include "proxy/admin.h"
#include "proxy/base/fd.h"
#include "proxy/base/log.h"
#include "proxy/clients.h"
#include "proxy/health.h"
#include "proxy/metrics.h"
#include "proxy/reload.h"

/* A tunnel that has been silent for so long when the end is near is idle; how often
 * they are looked at; and how long the audit may take to write what it has. */
static const double idle_seconds = 2, look_seconds = 0.25, audit_seconds = 5;

/* How often the workers are asked for a sign of life, and for how long a trouble that
 * has passed is told. */
static const double tick_seconds = 1, trouble_seconds = 10;

/* What the allocator keeps for each worker instead of giving it back to the system. By
 * default it is little more than what one connection takes: each of them would cost two
 * calls, one to get it and one to give it back. */
enum { ALLOCATOR_KEEPS = 1024 * 1024 };

struct serving {
    const char *file;
    struct config *config; /* borrowed: the first one */
    struct ev_loop *loop;
    struct notify notify;
    struct inherited inherited;
    struct sites *sites;
    struct endpoint admin_at;
    struct audit *audit;
    struct clients *clients;
    struct fleet *fleet;
    struct reload *reload;
    struct admin *admin; /* NULL: none is wanted */
    ev_signal term, interrupt, hangup;
    ev_timer drain, tick, watchdog;
    ev_tstamp give_up;         /* when what still runs is cut; 0: not ending */
    unsigned long long errors; /* of accept, at the last tick */
    unsigned long long needs;  /* of room, that were not met, at the last tick */
    ev_tstamp trouble;         /* when there were more errors */
    ev_tstamp crowded;         /* when there were more needs */
    double silence;            /* of the workers, at the last tick */
    bool told;                 /* that it serves */
};

static const struct gateway_settings *settings(const struct serving *s)
{
    return &s->config->settings;
}

static unsigned long long accept_errors(const struct counters *total)
{
    unsigned long long n = 0;

    for (unsigned i = 0; i < COUNTERS_ERRORS; i++)
        n += count_read(&total->accept_errors[i]);
    return n;
}

/* `when` is 0 for never. */
static bool is_recent(const struct serving *s, ev_tstamp when)
{
    double passed = ev_now(s->loop) - when;

    return when > 0 && passed < trouble_seconds;
}

static struct health look_at(const struct serving *s)
{
    return (struct health){
        .silence = s->silence,
        .rests = is_recent(s, s->trouble),
        .crowded = is_recent(s, s->crowded),
        .audit_failing = audit_failing(s->audit),
        .audit_refuses = !audit_ready(s->audit),
        .reload_failed = reload_state(s->reload).last_failed,
        .ending = s->give_up > 0,
    };
}

static bool write_metrics(const struct serving *s, struct buf *body)
{
    struct reload_state state = reload_state(s->reload);
    struct counters total = {0};
    struct metrics m = {
        .total = &total,
        .workers = fleet_size(s->fleet),
        .generation = state.generation,
        .reloaded = state.done,
        .reload_failed = state.failed,
        .audit_dropped = audit_dropped(s->audit),
        .audit_failing = audit_failing(s->audit),
        .ending = s->give_up > 0,
    };

    fleet_sum(s->fleet, &total);
    return metrics_write(&m, body);
}

static bool on_page(void *owner, enum admin_page page, struct buf *body)
{
    const struct serving *s = owner;
    struct health h = look_at(s);

    switch (page) {
    case ADMIN_METRICS:
        return write_metrics(s, body);
    case ADMIN_READY:
        return health_write_ready(&h, body);
    case ADMIN_HEALTH:
        break;
    }
    return health_write(&h, body);
}

/* A worker that needs room has cut what it could of its own; now it is for the others.
 */
static void share_room(struct serving *s, const struct counters *total)
{
    unsigned long long needs = count_read(&total->needs);

    if (needs != s->needs) {
        fleet_shed(s->fleet);
        s->crowded = ev_now(s->loop);
    }
    s->needs = needs;
}

static void on_tick(struct ev_loop *loop, ev_timer *w, int events)
{
    struct serving *s = w->data;
    struct counters total = {0};
    unsigned long long errors;

    (void)events;
    s->silence = fleet_silence(s->fleet);
    fleet_sum(s->fleet, &total);
    share_room(s, &total);
    errors = accept_errors(&total);
    if (errors != s->errors)
        s->trouble = ev_now(loop);
    s->errors = errors;
}

/* A manager that hears nothing any more starts another one: that is what it is for when
 * a worker does not answer. */
static void on_watchdog(struct ev_loop *loop, ev_timer *w, int events)
{
    struct serving *s = w->data;
    struct health h = look_at(s);

    (void)loop, (void)events;
    if (health_is_alive(&h))
        notify_alive(&s->notify);
}

static void look(struct serving *s)
{
    fleet_close_idle(s->fleet, idle_seconds);
    if (fleet_connections(s->fleet) == 0 || ev_now(s->loop) >= s->give_up)
        ev_break(s->loop, EVBREAK_ALL);
}

static void on_drain(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)events;
    look(w->data);
}

static void start_end(struct serving *s, int number)
{
    double seconds = reload_config(s->reload)->settings.limits.drain_seconds;

    s->give_up = ev_now(s->loop) + seconds;
    notify_stopping(&s->notify, "ending: nothing new is taken");
    reload_stop(s->reload);
    fleet_rest(s->fleet);
    sites_free(&s->sites);
    log_info("signal %d: ending within %g seconds, active_at_termination=%zu", number,
             seconds, fleet_connections(s->fleet));
    ev_timer_start(s->loop, &s->drain);
    look(s);
}

static void on_end(struct ev_loop *loop, ev_signal *w, int events)
{
    struct serving *s = w->data;

    (void)events;
    if (s->give_up == 0) {
        start_end(s, w->signum);
        return;
    }
    log_info("signal %d again: ending at once", w->signum);
    ev_break(loop, EVBREAK_ALL);
}

static void on_hangup(struct ev_loop *loop, ev_signal *w, int events)
{
    struct serving *s = w->data;
    struct err e;

    (void)loop, (void)events;
    if (audit_reopen(s->audit, &e))
        log_info("SIGHUP: the audit file was opened anew");
    else
        log_error("SIGHUP: %s; the audit goes on where it was", e.text);
    if (s->give_up == 0)
        reload_start(s->reload, "SIGHUP");
}

static void watch_signal(struct serving *s, ev_signal *w, int number,
                         void (*fn)(struct ev_loop *, ev_signal *, int))
{
    ev_signal_init(w, fn, number);
    w->data = s;
    ev_signal_start(s->loop, w);
}

static void init_timer(struct serving *s, ev_timer *w, double seconds,
                       void (*fn)(struct ev_loop *, ev_timer *, int))
{
    ev_timer_init(w, fn, seconds, seconds);
    w->data = s;
}

static void watch_all(struct serving *s)
{
    watch_signal(s, &s->term, SIGTERM, on_end);
    watch_signal(s, &s->interrupt, SIGINT, on_end);
    watch_signal(s, &s->hangup, SIGHUP, on_hangup);
    init_timer(s, &s->drain, look_seconds, on_drain);
    init_timer(s, &s->tick, tick_seconds, on_tick);
    ev_timer_start(s->loop, &s->tick);
    /* Half the time that it is given, as sd_watchdog_enabled(3) advises. */
    init_timer(s, &s->watchdog, s->notify.watchdog / 2, on_watchdog);
    if (s->notify.watchdog > 0)
        ev_timer_start(s->loop, &s->watchdog);
}

static bool open_admin(struct serving *s, struct err *e)
{
    const char *text = settings(s)->admin;

    return text == NULL || endpoint_open(text, &s->admin_at, e) ||
           err_wrap(e, "%s: admin", settings(s)->path);
}

static bool open_audit(struct serving *s, struct err *e)
{
    return audit_new(&settings(s)->audit, &s->audit, e) ||
           err_wrap(e, "%s: audit", settings(s)->path);
}

/* Signals are watched before anything is there that others can see, so that none of
 * them ends what has just begun. */
static bool open_all(struct serving *s, struct err *e)
{
    s->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (s->loop == NULL)
        return err_set(e, "cannot make an event loop");
    watch_all(s);
    return inherited_take(&s->inherited, e) &&
           sites_new(&s->inherited, s->config, &s->sites, e) && open_admin(s, e) &&
           open_audit(s, e);
}

static void tell_sites(const struct serving *s)
{
    char text[ENDPOINT_TEXT_MAX];

    for (size_t i = 0; sites_at(s->sites, i) != NULL; i++)
        log_info("listening on %s", endpoint_text(sites_at(s->sites, i), text));
    for (size_t i = 0; i < s->inherited.count; i++)
        if (s->inherited.sockets[i].fd >= 0)
            log_warn("a socket was passed on that no entry of listen asks for: \"%s\"; "
                     "add \"systemd\"",
                     s->inherited.sockets[i].name);
}

static void start_admin(struct serving *s)
{
    char text[ENDPOINT_TEXT_MAX];

    if (settings(s)->admin == NULL)
        return;
    s->admin = admin_new(s->loop, &s->admin_at, on_page, s);
    log_info("admin on %s", endpoint_text(&s->admin_at, text));
}

/* Each worker is in its loop and accepts: nothing that was asked for is still to come.
 */
static void tell(struct serving *s)
{
    s->told = true;
    start_admin(s);
    tell_sites(s);
    notify_ready(&s->notify, "serving");
}

static void on_carried_out(void *owner)
{
    struct serving *s = owner;

    if (s->reload != NULL)
        reload_carried_out(s->reload);
    if (!s->told && s->give_up == 0)
        tell(s);
}

static bool make_fleet(struct serving *s, struct err *e)
{
    struct fleet_options options = {s->loop, s->audit, s->clients, on_carried_out, s};

    if (!fleet_new(&options, s->config, s->sites, &s->fleet, e))
        return false;
    if (s->admin_at.addr.len > 0)
        fleet_own(s->fleet, &s->admin_at.addr);
    if (fleet_connections_max(s->fleet) < settings(s)->limits.connections)
        log_warn("limits.connections: %u are cut to %u, for want of descriptors; see "
                 "ulimit -Hn",
                 settings(s)->limits.connections, fleet_connections_max(s->fleet));
    return true;
}

static bool start(struct serving *s, struct err *e)
{
    s->clients = clients_new();
    if (!make_fleet(s, e) || !fleet_start(s->fleet, e))
        return false;
    s->reload = reload_new(
        &(struct reload_options){s->loop, s->file, s->fleet, s->sites, &s->notify},
        s->config);
    return true;
}

static void serve(struct serving *s)
{
    ev_run(s->loop, 0);
    if (fleet_connections(s->fleet) > 0)
        log_info("%zu connections are cut", fleet_connections(s->fleet));
}

static void done(struct serving *s)
{
    admin_free(&s->admin);
    endpoint_close(&s->admin_at);
    fleet_free(&s->fleet);
    reload_free(&s->reload);
    clients_free(&s->clients);
    audit_free(&s->audit, audit_seconds);
    sites_free(&s->sites);
    inherited_done(&s->inherited);
    notify_close(&s->notify);
    if (s->loop != NULL)
        ev_loop_destroy(s->loop);
}

bool serving_run(const char *file, struct config *config, struct err *e)
{
    struct serving s = {.file = file, .config = config, .admin_at = {.fd = -1}};
    bool ok;

    signal(SIGPIPE, SIG_IGN);
    mallopt(M_TRIM_THRESHOLD, ALLOCATOR_KEEPS);
    core_raise_descriptors();
    notify_open(&s.notify);
    ok = open_all(&s, e) && start(&s, e);
    if (ok)
        serve(&s);
    done(&s);
    return ok;
}
