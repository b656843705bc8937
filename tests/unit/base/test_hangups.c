#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/base/hangups.h"

enum { MANY = 40 };

/* A connection, of which one end is a stream that is watched for nothing. */
struct pair {
    struct stream stream;
    int end;
    unsigned told;
};

static struct ev_loop *loop;
static struct hangups hangups;

static void on_told(struct ev_loop *l, ev_io *w, int events)
{
    struct pair *p = w->data;

    (void)l;
    stream_note(&p->stream, events);
    p->told++;
}

static void pair_open(struct pair *p)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    *p = (struct pair){.end = socket(AF_INET, SOCK_STREAM, 0)};
    assert_int_equal(bind(listener, (struct sockaddr *)&a, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
    assert_int_equal(connect(p->end, (struct sockaddr *)&a, len), 0);
    stream_init(&p->stream, accept(listener, NULL, NULL), on_told, p);
    close(listener);
    hangups_watch(&hangups, &p->stream);
}

static void pair_close(struct pair *p)
{
    if (p->stream.fd >= 0)
        hangups_forget(&hangups, &p->stream);
    stream_done(&p->stream, loop);
    close(p->end);
}

static void reset(int fd)
{
    struct linger at_once = {.l_onoff = 1};

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once),
                     0);
    close(fd);
}

/* On loopback what was sent has come. */
static void turns(void)
{
    for (unsigned i = 0; i < 8; i++)
        ev_run(loop, EVRUN_NOWAIT);
}

static void test_half_is_none(void **state)
{
    struct pair p;
    char bytes[3];

    (void)state;
    pair_open(&p);
    assert_int_equal(write(p.end, "all", 3), 3);
    assert_int_equal(shutdown(p.end, SHUT_WR), 0);
    turns();
    assert_true(p.told == 0 && !p.stream.gone);
    assert_int_equal(write(p.stream.fd, "yes", 3), 3);
    assert_int_equal(read(p.end, bytes, 3), 3);
    turns();
    assert_int_equal(p.told, 0);
    pair_close(&p);
}

static void test_reset_is_told_once(void **state)
{
    struct pair p;

    (void)state;
    pair_open(&p);
    reset(p.end);
    turns();
    assert_true(p.told == 1 && p.stream.gone);
    p.end = -1;
    pair_close(&p);
}

/* A close alone cannot be told from half of one, but the first write does. */
static void test_close_is_told_after_a_write(void **state)
{
    struct pair p;
    size_t n;

    (void)state;
    pair_open(&p);
    close(p.end);
    turns();
    assert_int_equal(p.told, 0);
    assert_int_equal(stream_write(&p.stream, "x", 1, &n), IO_OK);
    turns();
    assert_true(p.told == 1 && p.stream.gone);
    p.end = -1;
    pair_close(&p);
}

static void test_forgotten(void **state)
{
    struct pair p;

    (void)state;
    pair_open(&p);
    hangups_forget(&hangups, &p.stream);
    reset(p.end);
    turns();
    assert_int_equal(p.told, 0);
    p.end = -1;
    pair_close(&p);
}

static void test_many(void **state)
{
    static struct pair pairs[MANY];

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        pair_open(&pairs[i]);
    for (size_t i = 0; i < MANY; i++)
        reset(pairs[i].end);
    turns();
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(pairs[i].told, 1);
        pairs[i].end = -1;
        pair_close(&pairs[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_is_none),
        cmocka_unit_test(test_reset_is_told_once),
        cmocka_unit_test(test_close_is_told_after_a_write),
        cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_many),
    };
    struct err e;
    int failed;

    loop = ev_loop_new(EVFLAG_AUTO);
    if (!hangups_init(&hangups, loop, &e))
        fail_msg("%s", e.text);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    hangups_done(&hangups);
    ev_loop_destroy(loop);
    return failed;
}
