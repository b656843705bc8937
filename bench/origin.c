/* The server at the far end of every measurement. A client's first line says what it
 * wants (origin_peer.h); the answers are always the same, so that what varies is the
 * proxy. One thread, level-triggered.
 * usage: weir_bench_origin ADDRESS:PORT   (port 0 takes a free one and prints it) */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "bench/net.h"
#include "bench/origin_peer.h"

enum { EVENTS = 256, ACCEPTED_AT_ONCE = 64 };

static void accept_some(int epoll, int listener)
{
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        int fd = net_accept(listener);

        if (fd < 0)
            return;
        origin_peer_new(epoll, fd);
    }
}

int main(int argc, char **argv)
{
    struct epoll_event events[EVENTS];
    int epoll = epoll_create1(EPOLL_CLOEXEC), listener;

    if (argc != 2 || epoll < 0) {
        fputs("usage: weir_bench_origin ADDRESS:PORT\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    net_raise_limits();
    listener = net_listen_or_exit("weir_bench_origin", argv[1]);
    net_watch(epoll, EPOLL_CTL_ADD, listener, EPOLLIN, NULL);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);

        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL)
                accept_some(epoll, listener);
            else
                origin_peer_event(events[i].data.ptr, events[i].events);
        }
    }
}
