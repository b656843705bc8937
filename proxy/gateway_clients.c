#include "proxy/gateway_clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/policy/radix.h"
#include "proxy/ranges.h"

/* What the audit calls connections that are no client's. */
#define RESERVED "gateway"

enum { CERT_NAME_MAX = 255, PLACE_MAX = 64 };

static const struct key client_keys[] = {
    {"name", KEY_USED, NULL},    {"tokenFile", KEY_USED, NULL},
    {"from", KEY_USED, NULL},    {"certName", KEY_USED, NULL},
    {"network", KEY_USED, NULL}, {.name = NULL},
};

/* A list that is being read. */
struct reading {
    const struct keys_file *file;
    struct client_settings *clients;
    size_t count; /* that are read */
};

/* *e is about that key of that client, or about the client when it has no such key. */
static bool wrong(const struct reading *r, size_t index, const char *key, struct err *e)
{
    const cJSON *client = r->clients[index].node, *node = json_get(client, key);

    return keys_wrong(r->file, node != NULL ? node : client, e, "clients[%zu].%s",
                      index, key);
}

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              (c >= '0' && c <= '9') || strchr("._-", c) != NULL))
            return false;
    }
    return s.n > 0 && s.n <= CLIENT_NAME_MAX;
}

static bool read_name(const struct reading *r, struct client_settings *c, struct err *e)
{
    const char *text = keys_text(json_get(c->node, "name"));

    if (text == NULL || !is_name(str_from(text)))
        return err_set(e,
                       "expected 1 to %d letters, digits, dots, dashes and underscores",
                       CLIENT_NAME_MAX);
    if (strcmp(text, RESERVED) == 0)
        return err_set(e, "\"%s\" is what those are called who are no client", text);
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->clients[i].name, text) == 0)
            return err_set(e, "\"%s\" is the name of clients[%zu] already", text, i);
    c->name = text;
    return true;
}

static bool read_token(const struct reading *r, struct client_settings *c,
                       struct err *e)
{
    const cJSON *node = json_get(c->node, "tokenFile");
    const char *text = keys_text(node);
    char *path;
    bool ok;

    if (node == NULL)
        return true;
    if (text == NULL || text[0] == '\0')
        return err_set(e, "expected the path of a file");
    path = keys_path(r->file, text);
    ok = token_file_read(path, c->tokens, &c->token_count, e);
    free(path);
    return ok;
}

static bool read_cert_name(struct client_settings *c, struct err *e)
{
    const cJSON *node = json_get(c->node, "certName");
    const char *text = keys_text(node);

    if (node == NULL)
        return true;
    if (text == NULL || text[0] == '\0' || strlen(text) > CERT_NAME_MAX)
        return err_set(e, "expected the name in a certificate, 1 to %d bytes",
                       CERT_NAME_MAX);
    c->cert_name = text;
    return true;
}

static bool read_from(const struct reading *r, struct client_settings *c, size_t index,
                      struct err *e)
{
    const cJSON *list = json_get(c->node, "from");
    char place[PLACE_MAX];

    snprintf(place, sizeof place, "clients[%zu].from", index);
    return list == NULL ||
           ranges_read(r->file, list, place, &c->from, &c->from_count, e);
}

static bool read_network(struct client_settings *c, struct err *e)
{
    c->network = json_get(c->node, "network");
    return c->network == NULL || cJSON_IsObject(c->network) ||
           err_set(e, "expected an object");
}

static bool read_client(const struct reading *r, struct client_settings *c,
                        size_t index, struct err *e)
{
    char prefix[PLACE_MAX];

    snprintf(prefix, sizeof prefix, "clients[%zu].", index);
    if (!cJSON_IsObject(c->node)) {
        err_set(e, "expected an object with a name");
        return keys_wrong(r->file, c->node, e, "clients[%zu]", index);
    }
    if (!keys_check(r->file, prefix, c->node, client_keys, e))
        return false;
    if (!read_name(r, c, e))
        return wrong(r, index, "name", e);
    if (!read_token(r, c, e))
        return wrong(r, index, "tokenFile", e);
    if (!read_cert_name(c, e))
        return wrong(r, index, "certName", e);
    if (!read_from(r, c, index, e))
        return false;
    if (!read_network(c, e))
        return wrong(r, index, "network", e);
    if (c->token_count > 0 || c->cert_name != NULL || c->from != NULL)
        return true;
    err_set(e, "nothing tells who it is; expected tokenFile, from or certName");
    return keys_wrong(r->file, c->node, e, "clients[%zu]", index);
}

