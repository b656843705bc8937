#include "tests/support/private_net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool raise_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;

    if (fd >= 0)
        close(fd);
    return ok;
}

bool private_net_enter(char *why, size_t size)
{
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
        snprintf(why, size, "unshare: %s", strerror(errno));
        return false;
    }
    if (!raise_loopback()) {
        snprintf(why, size, "loopback cannot be raised: %s", strerror(errno));
        return false;
    }
    return true;
}

bool private_net_address(const char *ip, bool add)
{
    struct {
        struct nlmsghdr head;
        struct ifaddrmsg addr;
        struct rtattr attr;
        unsigned char bytes[16];
    } m = {.head = {.nlmsg_type = add ? RTM_NEWADDR : RTM_DELADDR,
                    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK |
                                   (add ? NLM_F_CREATE | NLM_F_EXCL : 0)},
           .addr = {.ifa_flags = IFA_F_NODAD}};
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
    } answer = {.error = {.error = -EIO}};
    const bool v6 = strchr(ip, ':') != NULL;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    m.addr.ifa_family = v6 ? AF_INET6 : AF_INET;
    m.addr.ifa_prefixlen = v6 ? 128 : 32;
    m.addr.ifa_index = if_nametoindex("lo");
    m.attr.rta_type = IFA_LOCAL;
    m.attr.rta_len = (unsigned short)RTA_LENGTH(v6 ? 16 : 4);
    m.head.nlmsg_len = (unsigned)(NLMSG_LENGTH(sizeof m.addr) + m.attr.rta_len);
    if (fd < 0 || inet_pton(m.addr.ifa_family, ip, m.bytes) != 1)
        return false;
    if (send(fd, &m, m.head.nlmsg_len, 0) > 0)
        recv(fd, &answer, sizeof answer, 0);
    close(fd);
    return answer.error.error == 0;
}
