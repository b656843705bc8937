/* The gateway file: what stands in it, checked as far as that can be without a policy,
 * a socket or a thread. Whatever is wrong is found here, before anything listens, but
 * for `network`, which is the policy's (gateway_config.h). */
#ifndef PROXY_GATEWAY_SETTINGS_H
#define PROXY_GATEWAY_SETTINGS_H

#include "proxy/gateway_clients.h"
#include "proxy/gateway_listen.h"
#include "proxy/settings.h"

enum { WORKERS_MAX = 256 };

struct gateway_settings {
    char *path;
    struct json_doc *doc;
    struct listen_settings *listen;
    size_t listen_count;
    struct client_settings *clients; /* NULL: `network` is for all */
    size_t client_count;
    const cJSON *network; /* NULL: none */
    const char *admin;    /* an address of loopback, or "unix:/path"; NULL: none */
    unsigned workers;     /* 0: one a CPU */
    struct audit_options audit;
    struct limits limits;
    const char **resolver_servers; /* NULL: resolv.conf */
    const char *resolver_hosts;    /* NULL: /etc/hosts; "" for none */
};

/* Texts live as long as the document. On false *e says "FILE: line 7: key: what". */
bool gateway_settings_load(const char *path, policy_warn_fn *warn, void *owner,
                           struct gateway_settings *out, struct err *e);
/* The second half of it; *doc is taken over on success. */
bool gateway_settings_from_doc(const char *path, struct json_doc **doc,
                               policy_warn_fn *warn, void *owner,
                               struct gateway_settings *out, struct err *e);
void gateway_settings_done(struct gateway_settings *s);

/* Puts the place of that listener in front of *e. Always false. */
bool gateway_settings_wrap_listen(const struct gateway_settings *s, size_t index,
                                  struct err *e);

#endif
