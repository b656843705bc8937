#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "tests/unit/proxy/core_world.h"

enum { SESSIONS = 5 };

/* A core with sessions, and nobody behind the connections that are put into its pool.
 */
struct pool {
    struct core_world w;
    struct session *sessions[SESSIONS];
    struct arena arena;
};

static const char public_address[] = "93.184.216.34",
                  both[] = "\"a.test\", \"b.test:1-90\"";

static void pool_open(struct pool *p)
{
    struct limits limits = limits_default;

    core_world_open(&p->w, "", &limits);
    arena_init(&p->arena, 65536);
    for (size_t i = 0; i < SESSIONS; i++) {
        struct policy *policy = policy_allowing("%s", both);
        char name[8];

        snprintf(name, sizeof name, "s%zu", i);
        p->sessions[i] = session_new(p->w.core, str_from(name), policy, NULL);
        policy_unref(&policy);
    }
}

static void pool_close(struct pool *p)
{
    for (size_t i = 0; i < SESSIONS; i++)
        session_free(&p->sessions[i]);
    assert_int_equal(upstream_count(p->w.core->upstreams), 0);
    arena_done(&p->arena);
    core_world_close(&p->w);
}

static struct target target(struct pool *p, const char *host, unsigned port)
{
    struct target t = {0};

    assert_true(target_set(&t, &p->arena, str_from(host), false, port));
    return t;
}

static struct upstream_facts facts_at(const char *address)
{
    struct upstream_facts facts = {.authorization = STR("")};
    struct ip ip = {0};

    assert_true(ip_parse(str_from(address), &ip));
    facts.addr = addr_from_ip(&ip, 80);
    return facts;
}

static void ignore(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop, (void)w, (void)events;
}

