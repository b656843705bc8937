/* This host's addresses, as the snapshot that policy is given: those of every
 * interface, those that the kernel takes for itself though no interface has them (local
 * routes, as load balancers make them), and those where the core itself listens.
 *
 * The kernel queues a message for each change (rtnetlink). The queue is looked at when
 * somebody asks, and the addresses are read anew only if something is in it: an address
 * that was added a moment ago is known to the next question, an idle core is never
 * woken up, and a question costs one system call at most. Where the kernel sends no
 * such messages (a gVisor sandbox) each question reads them all. */
#ifndef PROXY_HOSTADDRS_H
#define PROXY_HOSTADDRS_H

#include <ev.h>

#include "proxy/policy/policy.h"

struct hostaddrs_watch;

/* Of the network namespace of the caller. On false *e says why the addresses cannot be
 * read: without them the own services of this host would be open. */
bool hostaddrs_watch_new(struct hostaddrs_watch **out, struct err *e);
void hostaddrs_watch_free(struct hostaddrs_watch **w);

/* What is true now; valid until the next call of any function here. NULL when the
 * kernel does not tell any more: the caller refuses. */
const struct hostaddrs *hostaddrs_now(struct hostaddrs_watch *w);

/* From now on the kernel is asked once in a turn of `loop`, which is borrowed: what one
 * request asks for several times is true at the same moment. */
void hostaddrs_watch_turns(struct hostaddrs_watch *w, struct ev_loop *loop);

/* Where the core listens, beside the interfaces. An address that was added twice stays
 * until it is removed twice. */
void hostaddrs_add_own(struct hostaddrs_watch *w, const struct addr *a);
void hostaddrs_remove_own(struct hostaddrs_watch *w, const struct addr *a);

#endif
