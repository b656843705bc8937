#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/front.h"

enum { OUT_MAX = 8192 };

/* What answer() says, NUL-terminated. */
static const char *answer(const struct front_answer *a, char out[OUT_MAX + 1])
{
    struct buf b;
    struct str said;

    buf_init(&b, OUT_MAX);
    front_http.answer(&b, a);
    said = buf_view(&b);
    memcpy(out, said.p, said.n);
    out[said.n] = '\0';
    assert_int_equal(strlen(out), said.n);
    buf_done(&b);
    return out;
}

static struct target make_target(struct arena *a, const char *authority)
{
    struct target t = {0};

    arena_init(a, 1024);
    assert_true(target_parse(&t, a, str_from(authority)));
    return t;
}

static void test_answers(void **state)
{
    char out[OUT_MAX + 1];
    struct arena arena;
    struct target t = make_target(&arena, "api.example.test:443");

    (void)state;
    assert_string_equal(answer(&(struct front_answer){.ok = true, .target = &t}, out),
                        "HTTP/1.1 200 Connection Established\r\n\r\n");
    assert_string_equal(
        answer(&(struct front_answer){.status = 403,
                                      .reason = REASON_NOT_ON_ALLOW_LIST,
                                      .why = STR("host is not on the allow list"),
                                      .target = &t},
               out),
        "HTTP/1.1 403 host is not on the allow list\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n"
        "X-Proxy-Error: blocked-by-allowlist\r\n"
        "Proxy-Status: weir; error=http_request_denied; "
        "details=\"not-on-allow-list\"\r\n"
        "Content-Length: 162\r\n"
        "Connection: close\r\n"
        "\r\n"
        "Connection to api.example.test:443 blocked: host is not on the allow list "
        "(not-on-allow-list).\n"
        "To allow it, add \"api.example.test:443\" to network.allowedDomains.\n");
    arena_done(&arena);
}

/* A piece that the answer to (status, reason) must hold. */
static const struct piece {
    unsigned status;
    enum reason reason;
    const char *target, *piece;
} pieces[] = {
    {403, REASON_DENY_LIST, "a.test:1", "X-Proxy-Error: blocked-by-allowlist\r\n"},
    {403, REASON_DENY_LIST, "a.test:1", "network.deniedDomains"},
    {403, REASON_POLICY_REVOKED, "a.test:1", "blocked-by-allowlist"},
    {403, REASON_ADDRESS_LOOPBACK, "a.test:1", "blocked-by-sandbox-runtime"},
    {403, REASON_ADDRESS_LOOPBACK, "a.test:1", "error=destination_ip_prohibited;"},
    {403, REASON_ADDRESS_LOOPBACK, "a.test:1", "add that address with port 1,"},
    {403, REASON_ADDRESS_LOOPBACK, "[::1]:80", "add \"[::1]:80\" to"},
    {403, REASON_ADDRESS_OWN, "127.0.0.1:80", "details=\"address-own\""},
    {403, REASON_ADDRESS_LISTED, "a.test:1", "network.deniedResolvedAddresses"},
    {403, REASON_SNI_MISMATCH, "a.test:1", "blocked-by-sandbox-runtime"},
    {403, REASON_NOT_ON_ALLOW_LIST, "[2001:db8::1]:443",
     "add \"[2001:db8::1]:443\" to"},
    {403, REASON_NOT_ON_ALLOW_LIST, "localhost:80", "add \"localhost:80\" to"},
    {403, REASON_NOT_ON_ALLOW_LIST, "db:5432", "have a dot in them.\n"},
    {400, REASON_MALFORMED_HOST, NULL, "error=http_request_error;"},
    {400, REASON_MALFORMED_HOST, NULL, "Request refused: why (malformed-host).\n"},
    {431, REASON_LIMIT, NULL, "HTTP/1.1 431 why\r\n"},
    {501, REASON_NOT_SUPPORTED, "a.test:80", "Request refused: why (not-supported).\n"},
    {502, REASON_DNS_FAILURE, "a.test:1", "error=dns_error;"},
    {504, REASON_DNS_FAILURE, "a.test:1", "error=dns_timeout;"},
    {502, REASON_CONNECT_FAILURE, "a.test:1", "error=destination_unavailable;"},
    {502, REASON_CONNECT_FAILURE, "a.test:1", "Connection to a.test:1 failed: why"},
    {504, REASON_TIMEOUT, "a.test:1", "error=connection_timeout;"},
    {503, REASON_LIMIT, NULL, "error=connection_limit_reached;"},
};

