/* To a parent proxy and through it: resolve its name, connect, ask for a tunnel. Its
 * address is the operator's word and not judged by policy; only that it is not this
 * proxy itself is made sure. */
#ifndef PROXY_PASSAGE_H
#define PROXY_PASSAGE_H

#include "proxy/dial.h"
#include "proxy/parent_talk.h"

struct passage_result {
    int fd;                     /* the receiver's, non-blocking; -1 when it failed */
    struct stream_layer *layer; /* the receiver's; NULL: there is none */
    /* When it failed; `why` is valid during the call. */
    enum reason
        reason; /* ADDRESS_OWN, PARENT_REFUSED, PARENT_FAILURE, TIMEOUT, LIMIT */
    const char *why, *error;
};

/* Called once, from the event loop, never from within passage_start(). */
typedef void passage_done_fn(void *owner, const struct passage_result *result);

struct passage; /* gone after `done` or passage_cancel() */

/* `parent` and `to` outlive it. `to` NULL: only to the parent. There is no deadline;
 * see passage_late(). */
struct passage *passage_start(const struct dialler *dialler,
                              const struct parent *parent, const struct target *to,
                              passage_done_fn *done, void *owner);
void passage_cancel(struct passage **p);

/* It took too long: what it waits for, as `done` would tell it; valid until the passage
 * is cancelled. */
struct passage_result passage_late(struct passage *p);

#endif
