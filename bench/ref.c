/* The yardstick: the least that a proxy can do. CONNECT, SOCKS5 and GET with an
 * absolute URL, to IPv4 addresses only; one thread, edge-triggered epoll, one buffer of
 * 256 KiB for all. No policy, no names, no log, no limit, no timeout: it is no proxy to
 * use, and every ratio of the benchmark is to what it costs. usage: weir_bench_ref
 * ADDRESS:PORT   (port 0 takes a free one and prints it) */
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>

#include "bench/net.h"
#include "bench/ref_tunnel.h"

enum { EVENTS = 256, ACCEPTED_AT_ONCE = 64 };

static void accept_some(struct ref *ref, int listener)
{
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        int fd = net_accept(listener);

        if (fd < 0)
            return;
        ref_tunnel_new(ref, fd);
    }
}

int main(int argc, char **argv)
{
    static struct ref ref;
    struct epoll_event events[EVENTS];
    int listener;

    ref.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (argc != 2 || ref.epoll < 0) {
        fputs("usage: weir_bench_ref ADDRESS:PORT\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    net_raise_limits();
    listener = net_listen_or_exit("weir_bench_ref", argv[1]);
    net_watch(ref.epoll, EPOLL_CTL_ADD, listener, EPOLLIN, NULL);
    for (;;) {
        int count = epoll_wait(ref.epoll, events, EVENTS, -1);

        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL)
                accept_some(&ref, listener);
            else
                ref_tunnel_event(events[i].data.ptr, events[i].events);
        }
        ref_bury(&ref);
    }
}
