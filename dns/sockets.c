/* The newer form of ares_set_socket_functions() is missing from c-ares 1.18. */
#define CARES_NO_DEPRECATED
#include "dns/sockets.h"

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

static int on_connect(ares_socket_t fd, const struct sockaddr *to, ares_socklen_t len,
                      void *data)
{
    (void)data;
    return connect(fd, to, len);
}

static ares_ssize_t on_receive(ares_socket_t fd, void *bytes, size_t size, int flags,
                               struct sockaddr *from, ares_socklen_t *len, void *data)
{
    (void)data;
    return recvfrom(fd, bytes, size, flags, from, len);
}

static ares_ssize_t on_send(ares_socket_t fd, const struct iovec *parts, int count,
                            void *data)
{
    const struct msghdr m = {.msg_iov = (struct iovec *)parts,
                             .msg_iovlen = (size_t)count};

    (void)data;
    return sendmsg(fd, &m, MSG_NOSIGNAL);
}

void sockets_take(ares_channel channel)
{
    static const struct ares_socket_functions ours = {on_socket, on_close, on_connect,
                                                      on_receive, on_send};

    ares_set_socket_functions(channel, &ours, NULL);
}
