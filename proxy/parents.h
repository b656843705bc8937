/* Through which proxy a connection goes: `network.parentProxy` and `network.mitmProxy`,
 * or the proxy variables of the environment. Immutable and reference-counted: sessions
 * and workers share it, and a reload swaps it together with the policy.
 *
 * In order: a host of mitmProxy.domains goes to that Unix socket; this host's loopback
 * and what noProxy names is reached directly; a plain HTTP request goes through `http`;
 * anything else through `https`, or through `http` when there is no `https`. Where that
 * names no parent the connection is direct. A parent that cannot be used is an error,
 * never a direct connection. */
#ifndef PROXY_PARENTS_H
#define PROXY_PARENTS_H

#include "proxy/dial.h"
#include "proxy/parent.h"

struct parents_options {
    /* As for policy_load(): the last layer that has a key counts, for each of both. */
    const struct policy_layer *layers;
    size_t count;
    /* "NAME=value", NULL-terminated: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY
     * count, in capitals or else in small letters, when no layer has a parentProxy (an
     * empty one is one). NULL: they never count. */
    char *const *environment;
    policy_warn_fn *warn; /* may be NULL */
    void *owner;
};

/* On false *e says "line 4: network.parentProxy.http: …", or names the variable; it
 * never holds a password. *out is NULL when everything goes directly. */
bool parents_load(const struct parents_options *o, struct parents **out, struct err *e);

struct settings;

/* What counts for `weir run` under these settings, of which `policy` was made, in this
 * environment. Texts that are about the settings have their file in front. */
bool parents_of_run(const struct settings *s, const struct policy *policy,
                    char *const *environment, policy_warn_fn *warn, void *owner,
                    struct parents **out, struct err *e);

/* Warns where rules for addresses refuse every name that goes through one of these
 * (policy_check_unresolved()): that is hardly meant. `label` is that of the layer. */
void parents_review(const struct parents *p, const struct policy *policy,
                    const char *label, policy_warn_fn *warn, void *owner);

/* All take NULL. */
struct parents *parents_ref(struct parents *p);
void parents_unref(struct parents **p);

/* NULL: directly. Lives as long as `p`. */
const struct parent *parents_route(const struct parents *p, const struct target *t,
                                   enum dial_use use);

/* The parent of that kind, NULL when there is none: for telling what is in force. */
enum parents_which { PARENTS_HTTP = 0, PARENTS_HTTPS, PARENTS_MITM };
const struct parent *parents_get(const struct parents *p, enum parents_which which);

#endif
