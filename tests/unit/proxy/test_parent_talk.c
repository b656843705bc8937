#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "proxy/parent_talk.h"

/* A parent and a target; what is said to it. */
struct scene {
    struct parent parent;
    struct arena arena;
    struct target to;
    struct buf out;
    struct parent_talk talk;
};

static void begin(struct scene *s, const char *url, const char *host)
{
    struct err e = {""};

    if (!parent_from_url(str_from(url), &s->parent, &e))
        fail_msg("%s: %s", url, e.text);
    arena_init(&s->arena, 1024);
    assert_true(
        target_set(&s->to, &s->arena, str_from(host), strchr(host, ':') != NULL, 443));
    buf_init(&s->out, TALK_OUT_MAX);
    parent_talk_start(&s->talk, &s->parent, &s->to, &s->out);
}

static void end(struct scene *s)
{
    buf_done(&s->out);
    arena_done(&s->arena);
    parent_done(&s->parent);
}

/* Feeds as a socket would that gives at most `piece` bytes at once. Returns how many
 * were taken. */
static size_t feed(struct scene *s, struct str in, size_t piece, enum talk *talk)
{
    size_t taken = 0;

    *talk = TALK_MORE;
    while (*talk == TALK_MORE && taken < in.n) {
        size_t need = parent_talk_need(&s->talk);
        struct str next = str_head(str_skip(in, taken), need < piece ? need : piece);

        assert_true(need > 0);
        taken += next.n;
        *talk = parent_talk_feed(&s->talk, next, &s->out);
    }
    return taken;
}

static void expect_out(struct scene *s, struct str want)
{
    if (!str_equal(buf_view(&s->out), want))
        fail_msg("said: " STR_FMT, STR_ARG(buf_view(&s->out)));
    buf_drain(&s->out, buf_len(&s->out));
}

#define HTTP  "http://p.test:3128"
#define LOGIN "http://Aladdin:open%20sesame@p.test:3128"

static void test_connect(void **state)
{
    struct scene s;

    (void)state;
    begin(&s, HTTP, "a.test");
    expect_out(&s, STR("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"));
    end(&s);
    begin(&s, HTTP, "2001:db8::1");
    expect_out(&s, STR("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n"
                       "Host: [2001:db8::1]:443\r\n\r\n"));
    end(&s);
    begin(&s, LOGIN, "192.0.2.1");
    expect_out(&s, STR("CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: 192.0.2.1:443\r\n"
                       "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"
                       "\r\n"));
    end(&s);
}

/* What stands behind is the server's: none of it may be taken. */
#define SERVER "\r\n\r\nSSH-2.0-x\r\nHTTP/1.1 200 OK\r\n\r\n"

