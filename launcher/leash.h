/* Between the core and the supervisor, beside the hand-off: signals go in, how the
 * command ended comes out. When either end closes, the other ends the sandbox. */
#ifndef LAUNCHER_LEASH_H
#define LAUNCHER_LEASH_H

#include "proxy/base/fd.h"

enum leash_kind {
    LEASH_NONE = 0,
    LEASH_SIGNAL, /* to the supervisor: send the command signal `value` */
    LEASH_FAILED, /* it was not started: `text` says why */
    LEASH_ENDED,  /* the command has ended, and all it left; its status is `value` */
};

struct leash_message {
    enum leash_kind kind;
    int value;
    char text[512];
};

/* A SOCK_SEQPACKET pair, close-on-exec. */
bool leash_pair(int ends[2], struct err *e);
/* A failure means that the other end has gone, which the caller is told anyway. */
void leash_send(int fd, enum leash_kind kind, int value, const char *text);
/* Never blocks when the descriptor is non-blocking. */
enum fd_recv leash_receive(int fd, struct leash_message *out);

#endif
