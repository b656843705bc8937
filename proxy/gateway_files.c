#include "proxy/gateway_files.h"

#include <stdlib.h>

static const char *const tls_keys[] = {"cert", "key", "clientCa"};

struct paths {
    const struct keys_file *file;
    char **list; /* NULL behind the last */
    size_t count;
};

static void add(struct paths *p, char *path)
{
    p->list = reallocarray(p->list, p->count + 2, sizeof *p->list);
    if (path == NULL || p->list == NULL)
        abort();
    p->list[p->count++] = path;
    p->list[p->count] = NULL;
}

static void add_named(struct paths *p, const cJSON *node)
{
    const char *text = keys_text(node);

    if (text != NULL)
        add(p, keys_path(p->file, text));
}

static void add_network(struct paths *p, const cJSON *network)
{
    add_named(p, json_get(json_get(network, "parentProxy"), "caFile"));
}

char **gateway_files(const struct config *config)
{
    const struct gateway_settings *s = &config->settings;
    const struct keys_file file = {.path = s->path, .doc = s->doc};
    const cJSON *root = json_root(s->doc), *node;
    struct paths p = {.file = &file};

    add(&p, strdup(s->path));
    add_network(&p, json_get(root, "network"));
    cJSON_ArrayForEach(node, json_get(root, "clients")) {
        add_named(&p, json_get(node, "tokenFile"));
        add_network(&p, json_get(node, "network"));
    }
    cJSON_ArrayForEach(node, json_get(root, "listen"))
        for (size_t i = 0; i < sizeof tls_keys / sizeof *tls_keys; i++)
            add_named(&p, json_get(json_get(node, "tls"), tls_keys[i]));
    return p.list;
}

void gateway_files_free(char ***paths)
{
    for (char **p = *paths; p != NULL && *p != NULL; p++)
        free(*p);
    free(*paths);
    *paths = NULL;
}
