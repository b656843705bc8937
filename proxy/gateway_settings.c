/* The gateway file. Whatever is wrong in it is found here, before anything listens, but
 * for `network`, which is the policy's. */
#include "proxy/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "proxy/keys.h"
#include "proxy/limits.h"
#include "proxy/listener.h"

static const struct key file_keys[] = {
    {"listen", KEY_USED, NULL},
    {"network", KEY_USED, NULL},
    {"audit", KEY_USED, NULL},
    {"limits", KEY_USED, NULL},
    {"resolver", KEY_USED, NULL},
    {"workers", KEY_USED, NULL},
    {"$schema", KEY_SILENT, NULL},
    {"admin", KEY_LATER, NULL},
    {"clients", KEY_LATER, NULL},
    {"control", KEY_LATER, NULL},
    {.name = NULL},
};

static const struct key audit_keys[] = {
    {"file", KEY_USED, NULL},
    {"onFull", KEY_USED, NULL},
    {.name = NULL},
};

static const struct key resolver_keys[] = {
    {"servers", KEY_USED, NULL},
    {"hostsFile", KEY_USED, NULL},
    {.name = NULL},
};

/* Another listener than an address is a later version's. */
static const char *const later_listeners[] = {"systemd", "fd:", "vsock:"};

/* *e says what is wrong at `place`. Always false. */
static bool wrong(const struct keys_file *file, const cJSON *node, const char *place,
                  struct err *e)
{
    err_wrap(e, "%s", place);
    return keys_wrap(file, node, e);
}

static bool wrong_entry(const struct keys_file *file, const cJSON *node,
                        const char *list, size_t index, struct err *e)
{
    err_wrap(e, "%s[%zu]", list, index);
    return keys_wrap(file, node, e);
}

/* The text of a string node; NULL when it is none. */
static const char *text_of(const cJSON *node)
{
    return cJSON_IsString(node) ? node->valuestring : NULL;
}

/* The strings of a list with at least one entry, as a NULL-terminated array for free().
 * NULL, and *e is set, when it is none. */
static const char **read_texts(const struct keys_file *file, const cJSON *list,
                               const char *place, struct err *e)
{
    size_t count = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0, i = 0;
    const char **texts;
    const cJSON *node;

    if (count == 0) {
        err_set(e, "expected a list with at least one address");
        wrong(file, list, place, e);
        return NULL;
    }
    texts = calloc(count + 1, sizeof *texts);
    if (texts == NULL)
        abort();
    cJSON_ArrayForEach(node, list) {
        texts[i] = text_of(node);
        if (texts[i] == NULL) {
            err_set(e, cJSON_IsObject(node) ? "listeners with options are not "
                                              "supported yet"
                                            : "expected a string");
            wrong_entry(file, node, place, i, e);
            free(texts);
            return NULL;
        }
        i++;
    }
    return texts;
}

static bool is_loopback(const struct addr *a)
{
    struct ip ip = addr_ip(a);
    static const struct ip v6 = {.family = 6, .bytes = {[15] = 1}};

    ip_unmap(&ip);
    return ip.family == 4 ? ip.bytes[0] == 127 : ip_equal(&ip, &v6);
}

static bool check_unix(struct str path, struct err *e)
{
    enum { PATH_SIZE = sizeof((struct sockaddr_un *)NULL)->sun_path };

    if (path.n == 0 || path.p[0] != '/')
        return err_set(e, "expected an absolute path behind \"unix:\"");
    return path.n < PATH_SIZE ||
           err_set(e, "a path of %zu bytes; a Unix socket can have %d", path.n,
                   PATH_SIZE - 1);
}

/* *open: hosts other than this one can reach it. */
static bool check_listener(struct str text, bool *open, struct err *e)
{
    struct addr a;

    *open = false;
    if (str_starts(text, LISTEN_UNIX))
        return check_unix(str_skip(text, LISTEN_UNIX.n), e);
    for (size_t i = 0; i < sizeof later_listeners / sizeof *later_listeners; i++)
        if (str_starts(text, str_from(later_listeners[i])))
            return err_set(e, "\"%.60s\" is not supported yet", text.p);
    if (!addr_parse(text, &a))
        return err_set(e,
                       "\"%.60s\": expected an IP address with a port, as in "
                       "\"127.0.0.1:3128\" or \"[::1]:3128\", or \"unix:/path\"",
                       text.p);
    *open = !is_loopback(&a);
    return true;
}

static bool is_repeated(const char *const *texts, size_t index)
{
    struct addr a;

    /* Port 0 is another port each time. */
    if (addr_parse(str_from(texts[index]), &a) && addr_port(&a) == 0)
        return false;
    for (size_t i = 0; i < index; i++)
        if (strcmp(texts[i], texts[index]) == 0)
            return true;
    return false;
}

