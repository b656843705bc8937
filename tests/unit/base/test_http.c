#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/base/http.h"

enum { HEAD_MAX = 16384, ARENA_SIZE = 32768 };

struct run {
    struct arena arena;
    struct http_head head;
    size_t used;
    const char *why;
    enum http_parse result;
};

static void parse(struct run *r, struct str in, size_t max)
{
    *r = (struct run){0};
    arena_init(&r->arena, ARENA_SIZE);
    r->result = http_parse_request(in, max, &r->arena, &r->head, &r->used, &r->why);
}

#define HOST "Host: a.test\r\n"

/* What could be read two ways, or be smuggled, or is another protocol: the rows on
 * framing and host strings of the list of attacks, and their like. */
static const struct bad_row {
    struct str in;
    const char *why; /* a part of the sentence */
} bad_rows[] = {
    /* framing */
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST
         "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"),
     "beside"},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST
         "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"),
     "beside"},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST
         "Content-Length: 4\r\nContent-Length: 5\r\n\r\n"),
     "Content-Length"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 4\r\n"
         "Content-Length: 4\r\n\r\n"),
     "Content-Length"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 4, 4\r\n\r\n"),
     "Content-Length"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: +4\r\n\r\n"),
     "Content-Length"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: -4\r\n\r\n"),
     "Content-Length"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length:  0x4\r\n\r\n"),
     "Content-Length"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 4 4\r\n\r\n"),
     "Content-Length"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length:\r\n\r\n"), "Content-Length"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: \r\n\r\n"), "Content-Length"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\n"
         "Content-Length: 18446744073709551617\r\n\r\n"),
     "Content-Length"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 1000000000000000000\r\n\r\n"),
     "Content-Length"},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n"
         "Transfer-Encoding: chunked-false\r\n\r\n"),
     "Transfer-Encoding"},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n"
         "Transfer-Encoding: chunked\r\n\r\n"),
     "Transfer-Encoding"},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST "Transfer-Encoding: chunkedx\r\n\r\n"),
     "Transfer-Encoding"},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST
         "Transfer-Encoding: chunked, identity\r\n\r\n"),
     "Transfer-Encoding"},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST
         "Transfer-Encoding: gzip, chunked\r\n\r\n"),
     "Transfer-Encoding"},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST "Transfer-Encoding:\r\n\r\n"),
     "Transfer-Encoding"},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n\r\n"),
     "Transfer-Encoding"},
    {STR("POST http://a.test/ HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"),
     "1.0"},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST
         "Transfer-Encoding:\r\n chunked\r\n\r\n"),
     "blank"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\n" HOST "Host: b.test\r\n\r\n"), "Host"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\n" HOST HOST "\r\n"), "Host"},
    /* line ends */
    {STR("CONNECT a.test:443 HTTP/1.1\nHost: a.test\n\n"), "LF"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\n\r\n"), "LF"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\n"), "LF"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost: a\rb\r\n\r\n"), "CR"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\rX"), "CR"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\r\n\r\n"), "CR"},
    {STR("CONNECT a.test:443\rX: y HTTP/1.1\r\n\r\n"), "CR"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\n" HOST " Folded: x\r\n\r\n"), "blank"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\n" HOST "\tFolded: x\r\n\r\n"), "blank"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\n Host: a\r\n\r\n"), "blank"},
    {STR("\nCONNECT a.test:443 HTTP/1.1\r\n\r\n"), "empty lines"},
    {STR("\r\n\r\n\r\nCONNECT a.test:443 HTTP/1.1\r\n\r\n"), "empty lines"},
    {STR("\rCONNECT a.test:443 HTTP/1.1\r\n\r\n"), "empty lines"},
    /* fields */
    {STR("CONNECT a.test:443 HTTP/1.1\r\n: value\r\n\r\n"), "field"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost : a\r\n\r\n"), "field"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost\t: a\r\n\r\n"), "field"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length : 5\r\n\r\n"), ""},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nNo-Colon\r\n\r\n"), "field"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nX(y): z\r\n\r\n"), "field"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nB\xc3\xbc: z\r\n\r\n"), "field"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nX: a\0b\r\n\r\n"), "control"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nX\0: b\r\n\r\n"), "control"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nX: a\x7f\r\n\r\n"), "control"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nX: \x1b[2J\r\n\r\n"), "control"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\0evil.test\r\n\r\n"), "control"},
    {STR("CONNECT evil.test\0.a.test:443 HTTP/1.1\r\n\r\n"), "control"},
    /* request lines */
    {STR("GET http://a.test/ x HTTP/1.1\r\n" HOST "\r\n"), "METHOD"},
    {STR("CONNECT  a.test:443 HTTP/1.1\r\n\r\n"), "METHOD"},
    {STR("CONNECT a.test:443  HTTP/1.1\r\n\r\n"), "METHOD"},
    {STR("CONNECT a.test:443 HTTP/1.1 \r\n\r\n"), "1.1"},
    {STR("CONNECT\ta.test:443\tHTTP/1.1\r\n\r\n"), ""},
    {STR("CONNECT a.test\t:443 HTTP/1.1\r\n\r\n"), "tab"},
    {STR(" CONNECT a.test:443 HTTP/1.1\r\n\r\n"), "not HTTP"},
    {STR("CONNECT HTTP/1.1\r\n\r\n"), ""},
    {STR("connect a.test:443 HTTP/1.1\r\n\r\n"), "not HTTP"},
    {STR("Connect a.test:443 HTTP/1.1\r\n\r\n"), "method"},
    {STR("FROBNICATE a.test:443 HTTP/1.1\r\n\r\n"), "method"},
    {STR("CONNECTX a.test:443 HTTP/1.1\r\n\r\n"), ""},
    {STR("GET /\r\n"), "0.9"},
    {STR("GET /\r\n\r\n"), "0.9"},
    {STR("CONNECT a.test:443\r\n\r\n"), "0.9"},
    {STR("CONNECT a.test:443 HTTP/0.9\r\n\r\n"), "1.0 and HTTP/1.1"},
    {STR("CONNECT a.test:443 HTTP/1.2\r\n\r\n"), "1.0 and HTTP/1.1"},
    {STR("CONNECT a.test:443 HTTP/1.10\r\n\r\n"), "1.0 and HTTP/1.1"},
    {STR("CONNECT a.test:443 HTTP/11\r\n\r\n"), "1.0 and HTTP/1.1"},
    {STR("CONNECT a.test:443 http/1.1\r\n\r\n"), ""},
    {STR("CONNECT a.test:443 ICE/1.0\r\n\r\n"), ""},
    {STR("CONNECT a.test:443 HTTP/2.0\r\n\r\n"), "HTTP/2"},
    {STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "HTTP/2"},
    /* other protocols */
    {STR("\x16\x03\x01\x02\x00\x01"), "TLS"},
    {STR("\x16"), "TLS"},
    {STR("\x05\x01\x00"), "not HTTP"},
    {STR("\x04\x01\x01\xbb\x7f\x00\x00\x01\x00"), "not HTTP"},
    {STR("SSH-2.0-OpenSSH_9.2p1\r\n"), ""},
    {STR("\x80\x2e\x01\x03\x01"), "not HTTP"},
    {STR("\0"), "not HTTP"},
    {STR("HTTP/1.1 200 OK\r\n\r\n"), ""},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_rows / sizeof *bad_rows; i++) {
        struct run r;

        parse(&r, bad_rows[i].in, HEAD_MAX);
        if (r.result != HTTP_BAD)
            fail_msg("row %zu \"" STR_FMT "\": result %d", i, STR_ARG(bad_rows[i].in),
                     r.result);
        if (r.why == NULL || strstr(r.why, bad_rows[i].why) == NULL)
            fail_msg("row %zu \"" STR_FMT "\": why is \"%s\"", i,
                     STR_ARG(bad_rows[i].in), r.why == NULL ? "NULL" : r.why);
        assert_int_equal(r.used, 0);
        assert_null(r.head.fields);
        arena_done(&r.arena);
    }
}