/* Puts a connection there, and returns the server's end of it. */
static int put_with(struct pool *p, size_t session, const char *host, unsigned port,
                    const struct upstream_facts *facts)
{
    struct target t = target(p, host, port);
    struct stream stream;
    int ends[2];

    assert_int_equal(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    stream_init(&stream, ends[0], ignore, NULL);
    upstream_put(p->sessions[session], &t, facts, &stream);
    return ends[1];
}

static int put(struct pool *p, size_t session, const char *host, unsigned port)
{
    struct upstream_facts facts = facts_at(public_address);

    return put_with(p, session, host, port, &facts);
}

static bool take(struct pool *p, size_t session, const char *host, unsigned port)
{
    struct target t = target(p, host, port);
    struct upstream_facts facts;
    struct stream stream;
    bool took = upstream_take(p->sessions[session], &t, &p->arena, &facts, &stream,
                              ignore, NULL);

    if (took)
        stream_done(&stream, p->w.loop);
    return took;
}

static bool is_closed(int end)
{
    char byte;

    return recv(end, &byte, 1, MSG_DONTWAIT) == 0;
}

static size_t count(const struct pool *p)
{
    return upstream_count(p->w.core->upstreams);
}

static void test_for_one_session_and_target(void **state)
{
    struct pool p;
    int end;

    (void)state;
    pool_open(&p);
    end = put(&p, 0, "a.test", 80);
    assert_false(take(&p, 1, "a.test", 80));
    assert_false(take(&p, 0, "b.test", 80));
    assert_false(take(&p, 0, "a.test", 81));
    assert_false(is_closed(end));
    assert_true(take(&p, 0, "A.test", 80));
    assert_true(is_closed(end)); /* by the test that took it */
    assert_false(take(&p, 0, "a.test", 80));
    close(end);
    pool_close(&p);
}

/* What is known of it goes along, in memory of whoever takes it. */
static void test_facts(void **state)
{
    struct upstream_facts facts = facts_at("127.0.0.1"), got;
    char via[] = "http://p.test:3128", login[] = "Basic eDp5";
    struct target t;
    struct stream stream;
    struct pool p;
    int end;

    (void)state;
    pool_open(&p);
    facts.via = via;
    facts.absolute = true;
    facts.authorization = str_from(login);
    facts.since = ev_now(p.w.loop) - 10;
    end = put_with(&p, 0, "a.test", 80, &facts);
    memset(via, 'x', sizeof via - 1);
    memset(login, 'x', sizeof login - 1);
    t = target(&p, "a.test", 80);
    assert_true(upstream_take(p.sessions[0], &t, &p.arena, &got, &stream, ignore, &p));
    assert_string_equal(got.via, "http://p.test:3128");
    assert_true(str_equal(got.authorization, STR("Basic eDp5")) && got.absolute);
    assert_true(got.since == facts.since);
    assert_ptr_equal(stream.watch.data, &p);
    assert_int_equal(count(&p), 0);
    stream_done(&stream, p.w.loop);
    close(end);
    pool_close(&p);
}

static void test_old_ones_are_not_taken(void **state)
{
    struct upstream_facts facts = facts_at(public_address);
    struct pool p;
    int end;

    (void)state;
    pool_open(&p);
    facts.since = ev_now(p.w.loop) - UPSTREAM_AGE_SECONDS;
    end = put_with(&p, 0, "a.test", 80, &facts);
    assert_true(count(&p) == 0 && is_closed(end));
    close(end);
    facts.since = ev_now(p.w.loop) - UPSTREAM_AGE_SECONDS + 0.01;
    end = put_with(&p, 0, "a.test", 80, &facts);
    assert_int_equal(count(&p), 1);
    ev_sleep(0.02);
    ev_now_update(p.w.loop);
    assert_false(take(&p, 0, "a.test", 80));
    assert_true(count(&p) == 0 && is_closed(end));
    close(end);
    pool_close(&p);
}

static void test_how_many(void **state)
{
    int ends[SESSIONS][UPSTREAMS_EACH + 1];
    struct pool p;

    (void)state;
    pool_open(&p);
    for (size_t s = 0; s < SESSIONS; s++)
        for (size_t i = 0; i <= UPSTREAMS_EACH; i++)
            ends[s][i] = put(&p, s, "a.test", 80);
    assert_int_equal(count(&p), UPSTREAMS_MAX);
    /* Of a session the first goes; then the first of all, whosever it is. */
    for (size_t s = 0; s < SESSIONS; s++)
        for (size_t i = 0; i <= UPSTREAMS_EACH; i++) {
            assert_int_equal(is_closed(ends[s][i]), s == 0 || i == 0);
            close(ends[s][i]);
        }
    core_world_until(&p.w, count(&p) == 0); /* the servers have closed */
    pool_close(&p);
}

/* What nobody has asked for would be taken for the answer to the next request. */
static void test_a_server_that_speaks_or_closes(void **state)
{
    struct pool p;
    int ends[2];

    (void)state;
    pool_open(&p);
    ends[0] = put(&p, 0, "a.test", 80);
    ends[1] = put(&p, 0, "a.test", 80);
    assert_int_equal(write(ends[0], "HTTP/1.1 200", 12), 12);
    core_world_until(&p.w, count(&p) == 1);
    close(ends[0]);
    close(ends[1]);
    core_world_until(&p.w, count(&p) == 0);
    pool_close(&p);
}

static void set_policy(struct pool *p, size_t session, const char *network)
{
    struct policy *policy = policy_from(network);

    session_set_policy(p->sessions[session], policy, NULL);
    policy_unref(&policy);
}

static void test_another_policy(void **state)
{
    struct upstream_facts facts = facts_at(public_address);
    struct pool p;
    int ends[4];

    (void)state;
    pool_open(&p);
    ends[0] = put(&p, 0, "a.test", 80);
    ends[1] = put(&p, 0, "b.test", 80);
    ends[2] = put(&p, 1, "a.test", 80);
    facts.via = "http://p.test:3128";
    ends[3] = put_with(&p, 0, "b.test", 80, &facts);
    set_policy(&p, 0, "{\"allowedDomains\": [\"b.test\"]}");
    assert_true(is_closed(ends[0]) && !is_closed(ends[1]) && !is_closed(ends[2]));
    assert_true(is_closed(ends[3])); /* the way may be another one now */
    /* The name is allowed as before, the address is not. */
    set_policy(&p, 0,
               "{\"allowedDomains\": [\"b.test\"],"
               " \"deniedResolvedAddresses\": [\"93.184.0.0/16\"]}");
    assert_true(is_closed(ends[1]));
    assert_int_equal(count(&p), 1);
    for (size_t i = 0; i < 4; i++)
        close(ends[i]);
    pool_close(&p);
}

/* Also when nobody has told the pool: it asks when it gives. */
static void test_an_address_is_judged_when_it_is_taken(void **state)
{
    struct upstream_facts facts = facts_at("127.0.0.1");
    struct pool p;
    int end;

    (void)state;
    pool_open(&p);
    end = put_with(&p, 0, "a.test", 80, &facts);
    assert_false(take(&p, 0, "a.test", 80));
    assert_true(is_closed(end));
    close(end);
    pool_close(&p);
}

static void test_what_clients_leave(void **state)
{
    struct limits few = limits_default;
    struct pool p;
    int ends[8];

    (void)state;
    few.connections = 4;
    pool_open(&p);
    core_set_limits(p.w.core, &few);
    p.w.core->fit = 4;
    for (size_t i = 0; i < 8; i++)
        ends[i] = put(&p, i % SESSIONS, "a.test", 80);
    upstream_fit(p.w.core->upstreams);
    assert_int_equal(count(&p), 8); /* two for each of four */
    for (size_t clients = 1; clients <= 4; clients++) {
        struct ip from = {0};

        assert_true(ip_parse(STR("192.0.2.1"), &from));
        assert_true(clients_enter(p.w.core->clients, &from, 4, 4));
        upstream_fit(p.w.core->upstreams);
        assert_int_equal(count(&p), 8 - 2 * clients);
        assert_true(is_closed(ends[2 * clients - 1]));
    }
    close(put(&p, 0, "a.test", 80));
    assert_int_equal(count(&p), 0);
    for (size_t i = 0; i < 8; i++)
        close(ends[i]);
    for (size_t i = 0; i < 4; i++) {
        struct ip from = {0};

        assert_true(ip_parse(STR("192.0.2.1"), &from));
        clients_leave(p.w.core->clients, &from);
    }
    pool_close(&p);
}

static void test_shed(void **state)
{
    struct pool p;
    int ends[2];

    (void)state;
    pool_open(&p);
    assert_false(upstream_shed(p.w.core->upstreams));
    ends[0] = put(&p, 0, "a.test", 80);
    ends[1] = put(&p, 1, "a.test", 80);
    core_shed(p.w.core);
    assert_true(is_closed(ends[0]) && is_closed(ends[1]) && count(&p) == 0);
    close(ends[0]);
    close(ends[1]);
    pool_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_for_one_session_and_target),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_old_ones_are_not_taken),
        cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_a_server_that_speaks_or_closes),
        cmocka_unit_test(test_another_policy),
        cmocka_unit_test(test_an_address_is_judged_when_it_is_taken),
        cmocka_unit_test(test_what_clients_leave),
        cmocka_unit_test(test_shed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
