#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/exchange.h"

enum { TEXT_MAX = 8192, ARENA_SIZE = 16384, TURNS = 40 };

/* An exchange between two socket pairs, of which the test has the other ends. */
struct world {
    struct ev_loop *loop;
    struct counters counters;
    struct relay_pool relays;
    struct hangups hangups;
    struct exchange_room room;
    struct arena arena;
    struct buf in;
    struct stream client, server;
    int client_end, server_end;
    struct exchange x;
    char to_client[TEXT_MAX], to_server[TEXT_MAX]; /* what has come out */
};

static const struct target name = {HOST_NAME, STR("a.test"), {0}, 80};
static const struct rewrite_route route = {.target = &name, .authorization = STR("")};

static void on_ready(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop;
    stream_note(w->data, events);
}

static void pair(struct stream *stream, int *end)
{
    int ends[2];

    assert_int_equal(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    stream_init(stream, ends[0], on_ready, stream);
    *end = ends[1];
}

/* `request` begins with a head; what is behind it has come with it. */
static void world_open(struct world *w, const char *request)
{
    struct str text = str_from(request);
    struct http_head head;
    const char *why;
    struct err e;
    size_t used;

    *w = (struct world){.loop = ev_loop_new(EVFLAG_AUTO)};
    relay_pool_init(&w->relays, w->loop, &w->counters);
    assert_true(hangups_init(&w->hangups, w->loop, &e));
    exchange_room_init(&w->room, &w->relays, &w->hangups);
    arena_init(&w->arena, ARENA_SIZE);
    buf_init(&w->in, 2 * EXCHANGE_AHEAD_MAX);
    pair(&w->client, &w->client_end);
    pair(&w->server, &w->server_end);
    assert_int_equal(http_parse_request(text, TEXT_MAX, &w->arena, &head, &used, &why),
                     HTTP_DONE);
    assert_true(buf_add(&w->in, str_skip(text, used)));
    assert_true(exchange_init(&w->x, &w->room, &head, &w->client, &w->in));
}

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static void world_close(struct world *w)
{
    exchange_done(&w->x);
    assert_int_equal(w->relays.left, 0); /* the budget has all of it back */
    stream_done(&w->client, w->loop);
    stream_done(&w->server, w->loop);
    close_end(&w->client_end);
    close_end(&w->server_end);
    buf_done(&w->in);
    arena_done(&w->arena);
    exchange_room_done(&w->room);
    hangups_done(&w->hangups);
    relay_pool_done(&w->relays);
    ev_loop_destroy(w->loop);
}

static void send_to(int end, const char *text)
{
    size_t n = strlen(text);

    assert_int_equal(write(end, text, n), n);
}

static void hear(int end, char *text)
{
    size_t have = strlen(text);
    ssize_t n = end < 0 ? 0 : recv(end, text + have, TEXT_MAX - 1 - have, MSG_DONTWAIT);

    text[have + (n > 0 ? (size_t)n : 0)] = '\0';
}

/* Turns, as the loop would, until it is over or nothing happens any more. */
static enum exchange_status run(struct world *w)
{
    enum exchange_status status = EXCHANGE_GOES_ON;

    for (unsigned i = 0; i < TURNS && status == EXCHANGE_GOES_ON; i++) {
        w->client.ready = w->server.ready = EV_READ | EV_WRITE;
        status = exchange_run(&w->x);
        hear(w->client_end, w->to_client);
        hear(w->server_end, w->to_server);
    }
    return status;
}

#define GET        "GET / HTTP/1.1\r\n\r\n"
#define SENT       "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
#define POST_OF(n) "POST / HTTP/1.1\r\nContent-Length: " #n "\r\n\r\n"
#define OK_OF(n)   "HTTP/1.1 200 OK\r\nContent-Length: " #n "\r\n"
#define CLOSE      "Connection: close\r\n\r\n"

/* What comes from each, whether the server closes then, and what becomes of it. */
static const struct row {
    const char *request, *response;
    bool closes;
    enum exchange_status status;
    bool keep_client, keep_server;
    const char *says; /* the body as the client gets it: the end of what it gets */
    const char *sent; /* the end of what the server gets */
} rows[] = {
    {GET, OK_OF(2) "\r\nhi", false, EXCHANGE_OVER, true, true, "\r\n\r\nhi", SENT},
    {GET, OK_OF(0) "\r\n", false, EXCHANGE_OVER, true, true, "\r\n\r\n", SENT},
    {GET, OK_OF(2) CLOSE "hi", false, EXCHANGE_OVER, true, false, "\r\n\r\nhi", SENT},
    {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", OK_OF(2) "\r\nhi", false,
     EXCHANGE_OVER, false, true, "\r\n\r\nhi", SENT},
    {"GET / HTTP/1.0\r\n\r\n", OK_OF(2) "\r\nhi", false, EXCHANGE_OVER, false, true,
     "\r\n\r\nhi", SENT},
    /* More than was announced is nobody's answer. */
    {GET, OK_OF(2) "\r\nhigh", false, EXCHANGE_OVER, true, false, "\r\n\r\nhi", SENT},
    {"HEAD / HTTP/1.1\r\n\r\n", OK_OF(9) "\r\n", false, EXCHANGE_OVER, true, true,
     "\r\n\r\n", NULL},
    {GET, "HTTP/1.1 204 No\r\n\r\n", false, EXCHANGE_OVER, true, true, "\r\n\r\n",
     SENT},
    /* Until it closes: chunks tell a whole one from one that broke off. */
    {GET, "HTTP/1.1 200 OK\r\n\r\nhi", true, EXCHANGE_OVER, true, false,
     "2\r\nhi\r\n0\r\n\r\n", SENT},
    {GET, "HTTP/1.1 200 OK\r\n\r\nhi", false, EXCHANGE_GOES_ON, false, false,
     "2\r\nhi\r\n", SENT},
    {GET,
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\nh\r\n1\r\ni\r\n"
     "0\r\nA: b\r\n\r\n",
     false, EXCHANGE_OVER, true, true, "\r\n0\r\n\r\n", SENT},
    {GET, "HTTP/1.1 103 Early\r\n\r\n" OK_OF(0) "\r\n", false, EXCHANGE_OVER, true,
     true, "\r\n\r\n", SENT},
    /* It breaks: before, and in the middle of a body. */
    {GET, "", true, EXCHANGE_FAILED, false, false, "", SENT},
    {GET, "HTTP/1.1 200", true, EXCHANGE_FAILED, false, false, "", SENT},
    {GET, "220 smtp ready\r\n", false, EXCHANGE_FAILED, false, false, "", SENT},
    {GET, OK_OF(9) "\r\nhi", true, EXCHANGE_CUT, false, false, "\r\n\r\nhi", SENT},
    {GET, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", true,
     EXCHANGE_CUT, false, false, "2\r\nhi\r\n", SENT},
    {GET, OK_OF(2) "Content-Length: 3\r\n\r\nhi", false, EXCHANGE_FAILED, false, false,
     "", SENT},
    {GET, OK_OF(2) "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false,
     EXCHANGE_FAILED, false, false, "", SENT},
    {GET, "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n", false,
     EXCHANGE_FAILED, false, false, "", SENT},
    /* Bodies of requests, whole and not. */
    {POST_OF(4) "body", OK_OF(0) "\r\n", false, EXCHANGE_OVER, true, true, "\r\n\r\n",
     "\r\n\r\nbody"},
    {POST_OF(4) "bo", OK_OF(0) "\r\n", false, EXCHANGE_GOES_ON, false, false,
     "\r\n\r\n", "\r\n\r\nbo"},
    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nhi\r\n0\r\nA: b\r\n"
     "\r\n",
     OK_OF(0) "\r\n", false, EXCHANGE_OVER, true, true, "\r\n\r\n",
     "2\r\nhi\r\n0\r\n\r\n"},
    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "", false,
     EXCHANGE_FAILED, false, false, "", ""},
    /* The server answers without the body that it was to ask for. */
    {"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
     "HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n", false, EXCHANGE_OVER, false, false,
     "\r\n\r\n", "\r\n\r\n"},
};