static const struct good_row {
    struct str in;
    const char *method, *target;
    unsigned minor, fields;
    bool has_body;
    size_t behind; /* bytes of `in` that are the caller's */
} good_rows[] = {
    {STR("CONNECT a.test:443 HTTP/1.1\r\n" HOST "\r\n"), "CONNECT", "a.test:443", 1, 1,
     false, 0},
    {STR("CONNECT a.test:443 HTTP/1.0\r\n\r\n"), "CONNECT", "a.test:443", 0, 0, false,
     0},
    {STR("\r\n\r\nCONNECT a.test:443 HTTP/1.1\r\n\r\n"), "CONNECT", "a.test:443", 1, 0,
     false, 0},
    /* Early data belongs to the tunnel, whatever it looks like. */
    {STR("CONNECT a.test:443 HTTP/1.1\r\n\r\n\x16\x03\x01"), "CONNECT", "a.test:443", 1,
     0, false, 3},
    {STR("CONNECT a.test:443 HTTP/1.1\r\n\r\n\r\n\r\n\n\r"), "CONNECT", "a.test:443", 1,
     0, false, 6},
    {STR("CONNECT a.test:443 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"), "CONNECT",
     "a.test:443", 1, 0, false, 18},
    {STR("CONNECT a.test:443 HTTP/1.1\r\n\r\nPRI * HTTP/2.0\r\n\r\n"), "CONNECT",
     "a.test:443", 1, 0, false, 18},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), "CONNECT",
     "a.test:443", 1, 1, false, 0},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 45\r\n\r\nGET"), "CONNECT",
     "a.test:443", 1, 1, true, 3},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0"),
     "CONNECT", "a.test:443", 1, 1, true, 1},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nbody"),
     "POST", "http://a.test/", 1, 2, true, 4},
    {STR("POST http://a.test/ HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n"),
     "POST", "http://a.test/", 1, 2, true, 0},
    {STR("GET /x HTTP/1.1\r\n" HOST "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\nx"),
     "GET", "/x", 1, 3, false, 1},
    {STR("GET http://a.test/ HTTP/1.1\r\nX:\r\nY: \t\r\nZ:a\r\n\r\n"), "GET",
     "http://a.test/", 1, 3, false, 0},
    {STR("GET http://a.test/ HTTP/1.1\r\nX: caf\xc3\xa9\ttea \r\n\r\n"), "GET",
     "http://a.test/", 1, 1, false, 0},
};

