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

static int wants_same(struct stream_layer *l, int events)
{
    (void)l;
    return events;
}

static bool has_rest(struct stream_layer *l)
{
    (void)l;
    return true;
}

static void free_nothing(struct stream_layer *l)
{
    (void)l;
}

struct ended_layer {
    struct stream_layer layer;
    int ends;
};

static void count_end(struct stream_layer *l)
{
    ((struct ended_layer *)l)->ends++;
}

static const struct stream_layer_ops full_ops = {
    .wants = wants_same,
    .ready = wants_same,
    .pending = has_rest,
    .shut = free_nothing,
    .free = free_nothing,
};
static const struct stream_layer_ops ended_ops = {
    .wants = wants_same,
    .ready = wants_same,
    .pending = has_rest,
    .shut = count_end,
    .free = free_nothing,
};

static void count_call(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop, (void)events;
    ++*(int *)w->data;
}

/* The socket says nothing of it, also when it was not watched before. */
static void test_rest_of_a_layer_is_told(void **state)
{
    struct stream_layer layer = {&full_ops};
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    struct stream s;
    int fds[2], calls = 0;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    stream_init(&s, fds[0], count_call, &calls);
    stream_set_layer(&s, &layer);
    for (int i = 1; i <= 3; i++) {
        stream_want(&s, loop, EV_READ);
        ev_run(loop, EVRUN_NOWAIT);
        assert_int_equal(calls, i);
        stream_want(&s, loop, 0);
        ev_run(loop, EVRUN_NOWAIT);
        assert_int_equal(calls, i);
    }
    stream_tell_rest(&s, loop);
    ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(calls, 4);
    stream_done(&s, loop);
    close(fds[1]);
    ev_loop_destroy(loop);
}

/* What is closed has ended, and a layer has its own word for that; what was cut has
 * not.
 */
static void test_end_of_a_layer(void **state)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);

    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        struct ended_layer ended = {{&ended_ops}, 0};
        struct stream s;

        stream_init(&s, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), count_call,
                    NULL);
        stream_set_layer(&s, &ended.layer);
        if (cut)
            stream_reset(&s);
        stream_done(&s, loop);
        assert_int_equal(ended.ends, cut ? 0 : 1);
    }
    ev_loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_are_inherited),
        cmocka_unit_test(test_unix_socket),
        cmocka_unit_test(test_rest_of_a_layer_is_told),
        cmocka_unit_test(test_end_of_a_layer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
