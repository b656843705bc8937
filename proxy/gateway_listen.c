#include "proxy/gateway_listen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "proxy/listener.h"
#include "proxy/ranges.h"

#define SYSTEMD "systemd"
#define PASSED  STR("fd:")

enum { FD_FIRST = 3, FD_LAST = 1023, PLACE_MAX = 64 };

static const struct key listen_keys[] = {
    {"address", KEY_USED, NULL},
    {"proxyProtocol", KEY_USED, NULL},
    {"tls", KEY_USED, NULL},
    {.name = NULL},
};

static const struct key tls_keys[] = {
    {"cert", KEY_USED, NULL},
    {"key", KEY_USED, NULL},
    {"clientCa", KEY_USED, NULL},
    {.name = NULL},
};

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

static bool parse_fd(struct str number, int *fd, struct err *e)
{
    unsigned value;

    if (!str_to_uint(number, FD_LAST, &value) || value < FD_FIRST)
        return err_set(e, "expected a descriptor from %d to %d behind \"fd:\"",
                       FD_FIRST, FD_LAST);
    *fd = (int)value;
    return true;
}

static bool parse_text(const char *z, struct listen_settings *out, struct err *e)
{
    struct str text = str_from(z);
    struct addr a;

    out->text = z;
    out->fd = -1;
    if (str_starts(text, LISTEN_UNIX)) {
        out->kind = LISTEN_PATH;
        return check_unix(str_skip(text, LISTEN_UNIX.n), e);
    }
    if (strcmp(z, SYSTEMD) == 0) {
        out->kind = LISTEN_SYSTEMD;
        return true;
    }
    if (str_starts(text, PASSED)) {
        out->kind = LISTEN_FD;
        return parse_fd(str_skip(text, PASSED.n), &out->fd, e);
    }
    return addr_parse(text, &a) ||
           err_set(e,
                   "\"%.60s\": expected an IP address with a port, as in "
                   "\"127.0.0.1:3128\" or \"[::1]:3128\", \"unix:/path\", \"systemd\", "
                   "or \"fd:3\"",
                   z);
}

/* *out is for free(); it stays NULL when the key is not there and need not be. */
static bool read_tls_path(const struct keys_file *file, const char *place,
                          const cJSON *tls, const char *key, bool needed, char **out,
                          struct err *e)
{
    const cJSON *node = json_get(tls, key);
    const char *text = keys_text(node);

    if (node == NULL && !needed)
        return true;
    if (text != NULL && text[0] != '\0') {
        *out = keys_path(file, text);
        return true;
    }
    err_set(e, node == NULL ? "missing; expected the path of a PEM file"
                            : "expected the path of a PEM file");
    return keys_wrong(file, node != NULL ? node : tls, e, "%s.tls.%s", place, key);
}

static void warn_open_key(const struct keys_file *file, const char *place,
                          const cJSON *tls, const char *key)
{
    char whole[PLACE_MAX + 16];
    struct stat st;

    snprintf(whole, sizeof whole, "%s.tls.", place);
    if (stat(key, &st) == 0 && (st.st_mode & S_IROTH) != 0)
        keys_warn(file, json_get(tls, "key"), whole,
                  "everybody may read it; see chmod o-r");
}

static bool make_tls(const struct keys_file *file, const char *place, const cJSON *tls,
                     struct listen_settings *out, struct err *e)
{
    char *cert = NULL, *key = NULL, *ca = NULL;
    bool good = read_tls_path(file, place, tls, "cert", true, &cert, e) &&
                read_tls_path(file, place, tls, "key", true, &key, e) &&
                read_tls_path(file, place, tls, "clientCa", false, &ca, e);

    out->asks_certificate = ca != NULL;
    if (good)
        good =
            tls_server_new(&(struct tls_server_options){cert, key, ca}, &out->tls, e) ||
            keys_wrong(file, tls, e, "%s.tls", place);
    if (good)
        warn_open_key(file, place, tls, key);
    free(cert);
    free(key);
    free(ca);
    return good;
}

static bool read_tls(const struct keys_file *file, const char *place, const cJSON *tls,
                     struct listen_settings *out, struct err *e)
{
    char prefix[PLACE_MAX + 8];

    if (tls == NULL)
        return true;
    snprintf(prefix, sizeof prefix, "%s.tls.", place);
    return keys_check(file, prefix, tls, tls_keys, e) &&
           make_tls(file, place, tls, out, e);
}

static bool read_proxies(const struct keys_file *file, const char *place,
                         const cJSON *list, struct listen_settings *out, struct err *e)
{
    char whole[PLACE_MAX + 16];

    if (list == NULL)
        return true;
    snprintf(whole, sizeof whole, "%s.proxyProtocol", place);
    if (out->kind == LISTEN_PATH) {
        err_set(e, "who connects to a Unix socket has no address");
        return keys_wrong(file, list, e, "%s", whole);
    }
    return ranges_read(file, list, whole, &out->proxies, &out->proxy_count, e);
}