static void ends_with(size_t row, const char *what, const char *text, const char *end)
{
    if (!str_ends(str_from(text), str_from(end)) || (end[0] == '\0' && text[0] != '\0'))
        fail_msg("row %zu: %s \"%s\", expected \"%s\" at the end", row, what, text,
                 end);
}

static void check(size_t i, const struct row *row)
{
    struct world w;
    enum exchange_status status;

    world_open(&w, row->request);
    exchange_begin(&w.x, &w.server, &route);
    /* What is sent is heard before the answer comes. */
    w.client.ready = w.server.ready = EV_WRITE;
    status = exchange_run(&w.x);
    hear(w.server_end, w.to_server);
    send_to(w.server_end, row->response);
    if (row->closes)
        close_end(&w.server_end);
    if (status == EXCHANGE_GOES_ON)
        status = run(&w);
    if (status != row->status)
        fail_msg("row %zu: status %d, expected %d: \"%s\"", i, (int)status,
                 (int)row->status, w.to_client);
    ends_with(i, "the client got", w.to_client, row->says);
    if (row->sent != NULL)
        ends_with(i, "the server got", w.to_server, row->sent);
    if (status == EXCHANGE_OVER &&
        (w.x.keep_client != row->keep_client || w.x.keep_server != row->keep_server))
        fail_msg("row %zu: keep %d %d", i, w.x.keep_client, w.x.keep_server);
    world_close(&w);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(i, &rows[i]);
}

/* Over a connection that was kept, a request may be sent twice only when nobody can
 * have acted upon it: no answer, no body, a method without effect. */
