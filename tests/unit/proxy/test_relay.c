#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "proxy/base/fd.h"
#include "proxy/relay.h"

/* A client and a server, and a relay between them. */
struct world {
    struct ev_loop *loop;
    struct relay_pool *pool;
    int client, server; /* the far ends, blocking with a time-out */
    struct stream near_client, near_server;
    struct relay relay;
    enum relay_status status;
    unsigned runs;
};

enum { TURNS_MAX = 20000 };

static void tcp_pair(int *far, int *near, int buffer)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval soon = {.tv_sec = 5};
    socklen_t len = sizeof a;
    autofd int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_return_code(bind(listener, (struct sockaddr *)&a, len), errno);
    assert_return_code(listen(listener, 1), errno);
    getsockname(listener, (struct sockaddr *)&a, &len);
    *far = socket(AF_INET, SOCK_STREAM, 0);
    if (buffer > 0)
        setsockopt(*far, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    setsockopt(*far, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    assert_return_code(connect(*far, (struct sockaddr *)&a, len), errno);
    *near = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    assert_return_code(*near, errno);
    if (buffer > 0)
        setsockopt(*near, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
}

static void run(struct world *w)
{
    if (w->status == RELAY_GOES_ON) {
        w->status = relay_run(&w->relay);
        w->runs++;
    }
    if (w->status == RELAY_OVER) {
        stream_done(&w->near_client, w->loop);
        stream_done(&w->near_server, w->loop);
    }
}

static void on_ready(struct ev_loop *loop, ev_io *io, int events)
{
    struct world *w = io->data;

    (void)loop;
    stream_note(io == &w->near_client.watch ? &w->near_client : &w->near_server,
                events);
    run(w);
}

static void world_open(struct world *w, struct relay_pool *pool, int buffer)
{
    int client, server;

    *w = (struct world){.loop = pool->loop, .pool = pool, .status = RELAY_GOES_ON};
    tcp_pair(&w->client, &client, buffer);
    tcp_pair(&w->server, &server, buffer);
    stream_init(&w->near_client, client, on_ready, w);
    stream_init(&w->near_server, server, on_ready, w);
    relay_init(&w->relay, pool, &w->near_client, &w->near_server);
}

static void release(struct world *w, struct str first, bool eof)
{
    struct buf b;

    buf_init(&b, RELAY_BUFFER);
    assert_true(buf_add(&b, first));
    relay_release(&w->relay, &b, eof);
    assert_int_equal(buf_len(&b), 0);
    run(w);
}

static void world_close(struct world *w)
{
    relay_done(&w->relay);
    stream_done(&w->near_client, w->loop);
    stream_done(&w->near_server, w->loop);
    fd_close(&w->client);
    fd_close(&w->server);
}

static void turn(struct relay_pool *pool, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        ev_run(pool->loop, EVRUN_NOWAIT);
}

/* Turns until `fd` has `want` bytes, or the end when `want` is 0. */
static void expect(struct relay_pool *pool, int fd, const char *want)
{
    char got[256];
    size_t len = strlen(want), n = 0;

    for (unsigned i = 0; i < TURNS_MAX && n < len; i++) {
        ssize_t r;

        turn(pool, 1);
        r = recv(fd, got + n, len - n, MSG_DONTWAIT);
        assert_int_not_equal(r, 0);
        n += r > 0 ? (size_t)r : 0;
    }
    assert_int_equal(n, len);
    assert_memory_equal(got, want, len);
}

/* What recv() returns at the end: 0, or -1 with errno in *error. */
static ssize_t expect_end(struct relay_pool *pool, int fd, int *error)
{
    char byte;
    ssize_t r = -1;

    errno = EAGAIN;
    for (unsigned i = 0; i < TURNS_MAX && r < 0 && errno == EAGAIN; i++) {
        turn(pool, 1);
        r = recv(fd, &byte, 1, MSG_DONTWAIT);
    }
    *error = errno;
    return r;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void test_both_ways(void **state)
{
    struct relay_pool *pool = *state;
    struct world w;
    int error;

    world_open(&w, pool, 0);
    release(&w, STR("early "), false);
    say(w.client, "up");
    expect(pool, w.server, "early up");
    say(w.server, "down");
    expect(pool, w.client, "down");
    shutdown(w.client, SHUT_WR);
    assert_int_equal(expect_end(pool, w.server, &error), 0);
    assert_int_equal(w.status, RELAY_GOES_ON);
    assert_true(relay_half_closed(&w.relay));
    say(w.server, "still");
    expect(pool, w.client, "still");
    fd_close(&w.server);
    assert_int_equal(expect_end(pool, w.client, &error), 0);
    assert_int_equal(w.status, RELAY_OVER);
    assert_string_equal(w.relay.close, "client");
    assert_int_equal(w.relay.up.bytes, 8);
    assert_int_equal(w.relay.down.bytes, 9);
    assert_int_equal(count_read(&w.pool->counters->bytes_up), 8);
    assert_int_equal(count_read(&w.pool->counters->bytes_down), 9);
    world_close(&w);
}

/* Until the client's bytes are released the server's pass all the same. */
static void test_held(void **state)
{
    struct relay_pool *pool = *state;
    struct world w;
    char byte;

    world_open(&w, pool, 0);
    run(&w);
    say(w.server, "banner");
    expect(pool, w.client, "banner");
    say(w.client, "x");
    turn(pool, 50);
    assert_int_equal(recv(w.server, &byte, 1, MSG_DONTWAIT), -1);
    release(&w, STR("held"), false);
    expect(pool, w.server, "heldx");
    world_close(&w);
}

/* The server's last word comes first, then the other side's. */
static void test_server_ends_first(void **state)
{
    struct relay_pool *pool = *state;
    struct world w;
    int error;

    world_open(&w, pool, 0);
    release(&w, STR(""), false);
    say(w.server, "bye");
    shutdown(w.server, SHUT_WR);
    expect(pool, w.client, "bye");
    assert_int_equal(expect_end(pool, w.client, &error), 0);
    say(w.client, "and you");
    expect(pool, w.server, "and you");
    fd_close(&w.client);
    assert_int_equal(expect_end(pool, w.server, &error), 0);
    assert_string_equal(w.relay.close, "server");
    world_close(&w);
}

static void test_reset_is_passed_on(void **state)
{
    struct relay_pool *pool = *state;
    struct linger at_once = {.l_onoff = 1};
    struct world w;
    int error;

    world_open(&w, pool, 0);
    release(&w, STR(""), false);
    say(w.server, "part of it");
    expect(pool, w.client, "part of it");
    setsockopt(w.server, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    fd_close(&w.server);
    assert_int_equal(expect_end(pool, w.client, &error), -1);
    assert_int_equal(error, ECONNRESET);
    assert_string_equal(w.relay.close, "error");
    world_close(&w);
}

static size_t pump(struct relay_pool *pool, int from, int to, size_t total,
                   struct world *w)
{
    char out[8192], in[8192];
    size_t sent = 0, got = 0;

    for (unsigned i = 0; i < TURNS_MAX * 10 && got < total; i++) {
        ssize_t n;

        memset(out, (int)('a' + sent / sizeof out % 26), sizeof out);
        n = sent < total ? send(from, out, sizeof out, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
        sent += n > 0 ? (size_t)n : 0;
        turn(pool, 1);
        assert_true(buf_len(&w->relay.up.left) <= RELAY_BUFFER);
        n = recv(to, in, sizeof in, MSG_DONTWAIT);
        got += n > 0 ? (size_t)n : 0;
    }
    return got;
}

/* The reader is slow, so most of what is read must be kept for a while. */
static void test_slow_reader_gets_all(void **state)
{
    struct relay_pool *pool = *state;
    enum { TOTAL = 2 * 1024 * 1024 };
    struct world w;

    world_open(&w, pool, 4096);
    release(&w, STR(""), false);
    assert_int_equal(pump(pool, w.client, w.server, TOTAL, &w), TOTAL);
    assert_int_equal(pool->left, 0);
    assert_int_equal(w.relay.up.bytes, TOTAL);
    world_close(&w);
}

/* As much as may have been sent early, to a server that takes little of it at once. */
static void test_first_bytes(void **state)
{
    static char first[RELAY_BUFFER];
    struct relay_pool *pool = *state;
    struct world w;

    world_open(&w, pool, 4096);
    release(&w, (struct str){first, sizeof first}, false);
    assert_true(pool->left > 0);
    assert_int_equal(pump(pool, w.client, w.server, sizeof first, &w), sizeof first);
    world_close(&w);
}

/* As much as goes, up to what a relay can keep and some more for the kernel on the way;
 * all that the kernel would take, twelve times over, is too much for a small machine.
 */
static void fill(int fd, size_t *sent)
{
    static const char zeros[16384];
    ssize_t n = 0;

    while (n >= 0 && *sent < 3 * (size_t)RELAY_BUFFER) {
        n = send(fd, zeros, sizeof zeros, MSG_DONTWAIT | MSG_NOSIGNAL);
        *sent += n > 0 ? (size_t)n : 0;
    }
}

/* A reader that never reads holds a bounded number of bytes, and once many of them have
 * used up the budget others still get theirs. */
static void test_budget(void **state)
{
    enum { STUCK = 12 };
    struct relay_pool *pool = *state;
    struct world stuck[STUCK], w;

    pool->left_max = 4 * RELAY_BUFFER;
    for (unsigned i = 0; i < STUCK; i++) {
        size_t sent = 0;

        world_open(&stuck[i], pool, 4096);
        release(&stuck[i], STR(""), false);
        for (unsigned k = 0; k < 20; k++) {
            fill(stuck[i].client, &sent);
            turn(pool, 2);
        }
    }
    assert_true(pool->left + RELAY_BUFFER > pool->left_max);
    assert_true(pool->left <= pool->left_max + STUCK * RELAY_SHORT_READ);
    world_open(&w, pool, 0);
    release(&w, STR(""), false);
    assert_int_equal(pump(pool, w.client, w.server, 1 << 20, &w), 1 << 20);
    world_close(&w);
    for (unsigned i = 0; i < STUCK; i++)
        world_close(&stuck[i]);
    assert_int_equal(pool->left, 0);
}

/* The budget is one of memory: whoever reads almost all that was kept, and no more, has
 * freed nothing. */
static void test_budget_counts_memory(void **state)
{
    struct relay_pool *pool = *state;
    size_t full, sent = 0;
    char in[1024];
    struct world w;

    world_open(&w, pool, 4096);
    release(&w, STR(""), false);
    for (unsigned k = 0; k < 20; k++) {
        fill(w.client, &sent);
        turn(pool, 2);
    }
    full = buf_len(&w.relay.up.left);
    for (unsigned i = 0; i < TURNS_MAX && buf_len(&w.relay.up.left) > full / 2; i++) {
        recv(w.server, in, sizeof in, MSG_DONTWAIT);
        turn(pool, 1);
    }
    assert_in_range(buf_len(&w.relay.up.left), 1, full / 2);
    assert_true(pool->left >= full);
    world_close(&w);
    assert_int_equal(pool->left, 0);
}

/* A server that answers and closes before it has read everything: the answer arrives.
 */
static void test_early_answer(void **state)
{
    struct relay_pool *pool = *state;
    struct world w;
    int error;

    world_open(&w, pool, 0);
    release(&w, STR(""), false);
    say(w.client, "a long body");
    turn(pool, 20);
    say(w.server, "no");
    fd_close(&w.server); /* with unread bytes: a reset follows */
    say(w.client, "more of it");
    expect(pool, w.client, "no");
    expect_end(pool, w.client, &error);
    assert_int_equal(w.status, RELAY_OVER);
    world_close(&w);
}

/* Nothing is watched or held that is not needed. */
static void test_idle_costs_nothing(void **state)
{
    struct relay_pool *pool = *state;
    struct world w;
    unsigned before;

    world_open(&w, pool, 0);
    release(&w, STR("x"), false);
    expect(pool, w.server, "x");
    before = w.runs;
    turn(pool, 100);
    assert_int_equal(w.runs, before);
    assert_null(w.relay.up.left.bytes);
    assert_null(w.relay.down.left.bytes);
    world_close(&w);
}

/* The two share the buffer; each byte has the mark of its tunnel. */
static void test_tunnels_do_not_mix(void **state)
{
    enum { TUNNELS = 4, PIECES = 300, PIECE = 3000 };
    struct relay_pool *pool = *state;
    struct world w[TUNNELS];
    size_t got[TUNNELS] = {0};
    char bytes[PIECE];

    for (unsigned i = 0; i < TUNNELS; i++) {
        world_open(&w[i], pool, 4096);
        release(&w[i], STR(""), false);
    }
    for (unsigned k = 0; k < PIECES * TUNNELS; k++) {
        unsigned i = k % TUNNELS;
        ssize_t n;

        memset(bytes, (int)('A' + i), sizeof bytes);
        send(w[i].client, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        turn(pool, 1);
        n = recv(w[i].server, bytes, sizeof bytes, MSG_DONTWAIT);
        for (ssize_t b = 0; b < n; b++)
            assert_int_equal(bytes[b], 'A' + i);
        got[i] += n > 0 ? (size_t)n : 0;
    }
    for (unsigned i = 0; i < TUNNELS; i++) {
        assert_true(got[i] > 0);
        world_close(&w[i]);
    }
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

static void test_poisoned(void **state)
{
    struct relay_pool *pool = *state;
    struct world w;

    world_open(&w, pool, 0);
    release(&w, STR(""), false);
    say(w.client, "x");
    expect(pool, w.server, "x");
    assert_ptr_equal(__asan_region_is_poisoned(pool->buffer, RELAY_BUFFER),
                     pool->buffer);
    world_close(&w);
}
#endif

static int setup(void **state)
{
    struct relay_pool *pool = calloc(1, sizeof *pool);

    relay_pool_init(pool, ev_loop_new(EVFLAG_AUTO), calloc(1, sizeof(struct counters)));
    *state = pool;
    return 0;
}

static int teardown(void **state)
{
    struct relay_pool *pool = *state;

    relay_pool_done(pool);
    ev_loop_destroy(pool->loop);
    free(pool->counters);
    free(pool);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_both_ways),
        TEST(test_held),
        TEST(test_server_ends_first),
        TEST(test_reset_is_passed_on),
        TEST(test_slow_reader_gets_all),
        TEST(test_first_bytes),
        TEST(test_budget),
        TEST(test_budget_counts_memory),
        TEST(test_early_answer),
        TEST(test_idle_costs_nothing),
        TEST(test_tunnels_do_not_mix),
#ifdef __SANITIZE_ADDRESS__
        TEST(test_poisoned),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
