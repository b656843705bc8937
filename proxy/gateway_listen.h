/* The `listen` of the gateway file: where it listens, and what comes in front of what a
 * client says there. */
#ifndef PROXY_GATEWAY_LISTEN_H
#define PROXY_GATEWAY_LISTEN_H

#include "proxy/base/addr.h"
#include "proxy/keys.h"
#include "tls/context.h"

enum listen_kind {
    LISTEN_ADDRESS = 0, /* "127.0.0.1:3128", "[::1]:3128" */
    LISTEN_PATH,        /* "unix:/run/weir/proxy.sock" */
    LISTEN_SYSTEMD,     /* "systemd": every socket that the service manager passed */
    LISTEN_FD,          /* "fd:3": one that whoever started the gateway left open */
};

/* "unix:" stands in front of the path of a Unix socket. */
#define LISTEN_UNIX STR("unix:")

struct listen_settings {
    const char *text; /* the whole, as it was written; in the document */
    enum listen_kind kind;
    int fd;                   /* LISTEN_FD: from 3 up; else -1 */
    struct ip_range *proxies; /* whose PROXY headers are believed; NULL: nobody's */
    size_t proxy_count;
    struct tls_context *tls; /* NULL: clients speak in clear */
    bool asks_certificate;   /* each client must show one */
};

/* A list, for free() after gateway_listen_done(). */
bool gateway_listen_read(const struct keys_file *file, const cJSON *list,
                         struct listen_settings **out, size_t *count, struct err *e);
void gateway_listen_done(struct listen_settings **list, size_t *count);

/* Warns of addresses that other hosts reach: anybody there may use the gateway, or sees
 * the tokens of its clients. */
void gateway_listen_warn(const struct keys_file *file,
                         const struct listen_settings *list, size_t count, bool clients,
                         bool tokens);

/* "127.0.0.1:9128", "[::1]:9128" or "unix:/path": what only this host reaches. */
bool gateway_listen_check_admin(struct str text, struct err *e);

#endif
