/* Listening sockets that a service manager made for us and passed on at the start (the
 * protocol of sd_listen_fds(3), by hand). They outlive us, so that a restart refuses
 * nobody. */
#ifndef PROXY_INHERITED_H
#define PROXY_INHERITED_H

#include <stdbool.h>
#include <stddef.h>

#include "proxy/base/err.h"
#include "proxy/base/str.h"

enum { INHERITED_MAX = 16, INHERITED_NAME_MAX = 64 };

struct inherited {
    struct inherited_socket {
        int fd;                        /* owned; -1 when it was given away */
        char name[INHERITED_NAME_MAX]; /* FileDescriptorName=; "unknown" */
    } sockets[INHERITED_MAX];
    size_t count;
};

/* Reads LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES and takes them out of the
 * environment; the descriptors will not pass to programs of ours. None when they are
 * for another process. Before threads are started. On false nothing is kept. */
bool inherited_take(struct inherited *in, struct err *e);
void inherited_done(struct inherited *in);

/* The next socket that was not given away yet, now the caller's, or -1. `name` empty:
 * whatever its name. */
int inherited_next(struct inherited *in, struct str name);
/* The caller has `fd` by its number: it is no longer one of these. */
void inherited_forget(struct inherited *in, int fd);

#endif
