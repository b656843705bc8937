/* Descriptors: who closes them, and how they cross a Unix socket. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "proxy/base/err.h"

/* A local that closes itself: `autofd int fd = open(...);`. Hand it on with fd_steal().
 */
static inline void fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}
#define autofd __attribute__((cleanup(fd_close)))

static inline int fd_steal(int *fd)
{
    int mine = *fd;

    *fd = -1;
    return mine;
}

enum { FD_PASS_MAX = 16 };

/* One message of a SOCK_SEQPACKET socket with its descriptors. `fds` stay the
 * sender's. */
bool fd_send(int sock, const void *msg, size_t len, const int *fds, size_t count,
             struct err *e);

enum fd_recv {
    FD_RECV_ERROR = 0, /* see *e; nothing is left open */
    FD_RECV_OK,
    FD_RECV_AGAIN, /* a non-blocking socket has nothing yet */
    FD_RECV_GONE,  /* the peer has closed */
};

/* The receiver owns what it gets, close-on-exec set. A message that was cut, or that
 * carries more than FD_PASS_MAX descriptors, is an error. */
enum fd_recv fd_recv(int sock, void *msg, size_t size, size_t *len,
                     int fds[FD_PASS_MAX], size_t *count, struct err *e);

/* Writes all of it to a blocking descriptor; EINTR is retried. */
bool fd_write_all(int fd, const void *bytes, size_t len);

/* The whole file, NUL-terminated, for free(); at most `max` bytes, else an error. A
 * pipe is read too (so <(command) works in a shell), unless it stays silent for some
 * seconds; directories, devices and sockets are errors. */
bool fd_read_file(const char *path, size_t max, char **text, size_t *len,
                  struct err *e);

#endif
