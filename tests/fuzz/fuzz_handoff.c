/* A message of the control socket, as the core parses it and as it takes it with
 * descriptors: the first byte says how many and which. Whatever comes, nothing of it
 * stays open, and only names are accepted. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "proxy/base/handoff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void check_name(const char *name)
{
    require(name[0] != '\0' && name[0] != '.' && strlen(name) <= HANDOFF_NAME_MAX);
    require(strchr(name, '/') == NULL);
}

static void check(const struct handoff_attach *attach)
{
    check_name(attach->session);
    check_name(attach->policy);
    require(attach->count >= 1 && attach->count <= FD_PASS_MAX);
    for (size_t i = 0; i < attach->count; i++)
        require(attach->kinds[i] != HANDOFF_NONE);
}

/* The number that the next descriptor would get: the same again when none has leaked.
 */
static int next_number(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    close(fd);
    return fd;
}

static void take(struct str message, unsigned choice)
{
    struct handoff_attach attach;
    int ends[2], fds[FD_PASS_MAX], given[2], before = next_number();
    size_t count = choice % (FD_PASS_MAX + 1);
    struct err e;

    require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    given[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    given[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (choice < 128)
        require(listen(given[0], 1) == 0);
    for (size_t i = 0; i < count; i++)
        fds[i] = given[choice / 64 % 2];
    if (fd_send(ends[0], message.p, message.n, fds, count, &e) &&
        handoff_take(ends[1], &attach, &e) == FD_RECV_OK) {
        check(&attach);
        require(attach.count == count);
        for (size_t i = 0; i < attach.count; i++)
            close(attach.fds[i]);
    }
    close(ends[0]);
    close(ends[1]);
    close(given[0]);
    close(given[1]);
    require(next_number() == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct handoff_attach attach;
    struct str message = {(const char *)data, size};
    struct err e;

    if (size == 0)
        return 0;
    message = str_skip(message, 1);
    if (handoff_parse_attach(message, &attach, &e))
        check(&attach);
    take(message, data[0]);
    return 0;
}
