#include "launcher/leash.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

bool leash_pair(int ends[2], struct err *e)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0)
        return true;
    if (errno == EPERM) /* our own filter says so */
        return err_set(e, "a system call filter forbids what is needed, as inside "
                          "another weir run: start it outside of that");
    return err_sys(e, "cannot make a socket pair");
}

void leash_send(int fd, enum leash_kind kind, int value, const char *text)
{
    struct leash_message message = {.kind = kind, .value = value};
    struct err ignored;

    if (text != NULL)
        snprintf(message.text, sizeof message.text, "%s", text);
    fd_send(fd, &message, sizeof message, NULL, 0, &ignored);
}

enum fd_recv leash_receive(int fd, struct leash_message *out)
{
    struct err ignored;
    int fds[FD_PASS_MAX];
    size_t len, count;
    enum fd_recv got = fd_recv(fd, out, sizeof *out, &len, fds, &count, &ignored);

    if (got != FD_RECV_OK)
        return got;
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
    if (count > 0 || len != sizeof *out)
        return FD_RECV_ERROR;
    out->text[sizeof out->text - 1] = '\0';
    return FD_RECV_OK;
}
