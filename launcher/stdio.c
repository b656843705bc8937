#include "launcher/stdio.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "proxy/base/fd.h"

/* Of /dev/null; the same on every Linux. */
enum { NULL_MAJOR = 1, NULL_MINOR = 3 };

static const char *const names[] = {"standard input", "standard output",
                                    "standard error"};

bool stdio_fill(struct err *e)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_NOCTTY) != fd)
            return err_sys(e, "%s is closed, and /dev/null cannot be opened for it",
                           names[fd]);
    return true;
}

static int socket_option(int fd, int option)
{
    int value = -1;
    socklen_t len = sizeof value;

    return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 ? value : -1;
}

/* A connected stream of AF_UNIX cannot be turned to anybody else. A datagram one can
 * send to every path, and one of another family lies in the host's network namespace
 * and can be connected anew. */
static bool check_socket(int fd, struct err *e)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    int type = socket_option(fd, SO_TYPE);

    if (socket_option(fd, SO_DOMAIN) == AF_UNIX &&
        getpeername(fd, (void *)&peer, &len) == 0 &&
        (type == SOCK_STREAM || type == SOCK_SEQPACKET))
        return true;
    return err_set(
        e,
        "%s is a socket by which the command could reach others than the one "
        "at its end: put a pipe between (\"... | weir run\", \"weir run ... | "
        "cat\")",
        names[fd]);
}

static bool check_one(int fd, struct err *e)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fstat(fd, &st) != 0)
        return err_sys(e, "%s", names[fd]);
    if (S_ISDIR(st.st_mode) || (flags & O_PATH) != 0)
        return err_set(e,
                       "%s is a folder or a path of the host, from which the command "
                       "could go anywhere: give it a file, a pipe, or /dev/null",
                       names[fd]);
    return !S_ISSOCK(st.st_mode) || check_socket(fd, e);
}

bool stdio_check(struct err *e)
{
    for (int fd = 0; fd <= 2; fd++)
        if (!check_one(fd, e))
            return false;
    return true;
}

static bool is_null(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
           st.st_rdev == makedev(NULL_MAJOR, NULL_MINOR);
}

bool stdio_renew(struct err *e)
{
    for (int fd = 0; fd <= 2; fd++) {
        autofd int own = -1;

        if (!is_null(fd))
            continue;
        own =
            open("/dev/null", (fcntl(fd, F_GETFL) & O_ACCMODE) | O_NOCTTY | O_CLOEXEC);
        if (own < 0 || dup2(own, fd) != fd)
            return err_sys(e, "%s: cannot open the sandbox's /dev/null for it",
                           names[fd]);
    }
    return true;
}
