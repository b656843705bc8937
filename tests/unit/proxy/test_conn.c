/* Connections of a core, over loopback, as far as only a test inside the process can
 * see: a policy that changes, what the session tells, what an idle tunnel holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/proxy/conn_world.h"

/* A tunnel, and the server's end of it. */
static int tunnel(struct fixture *f, int client)
{
    char got[TEXT_MAX];
    int fd = -1;

    ask(f, client, "good.test");
    hear(f, client, "\r\n\r\n", got);
    assert_non_null(strstr(got, " 200 "));
    core_world_until(&f->w, (fd = accept4(f->server, NULL, NULL, SOCK_CLOEXEC)) >= 0);
    say(client, "x");
    hear(f, fd, "x", got);
    return fd;
}

static void set_policy(struct fixture *f, const char *entry)
{
    struct policy *p = policy_allowing("\"%s\"", entry);

    session_set_policy(f->session, p, NULL);
    policy_unref(&p);
}

static void expect_event(const struct fixture *f, size_t i, enum reason reason,
                         const char *close)
{
    assert_true(i < f->event_count);
    assert_string_equal(reason_name(f->events[i].reason), reason_name(reason));
    assert_string_equal(f->events[i].close, close);
}

static void test_tunnel(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    char got[TEXT_MAX];
    int client = client_open(f), server = tunnel(f, client);

    (void)state;
    say(server, "hello");
    hear(f, client, "hello", got);
    fd_close(&client);
    assert_true(hear(f, server, NULL, got));
    fd_close(&server);
    core_world_until(&f->w, f->event_count == 1);
    expect_event(f, 0, REASON_ALLOW_LIST, "client");
    assert_string_equal(f->events[0].host, "good.test");
    assert_int_equal(f->events[0].up, 1);
    assert_int_equal(f->events[0].down, 5);
    assert_int_equal(session_connections(f->session), 0);
    fixture_free(f);
}

static void test_revoked(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    char got[TEXT_MAX];
    int client = client_open(f), server = tunnel(f, client);

    (void)state;
    set_policy(f, "other.test:1");
    assert_int_equal(f->event_count, 1);
    expect_event(f, 0, REASON_POLICY_REVOKED, "revoked");
    assert_false(f->events[0].allow);
    assert_true(hear(f, client, NULL, got));
    assert_true(hear(f, server, NULL, got));
    fd_close(&client);
    fd_close(&server);
    fixture_free(f);
}

/* The name is still allowed, its address no more. */
static void test_revoked_by_address(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    int client = client_open(f), server = tunnel(f, client);
    char entry[64];

    (void)state;
    snprintf(entry, sizeof entry, "good.test:%u", f->server_port);
    set_policy(f, entry);
    expect_event(f, 0, REASON_POLICY_REVOKED, "revoked");
    fd_close(&client);
    fd_close(&server);
    fixture_free(f);
}

static void test_kept(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    struct policy *p =
        policy_allowing("\"good.test:%u\", \"127.0.0.1\"", f->server_port);
    char got[TEXT_MAX];
    int client = client_open(f), server = tunnel(f, client);

    (void)state;
    session_set_policy(f->session, p, NULL);
    policy_unref(&p);
    say(server, "goes on");
    hear(f, client, "goes on", got);
    assert_int_equal(f->event_count, 0);
    fd_close(&client);
    fd_close(&server);
    fixture_free(f);
}

/* The policy changes between the verdict and the answer: the new one counts. */
static void test_judged_again_before_the_answer(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    char got[TEXT_MAX];
    int client = client_open(f);

    (void)state;
    core_world_until(&f->w, session_connections(f->session) == 1);
    ask(f, client, "good.test");
    /* The turn that reads the request starts the lookup, whose answer is for later. */
    core_world_turn(&f->w, 1);
    set_policy(f, "other.test:1");
    hear(f, client, "\r\n\r\n", got);
    assert_non_null(strstr(got, " 403 "));
    assert_int_equal(f->event_count, 1);
    assert_false(f->events[0].allow);
    fd_close(&client);
    fixture_free(f);
}

static void test_session_ends(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    char got[TEXT_MAX];
    int client = client_open(f), server = tunnel(f, client), silent = client_open(f);

    (void)state;
    core_world_until(&f->w, session_connections(f->session) == 2);
    session_free(&f->session);
    /* One line: the other client has asked for nothing. */
    assert_int_equal(f->event_count, 1);
    expect_event(f, 0, REASON_ALLOW_LIST, "shutdown");
    assert_true(hear(f, client, NULL, got));
    assert_true(hear(f, silent, NULL, got));
    fd_close(&client);
    fd_close(&server);
    fd_close(&silent);
    fixture_free(f);
}

