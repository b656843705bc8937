#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/base/addr.h"
#include "proxy/base/fd.h"
#include "proxy/base/stream.h"

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof value;

    assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

static void check_options(int fd)
{
    assert_true(fd >= 0);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 60);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 600 * 1000);
}

/* Whoever is accepted has the options of the listening socket. */
static void test_options_are_inherited(void **state)
{
    struct addr at = {.v4 = {.sin_family = AF_INET, .sin_addr = {htonl(0x7f000001)}},
                      .len = sizeof at.v4};
    autofd int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    autofd int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    autofd int server = -1;

    (void)state;
    assert_int_equal(bind(listener, &at.sa, at.len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, &at.sa, &at.len), 0);
    stream_set_options(listener);
    assert_int_equal(connect(client, &at.sa, at.len), 0);
    server = accept(listener, NULL, NULL);
    check_options(server);
    assert_int_equal(option(client, IPPROTO_TCP, TCP_NODELAY), 0);
    stream_set_options(client);
    check_options(client);
}

/* It has none of them, and still is a listener. */
static void test_unix_socket(void **state)
{
    autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    stream_set_options(fd);
    assert_int_equal(option(fd, SOL_SOCKET, SO_ERROR), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_are_inherited),
        cmocka_unit_test(test_unix_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