static const struct {
    const char *answer, *why; /* NULL: the tunnel stands */
    enum reason reason;
} answers[] = {
    {"HTTP/1.1 200 OK\r\n\r\n", NULL, 0},
    {"HTTP/1.0 200 Connection established\r\n\r\n", NULL, 0},
    {"HTTP/1.1 200\r\n\r\n", NULL, 0},
    {"HTTP/1.1 200 \r\n\r\n", NULL, 0},
    {"HTTP/1.1 201 Created\r\n\r\n", NULL, 0},
    {"HTTP/1.1 204 No Content\r\n\r\n", NULL, 0},
    {"HTTP/1.1 299 \xfc\r\n\r\n", NULL, 0},
    {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", NULL, 0},
    {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", NULL, 0},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", NULL, 0},
    {"HTTP/1.1 200 OK\r\nX: 1\r\n folded\r\nno colon\r\n\r\n", NULL, 0},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", NULL, 0},
    {"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 102 P\r\n\r\nHTTP/1.1 200 OK\r\n"
     "\r\n",
     NULL, 0},
    {"HTTP/1.1 302 Found\r\nLocation: http://login.test/\r\nContent-Length: 0\r\n\r\n",
     "refused: 302 Found", REASON_PARENT_REFUSED},
    {"HTTP/1.1 403 Blocked by <policy>\r\nContent-Length: 5\r\n\r\n",
     "refused: 403 Blocked by <policy>", REASON_PARENT_REFUSED},
    {"HTTP/1.1 502 Bad Gateway\r\n\r\n", "refused: 502 Bad Gateway",
     REASON_PARENT_REFUSED},
    {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "refused: 101", REASON_PARENT_REFUSED},
    {"HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic realm=\"corp\"\r\n\r\n",
     "wants credentials, and its URL has none (407)", REASON_PARENT_REFUSED},
    {"HTTP/1.1 999 Odd\r\n\r\n", "refused: 999 Odd", REASON_PARENT_REFUSED},
    {"HTTP/1.1 000 Odd\r\n\r\n", "no status in the first line", REASON_PARENT_FAILURE},
    {"HTTP/1.1 200 OK\n\n", "a control character", REASON_PARENT_FAILURE},
    {"HTTP/1.1 200 OK\r\rX", "a CR without a LF", REASON_PARENT_FAILURE},
    {"HTTP/1.1 200 OK\r\nX: 1\n\n", "a control character in a field",
     REASON_PARENT_FAILURE},
    {"HTTP/1.1 200 OK\r\nX: 1\r\rY", "a CR without a LF", REASON_PARENT_FAILURE},
    {"HTTP/1.1 200 OK\r\n\rX", "a CR without a LF", REASON_PARENT_FAILURE},
    {"HTTP/1.1 200 OK\r\nX: \x01\r\n\r\n", "a control character",
     REASON_PARENT_FAILURE},
    {"HTTP/1.1 2000 OK\r\n\r\n", "no status", REASON_PARENT_FAILURE},
    {"HTTP/1.1 20 OK\r\n\r\n", "no status", REASON_PARENT_FAILURE},
    {"HTTP/1.1  200 OK\r\n\r\n", "no status", REASON_PARENT_FAILURE},
    {"HTTP/1.x 200 OK\r\n\r\n", "no status", REASON_PARENT_FAILURE},
    {"HTTP/1.1\r\n\r\n", "no status", REASON_PARENT_FAILURE},
    {"HTTP/2 200\r\n\r\n", "does not begin with", REASON_PARENT_FAILURE},
    {"http/1.1 200 OK\r\n\r\n", "does not begin with", REASON_PARENT_FAILURE},
    {"\r\nHTTP/1.1 200 OK\r\n\r\n", "no status", REASON_PARENT_FAILURE},
    {"SSH-2.0-OpenSSH\r\n", "does not begin with", REASON_PARENT_FAILURE},
    {"\x05\x01", "a control character", REASON_PARENT_FAILURE},
};

static void check_answer(size_t i, size_t piece)
{
    char text[256];
    struct scene s;
    enum talk talk;
    size_t taken;
    int n = snprintf(text, sizeof text, "%s%s", answers[i].answer, SERVER);

    begin(&s, HTTP, "a.test");
    taken = feed(&s, (struct str){text, (size_t)n}, piece, &talk);
    if (answers[i].why == NULL) {
        if (talk != TALK_OPEN || taken != strlen(answers[i].answer))
            fail_msg("%s: %d, %zu bytes: %s", answers[i].answer, talk, taken,
                     s.talk.failure.why);
    } else {
        assert_int_equal(talk, TALK_FAILED);
        assert_non_null(strstr(s.talk.failure.why, "the parent proxy " HTTP " "));
        if (strstr(s.talk.failure.why, answers[i].why) == NULL)
            fail_msg("%s: %s", answers[i].answer, s.talk.failure.why);
        assert_int_equal(s.talk.failure.reason, answers[i].reason);
        assert_non_null(s.talk.failure.error);
    }
    end(&s);
}

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        for (size_t piece = 1; piece < 20; piece++)
            check_answer(i, piece);
}

static void test_wrong_login(void **state)
{
    struct scene s;
    enum talk talk;

    (void)state;
    begin(&s, LOGIN, "a.test");
    feed(&s, STR("HTTP/1.1 407 no\r\n\r\n"), 99, &talk);
    assert_int_equal(talk, TALK_FAILED);
    assert_non_null(strstr(s.talk.failure.why, "does not accept the credentials"));
    assert_null(strstr(s.talk.failure.why, "sesame"));
    assert_null(strstr(s.talk.failure.why, "Aladdin"));
    assert_string_equal(s.talk.failure.error, "proxy_configuration_error");
    end(&s);
}