static void check_good(const struct run *r, const struct good_row *row)
{
    if (r->result != HTTP_DONE)
        fail_msg("\"" STR_FMT "\": result %d, %s", STR_ARG(row->in), r->result,
                 r->why == NULL ? "" : r->why);
    assert_true(str_equal(r->head.method, str_from(row->method)));
    assert_true(str_equal(r->head.target, str_from(row->target)));
    assert_int_equal(r->head.minor, row->minor);
    assert_int_equal(r->head.field_count, row->fields);
    assert_int_equal(r->head.has_body, row->has_body);
    assert_int_equal(r->used, row->in.n - row->behind);
}

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_rows / sizeof *good_rows; i++) {
        const struct good_row *row = &good_rows[i];
        struct run r;

        parse(&r, row->in, HEAD_MAX);
        check_good(&r, row);
        arena_done(&r.arena);
        /* Any shorter piece of the head asks for more; none is bad for being short. */
        for (size_t n = 0; n < row->in.n - row->behind; n++) {
            parse(&r, str_head(row->in, n), HEAD_MAX);
            if (r.result != HTTP_MORE)
                fail_msg("row %zu, %zu bytes: result %d, %s", i, n, r.result,
                         r.why == NULL ? "" : r.why);
            assert_int_equal(r.arena.used, 0);
            arena_done(&r.arena);
        }
    }
}

/* A bad head is bad as soon as its bad byte is there, in whatever pieces it comes; once
 * bad it stays bad. */
static void test_bad_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_rows / sizeof *bad_rows; i++) {
        bool was_bad = false;

        for (size_t n = 0; n <= bad_rows[i].in.n; n++) {
            struct run r;

            parse(&r, str_head(bad_rows[i].in, n), HEAD_MAX);
            assert_int_not_equal(r.result, HTTP_TOO_LARGE);
            if (r.result == HTTP_DONE || (was_bad && r.result != HTTP_BAD))
                fail_msg("row %zu, %zu bytes: result %d", i, n, r.result);
            was_bad = r.result == HTTP_BAD;
            arena_done(&r.arena);
        }
    }
}

static void test_fields(void **state)
{
    struct run r;
    const struct str *value;

    (void)state;
    parse(&r,
          STR("GET / HTTP/1.1\r\nHost:a.test\r\nX-A:  one \t\r\nx-a: two\r\n"
              "Empty:\r\n\r\n"),
          HEAD_MAX);
    assert_int_equal(r.result, HTTP_DONE);
    value = http_get(&r.head, STR("HOST"));
    assert_true(value != NULL && str_equal(*value, STR("a.test")));
    value = http_get(&r.head, STR("X-A"));
    assert_true(value != NULL && str_equal(*value, STR("one")));
    assert_int_equal(http_count(&r.head, STR("X-a")), 2);
    value = http_get(&r.head, STR("Empty"));
    assert_true(value != NULL && value->n == 0);
    assert_null(http_get(&r.head, STR("Absent")));
    assert_true(str_equal(r.head.fields[2].name, STR("x-a")));
    arena_done(&r.arena);
}

/* The views must not depend on the input: it is drained before they are used. */
static void test_views_are_copies(void **state)
{
    char text[] = "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n";
    struct run r;

    (void)state;
    parse(&r, str_from(text), HEAD_MAX);
    memset(text, 'x', sizeof text - 1);
    assert_true(str_equal(r.head.target, STR("a.test:443")));
    assert_true(str_equal(*http_get(&r.head, STR("host")), STR("a.test")));
    arena_done(&r.arena);
}

