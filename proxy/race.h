/* Connects to the first of several addresses that answers (RFC 8305, "happy eyeballs"):
 * families by turns, one attempt beside the other as long as none has answered. It
 * knows nothing of names or policy. */
#ifndef PROXY_RACE_H
#define PROXY_RACE_H

#include <ev.h>

#include "proxy/base/addr.h"

enum { RACE_MAX = 32 };

struct race_result {
    int fd;           /* connected, non-blocking, the receiver's; -1: none answered */
    struct addr addr; /* of the peer; or the one that failed last */
    int error;        /* and its errno */
};

/* Called once, from the event loop, never from within race_start(). */
typedef void race_done_fn(void *owner, const struct race_result *result);

/* There are no more descriptors: closes what nobody needs now. False: there is nothing
 * of that kind. */
typedef bool race_spare_fn(void *owner);

struct race_spare {
    race_spare_fn *call; /* NULL: nobody has any to spare */
    void *owner;
};

/* A stream socket as a race opens them, also when only `spare` makes room for it. -1:
 * errno says why. */
int race_socket(struct race_spare spare, int family);

struct race; /* gone after `done` or race_cancel() */

/* `addrs`: 1 to RACE_MAX, copied. There is no deadline; see race_cancel(). */
struct race *race_start(struct ev_loop *loop, struct race_spare spare,
                        const struct addr *addrs, size_t count, race_done_fn *done,
                        void *owner);
void race_cancel(struct race **r);

/* The address that was tried last. */
struct addr race_last(const struct race *r);

#endif
