/* Tells of streams that are watched for nothing that the other end has gone: a reset,
 * or a close of both ways, and not half of one. The loop asks the kernel only for what
 * is wanted, and a stream that waits for somebody else wants nothing; so these are
 * asked about beside it. */
#ifndef BASE_HANGUPS_H
#define BASE_HANGUPS_H

#include "proxy/base/err.h"
#include "proxy/base/stream.h"

struct hangups {
    struct ev_loop *loop; /* borrowed */
    int fd;               /* an epoll of its own; -1: there is none, nothing is told */
    ev_io watch;
};

/* False: *e says why, and hangups_done() is safe. */
bool hangups_init(struct hangups *h, struct ev_loop *loop, struct err *e);
void hangups_done(struct hangups *h);

/* The stream's callback gets EV_ERROR once; stream_note() makes `gone` of it. The
 * stream stays where it is until hangups_forget(), which comes before its end. */
void hangups_watch(const struct hangups *h, struct stream *s);
void hangups_forget(const struct hangups *h, struct stream *s);

#endif
