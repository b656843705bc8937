#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/rewrite.h"

enum { OUT_MAX = 4096, ARENA_SIZE = 16384 };

static const struct target name_80 = {HOST_NAME, STR("a.test"), {0}, 80};
static const struct target name_8080 = {HOST_NAME, STR("a.test"), {0}, 8080};
static const struct target v6 = {HOST_ADDR, STR("2001:db8::1"), {.family = 6}, 80};
static const struct target v6_81 = {HOST_ADDR, STR("2001:db8::1"), {.family = 6}, 81};

/* Requests as a front gives them: the target is in origin form. */
static const struct request_row {
    struct str in;
    struct rewrite_route route;
    const char *out;
} requests[] = {
    {STR("GET /x HTTP/1.1\r\nHost: evil.test\r\nA: b\r\n\r\n"),
     {&name_80, false, {NULL, 0}},
     "GET /x HTTP/1.1\r\nHost: a.test\r\nA: b\r\n\r\n"},
    {STR("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n"),
     {&name_8080, false, {NULL, 0}},
     "GET / HTTP/1.1\r\nHost: a.test:8080\r\n\r\n"},
    {STR("GET / HTTP/1.0\r\n\r\n"),
     {&v6, false, {NULL, 0}},
     "GET / HTTP/1.1\r\nHost: [2001:db8::1]\r\n\r\n"},
    {STR("GET / HTTP/1.0\r\n\r\n"),
     {&v6_81, true, {NULL, 0}},
     "GET http://[2001:db8::1]:81/ HTTP/1.1\r\nHost: [2001:db8::1]:81\r\n\r\n"},
    {STR("POST /x HTTP/1.1\r\nContent-Length: 007\r\nExpect: 100-continue\r\n\r\n"),
     {&name_80, false, {NULL, 0}},
     "POST /x HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\n"
     "Content-Length: 7\r\n\r\n"},
    {STR("POST /x HTTP/1.1\r\nTransfer-Encoding: CHUNKED\r\nTE: trailers\r\n\r\n"),
     {&name_80, false, {NULL, 0}},
     "POST /x HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"},
    /* To a parent: its credentials, never the client's. */
    {STR("GET /x HTTP/1.1\r\nProxy-Authorization: Basic Y2xpZW50\r\n\r\n"),
     {&name_80, true, STR("Basic b3Vycw==")},
     "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\n"
     "Proxy-Authorization: Basic b3Vycw==\r\n\r\n"},
    {STR("OPTIONS * HTTP/1.1\r\nMax-Forwards: 10\r\n\r\n"),
     {&name_8080, true, {NULL, 0}},
     "OPTIONS http://a.test:8080 HTTP/1.1\r\nHost: a.test:8080\r\n"
     "Max-Forwards: 9\r\n\r\n"},
    {STR("OPTIONS * HTTP/1.1\r\nMax-Forwards: x\r\n\r\n"),
     {&name_80, false, {NULL, 0}},
     "OPTIONS * HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: x\r\n\r\n"},
    /* One upgrade passes, and only as a whole. */
    {STR("GET /ws HTTP/1.1\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
         "Sec-WebSocket-Key: x\r\n\r\n"),
     {&name_80, false, {NULL, 0}},
     "GET /ws HTTP/1.1\r\nHost: a.test\r\nSec-WebSocket-Key: x\r\n"
     "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"},
    {STR("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"),
     {&name_80, false, {NULL, 0}},
     "GET /ws HTTP/1.1\r\nHost: a.test\r\n\r\n"},
    {STR("GET /ws HTTP/1.1\r\nUpgrade: h2c, websocket\r\nConnection: Upgrade\r\n\r\n"),
     {&name_80, false, {NULL, 0}},
     "GET /ws HTTP/1.1\r\nHost: a.test\r\n\r\n"},
    {STR("POST /ws HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Content-Length: 1\r\n\r\n"),
     {&name_80, false, {NULL, 0}},
     "POST /ws HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\n"},
};

static void expect(const struct buf *out, const char *text)
{
    if (!str_equal(buf_view(out), str_from(text)))
        fail_msg("\"" STR_FMT "\" instead of \"%s\"", STR_ARG(buf_view(out)), text);
}

static void test_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct http_head head;
        struct arena a;
        struct hops hops;
        struct buf out;
        size_t used;

        arena_init(&a, ARENA_SIZE);
        buf_init(&out, OUT_MAX);
        assert_int_equal(
            http_parse_request(requests[i].in, OUT_MAX, &a, &head, &used, NULL),
            HTTP_DONE);
        assert_true(hops_read(&hops, &head));
        assert_true(rewrite_request(&out, &head, &hops, &requests[i].route));
        expect(&out, requests[i].out);
        buf_done(&out);
        arena_done(&a);
    }
}

static const struct response_row {
    struct str in;
    struct rewrite_answer answer;
    const char *out;
} responses[] = {
    {STR("HTTP/1.0 200 OK\r\nContent-Length: 3\r\nServer: x\r\n\r\n"),
     {.framing = HTTP_FRAMING_LENGTH, .keep = true},
     "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 3\r\n\r\n"},
    {STR("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n"),
     {.framing = HTTP_FRAMING_CHUNKED, .keep = true},
     "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n"},
    {STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
     {.framing = HTTP_FRAMING_CLOSE},
     "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"},
    {STR("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
     {.framing = HTTP_FRAMING_NONE, .bodiless_length = true, .keep = true},
     "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"},
    {STR("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n"),
     {.framing = HTTP_FRAMING_NONE, .keep = true},
     "HTTP/1.1 204 No\r\n\r\n"},
    {STR("HTTP/1.1 101 Go\r\nUpgrade: WEBSOCKET\r\nConnection: upgrade, X-A\r\n"
         "X-A: 1\r\nSec-WebSocket-Accept: x\r\n\r\n"),
     {.keep = true, .websocket = true},
     "HTTP/1.1 101 Go\r\nSec-WebSocket-Accept: x\r\nConnection: Upgrade\r\n"
     "Upgrade: websocket\r\n\r\n"},
};

static void test_responses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
        struct http_field fields[HTTP_FIELDS_MAX];
        struct http_head head;
        struct hops hops;
        struct buf out;
        size_t used;

        buf_init(&out, OUT_MAX);
        assert_int_equal(
            http_parse_response(responses[i].in, OUT_MAX, fields, &head, &used, NULL),
            HTTP_DONE);
        assert_true(hops_read(&hops, &head));
        assert_true(rewrite_response(&out, &head, &hops, &responses[i].answer));
        expect(&out, responses[i].out);
        buf_done(&out);
    }
}

static void test_no_room(void **state)
{
    struct http_field field = {STR("X"), STR("0123456789")};
    struct http_head head = {
        .method = STR("GET"), .target = STR("/"), .fields = &field, .field_count = 1};
    const struct rewrite_route route = {.target = &name_80};
    const struct rewrite_answer answer = {.keep = true};
    struct hops hops = {.count = 0};

    (void)state;
    for (size_t max = 0; max < 40; max++) {
        struct buf out;

        buf_init(&out, max);
        assert_false(rewrite_request(&out, &head, &hops, &route));
        buf_done(&out);
    }
    for (size_t max = 0; max < 20; max++) {
        struct buf out;

        buf_init(&out, max);
        head.status = 200;
        assert_false(rewrite_response(&out, &head, &hops, &answer));
        buf_done(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_responses),
        cmocka_unit_test(test_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
