/* Connections that a proxy in front has passed on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/listener.h"
#include "tests/unit/proxy/conn_world.h"

static const struct ip_range loopback = {{.family = 4, .bytes = {127}}, 8};

static struct fixture *proxied_new(const struct limits *limits)
{
    struct fixture *f = fixture_new(limits);

    listener_set_proxies(f->session->listeners, &loopback, 1);
    return f;
}

/* What the client hears to the end, after a header and a request for what is not
 * allowed. */
static void ask_behind(struct fixture *f, const char *header, char got[TEXT_MAX])
{
    int client = client_open(f);

    say(client, header);
    ask(f, client, "bad.test");
    hear(f, client, NULL, got);
    close(client);
}

static void test_passed_on(void **state)
{
    struct fixture *f = proxied_new(&limits_default);
    char got[TEXT_MAX];

    (void)state;
    ask_behind(f, "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", got);
    assert_non_null(strstr(got, " 403 "));
    ask_behind(f, "PROXY UNKNOWN\r\n", got);
    assert_non_null(strstr(got, " 403 "));
    assert_int_equal(f->event_count, 2);
    assert_string_equal(f->events[0].client, "192.0.2.1");
    assert_string_equal(f->events[1].client, "");
    fixture_free(f);
}

static void test_in_bytes(void **state)
{
    static const char header[] = "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n";
    struct fixture *f = proxied_new(&limits_default);
    int client = client_open(f);
    char got[TEXT_MAX];

    (void)state;
    for (const char *p = header; *p != '\0'; p++) {
        say(client, (char[]){*p, '\0'});
        core_world_turn(&f->w, 0.005);
    }
    ask(f, client, "bad.test");
    hear(f, client, NULL, got);
    assert_non_null(strstr(got, " 403 "));
    assert_string_equal(f->events[0].client, "192.0.2.1");
    close(client);
    fixture_free(f);
}

static void test_header_missing(void **state)
{
    struct fixture *f = proxied_new(&limits_default);
    char got[TEXT_MAX];

    (void)state;
    ask_behind(f, "", got);
    assert_string_equal(got, "");
    ask_behind(f, "PROXY TCP4 192.0.2.1 192.0.2.2\r\n", got);
    assert_string_equal(got, "");
    assert_int_equal(f->event_count, 2);
    assert_int_equal(f->events[0].reason, REASON_MALFORMED_REQUEST);
    assert_int_equal(f->events[1].reason, REASON_MALFORMED_REQUEST);
    assert_string_equal(f->events[1].client, "127.0.0.1");
    fixture_free(f);
}

/* A look whether somebody listens is nobody's request. */
static void test_looks(void **state)
{
    struct fixture *f = proxied_new(&limits_default);
    int client = client_open(f);
    char got[TEXT_MAX];

    (void)state;
    core_world_until(&f->w, session_connections(f->session) == 1);
    close(client);
    core_world_until(&f->w, session_connections(f->session) == 0);
    client = client_open(f);
    assert_int_equal(send(client, "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16, 0), 16);
    shutdown(client, SHUT_WR);
    assert_true(hear(f, client, NULL, got));
    close(client);
    assert_int_equal(f->event_count, 0);
    fixture_free(f);
}

static void test_not_listed(void **state)
{
    static const struct ip_range other = {{.family = 4, .bytes = {10}}, 8};
    struct fixture *f = fixture_new(&limits_default);
    char got[TEXT_MAX];

    (void)state;
    listener_set_proxies(f->session->listeners, &other, 1);
    ask_behind(f, "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", got);
    assert_non_null(strstr(got, " 400 "));
    assert_string_equal(f->events[0].client, "127.0.0.1");
    fixture_free(f);
}

/* The limit is of whom the proxy names, and not of the proxy. */
static void test_limit(void **state)
{
    struct limits few = limits_default;
    struct fixture *f;
    int first, second, other;
    char got[TEXT_MAX];

    (void)state;
    few.connections_per_client = 1;
    f = proxied_new(&few);
    first = client_open(f);
    say(first, "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n");
    ask(f, first, "good.test");
    hear(f, first, "\r\n\r\n", got);
    assert_non_null(strstr(got, " 200 "));
    second = client_open(f);
    say(second, "PROXY TCP4 192.0.2.1 192.0.2.2 3 4\r\n");
    ask(f, second, "good.test");
    hear(f, second, NULL, got);
    assert_non_null(strstr(got, " 503 "));
    other = client_open(f);
    say(other, "PROXY TCP4 192.0.2.9 192.0.2.2 1 2\r\n");
    ask(f, other, "good.test");
    hear(f, other, "\r\n\r\n", got);
    assert_non_null(strstr(got, " 200 "));
    close(first);
    close(second);
    close(other);
    fixture_free(f);
}

/* Over the limit of all: it is told so in the words of what comes behind the header. */
static void test_limit_of_all(void **state)
{
    static const struct {
        const char *says, *hears;
    } cases[] = {
        {"PROXY TCP4 192.0.2.9 192.0.2.2 1 2\r\nGET ", "HTTP/1.1 503 "},
        {"PROXY TCP4 192.0.2.9 192.0.2.2 1 2\r\n\x05\x01", "\x05\xff"},
        {"PROXY UNKNOWN\r\n\x05\x01", "\x05\xff"},
    };
    struct limits few = limits_default;
    struct fixture *f;
    char got[TEXT_MAX];
    int first;

    (void)state;
    few.connections = 1;
    f = proxied_new(&few);
    first = client_open(f);
    core_world_until(&f->w, session_connections(f->session) == 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int client = client_open(f);

        say(client, cases[i].says);
        hear(f, client, NULL, got);
        assert_ptr_equal(strstr(got, cases[i].hears), got);
        assert_int_equal(f->events[i].reason, REASON_LIMIT);
        close(client);
    }
    close(first);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passed_on),      cmocka_unit_test(test_in_bytes),
        cmocka_unit_test(test_header_missing), cmocka_unit_test(test_looks),
        cmocka_unit_test(test_not_listed),     cmocka_unit_test(test_limit),
        cmocka_unit_test(test_limit_of_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
