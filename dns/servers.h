/* Whom to ask: the servers that were named, or those of resolv.conf as it is now. Holds
 * the channel to them. When resolv.conf changes new questions go over a new channel,
 * and the old one stays until its last question is answered. */
#ifndef DNS_SERVERS_H
#define DNS_SERVERS_H

#include "dns/channel.h"

struct servers;

/* `options` is used for servers, resolv_conf and deadline, with defaults filled in. On
 * false *e names the server that cannot be used. Sets up nothing yet. */
bool servers_new(struct ev_loop *loop, const struct resolver_options *options,
                 struct servers **out, struct err *e);
/* Questions under way get LOOKUP_FAILED. */
void servers_free(struct servers **s);

/* True when resolv.conf has changed: what was learnt so far may be wrong. Looks at the
 * file at most every 5 s. To be called from the loop, not from within an answer. */
bool servers_refresh(struct servers *s, double now);

/* NULL when it cannot be set up. Borrowed until the next servers_refresh(). */
struct channel *servers_channel(struct servers *s);

/* Questions without an answer yet, those to former servers too. */
unsigned servers_pending(const struct servers *s);

#endif
