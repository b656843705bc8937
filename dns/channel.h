/* c-ares on libev: one question of one type to the name servers, and the bytes of the
 * answer. c-ares does what is hard about it: ports and ids that cannot be guessed, the
 * next server, sending again, EDNS, TCP for what was cut. Neither hosts file nor search
 * domains are its business here. */
#ifndef DNS_CHANNEL_H
#define DNS_CHANNEL_H

#include <ev.h>

#include "dns/resolver.h"

struct channel;

/* `servers` are asked in this order; none: those of the file `resolv_conf`. Within
 * about `deadline` seconds all of them were tried and a question is given up. */
bool channel_new(struct ev_loop *loop, const struct addr *servers, size_t count,
                 const char *resolv_conf, double deadline, struct channel **out,
                 struct err *e);
/* Questions under way get LOOKUP_FAILED. Not from within an answer. */
void channel_free(struct channel **c);

struct channel_answer {
    enum lookup_status status; /* LOOKUP_OK: there are bytes, not looked at yet */
    const char *why;           /* a constant */
    const uint8_t *bytes;      /* valid during the call */
    size_t len;
};

/* Comes once, and may come from within channel_ask() and channel_free(). It may ask
 * no question itself. */
typedef void channel_answer_fn(void *owner, const struct channel_answer *a);

/* Embedded by who asks; stays until the answer has come. */
struct channel_query {
    struct channel *channel;
    channel_answer_fn *done;
    void *owner;
};

/* `type` is that of the wire, RFC 1035 3.2.2. */
void channel_ask(struct channel *c, struct channel_query *q, const char *name, int type,
                 channel_answer_fn *done, void *owner);

/* Questions without an answer yet. */
unsigned channel_pending(const struct channel *c);

#endif
