#include "proxy/gateway_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/limits.h"

#define OF_SETTINGS                                                         \
    KEY_ELSEWHERE, "belongs to a settings file, which is given with -s to " \
                   "weir run or weir check"

static const struct key file_keys[] = {
    {"listen", KEY_USED, NULL},
    {"network", KEY_USED, NULL},
    {"audit", KEY_USED, NULL},
    {"limits", KEY_USED, NULL},
    {"resolver", KEY_USED, NULL},
    {"workers", KEY_USED, NULL},
    {"$schema", KEY_SILENT, NULL},
    {"admin", KEY_USED, NULL},
    {"clients", KEY_USED, NULL},
    {"control", KEY_LATER, NULL},
    {"filesystem", OF_SETTINGS},
    {"credentials", OF_SETTINGS},
    {.name = NULL},
};

static const struct key audit_keys[] = {
    {"file", KEY_USED, NULL},
    {"onFull", KEY_USED, NULL},
    {"queueBytes", KEY_USED, NULL},
    {.name = NULL},
};

static const struct key resolver_keys[] = {
    {"servers", KEY_USED, NULL},
    {"hostsFile", KEY_USED, NULL},
    {.name = NULL},
};

/* The strings of a list with at least one entry, as a NULL-terminated array for free().
 * NULL, and *e is set, when it is none. */
static const char **read_texts(const struct keys_file *file, const cJSON *list,
                               const char *place, struct err *e)
{
    const char **texts;
    const cJSON *node;
    size_t i = 0;

    if (!keys_is_list(file, list, place, "address", e))
        return NULL;
    texts = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *texts);
    if (texts == NULL)
        abort();
    cJSON_ArrayForEach(node, list) {
        texts[i] = keys_text(node);
        if (texts[i] == NULL) {
            err_set(e, "expected a string");
            keys_wrong(file, node, e, "%s[%zu]", place, i);
            free(texts);
            return NULL;
        }
        i++;
    }
    return texts;
}

/* Relative paths would depend on where the gateway was started. */
static bool read_path(const struct keys_file *file, const cJSON *node,
                      const char *place, const char *also, const char **out,
                      struct err *e)
{
    const char *text = keys_text(node);

    if (node == NULL)
        return true;
    if (text == NULL || (text[0] != '/' && strcmp(text, also) != 0)) {
        err_set(e, "expected an absolute path, or \"%s\"", also);
        return keys_wrong(file, node, e, "%s", place);
    }
    *out = text;
    return true;
}

static bool read_on_full(const struct keys_file *file, const cJSON *node,
                         enum audit_on_full *out, struct err *e)
{
    const char *text = keys_text(node);

    if (node == NULL)
        return true;
    if (text != NULL && strcmp(text, "count") == 0) {
        *out = AUDIT_COUNT;
    } else if (text == NULL || strcmp(text, "refuse") != 0) {
        err_set(e, "expected \"refuse\" or \"count\"");
        return keys_wrong(file, node, e, "audit.onFull");
    }
    return true;
}

/* A whole number from `least` to `most`; a key that is not there leaves *out alone. */
static bool read_whole(const struct keys_file *file, const cJSON *node,
                       const char *place, size_t least, size_t most, size_t *out,
                       struct err *e)
{
    double value = cJSON_IsNumber(node) ? node->valuedouble : NAN;

    if (node == NULL)
        return true;
    if (!(value >= (double)least && value <= (double)most) || value != floor(value)) {
        err_set(e, "expected a whole number from %zu to %zu", least, most);
        return keys_wrong(file, node, e, "%s", place);
    }
    *out = (size_t)value;
    return true;
}

static bool read_audit(const struct keys_file *file, struct gateway_settings *s,
                       struct err *e)
{
    const cJSON *object = json_get(json_root(file->doc), "audit");

    s->audit = (struct audit_options){.file = "-", .fd = -1, .on_full = AUDIT_REFUSE};
    if (object == NULL)
        return true;
    return keys_check(file, "audit.", object, audit_keys, e) &&
           read_path(file, json_get(object, "file"), "audit.file", "-", &s->audit.file,
                     e) &&
           read_on_full(file, json_get(object, "onFull"), &s->audit.on_full, e) &&
           read_whole(file, json_get(object, "queueBytes"), "audit.queueBytes",
                      AUDIT_QUEUE_MIN, AUDIT_QUEUE_MAX, &s->audit.queue_max, e);
}

static bool check_server(struct str text, struct err *e)
{
    struct addr a;
    struct ip ip;

    if (ip_parse(text, &ip) || (addr_parse(text, &a) && addr_port(&a) != 0))
        return true;
    return err_set(e, "\"%.60s\": expected an IP address, with a port or without",
                   text.p);
}

static bool read_servers(const struct keys_file *file, const cJSON *list,
                         struct gateway_settings *s, struct err *e)
{
    const cJSON *node;
    size_t i = 0;

    if (list == NULL)
        return true;
    s->resolver_servers = read_texts(file, list, "resolver.servers", e);
    if (s->resolver_servers == NULL)
        return false;
    cJSON_ArrayForEach(node, list) {
        if (!check_server(str_from(s->resolver_servers[i]), e))
            return keys_wrong(file, node, e, "resolver.servers[%zu]", i);
        i++;
    }
    return true;
}

