/* The newer form of ares_set_socket_functions() is missing from c-ares 1.18. */
#define CARES_NO_DEPRECATED
#include "dns/sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static ares_socket_t on_socket(int domain, int type, int protocol, void *data)
{
    int fd = socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    const int one = 1;

    (void)data;
    if (fd >= 0 && type == SOCK_STREAM)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static int on_close(ares_socket_t fd, void *data)
{
    (void)data;
    return close(fd);
}

static void note_error(void *data)
{
    int *last = data;

    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINPROGRESS &&
        errno != EINTR)
        *last = errno;
}

static int on_connect(ares_socket_t fd, const struct sockaddr *to, ares_socklen_t len,
                      void *data)
{
    int rc = connect(fd, to, len);

    if (rc != 0)
        note_error(data);
    return rc;
}

static ares_ssize_t on_receive(ares_socket_t fd, void *bytes, size_t size, int flags,
                               struct sockaddr *from, ares_socklen_t *len, void *data)
{
    ssize_t n = recvfrom(fd, bytes, size, flags, from, len);

    if (n < 0)
        note_error(data);
    return n;
}

/* That a datagram was refused (ICMP) is told once, by the next call on its socket. When
 * that call sends the next question, c-ares takes it for the misfortune of that one,
 * and waits for an answer to the former. So it is sent again: it will be refused too,
 * and then it is a read that fails, which c-ares takes as the end of all questions on
 * this socket. On a connection the second call fails as the first one did. */
static ares_ssize_t on_send(ares_socket_t fd, const struct iovec *parts, int count,
                            void *data)
{
    const struct msghdr m = {.msg_iov = (struct iovec *)parts,
                             .msg_iovlen = (size_t)count};
    ssize_t n = sendmsg(fd, &m, MSG_NOSIGNAL);

    if (n < 0 && errno == ECONNREFUSED)
        n = sendmsg(fd, &m, MSG_NOSIGNAL);
    if (n < 0)
        note_error(data);
    return n;
}

void sockets_take(ares_channel channel, int *last_error)
{
    static const struct ares_socket_functions ours = {on_socket, on_close, on_connect,
                                                      on_receive, on_send};

    ares_set_socket_functions(channel, &ours, last_error);
}
