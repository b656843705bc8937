/* From an allowed target to a connected socket: resolve, ask policy about each address,
 * connect to the first that answers (RFC 8305). The address that was checked is the
 * address that is connected to; nothing is resolved twice. */
#ifndef PROXY_DIAL_H
#define PROXY_DIAL_H

#include "dns/resolver.h"
#include "proxy/base/stream.h"
#include "proxy/hostaddrs.h"
#include "proxy/policy/policy.h"

/* What all dials of a core share. */
struct dialler {
    struct ev_loop *loop; /* borrowed, as all of these: they outlive the dials */
    struct resolver *resolver;
    struct hostaddrs_watch *host;
    double seconds; /* for resolving and connecting together */
};

/* What the connection is for. */
enum dial_use {
    DIAL_TUNNEL = 0,
    DIAL_EXCHANGE, /* one HTTP request: a parent that speaks HTTP may get it whole */
};

struct dial_result {
    int fd; /* connected, non-blocking, the receiver's; -1 when it failed */
    /* When it failed: how, in the words of a refusal. An address that policy denies; or
     * DNS_FAILURE, CONNECT_FAILURE, TIMEOUT, LIMIT. */
    struct verdict verdict;
    const struct policy *policy; /* that the verdict is of; valid during the call */
    const char *why; /* one more word on the last three; NULL when there is none. Valid
                      * during the call */
    const char *error; /* the error type of RFC 9209 2.3, a constant; NULL: as the
                        * reason says */
    struct addr addr;  /* connected to; or denied; or tried last; or none */
    double ms_dns, ms_connect; /* negative: it did not come to that */
    /* Through a parent proxy: */
    struct stream_layer *layer; /* TLS to it, the receiver's; NULL: there is none */
    const char *via;            /* which one, for the audit; NULL: directly */
    bool absolute; /* it is for the parent to connect: it wants the request in absolute
                    * form, with `authorization` as Proxy-Authorization unless empty */
    struct str authorization; /* valid during the call */
};

/* Called once, from the event loop, never from within dial_start(). */
typedef void dial_done_fn(void *owner, const struct dial_result *result);

struct dial; /* one dial; gone after `done` or dial_cancel() */

/* Policy has allowed `target`, which outlives the dial. A reference to `policy` is held
 * until the end. `asker` is whose share of the lookups this takes (resolver.h). */
struct dial *dial_start(const struct dialler *dialler, struct policy *policy,
                        const struct target *target, enum dial_use use,
                        const struct lookup_asker *asker, dial_done_fn *done,
                        void *owner);
void dial_cancel(struct dial **d);

#endif
