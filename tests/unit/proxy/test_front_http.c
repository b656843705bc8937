#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/base/fd.h"
#include "proxy/base/http.h"
#include "proxy/front.h"

enum { HEAD_MAX = 16384, ARENA_SIZE = 32768 };

struct run {
    struct arena arena;
    struct front_asked asked;
    size_t used;
    enum front_parse result;
};

static void ask(struct run *r, struct str in)
{
    unsigned char phase = 0;
    struct front_call call;

    *r = (struct run){0};
    arena_init(&r->arena, ARENA_SIZE);
    call = (struct front_call){
        .in = in, .head_max = HEAD_MAX, .arena = &r->arena, .phase = &phase};
    r->result = front_http.parse(&call, &r->asked, &r->used);
}

static const struct row {
    struct str in;
    unsigned status; /* 0: FRONT_DONE */
    enum reason reason;
    const char *host; /* of the target; NULL: none was understood */
    unsigned port;
    struct str raw;
    const char *form;
} rows[] = {
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"),
     0,
     0,
     "a.test",
     443,
     {NULL, 0},
     "connect"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\n\r\n"),
     0,
     0,
     "a.test",
     443,
     {NULL, 0},
     "connect"},
    {STR("CONNECT A.Test.:22 HTTP/1.0\r\n\r\n"),
     0,
     0,
     "a.test",
     22,
     {NULL, 0},
     "connect"},
    {STR("CONNECT [::ffff:127.0.0.1]:80 HTTP/1.0\r\n\r\n"),
     0,
     0,
     "127.0.0.1",
     80,
     {NULL, 0},
     "connect"},
    /* A Host that differs is no second vote, whatever it holds. */
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
     0,
     0,
     "a.test",
     443,
     {NULL, 0},
     "connect"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost: @%%/\\ x\r\n\r\n"),
     0,
     0,
     "a.test",
     443,
     {NULL, 0},
     "connect"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost:\r\n\r\n"),
     0,
     0,
     "a.test",
     443,
     {NULL, 0},
     "connect"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 0\r\n\r\n"),
     0,
     0,
     "a.test",
     443,
     {NULL, 0},
     "connect"},
    /* A body would be the next request for whoever reads it otherwise. */
    {STR("CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 45\r\n\r\nGET /admin"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     443,
     {NULL, 0},
     "connect"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     443,
     {NULL, 0},
     "connect"},
    {STR("CONNECT a.test:443 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400,
     REASON_MALFORMED_REQUEST, NULL, 0, STR("a.test:443"), "connect"},
    {STR("CONNECT evil.test\0.a.test:443 HTTP/1.1\r\n\r\n"), 400,
     REASON_MALFORMED_REQUEST, NULL, 0, STR("evil.test\0.a.test:443"), "connect"},
    {STR("CONNECT evil.test:4 43 HTTP/1.1\r\n\r\n"), 400, REASON_MALFORMED_REQUEST,
     NULL, 0, STR("evil.test:4"), "connect"},
    /* Malformed targets: recorded, but never what may be a password. */
    {STR("CONNECT a.test HTTP/1.1\r\n\r\n"), 400, REASON_MALFORMED_HOST, NULL, 0,
     STR("a.test"), "connect"},
    {STR("CONNECT me:secret@a.test:443 HTTP/1.1\r\n\r\n"), 400, REASON_MALFORMED_HOST,
     NULL, 0, STR("@a.test:443"), "connect"},
    {STR("CONNECT me:secret@a.test:443 HTTP/1.2\r\n\r\n"), 400,
     REASON_MALFORMED_REQUEST, NULL, 0, STR("@a.test:443"), "connect"},
    {STR("CONNECT http://a.test:443/ HTTP/1.1\r\n\r\n"), 400, REASON_MALFORMED_HOST,
     NULL, 0, STR("http://a.test:443/"), "connect"},
    {STR("CONNECT / HTTP/1.1\r\n\r\n"), 400, REASON_MALFORMED_HOST, NULL, 0, STR("/"),
     "connect"},
    {STR("CONNECT 2130706433:80 HTTP/1.1\r\n\r\n"), 400, REASON_MALFORMED_HOST, NULL, 0,
     STR("2130706433:80"), "connect"},
    {STR("CONNECT aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         ".test:443 HTTP/1.1\r\n\r\n"),
     400, REASON_MALFORMED_HOST, NULL, 0,
     STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
     "connect"},
    /* Plain requests. */
    {STR("GET http://a.test/x HTTP/1.1\r\nHost: b.test\r\n\r\n"),
     0,
     0,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET HTTP://A.test:8080/ HTTP/1.1\r\nHost: x\r\n\r\n"),
     0,
     0,
     "a.test",
     8080,
     {NULL, 0},
     "http"},
    {STR("GET http://[2001:db8::1]/ HTTP/1.0\r\n\r\n"),
     0,
     0,
     "2001:db8::1",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://[2001:db8::1]:81/ HTTP/1.1\r\nHost:\r\n\r\n"),
     0,
     0,
     "2001:db8::1",
     81,
     {NULL, 0},
     "http"},
    {STR("OPTIONS http://a.test HTTP/1.0\r\n\r\n"),
     0,
     0,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("POST http://a.test/?a=b@c HTTP/1.0\r\nContent-Length: 5\r\n\r\n"),
     0,
     0,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://a.test/ HTTP/1.1\r\nHost: a@b\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://a.test/ HTTP/1.1\r\nHost: a/b\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://a.test/ HTTP/1.1\r\nHost: a b\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://a.test/ HTTP/1.1\r\nHost: a, b\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://a.test/ HTTP/1.1\r\nHost: a#\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://a.test/ HTTP/1.1\r\nHost: a?b\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://a.test/ HTTP/1.1\r\nHost: \xc3\xbc.test\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://a.test/ HTTP/1.1\r\nHost: a\\b\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://a.test/ HTTP/1.1\r\nHost: <a>\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://a.test/ HTTP/1.1\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("TRACE http://a.test HTTP/1.0\r\n\r\n"),
     501,
     REASON_NOT_SUPPORTED,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("GET http://evil.test?@a.test/ HTTP/1.0\r\n\r\n"), 400, REASON_MALFORMED_HOST,
     NULL, 0, STR("@a.test"), "http"},
    {STR("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"),
     400,
     REASON_NOT_SUPPORTED,
     NULL,
     0,
     {NULL, 0},
     "http"},
    {STR("GET //a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"),
     400,
     REASON_NOT_SUPPORTED,
     NULL,
     0,
     {NULL, 0},
     "http"},
    {STR("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n"),
     400,
     REASON_NOT_SUPPORTED,
     NULL,
     0,
     {NULL, 0},
     "http"},
    {STR("GET https://a.test/ HTTP/1.1\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     NULL,
     0,
     {NULL, 0},
     "http"},
    {STR("GET ftp://a.test/ HTTP/1.1\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     NULL,
     0,
     {NULL, 0},
     "http"},
    {STR("GET http:///a.test HTTP/1.1\r\n\r\n"),
     400,
     REASON_MALFORMED_HOST,
     NULL,
     0,
     {NULL, 0},
     "http"},
    {STR("GET http://me:secret@a.test/ HTTP/1.1\r\n\r\n"), 400, REASON_MALFORMED_HOST,
     NULL, 0, STR("@a.test"), "http"},
    {STR("GET http://allowed.test:80#@evil.test/ HTTP/1.1\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     NULL,
     0,
     {NULL, 0},
     "http"},
    {STR("GET http://evil.test\\@allowed.test/ HTTP/1.1\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     NULL,
     0,
     {NULL, 0},
     "http"},
    {STR("GET http://[::1%25eth0]/ HTTP/1.1\r\n\r\n"), 400, REASON_MALFORMED_HOST, NULL,
     0, STR("[::1%25eth0]"), "http"},
    {STR("GET http://evil%2etest/?token=x HTTP/1.1\r\n\r\n"), 400,
     REASON_MALFORMED_HOST, NULL, 0, STR("evil%2etest"), "http"},
    {STR("GET http://a.test/x#y HTTP/1.1\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     "a.test",
     80,
     {NULL, 0},
     "http"},
    {STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
     400,
     REASON_MALFORMED_REQUEST,
     NULL,
     0,
     {NULL, 0},
     "http"},
    {STR("\x16\x03\x01"), 400, REASON_MALFORMED_REQUEST, NULL, 0, {NULL, 0}, "http"},
};

static void check_row(const struct row *row)
{
    struct run r;

    ask(&r, row->in);
    if (r.result != (row->status == 0 ? FRONT_DONE : FRONT_REFUSED) ||
        r.asked.status != row->status || r.asked.reason != row->reason)
        fail_msg("\"" STR_FMT "\": result %d, status %u, reason %d", STR_ARG(row->in),
                 r.result, r.asked.status, r.asked.reason);
    assert_string_equal(r.asked.form, row->form);
    assert_int_equal(r.asked.target.kind != HOST_NONE, row->host != NULL);
    if (row->host != NULL) {
        assert_string_equal(r.asked.target.host.p, row->host);
        assert_int_equal(r.asked.target.port, row->port);
    }
    if (!str_equal(r.asked.raw, row->raw))
        fail_msg("\"" STR_FMT "\": raw is \"" STR_FMT "\"", STR_ARG(row->in),
                 STR_ARG(r.asked.raw));
    assert_int_equal(r.asked.head != NULL,
                     row->status == 0 && strcmp(row->form, "http") == 0);
    if (row->status == 0) {
        assert_int_equal(r.used, row->in.n);
    } else {
        assert_int_equal(r.used, 0);
        assert_true(strlen(r.asked.why) > 0);
    }
    arena_done(&r.arena);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
}

/* What a server is asked for is in origin form. */
static void test_origin_form(void **state)
{
    static const char *const forms[][2] = {
        {"GET http://a.test", "/"},
        {"OPTIONS http://a.test", "*"},
        {"OPTIONS http://a.test/", "/"},
        {"GET http://a.test//b?c=/d", "//b?c=/d"},
        {"GET http://a.test/a/../b?x:@y", "/a/../b?x:@y"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[128];
        struct run r;

        snprintf(text, sizeof text, "%s HTTP/1.0\r\n\r\n", forms[i][0]);
        ask(&r, str_from(text));
        assert_int_equal(r.result, FRONT_DONE);
        assert_true(str_equal(r.asked.head->target, str_from(forms[i][1])));
        arena_done(&r.arena);
    }
}

static void test_early_data(void **state)
{
    struct run r;
    struct str in = STR("CONNECT a.test:443 HTTP/1.1\r\n\r\nCONNECT evil.test:443 "
                        "HTTP/1.1\r\n\r\n");

    (void)state;
    ask(&r, in);
    assert_int_equal(r.result, FRONT_DONE);
    assert_string_equal(r.asked.target.host.p, "a.test");
    assert_true(str_starts(str_skip(in, r.used), STR("CONNECT evil.test")));
    arena_done(&r.arena);
}

static void test_limits(void **state)
{
    char *in = malloc(HEAD_MAX + 1);
    struct run r;

    (void)state;
    memset(in, 'a', HEAD_MAX + 1);
    memcpy(in, "CONNECT a", 9);
    ask(&r, (struct str){in, HEAD_MAX - 1});
    assert_int_equal(r.result, FRONT_MORE);
    arena_done(&r.arena);
    ask(&r, (struct str){in, HEAD_MAX + 1});
    assert_int_equal(r.result, FRONT_REFUSED);
    assert_int_equal(r.asked.status, 431);
    assert_int_equal(r.asked.reason, REASON_LIMIT);
    arena_done(&r.arena);
    ask(&r, (struct str){NULL, 0});
    assert_int_equal(r.result, FRONT_MORE);
    arena_done(&r.arena);
    free(in);
}

/* The recorded and handed cases, byte for byte (their names are their ids). */
static const struct file_row {
    const char *name;
    const char *host; /* NULL: 400 */
} files[] = {
    {"PRO-01.bin", "pypi.example.test"}, {"PRO-03a.bin", "api.example.test"},
    {"PRO-03b.bin", "api.example.test"}, {"PRO-03c.bin", "denied.test"},
    {"BYP-11-barelf.bin", NULL},         {"BYP-11-crlf-in-header.bin", NULL},
    {"BYP-11-nulheader.bin", NULL},
};

static void check_file(const char *name, const char *host)
{
    char path[512], *text;
    size_t len;
    struct err e;
    struct run r;

    snprintf(path, sizeof path, TEST_SHARED_DATA "/bytes/%s", name);
    if (!fd_read_file(path, 65536, &text, &len, &e))
        fail_msg("%s", e.text);
    ask(&r, (struct str){text, len});
    if (r.result != (host != NULL ? FRONT_DONE : FRONT_REFUSED) ||
        r.asked.status != (host != NULL ? 0 : 400))
        fail_msg("%s: result %d, status %u", name, r.result, r.asked.status);
    if (host != NULL)
        assert_string_equal(r.asked.target.host.p, host);
    arena_done(&r.arena);
    free(text);
}

static void test_files(void **state)
{
    char name[32];

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        check_file(files[i].name, files[i].host);
    for (int i = 0; i <= 31; i++) {
        snprintf(name, sizeof name, "BYP-11-%02d.bin", i);
        check_file(name, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_origin_form),
        cmocka_unit_test(test_early_data), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