/* A head without end, in one line, in many, and in many heads. */
static void test_bounds(void **state)
{
    static const char *const units[] = {"x", "X: y\r\n", NULL};
    struct scene s;
    enum talk talk;

    (void)state;
    for (size_t i = 0; units[i] != NULL; i++) {
        size_t fed = 0;

        begin(&s, HTTP, "a.test");
        feed(&s, i == 0 ? STR("HTTP/1.1 200 ") : STR("HTTP/1.1 200 OK\r\n"), 99, &talk);
        while (talk == TALK_MORE && fed++ < 2 * TALK_HEADS_MAX)
            feed(&s, str_from(units[i]), 99, &talk);
        assert_int_equal(talk, TALK_FAILED);
        assert_true(s.talk.seen == TALK_HEADS_MAX + 1);
        assert_string_equal(s.talk.failure.error, "http_response_header_section_size");
        end(&s);
    }
    begin(&s, HTTP, "a.test");
    talk = TALK_MORE;
    for (int i = 0; i < 9 && talk == TALK_MORE; i++)
        feed(&s, STR("HTTP/1.1 100 Continue\r\n\r\n"), 99, &talk);
    assert_int_equal(talk, TALK_FAILED);
    assert_non_null(strstr(s.talk.failure.why, "too many answers"));
    end(&s);
}

static void test_closed(void **state)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nX: y\r\n\r\n";
    struct scene s;
    enum talk talk;

    (void)state;
    for (size_t n = 0; n < sizeof answer - 1; n++) {
        begin(&s, HTTP, "a.test");
        talk = TALK_MORE;
        feed(&s, (struct str){answer, n}, 99, &talk);
        assert_int_equal(talk, TALK_MORE);
        parent_talk_closed(&s.talk);
        assert_non_null(strstr(s.talk.failure.why,
                               n == 0 ? "before its answer" : "in the middle of its"));
        assert_string_equal(s.talk.failure.error, "http_response_incomplete");
        end(&s);
    }
}

#define SOCKS       "socks5h://p.test:1080"
#define SOCKS_LOGIN "socks5://us:s3cr@p.test:1080"
#define GREETING    "\x05\x01\x00"
#define OK_V4       "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"

static void test_socks_requests(void **state)
{
    static const struct {
        const char *host;
        struct str request;
    } rows[] = {
        {"a.test", STR("\x05\x01\x00\x03\x06"
                       "a.test\x01\xbb")},
        {"192.0.2.1", STR("\x05\x01\x00\x01\xc0\x00\x02\x01\x01\xbb")},
        {"2001:db8::1",
         STR("\x05\x01\x00\x04\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\x01\xbb")},
    };
    struct scene s;
    enum talk talk;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(&s, SOCKS, rows[i].host);
        expect_out(&s, STR(GREETING));
        feed(&s, STR("\x05\x00"), 9, &talk);
        expect_out(&s, rows[i].request);
        assert_int_equal(talk, TALK_MORE);
        end(&s);
    }
}

static void test_socks_login(void **state)
{
    struct scene s;
    enum talk talk;

    (void)state;
    begin(&s, SOCKS_LOGIN, "a.test");
    expect_out(&s, STR("\x05\x02\x00\x02"));
    feed(&s, STR("\x05\x02"), 9, &talk);
    expect_out(&s, STR("\x01\x02us\x04s3cr"));
    feed(&s, STR("\x01\x00"), 9, &talk);
    expect_out(&s, STR("\x05\x01\x00\x03\x06"
                       "a.test\x01\xbb"));
    feed(&s, STR(OK_V4), 99, &talk);
    assert_int_equal(talk, TALK_OPEN);
    end(&s);
}

