/* weir gateway: the core as a server of its own. Whatever can be wrong is found before
 * the first connection is taken; then one loop runs until a signal ends it. */
#include <ev.h>
#include <signal.h>
#include <stdlib.h>

#include "proxy/base/fd.h"
#include "proxy/base/log.h"
#include "proxy/cmd/cmd.h"
#include "proxy/door.h"
#include "proxy/endpoint.h"

/* A tunnel that has been silent for so long when the end is near is idle; how often
 * they are looked at; and how long the audit may take to write what it has. */
static const double idle_seconds = 2, look_seconds = 0.25, audit_seconds = 5;

struct arguments {
    const char *file;
    bool quiet, verbose, check;
};

struct gateway {
    struct config *config;
    struct audit *audit;
    struct ev_loop *loop;
    struct core *core;
    struct door *door;
    struct endpoint *endpoints;
    size_t endpoint_count;
    ev_signal term, interrupt, hangup;
    ev_timer drain;
    ev_tstamp give_up; /* when what still runs is cut; 0: not ending */
};

static void warn(void *owner, const char *text)
{
    (void)owner;
    log_warn("%s", text);
}

static const struct gateway_settings *settings_of(const struct gateway *g)
{
    return &g->config->settings;
}

/* What the file may say, and this version does not do. */
static bool check_supported(const struct gateway_settings *s, struct err *e)
{
    if (s->workers > 1)
        return err_set(e, "%s: workers: more than 1 is not supported yet", s->path);
    return s->admin == NULL || err_set(e, "%s: admin: not supported yet", s->path);
}

static bool load(struct gateway *g, const char *file, struct err *e)
{
    return config_load(file, warn, NULL, &g->config, e) &&
           check_supported(settings_of(g), e);
}

static bool open_endpoint(const struct listen_settings *listen, struct endpoint *out,
                          struct err *e)
{
    if (listen->kind != LISTEN_ADDRESS && listen->kind != LISTEN_PATH)
        return err_set(e, "\"%s\" is not supported yet", listen->text);
    return endpoint_open(listen->text, out, e);
}

static bool bind_all(struct gateway *g, struct err *e)
{
    const struct gateway_settings *s = settings_of(g);

    g->endpoints = calloc(s->listen_count, sizeof *g->endpoints);
    if (g->endpoints == NULL)
        abort();
    for (; g->endpoint_count < s->listen_count; g->endpoint_count++)
        if (!open_endpoint(&s->listen[g->endpoint_count],
                           &g->endpoints[g->endpoint_count], e))
            return gateway_settings_wrap_listen(s, g->endpoint_count, e);
    return true;
}

static void close_endpoints(struct gateway *g)
{
    while (g->endpoint_count > 0)
        endpoint_close(&g->endpoints[--g->endpoint_count]);
}

static void look(struct gateway *g)
{
    door_close_idle(g->door, idle_seconds);
    if (door_connections(g->door) == 0 || ev_now(g->loop) >= g->give_up)
        ev_break(g->loop, EVBREAK_ALL);
}

static void on_drain(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)events;
    look(w->data);
}

static void on_end(struct ev_loop *loop, ev_signal *w, int events)
{
    struct gateway *g = w->data;

    (void)events;
    if (g->give_up > 0) {
        log_info("signal %d again: ending at once", w->signum);
        ev_break(loop, EVBREAK_ALL);
        return;
    }
    g->give_up = ev_now(loop) + settings_of(g)->limits.drain_seconds;
    door_rest(g->door);
    close_endpoints(g);
    door_close_idle(g->door, idle_seconds);
    log_info("signal %d: ending within %g seconds, active_at_termination=%zu",
             w->signum, settings_of(g)->limits.drain_seconds,
             door_connections(g->door));
    ev_timer_start(loop, &g->drain);
    look(g);
}

static void on_hangup(struct ev_loop *loop, ev_signal *w, int events)
{
    struct gateway *g = w->data;
    struct err e;

    (void)loop, (void)events;
    if (audit_reopen(g->audit, &e))
        log_info("SIGHUP: the audit file was opened anew; settings are read at the "
                 "start only");
    else
        log_error("SIGHUP: %s; the audit goes on where it was", e.text);
}

static void watch_signal(struct gateway *g, ev_signal *w, int number,
                         void (*fn)(struct ev_loop *, ev_signal *, int))
{
    ev_signal_init(w, fn, number);
    w->data = g;
    ev_signal_start(g->loop, w);
}