static void warn_open(const struct keys_file *file, const cJSON *node, size_t index)
{
    char place[32];

    snprintf(place, sizeof place, "listen[%zu]", index);
    keys_warn(file, node, place, "whoever reaches this address may use the gateway");
}

static bool read_listen(const struct keys_file *file, struct gateway_settings *s,
                        struct err *e)
{
    const cJSON *list = json_get(json_root(file->doc), "listen"), *node;
    size_t i = 0;

    if (list == NULL) {
        err_set(e, "listen: missing, so nobody could ask; expected a list such as "
                   "[\"127.0.0.1:3128\"]");
        return err_wrap(e, "%s", file->path);
    }
    s->listen = read_texts(file, list, "listen", e);
    if (s->listen == NULL)
        return false;
    cJSON_ArrayForEach(node, list) {
        bool open;

        if (i == SESSION_LISTENERS_MAX) {
            err_set(e, "more than %d listening sockets", SESSION_LISTENERS_MAX);
            return wrong_entry(file, node, "listen", i, e);
        }
        if (!check_listener(str_from(s->listen[i]), &open, e))
            return wrong_entry(file, node, "listen", i, e);
        if (is_repeated(s->listen, i)) {
            err_set(e, "\"%.60s\" is in the list already", s->listen[i]);
            return wrong_entry(file, node, "listen", i, e);
        }
        if (open)
            warn_open(file, node, i);
        i++;
    }
    return true;
}

/* Relative paths would depend on where the gateway was started. */
static bool read_path(const struct keys_file *file, const cJSON *node,
                      const char *place, const char *also, const char **out,
                      struct err *e)
{
    const char *text = text_of(node);

    if (node == NULL)
        return true;
    if (text == NULL || (text[0] != '/' && strcmp(text, also) != 0)) {
        err_set(e, "expected an absolute path, or \"%s\"", also);
        return wrong(file, node, place, e);
    }
    *out = text;
    return true;
}

static bool read_on_full(const struct keys_file *file, const cJSON *node,
                         enum audit_on_full *out, struct err *e)
{
    const char *text = text_of(node);

    if (node == NULL)
        return true;
    if (text != NULL && strcmp(text, "count") == 0) {
        *out = AUDIT_COUNT;
    } else if (text == NULL || strcmp(text, "refuse") != 0) {
        err_set(e, "expected \"refuse\" or \"count\"");
        return wrong(file, node, "audit.onFull", e);
    }
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
           read_on_full(file, json_get(object, "onFull"), &s->audit.on_full, e);
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
            return wrong_entry(file, node, "resolver.servers", i, e);
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

static bool read_workers(const struct keys_file *file, struct err *e)
{
    const cJSON *node = json_get(json_root(file->doc), "workers");

    if (node == NULL || (cJSON_IsNumber(node) && node->valuedouble == 1))
        return true;
    if (cJSON_IsNumber(node) && node->valuedouble > 1)
        err_set(e, "more than 1 is not supported yet");
    else
        err_set(e, "expected a whole number from 1");
    return wrong(file, node, "workers", e);
}

static bool read_network(const struct keys_file *file, struct gateway_settings *s,
                         struct err *e)
{
    s->network = json_get(json_root(file->doc), "network");
    if (s->network == NULL || cJSON_IsObject(s->network))
        return true;
    err_set(e, "expected an object");
    return wrong(file, s->network, "network", e);
}

static bool read_file(const struct keys_file *file, struct gateway_settings *s,
                      struct err *e)
{
    s->limits = limits_default;
    return keys_check(file, "", json_root(file->doc), file_keys, e) &&
           read_listen(file, s, e) && read_network(file, s, e) &&
           read_audit(file, s, e) &&
           limits_read(file, json_get(json_root(file->doc), "limits"), &s->limits, e) &&
           read_resolver(file, s, e) && read_workers(file, e);
}

bool gateway_settings_load(const char *path, policy_warn_fn *warn, void *owner,
                           struct gateway_settings *out, struct err *e)
{
    struct gateway_settings s = {0};

    if (!settings_read(path, &s.doc, e))
        return false;
    if (!read_file(&(struct keys_file){path, s.doc, warn, owner}, &s, e)) {
        gateway_settings_done(&s);
        return false;
    }
    s.path = strdup(path);
    if (s.path == NULL)
        abort();
    *out = s;
    return true;
}

void gateway_settings_done(struct gateway_settings *s)
{
    free(s->path);
    free(s->listen);
    free(s->resolver_servers);
    json_free(&s->doc);
    *s = (struct gateway_settings){0};
}
