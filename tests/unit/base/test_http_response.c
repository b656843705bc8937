#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/base/http.h"

enum { HEAD_MAX = 4096 };

struct run {
    struct http_field fields[HTTP_FIELDS_MAX];
    struct http_head head;
    size_t used;
    const char *why;
    enum http_parse result;
};

static void parse(struct run *r, struct str in, size_t max)
{
    *r = (struct run){0};
    r->result = http_parse_response(in, max, r->fields, &r->head, &r->used, &r->why);
}

#define OK_LINE "HTTP/1.1 200 OK\r\n"

static const struct bad_row {
    struct str in;
    const char *why; /* a part of the sentence */
} bad_rows[] = {
    /* not a response */
    {STR("hello, this is no HTTP\n"), "not HTTP"},
    {STR("GET / HTTP/1.1\r\n\r\n"), "not HTTP"},
    {STR("HTTP/0.9 200 OK\r\n\r\n"), "not HTTP"},
    {STR("HTTP/2 200\r\n\r\n"), "not HTTP"},
    {STR("HTTP/1.2 200 OK\r\n\r\n"), "not HTTP"},
    {STR("HTTP/1.10 200 OK\r\n\r\n"), "not HTTP"},
    {STR("http/1.1 200 OK\r\n\r\n"), "not HTTP"},
    {STR("ICY 200 OK\r\n\r\n"), "not HTTP"},
    {STR("\r\nHTTP/1.1 200 OK\r\n\r\n"), "not HTTP"},
    {STR(" HTTP/1.1 200 OK\r\n\r\n"), "not HTTP"},
    /* status */
    {STR("HTTP/1.1 20 OK\r\n\r\n"), "status"},
    {STR("HTTP/1.1 099 OK\r\n\r\n"), "status"},
    {STR("HTTP/1.1 000 OK\r\n\r\n"), "status"},
    {STR("HTTP/1.1 2000 OK\r\n\r\n"), "status"},
    {STR("HTTP/1.1  200 OK\r\n\r\n"), "status"},
    {STR("HTTP/1.1 -20 OK\r\n\r\n"), "status"},
    {STR("HTTP/1.1 200\tOK\r\n\r\n"), "status"},
    {STR("HTTP/1.1 \r\n\r\n"), "status"},
    {STR("HTTP/1.1\r\n\r\n"), "not HTTP"},
    {STR("HTTP/1.1 200 O\0K\r\n\r\n"), "control"},
    /* framing */
    {STR(OK_LINE "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"), "beside"},
    {STR(OK_LINE "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"), "beside"},
    {STR(OK_LINE "Content-Length: 4\r\nContent-Length: 5\r\n\r\n"), "Content-Length"},
    {STR(OK_LINE "Content-Length: 4\r\nContent-Length: 4\r\n\r\n"), "Content-Length"},
    {STR(OK_LINE "Content-Length: 4, 4\r\n\r\n"), "Content-Length"},
    {STR(OK_LINE "Content-Length: +4\r\n\r\n"), "Content-Length"},
    {STR(OK_LINE "Content-Length: -1\r\n\r\n"), "Content-Length"},
    {STR(OK_LINE "Content-Length:\r\n\r\n"), "Content-Length"},
    {STR(OK_LINE "Content-Length: 0x4\r\n\r\n"), "Content-Length"},
    {STR(OK_LINE "Content-Length: 18446744073709551617\r\n\r\n"), "Content-Length"},
    {STR(OK_LINE "Transfer-Encoding: gzip, chunked\r\n\r\n"), "Transfer-Encoding"},
    {STR(OK_LINE "Transfer-Encoding: identity\r\n\r\n"), "Transfer-Encoding"},
    {STR(OK_LINE "Transfer-Encoding: chunkedx\r\n\r\n"), "Transfer-Encoding"},
    {STR(OK_LINE "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n"),
     "Transfer-Encoding"},
    {STR("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), "1.0"},
    /* lines */
    {STR("HTTP/1.1 200 OK\nContent-Length: 0\n\n"), "LF"},
    {STR(OK_LINE "X: a\n\r\n"), "LF"},
    {STR(OK_LINE "X: a\rY: b\r\n\r\n"), "CR"},
    {STR(OK_LINE "X: a\r\n folded\r\n\r\n"), "blank"},
    {STR(OK_LINE " X: a\r\n\r\n"), "blank"},
    {STR(OK_LINE "X : a\r\n\r\n"), "field"},
    {STR(OK_LINE ": a\r\n\r\n"), "field"},
    {STR(OK_LINE "no colon\r\n\r\n"), "field"},
    {STR(OK_LINE "X: \x1b[2J\r\n\r\n"), "control"},
    {STR(OK_LINE "X: a\0b\r\n\r\n"), "control"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_rows / sizeof *bad_rows; i++) {
        struct run r;

        parse(&r, bad_rows[i].in, HEAD_MAX);
        if (r.result != HTTP_BAD || strstr(r.why, bad_rows[i].why) == NULL)
            fail_msg("row %zu: result %d, \"%s\"", i, r.result,
                     r.why != NULL ? r.why : "");
    }
}

static const struct good_row {
    struct str in;
    unsigned status, minor;
    const char *phrase;
    bool chunked, has_length;
    unsigned long long length;
} good_rows[] = {
    {STR(OK_LINE "\r\n"), 200, 1, "OK", false, false, 0},
    {STR("HTTP/1.0 404 Not Found\r\n\r\n"), 404, 0, "Not Found", false, false, 0},
    {STR("HTTP/1.1 200 \r\n\r\n"), 200, 1, "", false, false, 0},
    {STR("HTTP/1.1 200\r\n\r\n"), 200, 1, "", false, false, 0},
    {STR("HTTP/1.1 999 \xc3\xbc:\tx\r\n\r\n"), 999, 1, "\xc3\xbc:\tx", false, false, 0},
    {STR("HTTP/1.1 100 Continue\r\n\r\n"), 100, 1, "Continue", false, false, 0},
    {STR("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
     101, 1, "Switching", false, false, 0},
    {STR("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"), 204, 1, "No Content",
     false, true, 5},
    {STR(OK_LINE "Transfer-Encoding: Chunked\r\n\r\n"), 200, 1, "OK", true, false, 0},
    {STR(OK_LINE "Content-Length: 123456789012345678\r\n\r\n"), 200, 1, "OK", false,
     true, 123456789012345678},
    {STR(OK_LINE "Content-Length: 007\r\n\r\n"), 200, 1, "OK", false, true, 7},
};

static void check_good(const struct good_row *row)
{
    struct run r;

    parse(&r, row->in, HEAD_MAX);
    if (r.result != HTTP_DONE)
        fail_msg("\"" STR_FMT "\": %s", STR_ARG(row->in), r.why);
    assert_int_equal(r.used, row->in.n);
    assert_int_equal(r.head.status, row->status);
    assert_int_equal(r.head.minor, row->minor);
    assert_true(str_equal(r.head.phrase, str_from(row->phrase)));
    assert_int_equal(r.head.chunked, row->chunked);
    assert_int_equal(r.head.has_length, row->has_length);
    assert_true(r.head.length == row->length);
}

/* And what stands behind a head is not looked at; of a part of it more is asked. */
static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_rows / sizeof *good_rows; i++) {
        struct str in = good_rows[i].in;
        char text[512];
        struct run r;

        check_good(&good_rows[i]);
        memcpy(text, in.p, in.n);
        memcpy(text + in.n, "\n\n\0\r", 4);
        parse(&r, (struct str){text, in.n + 4}, HEAD_MAX);
        assert_int_equal(r.result, HTTP_DONE);
        assert_int_equal(r.used, in.n);
        for (size_t n = 0; n < in.n; n++) {
            parse(&r, str_head(in, n), HEAD_MAX);
            if (r.result != HTTP_MORE)
                fail_msg("the first %zu of row %zu: %d", n, i, r.result);
        }
    }
}

static void test_views(void **state)
{
    struct str in =
        STR(OK_LINE "A:  b c \r\nSet-Cookie: x\r\nset-cookie: y, Z\r\n\r\n");
    struct run r;

    (void)state;
    parse(&r, in, HEAD_MAX);
    assert_int_equal(r.head.field_count, 3);
    assert_true(str_equal(*http_get(&r.head, STR("a")), STR("b c")));
    assert_true(r.head.fields[0].value.p > in.p &&
                r.head.fields[0].value.p < in.p + in.n);
    assert_int_equal(http_count(&r.head, STR("Set-Cookie")), 2);
    assert_true(http_lists(&r.head, STR("set-cookie"), STR("z")));
    assert_true(http_lists(&r.head, STR("set-cookie"), STR("x")));
    assert_false(http_lists(&r.head, STR("set-cookie"), STR("xy")));
    assert_false(http_lists(&r.head, STR("cookie"), STR("x")));
}

static void test_limits(void **state)
{
    char text[HEAD_MAX + 64] = OK_LINE "X: ";
    size_t n = strlen(text);
    struct run r;

    (void)state;
    memset(text + n, 'a', sizeof text - n);
    parse(&r, (struct str){text, HEAD_MAX - 1}, HEAD_MAX);
    assert_int_equal(r.result, HTTP_MORE);
    parse(&r, (struct str){text, HEAD_MAX}, HEAD_MAX);
    assert_int_equal(r.result, HTTP_TOO_LARGE);
    n = strlen(OK_LINE);
    for (size_t i = 0; i <= HTTP_FIELDS_MAX; i++, n += 6)
        memcpy(text + n, "a: b\r\n", 6);
    parse(&r, (struct str){text, n}, HEAD_MAX);
    assert_int_equal(r.result, HTTP_TOO_LARGE);
    memcpy(text + n - 6, "\r\n", 2);
    parse(&r, (struct str){text, n - 4}, HEAD_MAX);
    assert_int_equal(r.result, HTTP_DONE);
    assert_int_equal(r.head.field_count, HTTP_FIELDS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