static void watch_signals(struct gateway *g)
{
    watch_signal(g, &g->term, SIGTERM, on_end);
    watch_signal(g, &g->interrupt, SIGINT, on_end);
    watch_signal(g, &g->hangup, SIGHUP, on_hangup);
    ev_timer_init(&g->drain, on_drain, look_seconds, look_seconds);
    g->drain.data = g;
}

static bool make_core(struct gateway *g, struct err *e)
{
    const struct gateway_settings *s = settings_of(g);
    struct core_options options = {
        .limits = s->limits,
        .resolver = {.servers = (const char *const *)s->resolver_servers,
                     .hosts_file = s->resolver_hosts},
    };

    if (!audit_new(&s->audit, &g->audit, e))
        return false;
    options.audit = g->audit;
    g->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (g->loop == NULL)
        return err_set(e, "cannot make an event loop");
    watch_signals(g);
    if (!core_new(g->loop, &options, &g->core, e))
        return false;
    if (core_connections_max(g->core) < s->limits.connections)
        log_warn("limits.connections: %u are cut to %u, for want of descriptors; see "
                 "ulimit -Hn",
                 s->limits.connections, core_connections_max(g->core));
    return true;
}

static bool listen_all(struct gateway *g, struct err *e)
{
    char text[ENDPOINT_TEXT_MAX];

    g->door = door_new(g->core, g->config);
    for (size_t i = 0; i < g->endpoint_count; i++) {
        if (!door_listen(g->door, i, fd_steal(&g->endpoints[i].fd), e))
            return gateway_settings_wrap_listen(settings_of(g), i, e);
        log_info("listening on %s", endpoint_text(&g->endpoints[i], text));
    }
    return true;
}

static void serve(struct gateway *g)
{
    ev_run(g->loop, 0);
    if (door_connections(g->door) > 0)
        log_info("%zu connections are cut", door_connections(g->door));
}

static void done(struct gateway *g)
{
    door_free(&g->door);
    core_free(&g->core);
    close_endpoints(g);
    free(g->endpoints);
    audit_free(&g->audit, audit_seconds);
    if (g->loop != NULL)
        ev_loop_destroy(g->loop);
    config_unref(&g->config);
}

static const struct option options[] = {
    {"file", 'f', OPTION_TEXT, offsetof(struct arguments, file), "FILE",
     "the gateway file"},
    {"check", 0, OPTION_FLAG, offsetof(struct arguments, check), NULL,
     "read the file, say what is wrong with it, and end"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct arguments, quiet), NULL,
     "only warnings and errors"},
    {"verbose", 'v', OPTION_FLAG, offsetof(struct arguments, verbose), NULL,
     "more than usual"},
    {.name = NULL},
};

static bool read_arguments(int argc, char **argv, struct arguments *out, struct err *e)
{
    int rest;

    if (!options_parse(options, out, argc, argv, &rest, e))
        return false;
    if (rest < argc)
        return err_set(e,
                       "\"%.40s\" is not expected: the gateway file stands behind -f",
                       argv[rest]);
    if (out->file == NULL)
        return err_set(e, "which gateway file? see -f FILE");
    if (out->quiet)
        log_set_level(LOG_LEVEL_WARN);
    if (out->verbose)
        log_set_level(LOG_LEVEL_DEBUG);
    return true;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct gateway g = {.give_up = 0};
    struct err e = {""};
    bool ok =
        read_arguments(argc, argv, &arguments, &e) && load(&g, arguments.file, &e);

    if (ok && arguments.check)
        log_info("%s: nothing is wrong with it", arguments.file);
    if (ok && !arguments.check) {
        signal(SIGPIPE, SIG_IGN);
        log_set_waiting(false);
        core_raise_descriptors();
        ok = bind_all(&g, &e) && make_core(&g, &e) && listen_all(&g, &e);
        if (ok)
            serve(&g);
    }
    done(&g);
    log_set_waiting(!ok);
    if (!ok)
        log_error("gateway: %s", e.text);
    return ok ? EXIT_OK : EXIT_USAGE;
}

const struct command cmd_gateway = {
    .name = "gateway",
    .usage = "weir gateway -f FILE [--check] [-q | -v]",
    .summary = "Serve the policy of a gateway file to whoever may connect",
    .options = options,
    .details =
        "SIGTERM and SIGINT end it: no new connections are taken, those that are idle\n"
        "are closed, others may go on for limits.drainSeconds; a second one ends it "
        "at\n"
        "once. SIGHUP opens the audit file anew.\n\n"
        "It ends with 0 after a signal, and with 2 when the file cannot be used.\n",
    .run = run,
};
