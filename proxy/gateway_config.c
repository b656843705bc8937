#include "proxy/gateway_config.h"

#include <stdio.h>
#include <stdlib.h>

enum { LABEL_MAX = 32, WARNING_MAX = 1024 };

/* Who hears of warnings. The policy does not know from which file it is read, and tells
 * of the gateway's `network` once more with each client's. */
struct warned {
    policy_warn_fn *warn;
    void *owner;
    const char *path;
    const char *label; /* without it in a text it was told before */
};

static void on_warning(void *owner, const char *text)
{
    const struct warned *w = owner;
    char whole[WARNING_MAX];

    if (w->warn == NULL || strstr(text, w->label) == NULL)
        return;
    snprintf(whole, sizeof whole, "%s: %s", w->path, text);
    w->warn(w->owner, whole);
}

/* What is denied to all is denied to them in the same words; report mode, which lets
 * through what no list allows, is not for them. */
static bool load_nobody(struct config *c, const struct policy_layer *shared,
                        struct err *e)
{
    struct json_doc *nothing = NULL;
    struct policy_layer layers[] = {*shared, {.label = ""}};
    bool good = json_parse(STR("{\"allowedDomains\": [], \"mode\": \"enforce\"}"),
                           JSON_SETTINGS, &nothing, e);

    layers[1].doc = nothing;
    layers[1].network = nothing != NULL ? json_root(nothing) : NULL;
    good = good && policy_load(layers, sizeof layers / sizeof *layers, NULL, NULL,
                               &c->nobody, e);
    json_free(&nothing);
    return good;
}

/* The environment of a gateway says nothing: all stands in its file. */
static bool load_parents(const struct policy_layer *layers, size_t count,
                         const struct policy *policy, struct warned *w,
                         struct parents **out, struct err *e)
{
    struct parents_options o = {
        .layers = layers, .count = count, .warn = on_warning, .owner = w};

    if (!parents_load(&o, out, e))
        return false;
    parents_review(*out, policy, w->label, on_warning, w);
    return true;
}

static bool load_shared(struct config *c, struct warned *w, struct err *e)
{
    struct policy_layer layer = {
        .label = "", .doc = c->settings.doc, .network = c->settings.network};

    return policy_load(&layer, 1, on_warning, w, &c->policy, e) &&
           load_parents(&layer, 1, c->policy, w, &c->parents, e) &&
           load_nobody(c, &layer, e);
}

static bool load_client(struct config *c, size_t index, struct warned *w, struct err *e)
{
    const struct client_settings *settings = &c->settings.clients[index];
    char label[LABEL_MAX];
    struct policy_layer layers[] = {
        {.label = "", .doc = c->settings.doc, .network = c->settings.network},
        {.label = label, .doc = c->settings.doc, .network = settings->network},
    };

    c->clients[index].settings = settings;
    if (settings->network == NULL) {
        c->clients[index].policy = policy_ref(c->policy);
        c->clients[index].parents = parents_ref(c->parents);
        return true;
    }
    snprintf(label, sizeof label, "clients[%zu].", index);
    w->label = label;
    return policy_load(layers, sizeof layers / sizeof *layers, on_warning, w,
                       &c->clients[index].policy, e) &&
           load_parents(layers, sizeof layers / sizeof *layers,
                        c->clients[index].policy, w, &c->clients[index].parents, e);
}

/* The settings made sure that no range is there twice. */
static void index_client(struct config *c, size_t index)
{
    const struct client_settings *settings = &c->settings.clients[index];
    uint32_t entry = (uint32_t)index;

    c->tokens = c->tokens || settings->token_count > 0;
    for (size_t i = 0; gateway_client_by_address(settings) && i < settings->from_count;
         i++)
        radix_add(c->by_address, &settings->from[i], &entry);
}

static bool load_clients(struct config *c, struct warned *w, struct err *e)
{
    size_t count = c->settings.client_count;

    c->by_address = radix_new();
    c->clients = calloc(count > 0 ? count : 1, sizeof *c->clients);
    if (c->clients == NULL)
        abort();
    for (size_t i = 0; i < count; i++) {
        if (!load_client(c, i, w, e))
            return false;
        index_client(c, i);
    }
    return true;
}

static void config_free(struct config *c)
{
    for (size_t i = 0; c->clients != NULL && i < c->settings.client_count; i++) {
        policy_unref(&c->clients[i].policy);
        parents_unref(&c->clients[i].parents);
    }
    free(c->clients);
    if (c->by_address != NULL)
        radix_free(&c->by_address);
    policy_unref(&c->policy);
    parents_unref(&c->parents);
    policy_unref(&c->nobody);
    gateway_settings_done(&c->settings);
    free(c);
}

bool config_from_doc(const char *path, struct json_doc **doc, policy_warn_fn *warn,
                     void *owner, struct config **out, struct err *e)
{
    struct config *c = calloc(1, sizeof *c);
    struct warned w = {warn, owner, path, ""};

    if (c == NULL)
        abort();
    if (!gateway_settings_from_doc(path, doc, warn, owner, &c->settings, e)) {
        config_free(c);
        return false;
    }
    if (!load_shared(c, &w, e) || !load_clients(c, &w, e)) {
        config_free(c);
        return err_wrap(e, "%s", path);
    }
    c->refs = 1;
    *out = c;
    return true;
}

bool config_load(const char *path, policy_warn_fn *warn, void *owner,
                 struct config **out, struct err *e)
{
    struct json_doc *doc = NULL;
    bool ok = settings_read(path, &doc, e) &&
              config_from_doc(path, &doc, warn, owner, out, e);

    json_free(&doc);
    return ok;
}

struct config *config_ref(struct config *c)
{
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    return c;
}

void config_unref(struct config **c)
{
    struct config *mine = *c;

    *c = NULL;
    if (mine != NULL &&
        atomic_fetch_sub_explicit(&mine->refs, 1, memory_order_acq_rel) == 1)
        config_free(mine);
}

const struct config_client *config_find(const struct config *c, struct str name)
{
    for (size_t i = 0; i < c->settings.client_count; i++)
        if (str_equal(str_from(c->clients[i].settings->name), name))
            return &c->clients[i];
    return NULL;
}
