/* One gateway file, loaded whole: settings, and the policy of everybody in it. It never
 * changes; a reload makes another one. Workers share it by reference. */
#ifndef PROXY_GATEWAY_CONFIG_H
#define PROXY_GATEWAY_CONFIG_H

#include <stdatomic.h>

#include "proxy/gateway_settings.h"
#include "proxy/parents.h"
#include "proxy/policy/radix.h"

struct config_client {
    const struct client_settings *settings;
    /* Of `network` and, on top, of the client's own: what either denies is denied, and
     * the client's allow list stands in the place of the other. */
    struct policy *policy;
    struct parents *parents; /* the client's own, or else the gateway's; NULL: none */
};

struct config {
    atomic_uint refs;
    struct gateway_settings settings;
    struct policy *policy;   /* of `network`: for all, when there are no clients */
    struct parents *parents; /* of `network`; NULL: none */
    struct policy *nobody;   /* as `policy`, but allows nothing: of those who are no
                              * client */
    struct config_client *clients; /* as many and in the order of the settings */
    struct radix *by_address;      /* of the clients that only an address tells */
    bool tokens;                   /* some client has one */
};

/* On false nothing is made, and *e names file, line and key. Warnings have the file in
 * front too. */
bool config_load(const char *path, policy_warn_fn *warn, void *owner,
                 struct config **out, struct err *e);
/* The second half of it, from the tree of the file; *doc may be taken over, on false
 * too. */
bool config_from_doc(const char *path, struct json_doc **doc, policy_warn_fn *warn,
                     void *owner, struct config **out, struct err *e);
/* Both may be called from any thread. */
struct config *config_ref(struct config *c);
void config_unref(struct config **c);

/* The client of that name; NULL when there is none. */
const struct config_client *config_find(const struct config *c, struct str name);

#endif
