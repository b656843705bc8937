#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/proxy_header.h"

/* `from` NULL: none is told; `why` NULL: it is not refused. Those that end in "…" go
 * on.
 */
struct row {
    struct str text;
    const char *from, *why;
};

#define NOT_READ "cannot be read"

static const struct row v1_rows[] = {
    {STR("PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n"), "192.0.2.1", NULL},
    {STR("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n"),
     "255.255.255.255", NULL},
    {STR("PROXY TCP6 2001:db8::1 2001:DB8:0::2 0 0\r\n"), "2001:db8::1", NULL},
    {STR("PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
         "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"),
     "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {STR("PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n"), "192.0.2.1", NULL},
    {STR("PROXY UNKNOWN\r\n"), NULL, NULL},
    {STR("PROXY UNKNOWN whatever it is\r\n"), NULL, NULL},

    {STR("PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\n"), NULL, "CR LF"},
    {STR("PROXY TCP4 192.0.2.1 198.51.100.2 56324 443 \r\n"), NULL, NOT_READ},
    {STR("PROXY  TCP4 192.0.2.1 198.51.100.2 56324 443\r\n"), NULL, "another protocol"},
    {STR("PROXY TCP4  192.0.2.1 198.51.100.2 56324 443\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP4 192.0.2.1 198.51.100.2 56324\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP4 192.0.2.1 198.51.100.2 1 65536\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP4 192.0.2.1 198.51.100.2 01 2\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP4 192.0.2.1 198.51.100.2 -1 2\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP4 192.0.2.01 198.51.100.2 1 2\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP6 ::1 192.0.2.2 1 2\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP6 fe80::1%1 ::1 1 2\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP4 192.0.2.1\0 198.51.100.2 1 2\r\n"), NULL, NOT_READ},
    {STR("PROXY TCP4\r 192.0.2.1 198.51.100.2 1 2\r\n"), NULL, "another protocol"},
    {STR("PROXY UDP4 192.0.2.1 198.51.100.2 1 2\r\n"), NULL, "another protocol"},
    {STR("PROXY tcp4 192.0.2.1 198.51.100.2 1 2\r\n"), NULL, "another protocol"},
    {STR("PROXY \r\n"), NULL, "another protocol"},
    {STR("proxy TCP4 192.0.2.1 198.51.100.2 1 2\r\n"), NULL, "no PROXY header"},
    {STR("GET / HTTP/1.1\r\n"), NULL, "no PROXY header"},
    {STR("\r\n\r\nCONNECT"), NULL, "no PROXY header"},
    {STR("\x05\x01\x00"), NULL, "no PROXY header"},
};

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define FOUR      "\xc0\x00\x02\x01\xc6\x33\x64\x02\xdc\x04\x01\xbb"
#define SIX                                                              \
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\x20\x01\x0d\xb8\0\0\0\0\0" \
    "\0\0\0\0\0\0\2\xdc\x04\x01\xbb"
#define MAPPED "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\x00\x02\x01"

static const struct row v2_rows[] = {
    {STR(SIGNATURE "\x21\x11\0\x0c" FOUR), "192.0.2.1", NULL},
    {STR(SIGNATURE "\x21\x21\0\x24" SIX), "2001:db8::1", NULL},
    {STR(SIGNATURE "\x21\x21\0\x24" MAPPED MAPPED "\0\1\0\2"), "192.0.2.1", NULL},
    {STR(SIGNATURE "\x21\x00\0\0"), NULL, NULL},
    {STR(SIGNATURE "\x21\x00\0\3abc"), NULL, NULL},
    {STR(SIGNATURE "\x20\x00\0\0"), NULL, NULL},
    {STR(SIGNATURE "\x20\x11\0\x0c" FOUR), NULL, NULL},
    {STR(SIGNATURE "\x20\xff\0\1x"), NULL, NULL},
    /* Fields: empty, unknown, a host name. */
    {STR(SIGNATURE "\x21\x11\0\x19" FOUR "\x04\0\0\xe0\0\1x\x02\0\3a.b"), "192.0.2.1",
     NULL},
    {STR(SIGNATURE "\x21\x11\0\x13" FOUR "\x03\0\4\x20\xec\x95\x49"), "192.0.2.1",
     NULL},

    {STR(SIGNATURE "\x21\x11\0\x13" FOUR "\x03\0\4\x20\xec\x95\x48"), NULL, "checksum"},
    {STR(SIGNATURE "\x21\x11\0\x12" FOUR "\x03\0\3\0\0\0"), NULL, "checksum"},
    {STR(SIGNATURE "\x21\x11\0\x0d" FOUR "\x04"), NULL, "ends within a field"},
    {STR(SIGNATURE "\x21\x11\0\x0e" FOUR "\x04\0"), NULL, "ends within a field"},
    {STR(SIGNATURE "\x21\x11\0\x10" FOUR "\x04\0\2x"), NULL, "longer than the header"},
    {STR(SIGNATURE "\x21\x11\0\x0b" FOUR), NULL, "too short"},
    {STR(SIGNATURE "\x21\x21\0\x0c" FOUR), NULL, "too short"},
    {STR(SIGNATURE "\x21\x31\0\x0c" FOUR), NULL, "too short"},
    {STR(SIGNATURE "\x21\x12\0\x0c" FOUR), NULL, "another protocol"},
    {STR(SIGNATURE "\x21\x01\0\0"), NULL, "another protocol"},
    {STR(SIGNATURE "\x21\x41\0\0"), NULL, "another protocol"},
    {STR(SIGNATURE "\x22\x11\0\x0c" FOUR), NULL, "version or command"},
    {STR(SIGNATURE "\x11\x11\0\x0c" FOUR), NULL, "version or command"},
    {STR(SIGNATURE "\x31\x11\0\x0c" FOUR), NULL, "version or command"},
    {STR(SIGNATURE "\x21\x11\x0f\xf1" FOUR), NULL, "longer than 4096"},
};

/* In its own memory, whose end a read behind it would cross. */
static enum proxy_header_parse parse(struct str text, struct proxy_header *h,
                                     size_t *used)
{
    char *copy = malloc(text.n + !text.n);
    enum proxy_header_parse parsed;

    assert_non_null(copy);
    memcpy(copy, text.p, text.n);
    parsed = proxy_header_parse((struct str){copy, text.n}, h, used);
    free(copy);
    return parsed;
}

static void check_whole(const struct row *row, size_t index)
{
    struct proxy_header h;
    size_t used;
    enum proxy_header_parse parsed = parse(row->text, &h, &used);
    char text[IP_TEXT_MAX];

    if (row->why != NULL) {
        if (parsed != PROXY_HEADER_REFUSED || strstr(h.why, row->why) == NULL)
            fail_msg("row %zu: %d, \"%s\"", index, parsed, h.why);
        assert_int_equal(h.from.family, 0);
        return;
    }
    if (parsed != PROXY_HEADER_DONE)
        fail_msg("row %zu: %d, \"%s\"", index, parsed, h.why);
    assert_int_equal(used, row->text.n);
    assert_int_equal(h.from.family == 0, row->from == NULL);
    if (row->from != NULL)
        assert_string_equal(ip_text(&h.from, text), row->from);
}

/* A part of what will be taken is never taken, nor refused. */
static void check_parts(const struct row *row, size_t index)
{
    for (size_t n = 0; row->why == NULL && n < row->text.n; n++) {
        struct proxy_header h;
        size_t used;

        if (parse(str_head(row->text, n), &h, &used) != PROXY_HEADER_MORE)
            fail_msg("row %zu: %zu bytes are enough, or wrong", index, n);
    }
}

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_whole(&rows[i], i);
        check_parts(&rows[i], i);
    }
}

