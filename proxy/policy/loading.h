/* A policy while it is read: which layer, and how to name a place in it. */
#ifndef POLICY_LOADING_H
#define POLICY_LOADING_H

#include "proxy/policy/compiled.h"

struct loading {
    struct policy *p;
    const struct policy_layer *layers; /* borrowed */
    size_t layer_count;
    unsigned level;      /* the layer that is being read */
    const cJSON **nodes; /* of each entry, by its number; borrowed from the documents */
    size_t node_room;
    policy_warn_fn *warn; /* NULL: nobody listens */
    void *warn_owner;
};

/* Is the allow list of that layer in force? It is the last one that replaces, or one
 * behind it that adds. */
bool loading_allows(const struct loading *l, unsigned level);

enum { PLACE_MAX = 288 };

/* "line 4: clients[2].network.allowedDomains[2]: \"*.com\"". `index` is -1 for the key
 * itself; without an entry the last part is left out; a long entry is cut. */
const char *loading_place(const struct loading *l, unsigned level, const cJSON *node,
                          const char *key, int index, char buf[PLACE_MAX]);

/* Wraps *e with the place in the current layer; returns false. */
bool loading_refuse(const struct loading *l, const cJSON *node, const char *key,
                    int index, struct err *e);

void loading_warn(const struct loading *l, unsigned level, const cJSON *node,
                  const char *key, int index, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

#endif