static void test_close_idle(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    char got[TEXT_MAX];
    int client = client_open(f), server = tunnel(f, client), silent = client_open(f);

    (void)state;
    core_world_until(&f->w, session_connections(f->session) == 2);
    session_rest(f->session);
    /* It may be about to ask. */
    session_close_idle(f->session, 60);
    assert_int_equal(session_connections(f->session), 2);
    session_close_idle(f->session, 0);
    assert_true(hear(f, silent, NULL, got));
    assert_int_equal(session_connections(f->session), 0);
    fd_close(&client);
    fd_close(&server);
    fd_close(&silent);
    fixture_free(f);
}

static void test_too_many(void **state)
{
    struct limits limits = limits_default;
    struct fixture *f;
    char got[TEXT_MAX];
    int first, second, third;

    (void)state;
    limits.connections_per_client = 1;
    f = fixture_new(&limits);
    first = client_open(f);
    core_world_until(&f->w, session_connections(f->session) == 1);
    second = client_open(f);
    ask(f, second, "good.test");
    assert_true(hear(f, second, NULL, got));
    assert_non_null(strstr(got, " 503 "));
    expect_event(f, 0, REASON_LIMIT, "");
    fd_close(&second);
    fd_close(&first);
    core_world_until(&f->w, session_connections(f->session) == 0);
    third = client_open(f);
    fd_close(&second);
    second = tunnel(f, third);
    fd_close(&second);
    fd_close(&third);
    fixture_free(f);
}

static void test_head_deadline(void **state)
{
    struct limits limits = limits_default;
    struct fixture *f;
    char got[TEXT_MAX];
    int slow, mute;

    (void)state;
    limits.head_seconds = 0.2;
    f = fixture_new(&limits);
    slow = client_open(f);
    mute = client_open(f);
    say(slow, "CONNECT good.te");
    assert_true(hear(f, slow, NULL, got));
    assert_non_null(strstr(got, " 408 "));
    assert_true(hear(f, mute, NULL, got));
    assert_string_equal(got, "");
    assert_int_equal(f->event_count, 1);
    expect_event(f, 0, REASON_TIMEOUT, "");
    fd_close(&slow);
    fd_close(&mute);
    fixture_free(f);
}

static void test_idle_deadline(void **state)
{
    struct limits limits = limits_default;
    struct fixture *f;
    char got[TEXT_MAX];
    int client, server;

    (void)state;
    limits.idle_seconds = 0.3;
    f = fixture_new(&limits);
    client = client_open(f);
    server = tunnel(f, client);
    assert_true(hear(f, client, NULL, got));
    assert_true(hear(f, server, NULL, got));
    expect_event(f, 0, REASON_ALLOW_LIST, "idle");
    fd_close(&client);
    fd_close(&server);
    fixture_free(f);
}

/* One side has said its last: that has a patience of its own. */
static void test_half_closed_deadline(void **state)
{
    struct limits limits = limits_default;
    struct fixture *f;
    char got[TEXT_MAX];
    int client, server;

    (void)state;
    limits.half_closed_seconds = 0.3;
    f = fixture_new(&limits);
    client = client_open(f);
    server = tunnel(f, client);
    shutdown(client, SHUT_WR);
    assert_true(hear(f, server, NULL, got));
    assert_true(hear(f, client, NULL, got));
    core_world_until(&f->w, f->event_count == 1);
    expect_event(f, 0, REASON_ALLOW_LIST, "idle");
    fd_close(&client);
    fd_close(&server);
    fixture_free(f);
}

static void test_too_much_early_data(void **state)
{
    enum { PIECES = 64 };
    static char piece[4096];
    struct limits limits = limits_default;
    struct fixture *f;
    char got[TEXT_MAX];
    int client, mute;

    (void)state;
    limits.early_bytes = 8192;
    f = fixture_new(&limits);
    mute = core_world_mute(&f->w);
    set_policy(f, "nowhere.test");
    client = client_open(f);
    say(client, "CONNECT nowhere.test:443 HTTP/1.1\r\n\r\n");
    for (unsigned i = 0; i < PIECES && f->event_count == 0; i++) {
        send(client, piece, sizeof piece, MSG_DONTWAIT | MSG_NOSIGNAL);
        core_world_turn(&f->w, 0.01);
    }
    assert_true(hear(f, client, NULL, got));
    assert_string_equal(got, "");
    expect_event(f, 0, REASON_LIMIT, "");
    fd_close(&client);
    fixture_free(f);
    fd_close(&mute);
}

