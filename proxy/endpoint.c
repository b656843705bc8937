#include "proxy/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "proxy/base/fd.h"
#include "proxy/gateway_listen.h"

enum { BACKLOG = 4096 }; /* the kernel cuts it to net.core.somaxconn */

static bool open_inet(const struct addr *a, struct endpoint *out, struct err *e)
{
    autofd int fd =
        socket(a->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd < 0)
        return err_sys(e, "cannot make a socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* "[::]" is IPv6 alone, whatever the system's default: what was not written is not
     * opened. */
    if (a->sa.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, &a->sa, a->len) != 0)
        return err_sys(e, "cannot bind");
    if (listen(fd, BACKLOG) != 0)
        return err_sys(e, "cannot listen");
    out->addr.len = sizeof out->addr.v6;
    if (getsockname(fd, &out->addr.sa, &out->addr.len) != 0)
        return err_sys(e, "cannot tell what was bound");
    out->fd = fd_steal(&fd);
    return true;
}

/* Nobody listens: whoever made the socket has gone without removing it. */
static bool is_stale(const struct sockaddr_un *un)
{
    autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    return fd >= 0 && connect(fd, (const struct sockaddr *)un, sizeof *un) != 0 &&
           errno == ECONNREFUSED;
}

static bool make_way(const struct sockaddr_un *un, struct err *e)
{
    struct stat st;

    if (lstat(un->sun_path, &st) != 0)
        return errno == ENOENT || err_sys(e, "cannot look at it");
    if (!S_ISSOCK(st.st_mode))
        return err_set(e, "something is there, and it is no socket");
    if (!is_stale(un))
        return err_set(e, "another process listens there");
    return unlink(un->sun_path) == 0 ||
           err_sys(e, "cannot remove what an earlier process has left there");
}

/* The mode is that of the descriptor when the file appears, so there is no moment in
 * which others could connect; umask() would be the whole process's. */
static bool bind_unix(int fd, const struct sockaddr_un *un, struct endpoint *out,
                      struct err *e)
{
    struct stat st;

    if (fchmod(fd, 0600) != 0)
        return err_sys(e, "cannot set the mode");
    if (bind(fd, (const struct sockaddr *)un, sizeof *un) != 0)
        return err_sys(e, "cannot bind");
    if (lstat(un->sun_path, &st) != 0)
        return err_sys(e, "cannot look at it");
    out->path = strdup(un->sun_path);
    if (out->path == NULL)
        abort();
    out->dev = st.st_dev;
    out->ino = st.st_ino;
    return true;
}

static bool open_unix(struct str path, struct endpoint *out, struct err *e)
{
    autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    if (path.n == 0 || path.n >= sizeof un.sun_path)
        return err_set(e, "a path of %zu bytes; a Unix socket can have %zu", path.n,
                       sizeof un.sun_path - 1);
    memcpy(un.sun_path, path.p, path.n);
    if (fd < 0)
        return err_sys(e, "cannot make a socket");
    if (!make_way(&un, e) || !bind_unix(fd, &un, out, e))
        return false;
    if (listen(fd, BACKLOG) != 0) {
        err_sys(e, "cannot listen");
        endpoint_close(out);
        return false;
    }
    out->fd = fd_steal(&fd);
    return true;
}

bool endpoint_open(const char *text, struct endpoint *out, struct err *e)
{
    struct str s = str_from(text);
    struct addr a;
    bool ok;

    *out = (struct endpoint){.fd = -1};
    if (str_starts(s, LISTEN_UNIX))
        ok = open_unix(str_skip(s, LISTEN_UNIX.n), out, e);
    else if (addr_parse(s, &a))
        ok = open_inet(&a, out, e);
    else
        ok =
            err_set(e, "expected \"127.0.0.1:3128\", \"[::1]:3128\" or \"unix:/path\"");
    return ok || err_wrap(e, "\"%s\"", text);
}

bool endpoint_is_listening(int fd)
{
    int listening = 0, type = 0;
    socklen_t len = sizeof listening;

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) != 0 || !listening)
        return false;
    len = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM;
}

bool endpoint_adopt(int taken, struct endpoint *out, struct err *e)
{
    autofd int fd = taken;

    *out = (struct endpoint){.fd = -1};
    if (!endpoint_is_listening(fd))
        return err_set(e, "descriptor %d is not a listening stream socket", fd);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) != 0)
        return err_sys(e, "descriptor %d", fd);
    out->addr.len = sizeof out->addr.v6;
    if (getsockname(fd, &out->addr.sa, &out->addr.len) != 0 ||
        addr_ip(&out->addr).family == 0)
        out->addr.len = 0;
    out->fd = fd_steal(&fd);
    return true;
}

void endpoint_close(struct endpoint *p)
{
    struct stat st;

    fd_close(&p->fd);
    if (p->path != NULL && lstat(p->path, &st) == 0 && st.st_dev == p->dev &&
        st.st_ino == p->ino)
        unlink(p->path);
    free(p->path);
    p->path = NULL;
}

const char *endpoint_text(const struct endpoint *p, char buf[ENDPOINT_TEXT_MAX])
{
    char addr[ADDR_TEXT_MAX];

    if (p->path != NULL)
        snprintf(buf, ENDPOINT_TEXT_MAX, "unix:%s", p->path);
    else if (p->addr.len == 0)
        snprintf(buf, ENDPOINT_TEXT_MAX, "a Unix socket that was passed on");
    else
        snprintf(buf, ENDPOINT_TEXT_MAX, "%s", addr_text(&p->addr, addr));
    return buf;
}
