/* Servers out of resolv.conf, which can name no port: the servers stand at port 53 of a
 * network namespace of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "dns/servers.h"
#include "tests/support/dns_world.h"
#include "tests/support/private_net.h"

/* resolv.conf is looked at every 5 s. */
static const double NOTICED = 5.2;

static void test_change_noticed(void **state)
{
    struct world *w = *state;
    struct dns_script *first = dns_script_new_at(w->loop, "127.0.0.1");
    struct dns_script *second = dns_script_new_at(w->loop, "127.0.0.2");
    static const struct dns_reply old = {
        .name = "a.test", .ttl = 60, .ips = {"192.0.2.1"}};
    static const struct dns_reply fresh = {
        .name = "a.test", .ttl = 60, .ips = {"192.0.2.2"}};
    static const struct dns_reply drop = {.name = "b.test", .trick = DNS_DROP};
    /* c-ares from 1.22 on shortens its own tries by chance, to about half of this. */
    const struct resolver_options patient = {.deadline = 11};
    struct lookup_seen under_way = {0};

    dns_script_say(first, &old);
    dns_script_say(first, &drop);
    dns_script_say(second, &fresh);
    world_write(w->resolv_conf, "nameserver 127.0.0.1\n");
    world_resolv_conf(w, &patient);
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.1");
    world_look(w, &under_way, "b.test");
    world_write(w->resolv_conf, "nameserver 127.0.0.2\n");
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.1");
    world_turn(w, NULL, NOTICED);
    /* The cache is as old as the servers that filled it. */
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.2");
    assert_int_equal(dns_script_count(first, "a.test", 1), 1);
    /* The question to the former server goes on, to its deadline. */
    assert_int_equal(under_way.calls, 0);
    world_turn(w, &under_way, WORLD_PATIENCE);
    assert_int_equal(under_way.status, LOOKUP_TIMED_OUT);
    assert_int_equal(dns_script_count(second, "b.test", 0), 0);
    dns_script_free(&first);
    dns_script_free(&second);
}

static void test_next_server(void **state)
{
    struct world *w = *state;
    struct dns_script *silent = dns_script_new_at(w->loop, "127.0.0.1");
    struct dns_script *broken = dns_script_new_at(w->loop, "127.0.0.2");
    struct dns_script *good = dns_script_new_at(w->loop, "127.0.0.4");
    static const struct dns_reply drop = {.name = "a.test", .trick = DNS_DROP};
    static const struct dns_reply fail = {.name = "a.test", .rcode = 2};
    static const struct dns_reply reply = {
        .name = "a.test", .ttl = 60, .ips = {"192.0.2.1"}};

    dns_script_say(silent, &drop);
    dns_script_say(broken, &fail);
    dns_script_say(good, &reply);
    /* Nothing listens at 127.0.0.3. */
    world_write(w->resolv_conf, "nameserver 127.0.0.1\nnameserver 127.0.0.2\n"
                                "nameserver 127.0.0.3\nnameserver 127.0.0.4\n");
    world_resolv_conf(w, NULL);
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.1");
    assert_true(dns_script_count(silent, "a.test", 1) >= 1);
    dns_script_free(&silent);
    dns_script_free(&broken);
    dns_script_free(&good);
}

/* Row A17: neither search domains nor ndots have a say. */
static void test_search_not_applied(void **state)
{
    struct world *w = *state;
    struct dns_script *server = dns_script_new_at(w->loop, "127.0.0.1");
    static const struct dns_reply found = {
        .name = "host.example.test", .ttl = 60, .ips = {"192.0.2.1"}};

    dns_script_say(server, &found);
    world_write(w->resolv_conf, "nameserver 127.0.0.1\nsearch example.test\n"
                                "options ndots:5\n");
    world_resolv_conf(w, NULL);
    world_expect(w, "host", LOOKUP_NOT_FOUND, "");
    world_expect(w, "a.host", LOOKUP_NOT_FOUND, "");
    assert_int_equal(dns_script_count(server, NULL, 0), 4);
    world_expect(w, "host.example.test", LOOKUP_OK, "192.0.2.1");
    dns_script_free(&server);
}

struct asked {
    struct channel_query query;
    unsigned calls;
    enum lookup_status status;
};

static void on_answer(void *owner, const struct channel_answer *a)
{
    struct asked *q = owner;

    q->calls++;
    q->status = a->status;
}

/* Whoever rewrites resolv.conf all the time does not make channels pile up: the
 * questions of the oldest fail. The clock is given, so nobody waits. */
static void test_many_changes(void **state)
{
    enum { CHANGES = 8, KEPT = 5 };
    struct world *w = *state;
    struct dns_script *server = dns_script_new_at(w->loop, "127.0.0.1");
    static const struct dns_reply drop = {.name = "a.test", .trick = DNS_DROP};
    const struct resolver_options options = {.resolv_conf = w->resolv_conf,
                                             .deadline = 60};
    struct asked asked[CHANGES] = {0};
    struct servers *servers;
    struct err e;
    char text[80];

    dns_script_say(server, &drop);
    assert_true(servers_new(w->loop, &options, &servers, &e));
    for (int i = 0; i < CHANGES; i++) {
        snprintf(text, sizeof text, "nameserver 127.0.0.1\n%*s\n", i, "");
        world_write(w->resolv_conf, text);
        assert_int_equal(servers_refresh(servers, 100 + 6 * i), i > 0);
        assert_false(servers_refresh(servers, 103 + 6 * i)); /* not looked at */
        channel_ask(servers_channel(servers), &asked[i].query, "a.test", 1, on_answer,
                    &asked[i]);
    }
    assert_int_equal(servers_pending(servers), KEPT);
    for (int i = 0; i < CHANGES; i++)
        assert_int_equal(asked[i].calls, i < CHANGES - KEPT);
    servers_free(&servers);
    for (int i = 0; i < CHANGES; i++) {
        assert_int_equal(asked[i].calls, 1);
        assert_int_equal(asked[i].status, LOOKUP_FAILED);
    }
    dns_script_free(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_change_noticed),
        WORLD_TEST(test_next_server),
        WORLD_TEST(test_search_not_applied),
        WORLD_TEST(test_many_changes),
    };
    char why[128];

    if (!private_net_enter(why, sizeof why)) {
        printf("skipped: servers at port 53 need a network namespace: %s\n", why);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
