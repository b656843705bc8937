/* From settings to a table of parents. */
#include <stdio.h>
#include <stdlib.h>

#include "proxy/base/json.h"
#include "proxy/parents_table.h"

/* A table while it is read: which object, and how to name a place in it. */
struct loading {
    const struct parents_options *o;
    struct parents *p;
    const struct policy_layer *layer; /* that has the object */
    const char *key;                  /* "parentProxy" */
    const cJSON *object;
};

enum { PLACE_MAX = 192, TEXT_MAX = 512 };

/* "line 4: clients[2].network.parentProxy.http"; `what` is "" for the object itself. */
static const char *place(const struct loading *l, const cJSON *node, const char *what,
                         char out[PLACE_MAX])
{
    const struct policy_layer *layer = l->layer;
    unsigned line = layer->doc != NULL ? json_line(layer->doc, node) : 0;
    char line_text[32] = "";

    if (line > 0)
        snprintf(line_text, sizeof line_text, "line %u: ", line);
    snprintf(out, PLACE_MAX, "%s%.64snetwork.%s%s%s", line_text,
             layer->label != NULL ? layer->label : "", l->key,
             what[0] != '\0' ? "." : "", what);
    return out;
}

static bool refuse(const struct loading *l, const cJSON *node, const char *what,
                   struct err *e)
{
    char where[PLACE_MAX];

    return err_wrap(e, "%s", place(l, node, what, where));
}

static void warn(const struct loading *l, const cJSON *node, const char *what,
                 const char *text)
{
    char where[PLACE_MAX], whole[TEXT_MAX];

    if (l->o->warn == NULL)
        return;
    snprintf(whole, sizeof whole, "%s: %s", place(l, node, what, where), text);
    l->o->warn(l->o->owner, whole);
}

/* The last layer that has the key. */
static bool find_object(struct loading *l, const char *key)
{
    l->key = key;
    l->object = NULL;
    for (size_t i = 0; i < l->o->count; i++) {
        const cJSON *node = json_get(l->o->layers[i].network, key);

        if (node != NULL) {
            l->layer = &l->o->layers[i];
            l->object = node;
        }
    }
    return l->object != NULL;
}

static bool check_object(const struct loading *l, const char *const known[],
                         struct err *e)
{
    const cJSON *bad = NULL;

    if (!cJSON_IsObject(l->object)) {
        err_set(e, "expected an object in { }");
        return refuse(l, l->object, "", e);
    }
    return json_only_keys(l->object, known, &bad, e) || refuse(l, bad, "", e);
}

/* A key that is not there leaves `out` alone. */
static bool read_resolve(const struct loading *l, bool *local, struct err *e)
{
    const cJSON *node = json_get(l->object, "resolve");

    *local = false;
    if (node == NULL)
        return true;
    if (cJSON_IsString(node) && strcmp(node->valuestring, "local") == 0)
        *local = true;
    else if (!cJSON_IsString(node) || strcmp(node->valuestring, "parent") != 0) {
        err_set(e, "expected \"local\" or \"parent\"");
        return refuse(l, node, "resolve", e);
    }
    return true;
}

static bool read_url(const struct loading *l, const char *key, struct parent *out,
                     struct err *e)
{
    const cJSON *node = json_get(l->object, key);

    if (node == NULL)
        return true;
    if (!cJSON_IsString(node))
        err_set(e, "expected a URL, as in \"http://proxy.example:3128\"");
    else if (parent_from_url(str_from(node->valuestring), out, e))
        return true;
    return refuse(l, node, key, e);
}

static bool add_direct(const struct loading *l, const cJSON *node, const char *what,
                       struct str entry, struct err *e)
{
    char note[NO_PROXY_NOTE_MAX];

    if (!no_proxy_add(l->p->no_proxy, entry, note, e)) {
        err_wrap(e, "\"" STR_FMT "\"", STR_ARG(str_head(entry, 80)));
        return refuse(l, node, what, e);
    }
    if (note[0] != '\0')
        warn(l, node, what, note);
    return true;
}

/* As NO_PROXY: with commas between, and blanks around them. */
static bool read_direct_text(const struct loading *l, const cJSON *node, struct err *e)
{
    struct str rest = str_from(node->valuestring);

    while (rest.n > 0) {
        struct str entry = str_trim(str_cut(&rest, ','));

        if (entry.n > 0 && !add_direct(l, node, "noProxy", entry, e))
            return false;
    }
    return true;
}

static bool read_direct_list(const struct loading *l, const cJSON *list, struct err *e)
{
    const cJSON *node;
    size_t i = 0;

    cJSON_ArrayForEach(node, list) {
        char what[32];

        snprintf(what, sizeof what, "noProxy[%zu]", i++);
        if (!cJSON_IsString(node)) {
            err_set(e, "expected a string");
            return refuse(l, node, what, e);
        }
        if (!add_direct(l, node, what, str_from(node->valuestring), e))
            return false;
    }
    return true;
}

static bool read_no_proxy(const struct loading *l, struct err *e)
{
    const cJSON *node = json_get(l->object, "noProxy");

    if (node == NULL)
        return true;
    if (!no_proxy_new(&l->p->no_proxy, e))
        return false;
    if (!cJSON_IsString(node) && !cJSON_IsArray(node)) {
        err_set(e, "expected a list of strings, or one with commas between");
        return refuse(l, node, "noProxy", e);
    }
    if (cJSON_IsString(node) ? !read_direct_text(l, node, e)
                             : !read_direct_list(l, node, e))
        return false;
    no_proxy_seal(l->p->no_proxy);
    return true;
}

