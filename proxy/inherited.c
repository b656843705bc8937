#include "proxy/inherited.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/base/fd.h"

enum { FIRST_FD = 3 };

static const char *const variables[] = {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
                                        "LISTEN_PIDFDID"};

/* The names stand in the order of the descriptors, with colons between. */
static void set_name(struct inherited_socket *socket, const char **names)
{
    size_t len = *names != NULL ? strcspn(*names, ":") : 0;

    if (len == 0 || len >= sizeof socket->name) {
        memcpy(socket->name, "unknown", sizeof "unknown");
    } else {
        memcpy(socket->name, *names, len);
        socket->name[len] = '\0';
    }
    if (*names != NULL)
        *names += len + ((*names)[len] == ':');
}

static bool take_all(struct inherited *in, unsigned count, const char *names,
                     struct err *e)
{
    for (unsigned i = 0; i < count; i++) {
        int fd = FIRST_FD + (int)i;

        if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
            return err_sys(e, "LISTEN_FDS: descriptor %d", fd);
        in->sockets[i].fd = fd;
        set_name(&in->sockets[i], &names);
        in->count++;
    }
    return true;
}

static bool read_variables(struct inherited *in, struct err *e)
{
    const char *whose = getenv("LISTEN_PID"), *how_many = getenv("LISTEN_FDS");
    unsigned pid, count;

    if (whose == NULL || how_many == NULL)
        return true;
    if (!str_to_uint(str_from(whose), INT_MAX, &pid))
        return err_set(e, "LISTEN_PID: \"%.40s\": expected a number", whose);
    if (pid != (unsigned)getpid())
        return true;
    if (!str_to_uint(str_from(how_many), INHERITED_MAX, &count))
        return err_set(e, "LISTEN_FDS: \"%.40s\": expected a number up to %d", how_many,
                       INHERITED_MAX);
    return take_all(in, count, getenv("LISTEN_FDNAMES"), e);
}

bool inherited_take(struct inherited *in, struct err *e)
{
    bool ok;

    *in = (struct inherited){.count = 0};
    ok = read_variables(in, e);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    if (!ok)
        inherited_done(in);
    return ok;
}

void inherited_done(struct inherited *in)
{
    while (in->count > 0)
        fd_close(&in->sockets[--in->count].fd);
}

int inherited_next(struct inherited *in, struct str name)
{
    for (size_t i = 0; i < in->count; i++) {
        struct inherited_socket *socket = &in->sockets[i];

        if (socket->fd >= 0 && (name.n == 0 || str_equal(name, str_from(socket->name))))
            return fd_steal(&socket->fd);
    }
    return -1;
}

void inherited_forget(struct inherited *in, int fd)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->sockets[i].fd == fd)
            in->sockets[i].fd = -1;
}
