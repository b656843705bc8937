#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/base/http_chunks.h"

enum { ROOM = 256 };

/* Sizes that are none, ends that are none: F5 and F6 of the attacks, and their like. */
static const struct str bad[] = {
    STR("x"),
    STR("\r\n"),
    STR(" 5\r\nhello\r\n"),
    STR("0x5\r\nhello\r\n"),
    STR("+5\r\nhello\r\n"),
    STR("-1\r\nhello\r\n"),
    STR("5 \r\nhello\r\n"),
    STR("5\t\r\nhello\r\n"),
    STR("5 ;x\r\nhello\r\n"),
    STR("5_\r\nhello\r\n"),
    STR("5\nhello\r\n"),
    STR("5\r\r\nhello\r\n"),
    STR("5\rhello"),
    STR("FFFFFFFFFFFFFFFF1\r\n"),
    STR("FFFFFFFFFFFFFFFF\r\n"),
    STR("0000000000000005\r\n"),
    STR("5;a\nhello\r\n"),
    STR("5;a\rb\r\nhello\r\n"),
    STR("5;\0\r\nhello\r\n"),
    STR("5;\x7f\r\nhello\r\n"),
    STR("5\r\nhello0\r\n\r\n"),
    STR("5\r\nhellohello\r\n"),
    STR("5\r\nhello\n0\r\n\r\n"),
    STR("5\r\nhello\r0\r\n\r\n"),
    STR("5\r\nhello\r\n\r\n"),
    STR("0\r\n\n"),
    STR("0\r\n\rX"),
    STR("0\n\n"),
    STR("0\r\nno colon\r\n\r\n"),
    STR("0\r\n: x\r\n\r\n"),
    STR("0\r\nA : x\r\n\r\n"),
    STR("0\r\n A: x\r\n\r\n"),
    STR("0\r\nA: x\n\r\n"),
    STR("0\r\nA: x\r\n folded\r\n\r\n"),
    STR("0\r\nA: \0\r\n\r\n"),
    STR("0\r\nA\r\n\r\n"),
};

static const struct good_row {
    struct str in;
    const char *data;
} good[] = {
    {STR("0\r\n\r\n"), ""},
    {STR("000\r\n\r\n"), ""},
    {STR("5\r\nhello\r\n0\r\n\r\n"), "hello"},
    {STR("1\r\na\r\n2\r\nbc\r\n00003\r\ndef\r\n0\r\n\r\n"), "abcdef"},
    {STR("a\r\n0123456789\r\nA\r\nabcdefghij\r\n0\r\n\r\n"), "0123456789abcdefghij"},
    {STR("5;ext=1;other=\"q\"\r\nhello\r\n0;last\r\n\r\n"), "hello"},
    {STR("5;\xc3\xbc\t\r\nhello\r\n0\r\n\r\n"), "hello"},
    {STR("2\r\n\r\n\r\n0\r\n\r\n"), "\r\n"},
    {STR("5\r\nhello\r\n0\r\nX-Sum: 5d41\r\nContent-Length: 9\r\nempty:\r\n\r\n"),
     "hello"},
};

static enum http_chunked run(struct str in, size_t piece, char data[ROOM], size_t *len,
                             size_t *used)
{
    struct http_chunks c = {0};
    enum http_chunked result = HTTP_CHUNKED_MORE;

    *len = *used = 0;
    while (*used < in.n && result == HTTP_CHUNKED_MORE) {
        struct str part = str_head(str_skip(in, *used), piece);
        char bytes[ROOM];
        size_t took, got;

        memcpy(bytes, part.p, part.n);
        result = http_dechunk(&c, bytes, part.n, &took, &got);
        memcpy(data + *len, bytes, got);
        *len += got;
        *used += took;
        assert_true(took == part.n || result != HTTP_CHUNKED_MORE);
        /* What follows stays where it was. */
        assert_memory_equal(bytes + took, part.p + took, part.n - took);
    }
    return result;
}

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (size_t piece = 1; piece <= bad[i].n; piece++) {
            char data[ROOM];
            size_t len, used;

            if (run(bad[i], piece, data, &len, &used) != HTTP_CHUNKED_BAD)
                fail_msg("row %zu in pieces of %zu is not bad", i, piece);
        }
}

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (size_t piece = 1; piece <= good[i].in.n; piece++) {
            char data[ROOM];
            size_t len, used;

            if (run(good[i].in, piece, data, &len, &used) != HTTP_CHUNKED_END)
                fail_msg("row %zu in pieces of %zu has no end", i, piece);
            assert_int_equal(used, good[i].in.n);
            assert_int_equal(len, strlen(good[i].data));
            assert_memory_equal(data, good[i].data, len);
        }
}

static void test_next_request_is_not_touched(void **state)
{
    char bytes[] = "3;x\r\nabc\r\n0\r\n\r\nGET http://a.test/ HTTP/1.1\r\n\r\n";
    struct http_chunks c = {0};
    size_t used, len;

    (void)state;
    assert_int_equal(http_dechunk(&c, bytes, sizeof bytes - 1, &used, &len),
                     HTTP_CHUNKED_END);
    assert_int_equal(len, 3);
    assert_memory_equal(bytes, "abc", 3);
    assert_memory_equal(bytes + used, "GET http", 8);
}

/* F6: extensions and trailers do not go on for ever, in however small pieces. */
static void check_extra(const char *start, const char *more)
{
    struct http_chunks c = {0};
    enum http_chunked result;
    char bytes[ROOM];
    size_t used, len, sent = 0;

    snprintf(bytes, sizeof bytes, "%s", start);
    assert_int_equal(http_dechunk(&c, bytes, strlen(bytes), &used, &len),
                     HTTP_CHUNKED_MORE);
    do {
        snprintf(bytes, sizeof bytes, "%s", more);
        result = http_dechunk(&c, bytes, strlen(bytes), &used, &len);
        sent += strlen(more);
        assert_true(sent < 2 * HTTP_CHUNK_EXTRA_MAX + ROOM);
    } while (result == HTTP_CHUNKED_MORE);
    assert_int_equal(result, HTTP_CHUNKED_BAD);
    assert_true(sent > HTTP_CHUNK_EXTRA_MAX / 2);
}

static void test_extra_is_bounded(void **state)
{
    (void)state;
    check_extra("5;", "aaaaaaaaaaaaaaaa");
    check_extra("0\r\n", "a: bbbbbbbbbbbbbb\r\n");
    check_extra("5;xxxxxxxxxxxxxx\r\nhello\r\n", "1;yyyyyyyyyyyyyyyyyyyyyyyy\r\na\r\n");
}

static void test_chunk(void **state)
{
    char room[HTTP_CHUNK_BEFORE + 20 + HTTP_CHUNK_BEHIND],
        *data = room + HTTP_CHUNK_BEFORE;

    (void)state;
    memcpy(data, "0123456789abcdefghij", 20);
    assert_true(str_equal(http_chunk(data, 20, true),
                          STR("14\r\n0123456789abcdefghij\r\n0\r\n\r\n")));
    assert_true(str_equal(http_chunk(data, 3, false), STR("3\r\n012\r\n")));
    assert_true(str_equal(http_chunk(data, 0, true), STR("0\r\n\r\n")));
    assert_int_equal(http_chunk(data, 0, false).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_next_request_is_not_touched),
        cmocka_unit_test(test_extra_is_bounded),
        cmocka_unit_test(test_chunk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