/* From the answer to the greeting on. */
static const struct {
    const char *url;
    struct str answer;
    const char *why; /* NULL: the tunnel stands */
    enum reason reason;
} talks[] = {
    {SOCKS, STR("\x05\x00" OK_V4), NULL, 0},
    {SOCKS,
     STR("\x05\x00\x05\x00\x00\x04"
         "QRSTUVWXYZqrstuv"
         "\x00\x50"),
     NULL, 0},
    {SOCKS, STR("\x05\x00\x05\x00\x00\x03\x05name.\x00\x50"), NULL, 0},
    {SOCKS, STR("\x05\x00\x05\x00\x00\x03\x00\x00\x50"), NULL, 0},
    {SOCKS_LOGIN, STR("\x05\x00" OK_V4), NULL, 0},
    {SOCKS_LOGIN, STR("\x05\x02\x01\x00" OK_V4), NULL, 0},
    {SOCKS, STR("\x05\x02"), "its URL has none", REASON_PARENT_REFUSED},
    {SOCKS, STR("\x05\xff"), "its URL has none", REASON_PARENT_REFUSED},
    {SOCKS_LOGIN, STR("\x05\xff"), "takes neither", REASON_PARENT_REFUSED},
    {SOCKS_LOGIN, STR("\x05\x01"), "takes neither", REASON_PARENT_REFUSED},
    {SOCKS_LOGIN, STR("\x05\x02\x01\x01"), "does not accept the credentials",
     REASON_PARENT_REFUSED},
    {SOCKS_LOGIN, STR("\x05\x02\x05\x00"), "not SOCKS5", REASON_PARENT_FAILURE},
    {SOCKS, STR("HT"), "not SOCKS5", REASON_PARENT_FAILURE},
    {SOCKS, STR("\x04\x00"), "not SOCKS5", REASON_PARENT_FAILURE},
    {SOCKS, STR("\x05\x00\x05\x01"), "general failure", REASON_PARENT_REFUSED},
    {SOCKS, STR("\x05\x00\x05\x02\x00\x01"), "not allowed", REASON_PARENT_REFUSED},
    {SOCKS, STR("\x05\x00\x05\x05"), "connection refused", REASON_PARENT_REFUSED},
    {SOCKS, STR("\x05\x00\x05\x08"), "this kind of address", REASON_PARENT_REFUSED},
    {SOCKS, STR("\x05\x00\x05\xee"), "code 238", REASON_PARENT_REFUSED},
    {SOCKS, STR("\x05\x00\x00\x00"), "not SOCKS5", REASON_PARENT_FAILURE},
    {SOCKS, STR("\x05\x00\x05\x00\x00\x02\x00"), "not SOCKS5", REASON_PARENT_FAILURE},
};

static void check_talk(size_t i, size_t piece)
{
    char text[128];
    struct scene s;
    enum talk talk;
    size_t taken, n = talks[i].answer.n;

    memcpy(text, talks[i].answer.p, n);
    memcpy(text + n, SERVER, sizeof SERVER);
    begin(&s, talks[i].url, "a.test");
    taken = feed(&s, (struct str){text, n + sizeof SERVER - 1}, piece, &talk);
    if (talks[i].why == NULL) {
        assert_int_equal(talk, TALK_OPEN);
        assert_int_equal(taken, n);
    } else {
        assert_int_equal(talk, TALK_FAILED);
        if (strstr(s.talk.failure.why, talks[i].why) == NULL)
            fail_msg("row %zu: %s", i, s.talk.failure.why);
        assert_int_equal(s.talk.failure.reason, talks[i].reason);
        assert_non_null(s.talk.failure.error);
        assert_null(strstr(s.talk.failure.why, "s3cr"));
    }
    end(&s);
}

static void test_socks_talks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof talks / sizeof *talks; i++)
        for (size_t piece = 1; piece < 12; piece++)
            check_talk(i, piece);
}

static void test_socks_closed(void **state)
{
    struct scene s;
    enum talk talk;

    (void)state;
    begin(&s, SOCKS, "a.test");
    feed(&s, STR("\x05\x00\x05"), 9, &talk);
    parent_talk_closed(&s.talk);
    assert_non_null(strstr(s.talk.failure.why, "in the middle of its answer"));
    assert_string_equal(s.talk.failure.error, "connection_terminated");
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connect),      cmocka_unit_test(test_answers),
        cmocka_unit_test(test_wrong_login),  cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_closed),       cmocka_unit_test(test_socks_requests),
        cmocka_unit_test(test_socks_login),  cmocka_unit_test(test_socks_talks),
        cmocka_unit_test(test_socks_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