static bool read_resolver(const struct keys_file *file, struct gateway_settings *s,
                          struct err *e)
{
    const cJSON *object = json_get(json_root(file->doc), "resolver");

    if (object == NULL)
        return true;
    return keys_check(file, "resolver.", object, resolver_keys, e) &&
           read_servers(file, json_get(object, "servers"), s, e) &&
           read_path(file, json_get(object, "hostsFile"), "resolver.hostsFile", "",
                     &s->resolver_hosts, e);
}

static bool read_workers(const struct keys_file *file, struct gateway_settings *s,
                         struct err *e)
{
    size_t workers = 0;

    if (!read_whole(file, json_get(json_root(file->doc), "workers"), "workers", 1,
                    WORKERS_MAX, &workers, e))
        return false;
    s->workers = (unsigned)workers;
    return true;
}

static bool read_admin(const struct keys_file *file, struct gateway_settings *s,
                       struct err *e)
{
    const cJSON *node = json_get(json_root(file->doc), "admin");
    const char *text = keys_text(node);

    if (node == NULL)
        return true;
    if (text == NULL)
        err_set(e, "expected a string");
    if (text == NULL || !gateway_listen_check_admin(str_from(text), e))
        return keys_wrong(file, node, e, "admin");
    s->admin = text;
    return true;
}

static bool read_listen(const struct keys_file *file, struct gateway_settings *s,
                        struct err *e)
{
    return gateway_listen_read(file, json_get(json_root(file->doc), "listen"),
                               &s->listen, &s->listen_count, e);
}

static bool read_clients(const struct keys_file *file, struct gateway_settings *s,
                         struct err *e)
{
    return gateway_clients_read(file, json_get(json_root(file->doc), "clients"),
                                &s->clients, &s->client_count, e);
}

/* A name that nobody is asked for would be a client that never comes. */
static bool check_cert_names(const struct keys_file *file,
                             const struct gateway_settings *s, struct err *e)
{
    bool asked = false;

    for (size_t i = 0; i < s->listen_count; i++)
        asked = asked || s->listen[i].asks_certificate;
    for (size_t i = 0; i < s->client_count && !asked; i++) {
        if (s->clients[i].cert_name == NULL)
            continue;
        err_set(e, "no listener asks for certificates (tls.clientCa)");
        return keys_wrong(file, json_get(s->clients[i].node, "certName"), e,
                          "clients[%zu].certName", i);
    }
    return true;
}

static void warn_open(const struct keys_file *file, const struct gateway_settings *s)
{
    bool tokens = false;

    for (size_t i = 0; i < s->client_count; i++)
        tokens = tokens || s->clients[i].token_count > 0;
    gateway_listen_warn(file, s->listen, s->listen_count, s->client_count > 0, tokens);
}

static bool read_network(const struct keys_file *file, struct gateway_settings *s,
                         struct err *e)
{
    s->network = json_get(json_root(file->doc), "network");
    if (s->network == NULL || cJSON_IsObject(s->network))
        return true;
    err_set(e, "expected an object");
    return keys_wrong(file, s->network, e, "network");
}

static bool read_file(const struct keys_file *file, struct gateway_settings *s,
                      struct err *e)
{
    s->limits = limits_default;
    return keys_check(file, "", json_root(file->doc), file_keys, e) &&
           read_listen(file, s, e) && read_network(file, s, e) &&
           read_audit(file, s, e) &&
           limits_read(file, json_get(json_root(file->doc), "limits"), &s->limits, e) &&
           read_resolver(file, s, e) && read_workers(file, s, e) &&
           read_admin(file, s, e) && read_clients(file, s, e) &&
           check_cert_names(file, s, e);
}

bool gateway_settings_from_doc(const char *path, struct json_doc **doc,
                               policy_warn_fn *warn, void *owner,
                               struct gateway_settings *out, struct err *e)
{
    struct gateway_settings s = {.doc = *doc};
    struct keys_file file = {path, *doc, warn, owner};

    if (!read_file(&file, &s, e)) {
        s.doc = NULL;
        gateway_settings_done(&s);
        return false;
    }
    warn_open(&file, &s);
    s.path = strdup(path);
    if (s.path == NULL)
        abort();
    *doc = NULL;
    *out = s;
    return true;
}

bool gateway_settings_load(const char *path, policy_warn_fn *warn, void *owner,
                           struct gateway_settings *out, struct err *e)
{
    struct json_doc *doc = NULL;
    bool ok = settings_read(path, &doc, e) &&
              gateway_settings_from_doc(path, &doc, warn, owner, out, e);

    json_free(&doc);
    return ok;
}

void gateway_settings_done(struct gateway_settings *s)
{
    free(s->path);
    gateway_listen_done(&s->listen, &s->listen_count);
    gateway_clients_done(&s->clients, &s->client_count);
    free(s->resolver_servers);
    json_free(&s->doc);
    *s = (struct gateway_settings){0};
}

bool gateway_settings_wrap_listen(const struct gateway_settings *s, size_t index,
                                  struct err *e)
{
    const cJSON *list = json_get(json_root(s->doc), "listen");

    return keys_wrong(&(struct keys_file){.path = s->path, .doc = s->doc},
                      cJSON_GetArrayItem(list, (int)index), e, "listen[%zu]", index);
}