/* Whom to believe beside the system's authorities; NULL when nothing is said. */
static bool read_ca_file(const struct loading *l, const char **path, struct err *e)
{
    const cJSON *node = json_get(l->object, "caFile");

    *path = NULL;
    if (node == NULL)
        return true;
    if (!cJSON_IsString(node) || node->valuestring[0] != '/') {
        err_set(e, "expected an absolute path");
        return refuse(l, node, "caFile", e);
    }
    *path = node->valuestring;
    return true;
}

static bool take_contexts(const struct loading *l, struct err *e)
{
    const cJSON *node = json_get(l->object, "caFile");
    const char *path;

    if (!read_ca_file(l, &path, e))
        return false;
    if (path != NULL && !l->p->parent[PARENTS_HTTP].tls &&
        !l->p->parent[PARENTS_HTTPS].tls) {
        err_set(e, "no parent is reached over TLS (https://)");
        return refuse(l, node, "caFile", e);
    }
    return parents_take_contexts(l->p, path, e) ||
           refuse(l, node != NULL ? node : l->object, "caFile", e);
}

static bool read_parent(const struct loading *l, struct err *e)
{
    static const char *const known[] = {"http",    "https",  "noProxy",
                                        "resolve", "caFile", NULL};
    struct parent *http = &l->p->parent[PARENTS_HTTP];
    struct parent *https = &l->p->parent[PARENTS_HTTPS];
    bool local;

    if (!check_object(l, known, e) || !read_resolve(l, &local, e) ||
        !read_url(l, "http", http, e) || !read_url(l, "https", https, e) ||
        !read_no_proxy(l, e) || !take_contexts(l, e))
        return false;
    http->resolve_local = https->resolve_local = local;
    if (http->kind == PARENT_NONE && https->kind != PARENT_NONE)
        warn(l, l->object, "", "has no \"http\": plain HTTP requests go directly");
    return true;
}

static bool add_mitm_host(const struct loading *l, const cJSON *node, struct err *e)
{
    struct pattern pattern;

    if (!cJSON_IsString(node))
        return err_set(e, "expected a string");
    if (!pattern_parse(str_from(node->valuestring), PATTERN_ALLOW, &pattern, e))
        return err_wrap(e, "\"%.80s\"", node->valuestring);
    if (pattern_has_port(&pattern))
        return err_set(e, "\"%.80s\": expected a host without a port",
                       node->valuestring);
    host_set_add(l->p->mitm_hosts, &pattern);
    return true;
}

static bool read_mitm_hosts(const struct loading *l, struct err *e)
{
    const cJSON *list = json_get(l->object, "domains"), *node;
    size_t i = 0;

    if (!cJSON_IsArray(list) || list->child == NULL) {
        err_set(e, "expected a list with at least one host");
        return refuse(l, list != NULL ? list : l->object, "domains", e);
    }
    if (!host_set_new(&l->p->mitm_hosts, e))
        return false;
    cJSON_ArrayForEach(node, list) {
        char what[32];

        snprintf(what, sizeof what, "domains[%zu]", i++);
        if (!add_mitm_host(l, node, e))
            return refuse(l, node, what, e);
    }
    host_set_seal(l->p->mitm_hosts);
    return true;
}

static bool read_mitm(const struct loading *l, struct err *e)
{
    static const char *const known[] = {"socketPath", "domains", "resolve", NULL};
    struct parent *mitm = &l->p->parent[PARENTS_MITM];
    const cJSON *node;
    bool local;

    if (!check_object(l, known, e) || !read_resolve(l, &local, e))
        return false;
    node = json_get(l->object, "socketPath");
    if (!cJSON_IsString(node)) {
        err_set(e, "expected the absolute path of a Unix socket");
        return refuse(l, node != NULL ? node : l->object, "socketPath", e);
    }
    if (!parent_from_path(str_from(node->valuestring), mitm, e))
        return refuse(l, node, "socketPath", e);
    mitm->resolve_local = local;
    return read_mitm_hosts(l, e);
}

static bool read_all(struct loading *l, struct err *e)
{
    if (find_object(l, "parentProxy")) {
        if (!read_parent(l, e))
            return false;
    } else if (l->o->environment != NULL && !parents_read_environment(l->o, l->p, e)) {
        return false;
    }
    return !find_object(l, "mitmProxy") || read_mitm(l, e);
}

static bool is_empty(const struct parents *p)
{
    for (size_t i = 0; i < PARENTS_COUNT; i++)
        if (p->parent[i].kind != PARENT_NONE)
            return false;
    return true;
}

bool parents_load(const struct parents_options *o, struct parents **out, struct err *e)
{
    struct loading l = {.o = o, .p = calloc(1, sizeof *l.p)};
    bool good;

    if (l.p == NULL)
        abort();
    l.p->refs = 1;
    good = read_all(&l, e);
    if (!good || is_empty(l.p))
        parents_unref(&l.p);
    if (good)
        *out = l.p;
    return good;
}
