#include "proxy/cmd/judge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/base/fd.h"
#include "proxy/domain_list.h"
#include "proxy/hostaddrs.h"

enum { LIST_MAX = 16 * 1024 * 1024, APEX_ARENA = 1024, LIST_PATH_MAX = 64 };

struct judge {
    struct settings settings;
    struct config *config; /* NULL: it is no gateway file */
    const struct config_client *client;
    char allow_list[LIST_PATH_MAX];
    struct buf converted;
    struct policy *policy;
    struct parents *parents; /* NULL: none */
    struct hostaddrs_watch *host;
    struct ev_loop *loop; /* of the resolver; both NULL until the first name */
    struct resolver *resolver;
    policy_warn_fn *warn;
    void *owner;
};

/* The policy does not know from which file it is read. */
static void on_policy_warning(void *owner, const char *text)
{
    const struct judge *j = owner;
    char whole[1024];

    snprintf(whole, sizeof whole, "%s: %s", judge_file(j), text);
    j->warn(j->owner, whole);
}

static bool load_list(struct judge *j, const char *path, struct err *e)
{
    struct json_doc *doc = NULL;
    char *text = NULL;
    size_t len = 0;
    bool ok;

    if (!fd_read_file(path, LIST_MAX, &text, &len, e))
        return false;
    ok = (domain_list_convert((struct str){text, len}, &j->converted, e) &&
          json_parse(buf_view(&j->converted), JSON_SETTINGS, &doc, e)) ||
         err_wrap(e, "%s", path);
    free(text);
    ok = ok && settings_from_doc(path, &doc, j->warn, j->owner, &j->settings, e);
    json_free(&doc);
    return ok;
}

/* No client of that name: the nearest one, or all of them when they are few. */
static bool unknown_client(const struct config *c, const char *name, struct err *e)
{
    size_t count = c->settings.client_count;
    const char **names = calloc(count + 1, sizeof *names), *near;

    if (names == NULL)
        abort();
    for (size_t i = 0; i < count; i++)
        names[i] = c->clients[i].settings->name;
    near = json_near(name, names);
    if (near != NULL)
        err_set(e, "--as \"%.64s\": no client has this name (did you mean \"%s\"?)",
                name, near);
    else
        err_set(e, "--as \"%.64s\": no client has this name", name);
    free(names);
    return err_wrap(e, "%s", c->settings.path);
}

static bool find_client(struct judge *j, const struct judge_source *source,
                        struct err *e)
{
    const struct config *c = j->config;

    if (source->as == NULL)
        return true;
    if (c->settings.client_count == 0)
        return err_set(e, "%s: --as \"%.64s\": the file has no clients",
                       c->settings.path, source->as);
    j->client = config_find(c, str_from(source->as));
    return j->client != NULL || unknown_client(c, source->as, e);
}

static bool load_file(struct judge *j, const struct judge_source *source, struct err *e)
{
    if (source->gateway != NULL)
        return config_load(source->gateway, j->warn, j->owner, &j->config, e) &&
               find_client(j, source, e);
    if (source->list != NULL)
        return load_list(j, source->list, e);
    return settings_load(source->settings, j->warn, j->owner, &j->settings, e);
}

static bool load_policy(struct judge *j, struct err *e)
{
    struct policy_layer layer = {
        .label = "", .doc = j->settings.doc, .network = j->settings.network};

    if (j->config != NULL) {
        j->policy =
            policy_ref(j->client != NULL ? j->client->policy : j->config->policy);
        j->parents =
            parents_ref(j->client != NULL ? j->client->parents : j->config->parents);
        return true;
    }
    if (!policy_load(&layer, 1, on_policy_warning, j, &j->policy, e))
        return err_wrap(e, "%s", judge_file(j));
    return parents_of_run(&j->settings, j->policy, environ, j->warn, j->owner,
                          &j->parents, e);
}

static void add_own(struct judge *j, const char *text)
{
    struct addr a;

    if (addr_parse(str_from(text), &a) && addr_port(&a) != 0)
        hostaddrs_add_own(j->host, &a);
}

/* The gateway denies its own listeners to everybody. */
static bool watch_host(struct judge *j, struct err *e)
{
    if (!hostaddrs_watch_new(&j->host, e))
        return false;
    if (j->config == NULL)
        return true;
    for (size_t i = 0; i < j->config->settings.listen_count; i++)
        add_own(j, j->config->settings.listen[i].text);
    if (j->config->settings.admin != NULL)
        add_own(j, j->config->settings.admin);
    return true;
}

/* A client's own list stands in the place of the gateway's. */
static void name_allow_list(struct judge *j)
{
    static const char key[] = "allowedDomains";
    const struct config_client *client = j->client;

    if (client == NULL || json_get(client->settings->network, key) == NULL)
        snprintf(j->allow_list, sizeof j->allow_list, "network.%s", key);
    else
        snprintf(j->allow_list, sizeof j->allow_list, "clients[%zu].network.%s",
                 (size_t)(client - j->config->clients), key);
}

bool judge_new(const struct judge_source *source, policy_warn_fn *warn, void *owner,
               struct judge **out, struct err *e)
{
    struct judge *j = calloc(1, sizeof *j);

    if (j == NULL)
        abort();
    j->warn = warn;
    j->owner = owner;
    buf_init(&j->converted, 2 * LIST_MAX);
    if (!load_file(j, source, e) || !load_policy(j, e) || !watch_host(j, e)) {
        judge_free(&j);
        return false;
    }
    name_allow_list(j);
    *out = j;
    return true;
}