/* Its end may come before the answer, when there is something to pass on ahead of it.
 */
static void test_client_says_all_at_once(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    int client = client_open(f), server = -1;
    char got[TEXT_MAX];

    (void)state;
    ask(f, client, "good.test");
    say(client, "all of it");
    shutdown(client, SHUT_WR);
    core_world_until(&f->w,
                     (server = accept4(f->server, NULL, NULL, SOCK_CLOEXEC)) >= 0);
    assert_true(hear(f, server, NULL, got));
    assert_string_equal(got, "all of it");
    say(server, "and the answer");
    fd_close(&server);
    assert_true(hear(f, client, NULL, got));
    assert_non_null(strstr(got, " 200 "));
    assert_non_null(strstr(got, "\r\n\r\nand the answer"));
    core_world_until(&f->w, f->event_count == 1);
    expect_event(f, 0, REASON_ALLOW_LIST, "client");
    fd_close(&client);
    fixture_free(f);
}

/* The client leaves while its name is looked up: nothing is dialled. */
static void test_client_leaves(void **state)
{
    struct fixture *f = fixture_new(&limits_default);
    int client = client_open(f), mute = core_world_mute(&f->w);

    (void)state;
    set_policy(f, "nowhere.test");
    say(client, "CONNECT nowhere.test:443 HTTP/1.1\r\n\r\n");
    core_world_until(&f->w, session_connections(f->session) == 1);
    core_world_turn(&f->w, 0.01);
    shutdown(client, SHUT_WR);
    core_world_until(&f->w, session_connections(f->session) == 0);
    expect_event(f, 0, REASON_CLIENT_LEFT, "client");
    fd_close(&client);
    fixture_free(f);
    fd_close(&mute);
}

static void test_size(void **state)
{
    (void)state;
    /* With the target and a timer's place in the heap, an idle tunnel stays under this.
     */
    assert_in_range(conn_size(), 1, 1024 - 64);
}

static int client_from(struct fixture *f, const char *text)
{
    struct ip from = {0}, to = {.family = 4, .bytes = {127, 0, 0, 1}};
    struct addr a, b = addr_from_ip(&to, f->port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(ip_parse(str_from(text), &from));
    a = addr_from_ip(&from, 0);
    assert_return_code(bind(fd, &a.sa, a.len), errno);
    assert_return_code(connect(fd, &b.sa, b.len), errno);
    return fd;
}

/* A client that has its share of the lookups is told so; others are not held up. */
static void test_share_of_lookups(void **state)
{
    const struct resolver_options one_each = {.share_max = 1, .deadline = 3600};
    struct fixture *f = fixture_new(&limits_default);
    autofd int mute = core_world_mute_with(&f->w, one_each);
    autofd int first = client_open(f), second = client_open(f);
    autofd int other = client_from(f, "127.0.0.2"), more = client_from(f, "127.0.0.2");
    struct policy *p = policy_allowing("\"*.mute.test\"");
    char got[TEXT_MAX];

    (void)state;
    session_set_policy(f->session, p, NULL);
    policy_unref(&p);
    ask(f, first, "a.mute.test");
    core_world_until(&f->w, recv(mute, got, sizeof got, MSG_DONTWAIT) > 0);
    ask(f, second, "b.mute.test");
    assert_true(hear(f, second, NULL, got));
    assert_non_null(strstr(got, "503 too many names are being looked up for this"));
    assert_int_equal(f->event_count, 1);
    assert_int_equal(f->events[0].reason, REASON_LIMIT);
    assert_string_equal(f->events[0].host, "b.mute.test");
    /* The other has a share of its own, and is told no sooner. */
    ask(f, other, "c.mute.test");
    ask(f, more, "d.mute.test");
    core_world_until(&f->w, f->event_count == 2);
    assert_int_equal(f->events[1].reason, REASON_LIMIT);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tunnel),
        cmocka_unit_test(test_revoked),
        cmocka_unit_test(test_revoked_by_address),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_judged_again_before_the_answer),
        cmocka_unit_test(test_session_ends),
        cmocka_unit_test(test_close_idle),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_head_deadline),
        cmocka_unit_test(test_idle_deadline),
        cmocka_unit_test(test_half_closed_deadline),
        cmocka_unit_test(test_too_much_early_data),
        cmocka_unit_test(test_client_says_all_at_once),
        cmocka_unit_test(test_client_leaves),
        cmocka_unit_test(test_share_of_lookups),
        cmocka_unit_test(test_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
