#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/front.h"

enum { ARENA_SIZE = 4096, TEXT_MAX = 128 };

/* The parse of a whole conversation, a byte at a time or all at once, told as a text:
 * what was replied in hex, who logged in, and how it ended. */
struct talk {
    char told[512];
    size_t left; /* bytes behind the end */
    struct arena arena;
    struct front_asked asked;
};

static void tell(struct talk *t, const char *fmt, ...)
{
    size_t n = strlen(t->told);
    va_list args;

    va_start(args, fmt);
    vsnprintf(t->told + n, sizeof t->told - n, fmt, args);
    va_end(args);
}

static void tell_bytes(struct talk *t, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        tell(t, "%02x", (unsigned char)bytes.p[i]);
    tell(t, " ");
}

static void tell_end(struct talk *t, enum front_parse result)
{
    const struct front_asked *a = &t->asked;

    if (result == FRONT_DONE)
        tell(t, STR_FMT " %u", STR_ARG(a->target.host), a->target.port);
    else if (result == FRONT_MORE)
        tell(t, "more");
    else
        tell(t, "%s", reason_name(a->reason));
}

static enum front_parse parse_once(struct talk *t, const struct front *front,
                                   struct str in, bool login_wanted,
                                   unsigned char *phase, size_t *used)
{
    struct front_call call = {.in = in,
                              .head_max = 1024,
                              .arena = &t->arena,
                              .login_wanted = login_wanted,
                              .phase = phase};

    arena_done(&t->arena);
    arena_init(&t->arena, ARENA_SIZE);
    *used = 0;
    return front->parse(&call, &t->asked, used);
}

/* True when there is more to come of this conversation. */
static bool take(struct talk *t, enum front_parse result)
{
    if (result == FRONT_REPLY)
        tell_bytes(t, t->asked.reply);
    if (result == FRONT_LOGIN)
        tell(t, "<" STR_FMT ":" STR_FMT "> ", STR_ARG(t->asked.login.user),
             STR_ARG(t->asked.login.password));
    if (result == FRONT_REFUSED)
        tell_bytes(t, t->asked.reply);
    return result == FRONT_REPLY || result == FRONT_LOGIN;
}

static void talk(struct talk *t, const struct front *front, struct str in,
                 bool login_wanted, bool dripping)
{
    enum front_parse result = FRONT_MORE;
    unsigned char phase = 0;
    size_t have = dripping ? 1 : in.n, used;

    *t = (struct talk){0};
    arena_init(&t->arena, ARENA_SIZE);
    while (have > 0 || in.n > 0) {
        if (have == 0)
            have = 1;
        result = parse_once(t, front, str_head(in, have), login_wanted, &phase, &used);
        in = str_skip(in, used);
        have -= used;
        if (result == FRONT_MORE && have < in.n)
            have++;
        else if (!take(t, result))
            break;
    }
    t->left = in.n;
    tell_end(t, result);
}