static void test_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        const struct piece *p = &pieces[i];
        struct arena arena;
        struct target t = make_target(&arena, p->target ? p->target : "a.test:1");
        char out[OUT_MAX + 1];

        answer(&(struct front_answer){.status = p->status,
                                      .reason = p->reason,
                                      .why = STR("why"),
                                      .target = p->target != NULL ? &t : NULL},
               out);
        if (strstr(out, p->piece) == NULL)
            fail_msg("no \"%s\" in \"%s\"", p->piece, out);
        if (p->status != 403)
            assert_null(strstr(out, "X-Proxy-Error"));
        arena_done(&arena);
    }
}

static void check_shape(const char *out)
{
    const char *body = strstr(out, "\r\n\r\n"), *length;

    assert_non_null(body);
    length = strstr(out, "Content-Length: ");
    assert_true(length != NULL && length < body);
    assert_int_equal(strtoul(length + 16, NULL, 10), strlen(body + 4));
    assert_true(strlen(body + 4) > 0);
    assert_non_null(strstr(out, "\r\nConnection: close\r\n"));
    for (const char *p = out; p < body; p++)
        assert_true((*p >= 0x20 && *p < 0x7f) || *p == '\r' || *p == '\n');
}

/* Every reason with every status, a hostile sentence, the longest host: the shape
 * holds, and nothing breaks out of the status line. */
static void test_shapes(void **state)
{
    static const unsigned statuses[] = {400, 403, 407, 408, 431,
                                        500, 501, 502, 503, 504};
    char name[HOST_NAME_MAX_LEN + 8], why[3000], out[OUT_MAX + 1];
    struct arena arena;
    struct target t;

    (void)state;
    memset(name, 'a', sizeof name);
    for (size_t i = 63; i < HOST_NAME_MAX_LEN; i += 64)
        name[i] = '.';
    memcpy(name + HOST_NAME_MAX_LEN, ":65535", 7);
    t = make_target(&arena, name);
    for (size_t i = 0; i < sizeof why; i++)
        why[i] = "\r\nX-Evil: <b>\"\\\xc3\xa9\xff\0 "[i % 20];
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        for (int r = 0; r < REASON_COUNT; r++) {
            answer(&(struct front_answer){.status = statuses[i],
                                          .reason = (enum reason)r,
                                          .why = {why, sizeof why},
                                          .target = &t},
                   out);
            check_shape(out);
            assert_null(strstr(out, "\nX-Evil"));
            assert_null(strchr(out, '<'));
            answer(
                &(struct front_answer){.status = statuses[i], .reason = (enum reason)r},
                out);
            check_shape(out);
        }
    arena_done(&arena);
}

static void test_own_error_type(void **state)
{
    char out[OUT_MAX + 1];

    (void)state;
    answer(&(struct front_answer){.status = 502,
                                  .reason = REASON_CONNECT_FAILURE,
                                  .error = "connection_refused"},
           out);
    assert_non_null(strstr(out, "error=connection_refused;"));
}

/* All or nothing: half of an answer would be read as something else. */
static void test_no_room(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 100);
    front_http.answer(&b, &(struct front_answer){.status = 403});
    assert_int_equal(buf_len(&b), 0);
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers), cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_shapes),  cmocka_unit_test(test_own_error_type),
        cmocka_unit_test(test_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
