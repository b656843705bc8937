/* The fields of a head that are for this hop alone: what a proxy takes out of every
 * message that it passes on (RFC 9110 7.6.1). */
#ifndef PROXY_HOPS_H
#define PROXY_HOPS_H

#include "proxy/base/http.h"

enum { HOPS_NAMED_MAX = 32 }; /* what one head may name in Connection */

struct hops {
    struct str named[HOPS_NAMED_MAX]; /* views into the head */
    size_t count;
};

/* Reads Connection. False: it names more than anybody needs. */
bool hops_read(struct hops *h, const struct http_head *head);

/* Connection has this option. */
bool hops_named(const struct hops *h, struct str option);

/* The field is not for the next hop: a fixed set, and what Connection names. A field
 * that says how to read, route or answer the message stays also when it is named: it
 * would be a way to take the credentials off somebody's request, or its framing. */
bool hops_drop(const struct hops *h, struct str name);

#endif