static bool read_object(const struct keys_file *file, const char *place,
                        const cJSON *object, struct listen_settings *out, struct err *e)
{
    const cJSON *address = json_get(object, "address");
    const char *text = keys_text(address);
    char prefix[PLACE_MAX + 2];

    snprintf(prefix, sizeof prefix, "%s.", place);
    if (!keys_check(file, prefix, object, listen_keys, e))
        return false;
    if (text == NULL) {
        err_set(e, "expected a string, as in \"127.0.0.1:3128\"");
        return keys_wrong(file, address != NULL ? address : object, e, "%s.address",
                          place);
    }
    if (!parse_text(text, out, e))
        return keys_wrong(file, address, e, "%s.address", place);
    return read_tls(file, place, json_get(object, "tls"), out, e) &&
           read_proxies(file, place, json_get(object, "proxyProtocol"), out, e);
}

/* Port 0 is another port each time. */
static bool is_repeated(const struct listen_settings *list, size_t index)
{
    struct addr a;

    if (addr_parse(str_from(list[index].text), &a) && addr_port(&a) == 0)
        return false;
    for (size_t i = 0; i < index; i++)
        if (strcmp(list[i].text, list[index].text) == 0)
            return true;
    return false;
}

static bool read_entry(const struct keys_file *file, const cJSON *node,
                       struct listen_settings *list, size_t index, struct err *e)
{
    char place[PLACE_MAX];

    snprintf(place, sizeof place, "listen[%zu]", index);
    if (index == SESSION_LISTENERS_MAX) {
        err_set(e, "more than %d listening sockets", SESSION_LISTENERS_MAX);
        return keys_wrong(file, node, e, "%s", place);
    }
    if (cJSON_IsObject(node)) {
        if (!read_object(file, place, node, &list[index], e))
            return false;
    } else if (!cJSON_IsString(node)) {
        err_set(e, "expected a string, or an object with an address");
        return keys_wrong(file, node, e, "%s", place);
    } else if (!parse_text(node->valuestring, &list[index], e)) {
        return keys_wrong(file, node, e, "%s", place);
    }
    if (!is_repeated(list, index))
        return true;
    err_set(e, "\"%.60s\" is in the list already", list[index].text);
    return keys_wrong(file, node, e, "%s", place);
}

bool gateway_listen_read(const struct keys_file *file, const cJSON *list,
                         struct listen_settings **out, size_t *count, struct err *e)
{
    struct listen_settings *all;
    const cJSON *node;
    size_t i = 0;

    if (list == NULL) {
        err_set(e, "listen: missing, so nobody could ask; expected a list such as "
                   "[\"127.0.0.1:3128\"] (a settings file has none: that is "
                   "given with -s to weir run or weir check)");
        return err_wrap(e, "%s", file->path);
    }
    if (!keys_is_list(file, list, "listen", "address", e))
        return false;
    all = calloc((size_t)cJSON_GetArraySize(list), sizeof *all);
    if (all == NULL)
        abort();
    cJSON_ArrayForEach(node, list) {
        if (!read_entry(file, node, all, i++, e)) {
            gateway_listen_done(&all, &i);
            return false;
        }
    }
    *out = all;
    *count = i;
    return true;
}

void gateway_listen_done(struct listen_settings **list, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        tls_context_unref(&(*list)[i].tls);
        free((*list)[i].proxies);
    }
    free(*list);
    *list = NULL;
    *count = 0;
}

void gateway_listen_warn(const struct keys_file *file,
                         const struct listen_settings *list, size_t count, bool clients,
                         bool tokens)
{
    const cJSON *nodes = json_get(json_root(file->doc), "listen");

    for (size_t i = 0; i < count && (tokens || !clients); i++) {
        char place[PLACE_MAX];
        struct addr a;

        if (list[i].asks_certificate || (clients && list[i].tls != NULL))
            continue;
        if (list[i].kind != LISTEN_ADDRESS || !addr_parse(str_from(list[i].text), &a) ||
            is_loopback(&a))
            continue;
        snprintf(place, sizeof place, "listen[%zu]", i);
        keys_warn(file, cJSON_GetArrayItem(nodes, (int)i), place,
                  clients ? "the tokens of clients come in clear to this address"
                          : "whoever reaches this address may use the gateway");
    }
}

bool gateway_listen_check_admin(struct str text, struct err *e)
{
    struct addr a;

    if (str_starts(text, LISTEN_UNIX))
        return check_unix(str_skip(text, LISTEN_UNIX.n), e);
    if (!addr_parse(text, &a))
        return err_set(e,
                       "\"%.60s\": expected an address of loopback with a port, as in "
                       "\"127.0.0.1:9128\", or \"unix:/path\"",
                       text.p);
    return is_loopback(&a) ||
           err_set(e,
                   "\"%.60s\": only this host may reach it; expected an address of "
                   "loopback, or \"unix:/path\"",
                   text.p);
}
