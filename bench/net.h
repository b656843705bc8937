/* What the programs here need of the network: IPv4 TCP sockets that do not block, and
 * epoll. IPv4 alone, since the measurements are about the cost of a connection and not
 * about where it leads. */
#ifndef BENCH_NET_H
#define BENCH_NET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* "127.0.0.1:80"; false when it is anything else. */
bool net_addr_parse(const char *text, struct sockaddr_in *addr);

/* A whole number from 0 to `max`, and nothing behind it. */
bool net_number_parse(const char *text, uint64_t max, uint64_t *number);

/* A socket that listens, without delays for what is accepted (TCP_NODELAY is
 * inherited). Port 0 takes a free one; `bound` gets the address. -1 with errno. */
int net_listen(const struct sockaddr_in *addr, struct sockaddr_in *bound);

/* Listens and prints "listening 127.0.0.1:PORT", for who started us; ends the program
 * with a message when `text` is no address or is taken. */
int net_listen_or_exit(const char *program, const char *text);

/* The next connection that waits, or -1. */
int net_accept(int fd);

/* A socket that is being connected to `addr`, without delays as well: writable when
 * that is over. -1 with errno. */
int net_connect(const struct sockaddr_in *addr);

/* Why connecting failed, 0 when it did not. */
int net_error(int fd);

/* `op` is EPOLL_CTL_ADD or EPOLL_CTL_MOD. There is no way on without it: abort. */
void net_watch(int epoll, int op, int fd, uint32_t events, void *owner);

/* As many descriptors as the system lets us have. */
void net_raise_limits(void);

/* Nanoseconds of the monotonic clock. */
uint64_t net_now(void);

#endif
