#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/socket.h>

#include "tests/unit/proxy/conn_world.h"

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

/* The connection that the gateway makes, once its request has come. */
static int serve(struct fixture *f, const char *answer)
{
    char got[TEXT_MAX];
    int fd = -1;

    core_world_until(&f->w, (fd = accept4(f->server, NULL, NULL,
                                          SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
    assert_false(hear(f, fd, "\r\n\r\n", got));
    say(fd, answer);
    return fd;
}

static void get(struct fixture *f, int client)
{
    char head[256];

    snprintf(head, sizeof head,
             "GET http://good.test:%u/ HTTP/1.1\r\nHost: good.test\r\n\r\n",
             f->server_port);
    say(client, head);
}

static bool no_new_connection(struct fixture *f)
{
    return accept4(f->server, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}

static void deny_all(struct fixture *f)
{
    struct policy *none = policy_from("{}");

    session_set_policy(f->session, none, NULL);
    policy_unref(&none);
}

static size_t idle(const struct fixture *f)
{
    return upstream_count(f->w.core->upstreams);
}

static struct fixture *begin(void)
{
    struct limits limits = limits_default;

    return fixture_new(&limits);
}

/* A request that is answered; the server's connection waits for the next one. */
static int get_kept(struct fixture *f, int client)
{
    char got[TEXT_MAX];
    int server;

    get(f, client);
    server = serve(f, ANSWER);
    assert_false(hear(f, client, "\r\n\r\nhi", got));
    core_world_until(&f->w, idle(f) == 1);
    return server;
}

static void test_one_server_for_many_requests(void **state)
{
    struct fixture *f = begin();
    int client = client_open(f), server, other;
    char got[TEXT_MAX];

    (void)state;
    server = get_kept(f, client);
    /* For the same client, and for the next one of the session. */
    other = client_open(f);
    for (unsigned i = 0; i < 4; i++) {
        int asks = i % 2 == 0 ? client : other;

        get(f, asks);
        assert_false(hear(f, server, "\r\n\r\n", got));
        say(server, ANSWER);
        assert_false(hear(f, asks, "\r\n\r\nhi", got));
        core_world_until(&f->w, idle(f) == 1);
    }
    assert_true(no_new_connection(f));
    assert_int_equal(f->event_count, 5);
    close(client);
    close(other);
    close(server);
    fixture_free(f);
}

/* It may close at any time: then the request goes once more, over a new one. */
static void test_a_server_that_closed_meanwhile(void **state)
{
    struct fixture *f = begin();
    int client = client_open(f), server;
    char got[TEXT_MAX];

    (void)state;
    server = get_kept(f, client);
    get(f, client);
    close(server); /* in the same turn as the request */
    server = serve(f, ANSWER);
    assert_false(hear(f, client, "\r\n\r\nhi", got));
    assert_int_equal(f->event_count, 2);
    assert_true(f->events[1].allow);
    close(client);
    close(server);
    fixture_free(f);
}

static void test_a_policy_that_denies_what_waits(void **state)
{
    struct fixture *f = begin();
    int client = client_open(f), server;
    char got[TEXT_MAX];

    (void)state;
    server = get_kept(f, client);
    deny_all(f);
    assert_int_equal(idle(f), 0);
    assert_true(hear(f, server, NULL, got) && got[0] == '\0');
    get(f, client);
    assert_false(hear(f, client, "HTTP/1.1 403", got));
    assert_true(no_new_connection(f));
    close(client);
    close(server);
    fixture_free(f);
}

/* Cut in the middle: never so that it looks whole. */
static void cut(const char *head, const char *said)
{
    struct fixture *f = begin();
    int client = client_open(f), server;
    char got[TEXT_MAX];

    get(f, client);
    server = serve(f, head);
    assert_false(hear(f, client, said, got));
    deny_all(f);
    hear(f, client, NULL, got);
    assert_string_equal(got, ""); /* nothing more */
    assert_int_equal(f->event_count, 1);
    assert_int_equal(f->events[0].reason, REASON_POLICY_REVOKED);
    assert_string_equal(f->events[0].close, "revoked");
    assert_int_equal(idle(f), 0);
    close(client);
    close(server);
    fixture_free(f);
}

static void test_a_policy_that_denies_what_is_under_way(void **state)
{
    (void)state;
    cut("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", "\r\n\r\nhi");
    cut("HTTP/1.1 200 OK\r\n\r\nhi", "2\r\nhi\r\n");
    cut("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
        "2\r\nhi\r\n");
}

static void test_before_the_answer(void **state)
{
    struct fixture *f = begin();
    int client = client_open(f), server = -1;
    char got[TEXT_MAX];

    (void)state;
    get(f, client);
    core_world_until(&f->w, (server = accept4(f->server, NULL, NULL,
                                              SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
    assert_false(hear(f, server, "\r\n\r\n", got));
    deny_all(f);
    assert_true(hear(f, client, NULL, got));
    assert_null(strstr(got, " 200 "));
    assert_int_equal(f->events[0].reason, REASON_POLICY_REVOKED);
    close(client);
    close(server);
    fixture_free(f);
}

static void test_for_this_proxy_itself(void **state)
{
    struct fixture *f = begin();
    int client = client_open(f);
    char got[TEXT_MAX], head[128];

    (void)state;
    snprintf(
        head, sizeof head,
        "OPTIONS http://good.test:%u HTTP/1.1\r\nHost: x\r\nMax-Forwards: 0\r\n\r\n",
        f->server_port);
    say(client, head);
    assert_false(hear(f, client, "Connection: keep-alive\r\n\r\n", got));
    get(f, client);
    close(serve(f, ANSWER));
    assert_false(hear(f, client, "\r\n\r\nhi", got));
    close(client);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_server_for_many_requests),
        cmocka_unit_test(test_a_server_that_closed_meanwhile),
        cmocka_unit_test(test_a_policy_that_denies_what_waits),
        cmocka_unit_test(test_a_policy_that_denies_what_is_under_way),
        cmocka_unit_test(test_before_the_answer),
        cmocka_unit_test(test_for_this_proxy_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