void judge_free(struct judge **jp)
{
    struct judge *j = *jp;

    if (j == NULL)
        return;
    resolver_free(&j->resolver);
    if (j->loop != NULL)
        ev_loop_destroy(j->loop);
    hostaddrs_watch_free(&j->host);
    policy_unref(&j->policy);
    parents_unref(&j->parents);
    settings_done(&j->settings);
    config_unref(&j->config);
    buf_done(&j->converted);
    free(j);
    *jp = NULL;
}

const char *judge_file(const struct judge *j)
{
    return j->config != NULL ? j->config->settings.path : j->settings.path;
}

const cJSON *judge_network(const struct judge *j)
{
    return j->config != NULL ? j->config->settings.network : j->settings.network;
}

struct str judge_converted(const struct judge *j)
{
    return buf_view(&j->converted);
}

const struct settings *judge_settings(const struct judge *j)
{
    return j->config == NULL ? &j->settings : NULL;
}

const struct config *judge_config(const struct judge *j)
{
    return j->config;
}

const struct config_client *judge_client(const struct judge *j)
{
    return j->client;
}

const char *judge_allow_list(const struct judge *j)
{
    return j->allow_list;
}

const struct policy *judge_policy(const struct judge *j)
{
    return j->policy;
}

static bool start_resolver(struct judge *j, struct err *e)
{
    struct resolver_options options = {.servers = NULL};

    if (j->resolver != NULL)
        return true;
    if (j->config != NULL) {
        options.servers = (const char *const *)j->config->settings.resolver_servers;
        options.hosts_file = j->config->settings.resolver_hosts;
    }
    if (j->loop == NULL)
        j->loop = ev_loop_new(EVFLAG_AUTO);
    if (j->loop == NULL)
        return err_set(e, "cannot make an event loop");
    return resolver_new(j->loop, &options, &j->resolver, e);
}

/* One lookup under way. */
struct waiting {
    struct judged *out;
    bool done;
};

static void on_lookup(void *owner, const struct lookup_result *result)
{
    struct waiting *w = owner;

    w->done = true;
    w->out->status = result->status;
    w->out->addr_count = result->count < LOOKUP_MAX ? result->count : LOOKUP_MAX;
    for (size_t i = 0; i < w->out->addr_count; i++)
        w->out->addrs[i].ip = result->ips[i];
}

static bool look_up(struct judge *j, struct str name, struct judged *out, struct err *e)
{
    struct waiting w = {.out = out};

    if (!start_resolver(j, e))
        return false;
    out->resolved = true;
    resolver_lookup(j->resolver, name, NULL, on_lookup, &w);
    while (!w.done)
        ev_run(j->loop, EVRUN_ONCE);
    return true;
}

static struct verdict denied(enum reason reason)
{
    return (struct verdict){.reason = reason};
}

/* One address that may be used is enough; else the refusal is told that is the first in
 * the order of enum reason, as dial.c does. */
static void judge_addrs(struct judge *j, const struct target *t,
                        const struct hostaddrs *host, struct judged *out)
{
    struct verdict by_name = out->verdict;
    bool any = false;

    if (out->status != LOOKUP_OK || out->addr_count == 0) {
        out->verdict = denied(out->status == LOOKUP_TIMED_OUT ? REASON_TIMEOUT
                                                              : REASON_DNS_FAILURE);
        return;
    }
    for (size_t i = 0; i < out->addr_count; i++) {
        struct judged_addr *a = &out->addrs[i];

        a->verdict = policy_check_addr(j->policy, t, &a->ip, host);
        any |= a->verdict.allow;
        if (a->verdict.reason < out->addrs[out->told].verdict.reason)
            out->told = i;
    }
    out->verdict = any ? by_name : out->addrs[out->told].verdict;
}

bool judge_target(struct judge *j, const struct target *t, enum dial_use use,
                  bool resolve, struct judged *out, struct err *e)
{
    const struct hostaddrs *host = hostaddrs_now(j->host);

    *out = (struct judged){.status = LOOKUP_FAILED};
    if (host == NULL)
        return err_set(e, "the kernel does not tell this host's addresses");
    out->verdict = policy_check_target(j->policy, t, host);
    if (!out->verdict.allow)
        return true;
    out->via = parents_route(j->parents, t, use);
    if (out->via != NULL && !out->via->resolve_local) {
        struct verdict v = policy_check_unresolved(j->policy, t);

        if (!v.allow)
            out->verdict = v;
        return true;
    }
    if (!resolve || t->kind != HOST_NAME)
        return true;
    if (!look_up(j, t->host, out, e))
        return false;
    judge_addrs(j, t, host, out);
    return true;
}

bool judge_is_apex(struct judge *j, const struct target *t, struct rule *wildcard)
{
    char name[HOST_NAME_MAX_LEN + 3];
    const struct hostaddrs *host = hostaddrs_now(j->host);
    struct verdict v = {.allow = false};
    struct target below;
    struct arena a;

    if (t->kind != HOST_NAME || host == NULL)
        return false;
    snprintf(name, sizeof name, "x." STR_FMT, STR_ARG(t->host));
    arena_init(&a, APEX_ARENA);
    if (target_set(&below, &a, str_from(name), false, t->port))
        v = policy_check_target(j->policy, &below, host);
    arena_done(&a);
    *wildcard = v.rule;
    return v.allow && v.reason == REASON_ALLOW_LIST;
}