static void test_what_may_be_sent_again(void **state)
{
    static const struct {
        const char *request, *response;
        bool repeatable, stale;
    } cases[] = {
        {GET, "", true, true},
        {GET, "HTTP/1.1 2", true, false},
        {"HEAD / HTTP/1.1\r\n\r\n", "", true, true},
        {"POST / HTTP/1.1\r\n\r\n", "", false, true},
        {"DELETE / HTTP/1.1\r\n\r\n", "", false, true},
        {"GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "", false, true},
        {"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "",
         false, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;

        world_open(&w, cases[i].request);
        assert_int_equal(exchange_repeatable(&w.x), cases[i].repeatable);
        exchange_begin(&w.x, &w.server, &route);
        send_to(w.server_end, cases[i].response);
        close_end(&w.server_end);
        assert_int_equal(run(&w), EXCHANGE_FAILED);
        assert_int_equal(w.x.failure.stale, cases[i].stale);
        assert_string_equal(w.to_client, "");
        world_close(&w);
    }
}

static void test_again_over_another_connection(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, GET);
    exchange_begin(&w.x, &w.server, &route);
    close_end(&w.server_end);
    assert_int_equal(run(&w), EXCHANGE_FAILED);
    stream_done(&w.server, w.loop);
    pair(&w.server, &w.server_end);
    exchange_begin(&w.x, &w.server, &route);
    send_to(w.server_end, OK_OF(2) "\r\nhi");
    assert_int_equal(run(&w), EXCHANGE_OVER);
    assert_string_equal(w.to_server, SENT);
    ends_with(0, "the client got", w.to_client, "\r\n\r\nhi");
    world_close(&w);
}

static void test_a_client_that_leaves(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, POST_OF(4));
    exchange_begin(&w.x, &w.server, &route);
    close_end(&w.client_end);
    assert_int_equal(run(&w), EXCHANGE_FAILED);
    assert_int_equal(w.x.failure.reason, REASON_CLIENT_LEFT);
    assert_int_equal(w.x.failure.status, 0);
    world_close(&w);
}

/* Half a close is none: the answer still comes, and it is the last. */
static void test_a_client_that_has_said_all(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, GET);
    exchange_begin(&w.x, &w.server, &route);
    assert_int_equal(shutdown(w.client_end, SHUT_WR), 0);
    assert_int_equal(run(&w), EXCHANGE_GOES_ON);
    send_to(w.server_end, OK_OF(2) "\r\nhi");
    assert_int_equal(run(&w), EXCHANGE_OVER);
    assert_true(w.x.client_ended);
    ends_with(0, "the client got", w.to_client, "\r\n\r\nhi");
    world_close(&w);
}

/* The loop's own turns: nothing is pretended to be ready. */
static enum exchange_status turn(struct world *w)
{
    ev_run(w->loop, EVRUN_NOWAIT);
    return exchange_run(&w->x);
}

/* It has sent all, or more than is read ahead, and goes while the server is silent. */
static void test_a_client_that_goes_unheard(void **state)
{
    static const bool ways[] = {true, false};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char more[EXCHANGE_AHEAD_MAX + 1] = {0};
        struct world w;

        world_open(&w, GET);
        exchange_begin(&w.x, &w.server, &route);
        send_to(w.server_end, "HTTP/1.1 200 OK\r\n\r\nhi");
        if (ways[i])
            assert_int_equal(shutdown(w.client_end, SHUT_WR), 0);
        else
            send_to(w.client_end, memset(more, 'x', EXCHANGE_AHEAD_MAX));
        assert_int_equal(run(&w), EXCHANGE_GOES_ON);
        assert_int_equal(turn(&w), EXCHANGE_GOES_ON);
        assert_false(ev_is_active(&w.client.watch));
        close_end(&w.client_end);
        ev_run(w.loop, EVRUN_NOWAIT); /* the kernel tells it, then it is told */
        assert_int_equal(turn(&w), EXCHANGE_CUT);
        assert_true(w.x.client_ended);
        world_close(&w);
    }
}

static void test_websocket(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, "GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
                   "frame");
    exchange_begin(&w.x, &w.server, &route);
    send_to(w.server_end, "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\n"
                          "Upgrade: websocket\r\n\r\n");
    assert_int_equal(run(&w), EXCHANGE_TUNNEL);
    assert_true(str_equal(buf_view(&w.in), STR("frame")));
    world_close(&w);
}

/* What somebody else has answered is thrown away, and the next request is found. */
static void test_dropped(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, POST_OF(4) "bo");
    assert_true(exchange_droppable(&w.x));
    exchange_drop(&w.x);
    assert_int_equal(run(&w), EXCHANGE_GOES_ON);
    assert_true(exchange_drains(&w.x));
    send_to(w.client_end, "dyGET /");
    assert_int_equal(run(&w), EXCHANGE_OVER);
    assert_true(w.x.keep_client);
    assert_true(str_equal(buf_view(&w.in), STR("GET /")));
    assert_string_equal(w.to_server, "");
    world_close(&w);
    world_open(&w, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_false(exchange_droppable(&w.x));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_what_may_be_sent_again),
        cmocka_unit_test(test_again_over_another_connection),
        cmocka_unit_test(test_a_client_that_leaves),
        cmocka_unit_test(test_a_client_that_has_said_all),
        cmocka_unit_test(test_a_client_that_goes_unheard),
        cmocka_unit_test(test_websocket),
        cmocka_unit_test(test_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
