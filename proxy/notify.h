/* What a service manager is told (the protocol of sd_notify(3), by hand): that we
 * serve, read our file again, end; and that we are alive. Without one nothing is sent.
 */
#ifndef PROXY_NOTIFY_H
#define PROXY_NOTIFY_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
    int fd; /* -1: nobody wants to be told */
    struct sockaddr_un to;
    socklen_t to_len;
    double watchdog; /* seconds within which it wants a sign of life; 0: it does not */
};

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and takes them out of the
 * environment. Before threads are started. */
void notify_open(struct notify *n);
void notify_close(struct notify *n);

/* `status` is one line for people; what is no part of one is replaced. */
void notify_ready(const struct notify *n, const char *status);
void notify_reloading(const struct notify *n, const char *status);
void notify_stopping(const struct notify *n, const char *status);
void notify_alive(const struct notify *n);

#endif
