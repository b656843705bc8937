/* The channel by which whoever started a run sends new settings for it while it goes
 * on: JSON lines, each a whole settings document, as srt takes them. Here they are cut
 * apart; what stands in them is for the one who is called. */
#ifndef PROXY_UPDATES_H
#define PROXY_UPDATES_H

#include <ev.h>

#include "proxy/base/err.h"
#include "proxy/base/str.h"

enum { UPDATES_FD_FIRST = 3 };

struct updates;

struct updates_hooks {
    /* A line that is not blank, without its end, which may be CR LF; the last one may
     * have none. `number` counts all lines from 1. Valid during the call. */
    void (*line)(void *owner, unsigned long number, struct str line);
    /* Nothing more will be read: it cannot be, or a line is longer than a document may
     * be (JSON_TEXT_MAX). Not called at the ordinary end of the channel. `lines` is how
     * many came whole. */
    void (*lost)(void *owner, unsigned long lines, const char *why);
    void *owner;
};

/* Takes the descriptor of that number (decimal, from 3 on) from this process: *fd is a
 * copy that is closed at exec, and the number itself is free. On false it is no open
 * descriptor that can be read, and *e says so. */
bool updates_take(const char *number, int *fd, struct err *e);

/* Reads from `fd`, which it takes over: a pipe, a socket, a file or a terminal. No read
 * waits, unless somebody else reads from the same pipe. */
struct updates *updates_new(struct ev_loop *loop, int fd,
                            const struct updates_hooks *hooks);
/* Takes NULL. Not from within a hook. */
void updates_free(struct updates **u);

#endif
