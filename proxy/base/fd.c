#include "proxy/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* How long a pipe that is read as a file may say nothing. */
enum { PIPE_SILENCE_MS = 10000 };

#define CONTROL_SIZE CMSG_SPACE(sizeof(int) * (FD_PASS_MAX + 1))
/* Without the padding: the kernel would put one more descriptor there. */
#define RECV_SIZE CMSG_LEN(sizeof(int) * (FD_PASS_MAX + 1))

bool fd_send(int sock, const void *msg, size_t len, const int *fds, size_t count,
             struct err *e)
{
    char control[CONTROL_SIZE] __attribute__((aligned(8))) = {0};
    struct iovec part = {(void *)msg, len};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t n;

    if (count > FD_PASS_MAX)
        return err_set(e, "more than %d descriptors in one message", FD_PASS_MAX);
    if (count > 0) {
        struct cmsghdr *c;

        m.msg_control = control;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * count);
    }
    do
        n = sendmsg(sock, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)len)
        return err_sys(e, "cannot send a message of %zu bytes", len);
    return true;
}

/* All descriptors that came, also those beyond what the caller takes. */
static size_t collect(struct msghdr *m, int fds[FD_PASS_MAX + 1])
{
    size_t count = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < n && count <= FD_PASS_MAX; i++)
            memcpy(&fds[count++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
    }
    return count;
}

enum fd_recv fd_recv(int sock, void *msg, size_t size, size_t *len,
                     int fds[FD_PASS_MAX], size_t *count, struct err *e)
{
    char control[CONTROL_SIZE] __attribute__((aligned(8)));
    int got[FD_PASS_MAX + 1];
    struct iovec part = {msg, size};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = RECV_SIZE};
    size_t got_count;
    ssize_t n;

    *len = *count = 0;
    do
        n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return FD_RECV_AGAIN;
    if (n < 0 && errno == ECONNRESET)
        return FD_RECV_GONE;
    if (n < 0) {
        err_sys(e, "cannot receive a message");
        return FD_RECV_ERROR;
    }
    got_count = collect(&m, got);
    if ((m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || got_count > FD_PASS_MAX) {
        for (size_t i = 0; i < got_count; i++)
            close(got[i]);
        err_set(e, "a message of more than %zu bytes or %d descriptors", size,
                FD_PASS_MAX);
        return FD_RECV_ERROR;
    }
    if (n == 0 && got_count == 0)
        return FD_RECV_GONE;
    memcpy(fds, got, sizeof(int) * got_count);
    *len = (size_t)n;
    *count = got_count;
    return FD_RECV_OK;
}

bool fd_write_all(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;

    while (len > 0) {
        ssize_t n = write(fd, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool check_kind(int fd, const char *path, size_t max, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return err_sys(e, "%s", path);
    if (S_ISDIR(st.st_mode))
        return err_set(e, "%s: is a directory, expected a file", path);
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        return err_set(e, "%s: is a device, expected a file", path);
    return (size_t)st.st_size <= max ||
           err_set(e, "%s: larger than %zu bytes", path, max);
}

/* One read of a non-blocking descriptor; waits for a pipe. -1 with errno. */
static ssize_t read_some(int fd, char *bytes, size_t size)
{
    for (;;) {
        ssize_t n = read(fd, bytes, size);
        struct pollfd wait = {.fd = fd, .events = POLLIN};

        if (n >= 0 || (errno != EINTR && errno != EAGAIN))
            return n;
        if (errno == EAGAIN && poll(&wait, 1, PIPE_SILENCE_MS) == 0) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
}

bool fd_read_file(const char *path, size_t max, char **text, size_t *len, struct err *e)
{
    /* Opening a FIFO that nobody writes to must not hang. */
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    size_t size = 4096, used = 0;
    char *bytes;
    ssize_t n;

    if (fd < 0)
        return err_sys(e, "%s", path);
    if (!check_kind(fd, path, max, e))
        return false;
    bytes = malloc(size);
    if (bytes == NULL)
        abort();
    while ((n = read_some(fd, bytes + used, size - used - 1)) > 0) {
        used += (size_t)n;
        if (used > max)
            break;
        if (size - used < 2 && (bytes = realloc(bytes, size *= 2)) == NULL)
            abort();
    }
    if (n != 0) {
        free(bytes);
        return n < 0 ? err_sys(e, "%s", path)
                     : err_set(e, "%s: larger than %zu bytes", path, max);
    }
    bytes[used] = '\0';
    *text = bytes;
    *len = used;
    return true;
}
