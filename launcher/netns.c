#include "launcher/netns.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "launcher/env.h"
#include "proxy/base/fd.h"

/* The kernel cuts this to the namespace's net.core.somaxconn. */
enum { BACKLOG = 4096 };

bool netns_raise_loopback(struct err *e)
{
    autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) != 0)
        return err_sys(e, "cannot raise the sandbox's loopback interface");
    return true;
}

bool netns_listen(int *out, struct err *e)
{
    autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    struct sockaddr_in where = {.sin_family = AF_INET,
                                .sin_port = htons(SANDBOX_PROXY_NUMBER),
                                .sin_addr.s_addr = inet_addr(SANDBOX_PROXY_HOST)};

    /* Accepted connections inherit TCP_NODELAY. */
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        bind(fd, (struct sockaddr *)&where, sizeof where) != 0 ||
        listen(fd, BACKLOG) != 0)
        return err_sys(e, "cannot listen on " SANDBOX_PROXY_HOST ":" SANDBOX_PROXY_PORT
                          " inside the sandbox");
    *out = fd_steal(&fd);
    return true;
}