static void test_v1(void **state)
{
    (void)state;
    check_rows(v1_rows, sizeof v1_rows / sizeof *v1_rows);
}

static void test_v2(void **state)
{
    (void)state;
    check_rows(v2_rows, sizeof v2_rows / sizeof *v2_rows);
}

static void test_local(void **state)
{
    struct proxy_header h;
    size_t used;

    (void)state;
    assert_int_equal(parse(STR(SIGNATURE "\x20\x11\0\x0c" FOUR), &h, &used),
                     PROXY_HEADER_DONE);
    assert_true(h.local);
    assert_int_equal(parse(STR("PROXY UNKNOWN\r\n"), &h, &used), PROXY_HEADER_DONE);
    assert_false(h.local);
}

static void test_unix(void **state)
{
    char text[16 + 216] = SIGNATURE "\x21\x31\0\xd8/run/a.sock";
    struct proxy_header h;
    size_t used;

    (void)state;
    assert_int_equal(parse((struct str){text, sizeof text}, &h, &used),
                     PROXY_HEADER_DONE);
    assert_int_equal(used, sizeof text);
    assert_int_equal(h.from.family, 0);
    assert_false(h.local);
}

/* What follows is the client's. */
static void test_used(void **state)
{
    static const struct str v1 = STR("PROXY UNKNOWN\r\n\r\nPROXY TCP4");
    static const struct str v2 = STR(SIGNATURE "\x21\x11\0\x0c" FOUR "GET");
    struct proxy_header h;
    size_t used;

    (void)state;
    assert_int_equal(parse(v1, &h, &used), PROXY_HEADER_DONE);
    assert_int_equal(used, 15);
    assert_int_equal(parse(v2, &h, &used), PROXY_HEADER_DONE);
    assert_int_equal(used, 28);
}

static void test_too_long(void **state)
{
    char text[PROXY_HEADER_V1_MAX + 1];
    struct proxy_header h;
    size_t used;

    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text, "PROXY UNKNOWN ", 14);
    assert_int_equal(parse((struct str){text, PROXY_HEADER_V1_MAX - 1}, &h, &used),
                     PROXY_HEADER_MORE);
    assert_int_equal(parse((struct str){text, PROXY_HEADER_V1_MAX}, &h, &used),
                     PROXY_HEADER_REFUSED);
    memcpy(text + PROXY_HEADER_V1_MAX - 2, "\r\n", 2);
    assert_int_equal(parse((struct str){text, PROXY_HEADER_V1_MAX}, &h, &used),
                     PROXY_HEADER_DONE);
    memcpy(text + PROXY_HEADER_V1_MAX - 2, "x\r\n", 3);
    assert_int_equal(parse((struct str){text, sizeof text}, &h, &used),
                     PROXY_HEADER_REFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v1),    cmocka_unit_test(test_v2),
        cmocka_unit_test(test_local), cmocka_unit_test(test_unix),
        cmocka_unit_test(test_used),  cmocka_unit_test(test_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
