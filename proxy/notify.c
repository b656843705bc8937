#include "proxy/notify.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proxy/base/fd.h"
#include "proxy/base/str.h"

enum { MESSAGE_MAX = 512, STATUS_MAX = 256 };

/* A path, or a name of the abstract namespace behind "@". Others (vsock) are not known
 * here. */
static bool set_address(struct notify *n, const char *text)
{
    size_t len = strlen(text);

    if ((text[0] != '/' && text[0] != '@') || text[1] == '\0' ||
        len >= sizeof n->to.sun_path)
        return false;
    n->to.sun_family = AF_UNIX;
    memcpy(n->to.sun_path, text, len);
    n->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    if (text[0] == '@')
        n->to.sun_path[0] = '\0';
    return true;
}

static double read_watchdog(void)
{
    const char *whose = getenv("WATCHDOG_PID"), *within = getenv("WATCHDOG_USEC");
    unsigned microseconds, pid;

    if (within == NULL || !str_to_uint(str_from(within), UINT_MAX, &microseconds))
        return 0;
    if (whose != NULL &&
        (!str_to_uint(str_from(whose), INT_MAX, &pid) || pid != (unsigned)getpid()))
        return 0;
    return microseconds / 1e6;
}

void notify_open(struct notify *n)
{
    const char *where = getenv("NOTIFY_SOCKET");

    *n = (struct notify){.fd = -1};
    if (where != NULL && set_address(n, where)) {
        n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        n->watchdog = read_watchdog();
    }
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

void notify_close(struct notify *n)
{
    fd_close(&n->fd);
}

/* A manager that does not listen just now is none of our business. */
static void send_text(const struct notify *n, const char *text)
{
    if (n->fd >= 0)
        sendto(n->fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&n->to,
               n->to_len);
}

/* `what` are whole lines; the status is the last one. */
static void send_status(const struct notify *n, const char *what, const char *status)
{
    char text[MESSAGE_MAX], line[STATUS_MAX];

    snprintf(line, sizeof line, "%s", status);
    for (char *p = line; *p != '\0'; p++)
        if ((unsigned char)*p < ' ')
            *p = '?';
    snprintf(text, sizeof text, "%sSTATUS=%s\n", what, line);
    send_text(n, text);
}

void notify_ready(const struct notify *n, const char *status)
{
    send_status(n, "READY=1\n", status);
}

/* With Type=notify-reload the manager compares the time with that of its request. */
void notify_reloading(const struct notify *n, const char *status)
{
    struct timespec now;
    char what[64];

    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(what, sizeof what, "RELOADING=1\nMONOTONIC_USEC=%llu\n",
             (unsigned long long)now.tv_sec * 1000000 +
                 (unsigned long long)now.tv_nsec / 1000);
    send_status(n, what, status);
}

void notify_stopping(const struct notify *n, const char *status)
{
    send_status(n, "STOPPING=1\n", status);
}

void notify_alive(const struct notify *n)
{
    send_text(n, "WATCHDOG=1\n");
}
