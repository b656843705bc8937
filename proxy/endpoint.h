/* From a text of `listen` to a listening socket: "127.0.0.1:3128", "[::1]:0",
 * "unix:/run/weir/proxy.sock". */
#ifndef PROXY_ENDPOINT_H
#define PROXY_ENDPOINT_H

#include <sys/types.h>

#include "proxy/base/addr.h"
#include "proxy/base/err.h"

struct endpoint {
    int fd;           /* listening, non-blocking; -1 when it was given away */
    struct addr addr; /* as it was bound, with the real port; none of a Unix socket */
    char *path;       /* of a Unix socket that was made here; NULL otherwise */
    dev_t dev;        /* and which file that is, so that no other one is removed */
    ino_t ino;
};

enum { ENDPOINT_TEXT_MAX = 128 };

/* A Unix socket gets mode 0600; one that was left behind is removed first, one on which
 * somebody listens is an error. On false nothing is made. */
bool endpoint_open(const char *text, struct endpoint *out, struct err *e);
/* Whether it is a stream socket that listens. */
bool endpoint_is_listening(int fd);
/* A listening socket that somebody else made. Takes it over in any case. */
bool endpoint_adopt(int fd, struct endpoint *out, struct err *e);
/* Closes, and removes the file of a Unix socket. */
void endpoint_close(struct endpoint *p);
/* What was bound, in the form of `listen`. */
const char *endpoint_text(const struct endpoint *p, char buf[ENDPOINT_TEXT_MAX]);

#endif
