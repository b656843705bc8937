/* The `clients` of the gateway file: who they are, and how each is told from the
 * others. */
#ifndef PROXY_GATEWAY_CLIENTS_H
#define PROXY_GATEWAY_CLIENTS_H

#include "proxy/base/addr.h"
#include "proxy/keys.h"
#include "proxy/token_file.h"

enum {
    CLIENTS_MAX = 4096, /* of a gateway: a token is compared with those of all */
    CLIENT_NAME_MAX = 64,
};

/* What it names must all hold. */
struct client_settings {
    const cJSON *node;     /* in the document, as the texts are */
    const char *name;      /* unique */
    const char *cert_name; /* of its certificate; NULL: needs none */
    const cJSON *network;  /* NULL: that of the gateway alone */
    struct ip_range *from; /* NULL: from anywhere */
    size_t from_count;
    struct token tokens[TOKENS_MAX];
    size_t token_count; /* 0: needs none */
};

/* Its address is all that tells who it is. */
static inline bool gateway_client_by_address(const struct client_settings *c)
{
    return c->token_count == 0 && c->cert_name == NULL;
}

/* Token files with relative paths are looked for beside the gateway file. Two clients
 * between which nothing could decide are an error: one token, one certificate name, or
 * one range of addresses. */
bool gateway_clients_read(const struct keys_file *file, const cJSON *list,
                          struct client_settings **out, size_t *count, struct err *e);
void gateway_clients_done(struct client_settings **list, size_t *count);

#endif
