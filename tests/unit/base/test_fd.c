#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "proxy/base/fd.h"

enum { ROOM = 64 };

static size_t count_open(void)
{
    DIR *d = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(d);
    while (readdir(d) != NULL)
        count++;
    closedir(d);
    return count;
}

static void make_pair(int ends[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

static void close_pair(int ends[2])
{
    fd_close(&ends[0]);
    fd_close(&ends[1]);
}

static void test_pass(void **state)
{
    int ends[2], fds[FD_PASS_MAX], sent[2] = {0, 1};
    char message[ROOM];
    size_t len, count;
    struct err e;

    (void)state;
    make_pair(ends);
    assert_true(fd_send(ends[0], "hello", 5, sent, 2, &e));
    assert_int_equal(fd_recv(ends[1], message, ROOM, &len, fds, &count, &e),
                     FD_RECV_OK);
    assert_int_equal(len, 5);
    assert_memory_equal(message, "hello", 5);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        struct stat mine, came;

        assert_int_equal(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
        assert_int_equal(fstat(sent[i], &mine), 0);
        assert_int_equal(fstat(fds[i], &came), 0);
        assert_int_equal(mine.st_ino, came.st_ino);
        close(fds[i]);
    }
    close_pair(ends);
}

/* Sends `count` descriptors past the check of fd_send(). */
static void send_raw(int sock, const void *message, size_t len, size_t count)
{
    char control[CMSG_SPACE(sizeof(int) * 253)] __attribute__((aligned(8))) = {0};
    struct iovec part = {(void *)message, len};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = CMSG_SPACE(sizeof(int) * count)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * count);
    for (size_t i = 0; i < count; i++)
        memcpy(CMSG_DATA(c) + i * sizeof(int), &sock, sizeof(int));
    assert_int_equal(sendmsg(sock, &m, 0), (ssize_t)len);
}

/* More than the limit is refused, and none of them stays open: not one beyond it, and
 * not one that the padding of the control buffer has room for. */
static void test_too_many(void **state)
{
    static const size_t counts[] = {17, 18, 19, 20, 100, 253};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int ends[2], fds[FD_PASS_MAX];
        char message[ROOM];
        size_t before, len, count;
        struct err e = {{0}};

        make_pair(ends);
        before = count_open();
        send_raw(ends[0], "x", 1, counts[i]);
        assert_int_equal(fd_recv(ends[1], message, ROOM, &len, fds, &count, &e),
                         FD_RECV_ERROR);
        assert_true(strlen(e.text) > 0);
        assert_int_equal(count, 0);
        assert_int_equal(count_open(), before);
        close_pair(ends);
    }
}

static void test_cut_message(void **state)
{
    int ends[2], fds[FD_PASS_MAX];
    char message[ROOM], big[ROOM + 1] = {0};
    size_t before, len, count;
    struct err e;

    (void)state;
    make_pair(ends);
    before = count_open();
    send_raw(ends[0], big, sizeof big, 3);
    assert_int_equal(fd_recv(ends[1], message, ROOM, &len, fds, &count, &e),
                     FD_RECV_ERROR);
    assert_int_equal(count_open(), before);
    close_pair(ends);
}

static void test_limit_of_send(void **state)
{
    int ends[2], fds[FD_PASS_MAX + 1] = {0};
    struct err e = {{0}};

    (void)state;
    make_pair(ends);
    assert_false(fd_send(ends[0], "x", 1, fds, FD_PASS_MAX + 1, &e));
    assert_true(fd_send(ends[0], "x", 1, fds, FD_PASS_MAX, &e));
    close_pair(ends);
}

static void test_gone_and_again(void **state)
{
    int ends[2], fds[FD_PASS_MAX];
    char message[ROOM];
    size_t len, count;
    struct err e;

    (void)state;
    make_pair(ends);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(fd_recv(ends[1], message, ROOM, &len, fds, &count, &e),
                     FD_RECV_AGAIN);
    fd_close(&ends[0]);
    assert_int_equal(fd_recv(ends[1], message, ROOM, &len, fds, &count, &e),
                     FD_RECV_GONE);
    close_pair(ends);
    make_pair(ends);
    fd_close(&ends[1]);
    assert_false(fd_send(ends[0], "x", 1, NULL, 0, &e)); /* and no SIGPIPE */
    close_pair(ends);
}

/* An empty message with descriptors is a message; they are the receiver's. */
static void test_empty_message(void **state)
{
    int ends[2], fds[FD_PASS_MAX];
    char message[ROOM];
    size_t len, count;
    struct err e;

    (void)state;
    make_pair(ends);
    send_raw(ends[0], "", 0, 2);
    assert_int_equal(fd_recv(ends[1], message, ROOM, &len, fds, &count, &e),
                     FD_RECV_OK);
    assert_int_equal(len, 0);
    assert_int_equal(count, 2);
    close(fds[0]);
    close(fds[1]);
    close_pair(ends);
}

static void test_steal(void **state)
{
    int taken;

    (void)state;
    {
        autofd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        assert_true(fd >= 0);
        taken = fd_steal(&fd);
        assert_int_equal(fd, -1);
    }
    assert_true(fcntl(taken, F_GETFD) >= 0);
    {
        autofd int fd = taken;

        (void)fd;
    }
    assert_int_equal(fcntl(taken, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
}

static void test_read_file(void **state)
{
    char path[] = "/tmp/weir-test-fd-XXXXXX", *text = NULL;
    autofd int fd = mkstemp(path);
    size_t len;
    struct err e = {{0}};

    (void)state;
    assert_true(fd >= 0);
    assert_true(fd_read_file(path, 100, &text, &len, &e));
    assert_int_equal(len, 0);
    assert_string_equal(text, "");
    free(text);
    for (int i = 0; i < 1000; i++)
        assert_true(fd_write_all(fd, "0123456789", 10));
    assert_true(fd_read_file(path, 10000, &text, &len, &e));
    assert_int_equal(len, 10000);
    assert_int_equal(strlen(text), 10000);
    assert_string_equal(text + 9990, "0123456789");
    free(text);
    assert_false(fd_read_file(path, 9999, &text, &len, &e));
    assert_non_null(strstr(e.text, path));
    unlink(path);
    assert_false(fd_read_file(path, 9999, &text, &len, &e));
    assert_non_null(strstr(e.text, "No such file"));
    assert_false(fd_read_file("/tmp", 9999, &text, &len, &e));
}

static void test_write_all_fails(void **state)
{
    autofd int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

    (void)state;
    assert_true(full >= 0);
    assert_false(fd_write_all(full, "x", 1));
    assert_true(fd_write_all(full, "", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pass),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_cut_message),
        cmocka_unit_test(test_limit_of_send),
        cmocka_unit_test(test_gone_and_again),
        cmocka_unit_test(test_empty_message),
        cmocka_unit_test(test_steal),
        cmocka_unit_test(test_read_file),
        cmocka_unit_test(test_write_all_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
