#include "bench/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "proxy/base/fd.h"

enum { BACKLOG = 4096, PORT_MAX = 65535 };

bool net_number_parse(const char *text, uint64_t max, uint64_t *number)
{
    char *end;
    unsigned long long value;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value > max)
        return false;
    *number = value;
    return true;
}

bool net_addr_parse(const char *text, struct sockaddr_in *addr)
{
    const char *colon = strrchr(text, ':');
    char host[INET_ADDRSTRLEN];
    uint64_t port;

    if (colon == NULL || (size_t)(colon - text) >= sizeof host ||
        !net_number_parse(colon + 1, PORT_MAX, &port))
        return false;
    snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    *addr =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    return inet_pton(AF_INET, host, &addr->sin_addr) == 1;
}

int net_listen(const struct sockaddr_in *addr, struct sockaddr_in *bound)
{
    autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    socklen_t len = sizeof *bound;
    int on = 1;

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        bind(fd, (const struct sockaddr *)addr, sizeof *addr) != 0 ||
        listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)bound, &len) != 0)
        return -1;
    return fd_steal(&fd);
}

int net_listen_or_exit(const char *program, const char *text)
{
    struct sockaddr_in addr;
    char host[INET_ADDRSTRLEN];
    int fd;

    if (!net_addr_parse(text, &addr)) {
        fprintf(stderr, "%s: \"%s\": expected an IPv4 address and a port\n", program,
                text);
        exit(2);
    }
    fd = net_listen(&addr, &addr);
    if (fd < 0) {
        fprintf(stderr, "%s: %s: %s\n", program, text, strerror(errno));
        exit(1);
    }
    inet_ntop(AF_INET, &addr.sin_addr, host, sizeof host);
    printf("listening %s:%u\n", host, ntohs(addr.sin_port));
    fflush(stdout);
    return fd;
}

int net_accept(int fd)
{
    return accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int net_connect(const struct sockaddr_in *addr)
{
    autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)addr, sizeof *addr) != 0 &&
        errno != EINPROGRESS)
        return -1;
    return fd_steal(&fd);
}

int net_error(int fd)
{
    int error = 0;
    socklen_t len = sizeof error;

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 ? error : errno;
}

void net_watch(int epoll, int op, int fd, uint32_t events, void *owner)
{
    struct epoll_event event = {.events = events, .data.ptr = owner};

    if (epoll_ctl(epoll, op, fd, &event) != 0)
        abort();
}

void net_raise_limits(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t net_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