static const struct row {
    struct str in;
    bool login_wanted;
    const char *told;
    size_t left;
} rows[] = {
    {STR("\5\1\0\5\1\0\3\6a.test\1\xbb"), false, "0500 a.test 443", 0},
    {STR("\5\1\0\5\1\0\3\6A.Test\0\x50SSH-2.0"), false, "0500 a.test 80", 7},
    {STR("\5\1\0\5\1\0\1\xc0\0\2\7\0\x50"), false, "0500 192.0.2.7 80", 0},
    {STR("\5\1\0\5\1\0\4\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\7\0\x50"), false,
     "0500 2001:db8::7 80", 0},
    {STR("\5\1\0\5\1\0\4\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1\0\x50"), false,
     "0500 127.0.0.1 80", 0},
    {STR("\5\1\0\5\1\0\3\x9"
         "127.0.0.1\0\x50"),
     false, "0500 127.0.0.1 80", 0},
    {STR("\5\1\0\5\1\0\3\3::1\0\x50"), false, "0500 ::1 80", 0},
    /* The method: none when nobody must log in, and both are offered. */
    {STR("\5\2\0\2\5\1\0\3\6a.test\0\x50"), false, "0500 a.test 80", 0},
    {STR("\5\1\2\1\1u\1p\5\1\0\3\6a.test\0\x50"), false, "0502 <u:p> a.test 80", 0},
    {STR("\5\2\0\2\1\4name\3key\5\1\0\3\6a.test\0\x50"), true,
     "0502 <name:key> a.test 80", 0},
    {STR("\5\1\2\1\0\0\5\1\0\3\6a.test\0\x50"), true, "0502 <:> a.test 80", 0},
    {STR("\5\1\0\5\1\0\3\6a.test\0\x50"), true, "0500 a.test 80", 0},
    {STR("\5\0\5\1\0"), false, "05ff malformed-request", 5},
    {STR("\5\2\1\3"), false, "05ff not-supported", 4},
    {STR("\5\1\2\2\1u\1p"), true, "0502 0101 malformed-request", 5},
    {STR("\5\1\2\5\1\0\3\6a.test\0\x50"), true, "0502 0101 malformed-request", 13},
    /* Requests. */
    {STR("\5\1\0\5\2\0\1\1\2\3\4\0\x50"), false,
     "0500 05070001000000000000 not-supported", 10},
    {STR("\5\1\0\5\3\0\1\0\0\0\0\0\0"), false,
     "0500 05070001000000000000 not-supported", 10},
    {STR("\5\1\0\5\1\0\2\1\2\3\4\0\x50"), false,
     "0500 05080001000000000000 malformed-request", 10},
    /* Nothing more is waited for. */
    {STR("\5\1\0\5\1\0\2"), false, "0500 05080001000000000000 malformed-request", 4},
    {STR("\5\1\0\4\1\0\1\1\2\3\4\0\x50"), false,
     "0500 05010001000000000000 malformed-request", 10},
    {STR("\5\1\0\5\1\1\1\1\2\3\4\0\x50"), false,
     "0500 05010001000000000000 malformed-request", 10},
    {STR("\5\1\0\5\1\0\3\0\0\x50"), false, "0500 05010001000000000000 malformed-host",
     7},
    {STR("\5\1\0\5\1\0\3\6a.test\0\0"), false,
     "0500 05010001000000000000 malformed-host", 13},
    {STR("\5\1\0\5\1\0\3\xd"
         "evil\0.a.test.\0\x50"),
     false, "0500 05010001000000000000 malformed-host", 20},
    {STR("\5\1\0\5\1\0\3\x6[a.te]\0\x50"), false,
     "0500 05010001000000000000 malformed-host", 13},
    {STR("\5\1\0\5\1\0\3\6a.tes"), false, "0500 more", 10},
    {STR("\5"), false, "more", 1},
};

static void test_parse(void **state)
{
    struct talk t;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int dripping = 0; dripping < 2; dripping++) {
            talk(&t, &front_socks5, rows[i].in, rows[i].login_wanted, dripping);
            if (strcmp(t.told, rows[i].told) != 0)
                fail_msg("row %zu, %d: \"%s\"", i, dripping, t.told);
            if (!dripping)
                assert_int_equal(t.left, rows[i].left);
            assert_string_equal(t.asked.form, "socks5");
            arena_done(&t.arena);
        }
    }
}

static void test_parse_longest(void **state)
{
    char in[3 + 513 + 300], text[600];
    struct talk t;

    (void)state;
    memcpy(in, "\5\1\2\1\xff", 5);
    memset(in + 5, 'u', 255);
    in[260] = '\xff';
    memset(in + 261, 'p', 255);
    talk(&t, &front_socks5, (struct str){in, 516}, true, true);
    snprintf(text, sizeof text, "0502 <%.255s:%.255s> more", in + 5, in + 261);
    assert_int_equal(strncmp(t.told, text, sizeof t.told - 1), 0);
    arena_done(&t.arena);
    memcpy(in, "\5\1\0\5\1\0\3\xff", 8);
    memset(in + 8, 'a', 257);
    talk(&t, &front_socks5, (struct str){in, 265}, false, true);
    assert_non_null(strstr(t.told, "malformed-host"));
    assert_int_equal(t.asked.raw.n, 64);
    arena_done(&t.arena);
}

static const struct answer_row {
    struct front_answer answer;
    char code;
} answers[] = {
    {{.ok = true}, 0},
    {{.status = 403, .reason = REASON_NOT_ON_ALLOW_LIST}, 2},
    {{.status = 403, .reason = REASON_ADDRESS_LOOPBACK}, 2},
    {{.status = 407, .reason = REASON_AUTH}, 2},
    {{.status = 502, .reason = REASON_DNS_FAILURE}, 4},
    {{.status = 502, .reason = REASON_CONNECT_FAILURE}, 4},
    {{.status = 502, .reason = REASON_CONNECT_FAILURE, .error = "connection_refused"},
     5},
    {{.status = 502,
      .reason = REASON_CONNECT_FAILURE,
      .error = "destination_ip_unroutable"},
     3},
    {{.status = 504, .reason = REASON_TIMEOUT}, 6},
    {{.status = 408, .reason = REASON_TIMEOUT}, 6},
    {{.status = 503, .reason = REASON_LIMIT}, 1},
};

