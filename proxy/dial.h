/* From an allowed target to a connected socket: resolve, ask policy about each address,
 * connect to the first that answers (RFC 8305). The address that was checked is the
 * address that is connected to; nothing is resolved twice.
 *
 * Or through a parent proxy (parents.h), which then resolves and connects; or, with
 * "resolve": "local", gets the address that was checked here. */
#ifndef PROXY_DIAL_H
#define PROXY_DIAL_H

#include "dns/resolver.h"
#include "proxy/base/stream.h"
#include "proxy/hostaddrs.h"
#include "proxy/policy/policy.h"
#include "proxy/race.h"

/* Whether `fd`, which is connected, leads to one of the core's own listeners. */
typedef bool dial_is_own_fn(void *owner, int fd);

/* What all dials of a core share. */
struct dialler {
    struct ev_loop *loop; /* borrowed, as all of these: they outlive the dials */
    struct resolver *resolver;
    struct hostaddrs_watch *host;
    double seconds; /* for resolving and connecting together */
    struct race_spare spare;
    dial_is_own_fn *is_own; /* NULL: there are none but those of this process */
    void *is_own_owner;
};

/* What the connection is for. */
enum dial_use {
    DIAL_TUNNEL = 0,
    DIAL_EXCHANGE, /* one HTTP request: a parent that speaks HTTP may get it whole */
};

struct dial_result {
    int fd; /* connected, non-blocking, the receiver's; -1 when it failed */
    /* When it failed: how, in the words of a refusal. An address that policy denies, or
     * that nobody would check; or DNS_FAILURE, CONNECT_FAILURE, PARENT_REFUSED,
     * PARENT_FAILURE, TIMEOUT, LIMIT. */
    struct verdict verdict;
    const struct policy *policy; /* that the verdict is of; valid during the call */
    const char *why;   /* one more word on these; NULL when there is none. Valid during
                        * the call */
    const char *error; /* the error type of RFC 9209 2.3, a constant; NULL: as the
                        * reason says */
    struct addr addr;  /* connected to; or denied; or tried last; or none. Through a
                        * parent: what it was given, none when that was a name */
    double ms_dns, ms_connect; /* negative: it did not come to that */
    /* Through a parent proxy: */
    struct stream_layer *layer; /* TLS to it, the receiver's; NULL: there is none */
    const char *via; /* which one, also when it failed; NULL: directly. Valid during
                      * the call */
    bool absolute; /* it is for the parent to connect: it wants the request in absolute
                    * form, with `authorization` as Proxy-Authorization unless empty */
    struct str authorization; /* valid during the call */
};

/* Called once, from the event loop, never from within dial_start(). */
typedef void dial_done_fn(void *owner, const struct dial_result *result);

struct dial; /* one dial; gone after `done` or dial_cancel() */

struct parents;

/* What is dialled. All is borrowed for the call of dial_start(), but for the target,
 * which outlives the dial. */
struct dial_ask {
    struct policy *policy;   /* has allowed the target; a reference is held */
    struct parents *parents; /* a reference is held; NULL: all is direct */
    const struct target *target;
    enum dial_use use;
    const struct lookup_asker *asker; /* whose share of the lookups this takes */
};

struct dial *dial_start(const struct dialler *dialler, const struct dial_ask *ask,
                        dial_done_fn *done, void *owner);
void dial_cancel(struct dial **d);

#endif
