#include "proxy/reload.h"

#include <stdlib.h>

#include "proxy/base/log.h"
#include "proxy/gateway_files.h"
#include "proxy/keys.h"
#include "proxy/stamps.h"

static const double look_seconds = 0.5;

struct reload {
    struct reload_options options;
    struct config *config, *next; /* references; `next` NULL: none is under way */
    struct stamps *stamps;
    ev_timer look;
    bool again;   /* another one was asked for meanwhile */
    bool stopped; /* the sites may be gone */
    struct reload_state state;
};

/* What a process has once, and cannot have otherwise while it serves. */
static const char *const fixed[] = {"admin", "audit", "resolver", "workers"};

static bool is_same(const cJSON *a, const cJSON *b)
{
    return a == b || (a != NULL && b != NULL && cJSON_Compare(a, b, true));
}

static bool check_fixed(const struct config *from, const struct config *to,
                        struct err *e)
{
    const struct gateway_settings *s = &to->settings;
    struct keys_file file = {.path = s->path, .doc = s->doc};

    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        const cJSON *old = json_get(json_root(from->settings.doc), fixed[i]);
        const cJSON *node = json_get(json_root(s->doc), fixed[i]);

        if (is_same(old, node))
            continue;
        err_set(e, "%s: it can be changed by a restart only", fixed[i]);
        return keys_wrap(&file, node != NULL ? node : json_root(s->doc), e);
    }
    return true;
}

static void watch_files(struct reload *r)
{
    char **paths = gateway_files(r->config);

    stamps_set(r->stamps, (const char *const *)paths);
    gateway_files_free(&paths);
}

static void on_look(struct ev_loop *loop, ev_timer *w, int events)
{
    struct reload *r = w->data;

    (void)loop, (void)events;
    if (r->next == NULL && stamps_look(r->stamps))
        reload_start(r, "a file has changed");
}

struct reload *reload_new(const struct reload_options *options, struct config *config)
{
    struct reload *r = calloc(1, sizeof *r);

    if (r == NULL)
        abort();
    r->options = *options;
    r->config = config_ref(config);
    r->state.generation = 1;
    r->stamps = stamps_new();
    watch_files(r);
    ev_timer_init(&r->look, on_look, look_seconds, look_seconds);
    r->look.data = r;
    ev_timer_start(options->loop, &r->look);
    return r;
}

void reload_free(struct reload **pointer)
{
    struct reload *r = *pointer;

    if (r == NULL)
        return;
    ev_timer_stop(r->options.loop, &r->look);
    stamps_free(&r->stamps);
    config_unref(&r->config);
    config_unref(&r->next);
    free(r);
    *pointer = NULL;
}

static void warn(void *owner, const char *text)
{
    (void)owner;
    log_warn("%s", text);
}

/* On false nothing is left of it. */
static bool order(struct reload *r, struct config *config, struct err *e)
{
    struct sites *sites = r->options.sites;

    if (!check_fixed(r->config, config, e) || !sites_prepare(sites, config, e))
        return false;
    if (fleet_adopt(r->options.fleet, config, sites, e))
        return true;
    sites_cancel(sites);
    return false;
}

static void tell_failure(struct reload *r, const struct err *e)
{
    r->state.failed++;
    r->state.last_failed = true;
    log_error("reload: %s; everything stays as it was (generation %lu)", e->text,
              r->state.generation);
    notify_ready(r->options.notify, "serving; the last reload failed, see the log");
}

void reload_start(struct reload *r, const char *why)
{
    struct config *config = NULL;
    struct err e = {""};

    if (r->next != NULL) {
        r->again = true;
        return;
    }
    log_info("reload: %s; reading %s", why, r->options.file);
    notify_reloading(r->options.notify, "reading the gateway file anew");
    stamps_mark(r->stamps);
    if (config_load(r->options.file, warn, NULL, &config, &e) && order(r, config, &e)) {
        r->next = config;
        return;
    }
    config_unref(&config);
    tell_failure(r, &e);
}

static void tell_success(struct reload *r)
{
    r->state.generation++;
    r->state.done++;
    r->state.last_failed = false;
    log_info("reload: generation %lu holds in %u workers", r->state.generation,
             fleet_size(r->options.fleet));
    notify_ready(r->options.notify, "serving");
}

void reload_carried_out(struct reload *r)
{
    bool again = r->again;

    if (r->next == NULL || r->stopped)
        return;
    sites_commit(r->options.sites);
    config_unref(&r->config);
    r->config = r->next;
    r->next = NULL;
    watch_files(r);
    tell_success(r);
    r->again = false;
    if (again)
        reload_start(r, "asked for again meanwhile");
}

void reload_stop(struct reload *r)
{
    ev_timer_stop(r->options.loop, &r->look);
    r->again = false;
    r->stopped = true;
}

struct reload_state reload_state(const struct reload *r)
{
    return r->state;
}

const struct config *reload_config(const struct reload *r)
{
    return r->config;
}