/* A token and whose it is. */
struct owned {
    const struct token *token;
    size_t client;
};

static int by_digest(const void *a, const void *b)
{
    const struct owned *one = a, *other = b;

    return memcmp(one->token->digest, other->token->digest, DIGEST_SIZE);
}

static bool check_tokens(const struct reading *r, struct err *e)
{
    struct owned *all = calloc(r->count * TOKENS_MAX, sizeof *all);
    size_t n = 0, i;

    if (all == NULL)
        abort();
    for (i = 0; i < r->count; i++)
        for (size_t j = 0; j < r->clients[i].token_count; j++)
            all[n++] = (struct owned){&r->clients[i].tokens[j], i};
    qsort(all, n, sizeof *all, by_digest);
    for (i = 1; i < n && by_digest(&all[i - 1], &all[i]) != 0; i++)
        continue;
    if (i < n) {
        size_t a = all[i - 1].client, b = all[i].client;

        err_set(e, "a token in it is that of clients[%zu] too", a < b ? a : b);
        wrong(r, a < b ? b : a, "tokenFile", e);
    }
    free(all);
    return i >= n;
}

/* A token tells one client from all others, so only those without one can be taken for
 * each other. */
static bool check_cert_names(const struct reading *r, struct err *e)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct client_settings *c = &r->clients[i];

        for (size_t j = 0; j < i && c->cert_name != NULL && c->token_count == 0; j++) {
            const struct client_settings *other = &r->clients[j];

            if (other->cert_name == NULL || other->token_count > 0 ||
                strcmp(other->cert_name, c->cert_name) != 0)
                continue;
            err_set(e, "\"%.60s\" is that of clients[%zu] too, and neither has a token",
                    c->cert_name, j);
            return wrong(r, i, "certName", e);
        }
    }
    return true;
}

static bool check_from(const struct reading *r, struct err *e)
{
    struct radix *ranges = radix_new();
    bool ok = true;

    for (size_t i = 0; i < r->count && ok; i++) {
        const struct client_settings *c = &r->clients[i];

        for (size_t j = 0; gateway_client_by_address(c) && j < c->from_count && ok;
             j++) {
            uint32_t entry = (uint32_t)i;
            const cJSON *node = cJSON_GetArrayItem(json_get(c->node, "from"), (int)j);

            ok = radix_add(ranges, &c->from[j], &entry);
            if (ok)
                continue;
            err_set(e,
                    "\"%.60s\" is in that of clients[%u] too, and nothing else tells "
                    "one from the other",
                    node->valuestring, entry);
            keys_wrong(r->file, node, e, "clients[%zu].from[%zu]", i, j);
        }
    }
    radix_free(&ranges);
    return ok;
}

static bool read_all(struct reading *r, const cJSON *list, struct err *e)
{
    const cJSON *node;

    cJSON_ArrayForEach(node, list) {
        struct client_settings *c = &r->clients[r->count];

        c->node = node;
        if (!read_client(r, c, r->count, e)) {
            free(c->from);
            return false;
        }
        r->count++;
    }
    return check_tokens(r, e) && check_cert_names(r, e) && check_from(r, e);
}

bool gateway_clients_read(const struct keys_file *file, const cJSON *list,
                          struct client_settings **out, size_t *count, struct err *e)
{
    struct reading r = {.file = file};

    if (list == NULL)
        return true;
    if (!keys_is_list(file, list, "clients", "client", e))
        return false;
    if (cJSON_GetArraySize(list) > CLIENTS_MAX) {
        err_set(e, "more than %d", CLIENTS_MAX);
        return keys_wrong(file, list, e, "clients");
    }
    r.clients = calloc((size_t)cJSON_GetArraySize(list), sizeof *r.clients);
    if (r.clients == NULL)
        abort();
    if (!read_all(&r, list, e)) {
        gateway_clients_done(&r.clients, &r.count);
        return false;
    }
    *out = r.clients;
    *count = r.count;
    return true;
}

void gateway_clients_done(struct client_settings **list, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        free((*list)[i].from);
    free(*list);
    *list = NULL;
    *count = 0;
}