static void test_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        char want[] = "\5?\0\1\0\0\0\0\0";
        struct buf out;

        want[1] = answers[i].code;
        buf_init(&out, TEXT_MAX);
        front_socks5.answer(&out, &answers[i].answer);
        assert_int_equal(buf_len(&out), 10);
        assert_memory_equal(buf_view(&out).p, want, 10);
        buf_done(&out);
    }
}

static void test_logged_in(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, TEXT_MAX);
    front_socks5.logged_in(&out, true);
    front_socks5.logged_in(&out, false);
    assert_true(str_equal(buf_view(&out), STR("\1\0\1\1")));
    buf_done(&out);
}

static const struct row rows4[] = {
    {STR("\4\1\0\x50\xc0\0\2\7\0"), false, "192.0.2.7 80", 0},
    {STR("\4\1\0\x50\xc0\0\2\7me\0early"), false, "192.0.2.7 80", 5},
    {STR("\4\1\1\xbb\0\0\0\1\0A.Test.\0x"), false, "a.test 443", 1},
    {STR("\4\1\1\xbb\0\0\0\1me\0"
         "127.0.0.1\0"),
     false, "127.0.0.1 443", 0},
    {STR("\4\1\1\xbb\0\0\0\1\0::1\0"), false, "::1 443", 0},
    {STR("\4\1\1\xbb\0\0\0\0\0"), false, "0.0.0.0 443", 0},
    {STR("\4\2\0\x50\xc0\0\2\7\0"), false, "005b000000000000 not-supported", 9},
    {STR("\4\1\0\0\xc0\0\2\7\0"), false, "005b000000000000 malformed-host", 9},
    {STR("\4\1\0\x50\0\0\0\1\0\0"), false, "005b000000000000 malformed-host", 10},
    {STR("\4\1\0\x50\0\0\0\1\0a b\0"), false, "005b000000000000 malformed-host", 13},
    {STR("\4\1\0\x50\0\0\0\1\0a.test"), false, "more", 15},
    {STR("\4\1\0\x50\xc0\0\2\7me"), false, "more", 10},
};

static void test_socks4(void **state)
{
    struct talk t;

    (void)state;
    for (size_t i = 0; i < sizeof rows4 / sizeof *rows4; i++) {
        for (int dripping = 0; dripping < 2; dripping++) {
            talk(&t, &front_socks4, rows4[i].in, false, dripping);
            if (strcmp(t.told, rows4[i].told) != 0)
                fail_msg("row %zu, %d: \"%s\"", i, dripping, t.told);
            if (!dripping)
                assert_int_equal(t.left, rows4[i].left);
            assert_string_equal(t.asked.form, "socks4");
            arena_done(&t.arena);
        }
    }
}

/* What may be a password is not kept. */
static void test_raw(void **state)
{
    struct talk t;

    (void)state;
    talk(&t, &front_socks5, STR("\5\1\0\5\1\0\3\14me:pw@a.test\0\x50"), false, false);
    assert_true(str_equal(t.asked.raw, STR("@a.test")));
    arena_done(&t.arena);
    talk(&t, &front_socks4, STR("\4\1\0\x50\0\0\0\1\0me:pw@a.test\0"), false, true);
    assert_true(str_equal(t.asked.raw, STR("@a.test")));
    arena_done(&t.arena);
}

/* A text without an end is not read for ever. */
static void test_socks4_endless(void **state)
{
    char in[1024];
    struct talk t;

    (void)state;
    memset(in, 'a', sizeof in);
    memcpy(in, "\4\1\0\x50\0\0\0\1", 8);
    talk(&t, &front_socks4, (struct str){in, sizeof in}, false, true);
    assert_non_null(strstr(t.told, "malformed-request"));
    arena_done(&t.arena);
    in[8] = '\0';
    talk(&t, &front_socks4, (struct str){in, sizeof in}, false, true);
    assert_non_null(strstr(t.told, "malformed-host"));
    arena_done(&t.arena);
}

static void test_socks4_answer(void **state)
{
    static const struct {
        struct front_answer answer;
        unsigned char code;
    } cases[] = {
        {{.ok = true}, 0x5a}, {{.status = 407}, 0x5d}, {{.status = 403}, 0x5b}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[8] = {0, (char)cases[i].code};
        struct buf out;

        buf_init(&out, TEXT_MAX);
        front_socks4.answer(&out, &cases[i].answer);
        assert_true(str_equal(buf_view(&out), (struct str){want, 8}));
        buf_done(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),         cmocka_unit_test(test_parse_longest),
        cmocka_unit_test(test_answer),        cmocka_unit_test(test_logged_in),
        cmocka_unit_test(test_socks4),        cmocka_unit_test(test_socks4_endless),
        cmocka_unit_test(test_socks4_answer), cmocka_unit_test(test_raw),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
