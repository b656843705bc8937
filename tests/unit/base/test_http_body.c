#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/base/http_body.h"

enum { NONE = HTTP_FRAMING_NONE, LENGTH = HTTP_FRAMING_LENGTH };
enum { CHUNKED = HTTP_FRAMING_CHUNKED, CLOSE = HTTP_FRAMING_CLOSE };

/* RFC 9112 6.3, and PRO-24. */
static const struct row {
    const char *method;
    struct http_head head;
    int framing;
    bool done;
} rows[] = {
    {"GET", {.status = 200}, CLOSE, false},
    {"GET", {.status = 200, .has_length = true, .length = 5}, LENGTH, false},
    {"GET", {.status = 200, .has_length = true}, LENGTH, true},
    {"GET", {.status = 200, .chunked = true}, CHUNKED, false},
    {"HEAD", {.status = 200, .chunked = true}, NONE, true},
    {"HEAD", {.status = 404, .has_length = true, .length = 1192}, NONE, true},
    {"head", {.status = 200, .has_length = true, .length = 5}, LENGTH, false},
    {"GET", {.status = 204, .has_length = true, .length = 5}, NONE, true},
    {"GET", {.status = 304, .has_length = true, .length = 5}, NONE, true},
    {"GET", {.status = 304, .chunked = true}, NONE, true},
    {"GET", {.status = 103}, NONE, true},
    {"POST", {.status = 205, .has_length = true}, LENGTH, true},
};

static void test_responses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_body b =
            http_body_of_response(&rows[i].head, str_from(rows[i].method));

        if ((int)b.framing != rows[i].framing || b.done != rows[i].done)
            fail_msg("row %zu: framing %d, done %d", i, b.framing, b.done);
    }
}

static void test_requests(void **state)
{
    struct http_head head = {0};

    (void)state;
    assert_int_equal(http_body_of_request(&head).framing, NONE);
    assert_true(http_body_of_request(&head).done);
    head.has_length = true;
    assert_int_equal(http_body_of_request(&head).framing, LENGTH);
    assert_true(http_body_of_request(&head).done);
    head.length = 3;
    assert_false(http_body_of_request(&head).done);
    head = (struct http_head){.chunked = true};
    assert_int_equal(http_body_of_request(&head).framing, CHUNKED);
}

static void test_length(void **state)
{
    struct http_head head = {.status = 200, .has_length = true, .length = 7};
    struct http_body b = http_body_of_response(&head, STR("GET"));
    char bytes[] = "hello, more";
    size_t used, len;

    (void)state;
    assert_true(http_body_take(&b, bytes, 5, &used, &len));
    assert_int_equal(used, 5);
    assert_int_equal(len, 5);
    assert_false(http_body_end(&b));
    assert_true(http_body_take(&b, bytes + 5, 6, &used, &len));
    assert_int_equal(used, 2);
    assert_int_equal(len, 2);
    assert_true(b.done && http_body_end(&b));
    assert_true(http_body_take(&b, bytes + 7, 4, &used, &len));
    assert_int_equal(used, 0);
    assert_int_equal(len, 0);
}

static void test_close(void **state)
{
    struct http_head head = {.status = 200};
    struct http_body b = http_body_of_response(&head, STR("GET"));
    char bytes[] = "all of it";
    size_t used, len;

    (void)state;
    assert_true(http_body_take(&b, bytes, 9, &used, &len));
    assert_int_equal(used, 9);
    assert_int_equal(len, 9);
    assert_false(b.done);
    assert_true(http_body_end(&b));
}

static void test_chunked(void **state)
{
    struct http_head head = {.status = 200, .chunked = true};
    struct http_body b = http_body_of_response(&head, STR("GET"));
    char first[] = "3\r\nab", second[] = "c\r\n0\r\n\r\nnext", bad[] = "x";
    size_t used, len;

    (void)state;
    assert_true(http_body_take(&b, first, 5, &used, &len));
    assert_int_equal(len, 2);
    assert_false(http_body_end(&b));
    assert_true(http_body_take(&b, second, 12, &used, &len));
    assert_int_equal(len, 1);
    assert_int_equal(used, 8);
    assert_true(b.done);
    assert_true(http_body_take(&b, second + 8, 4, &used, &len));
    assert_int_equal(used + len, 0);
    b = http_body_of_response(&head, STR("GET"));
    assert_false(http_body_take(&b, bad, 1, &used, &len));
    assert_false(b.done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_responses), cmocka_unit_test(test_requests),
        cmocka_unit_test(test_length),    cmocka_unit_test(test_close),
        cmocka_unit_test(test_chunked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