static size_t write_fields(char *out, size_t size, unsigned count, size_t value_len)
{
    size_t n = (size_t)snprintf(out, size, "CONNECT a.test:443 HTTP/1.1\r\n");

    for (unsigned i = 0; i < count; i++)
        n += (size_t)snprintf(out + n, size - n, "X%u: %0*d\r\n", i, (int)value_len, 1);
    n += (size_t)snprintf(out + n, size - n, "\r\n");
    assert_true(n < size);
    return n;
}

/* Also row P17: names that collide in a hash are just names here. Their number is
 * bounded, and a look-up is one pass. */
static void test_limits(void **state)
{
    char *text = malloc(1 << 17);
    struct run r;
    size_t n;

    (void)state;
    n = write_fields(text, 1 << 17, HTTP_FIELDS_MAX, 1);
    parse(&r, (struct str){text, n}, HEAD_MAX);
    assert_int_equal(r.result, HTTP_DONE);
    arena_done(&r.arena);
    n = write_fields(text, 1 << 17, HTTP_FIELDS_MAX + 1, 1);
    parse(&r, (struct str){text, n}, HEAD_MAX);
    assert_int_equal(r.result, HTTP_TOO_LARGE);
    arena_done(&r.arena);

    n = write_fields(text, 1 << 17, 90, 400);
    parse(&r, (struct str){text, n}, n - 1);
    assert_int_equal(r.result, HTTP_TOO_LARGE);
    arena_done(&r.arena);
    parse(&r, (struct str){text, n - 1}, n);
    assert_int_equal(r.result, HTTP_MORE);
    arena_done(&r.arena);

    /* The arena is too small for it: refused as well, not cut. */
    r = (struct run){0};
    arena_init(&r.arena, 1024);
    r.result = http_parse_request((struct str){text, n}, n, &r.arena, &r.head, &r.used,
                                  &r.why);
    assert_int_equal(r.result, HTTP_TOO_LARGE);
    arena_done(&r.arena);
    free(text);
}

static void test_long_target(void **state)
{
    char *text = malloc(1 << 15);

    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        int target = HTTP_TARGET_MAX + extra;
        int n = snprintf(text, 1 << 15, "GET /%0*d HTTP/1.1\r\n\r\n", target - 1, 1);
        struct run r;

        parse(&r, (struct str){text, (size_t)n}, HEAD_MAX);
        assert_int_equal(r.result, extra == 0 ? HTTP_DONE : HTTP_TOO_LARGE);
        arena_done(&r.arena);
    }
    free(text);
}

/* Row D2: a million empty lines cost nothing beyond the first three. */
static void test_million_empty_lines(void **state)
{
    enum { BYTES = 2000000 };
    char *text = malloc(BYTES);
    struct run r;

    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        text[i] = i % 2 == 0 ? '\r' : '\n';
    parse(&r, (struct str){text, BYTES}, HEAD_MAX);
    assert_int_equal(r.result, HTTP_BAD);
    arena_done(&r.arena);
    memset(text, 'a', BYTES);
    memcpy(text, "GET /", 5);
    parse(&r, (struct str){text, BYTES}, HEAD_MAX);
    assert_int_equal(r.result, HTTP_TOO_LARGE);
    arena_done(&r.arena);
    free(text);
}

/* A long head that comes byte by byte is judged at its line ends. */
static void test_drip(void **state)
{
    char *text = malloc(1 << 15);
    size_t n = write_fields(text, 1 << 15, 60, 200), bad_at = n - 150;
    struct run r;

    (void)state;
    for (size_t i = 0; i < n; i++) {
        parse(&r, (struct str){text, i}, HEAD_MAX);
        assert_int_equal(r.result, HTTP_MORE);
        arena_done(&r.arena);
    }
    text[bad_at] = '\0';
    for (size_t i = 0; i <= n; i++) {
        parse(&r, (struct str){text, i}, HEAD_MAX);
        assert_true(r.result == HTTP_MORE || (i > bad_at && r.result == HTTP_BAD));
        arena_done(&r.arena);
    }
    assert_int_equal(r.result, HTTP_BAD);
    free(text);
}

static void test_why_may_be_null(void **state)
{
    struct arena a;
    struct http_head head = {0};
    size_t used = 0;

    (void)state;
    arena_init(&a, ARENA_SIZE);
    assert_int_equal(
        http_parse_request(STR("GET /\r\n\r\n"), HEAD_MAX, &a, &head, &used, NULL),
        HTTP_BAD);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad_in_pieces),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_views_are_copies),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_long_target),
        cmocka_unit_test(test_drip),
        cmocka_unit_test(test_million_empty_lines),
        cmocka_unit_test(test_why_may_be_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
