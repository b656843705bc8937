/* Who waits for whom, what is remembered, and how a lookup ends; what the servers'
 * answers mean is in test_resolver.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "proxy/base/fd.h"
#include "tests/support/dns_world.h"

static void test_cached(void **state)
{
    struct world *w = *state;
    struct lookup_seen s;

    SAY(w, .name = "a.test", .ttl = 60, .ips = {"192.0.2.1"});
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.1");
    s = world_ask(w, "a.test");
    assert_string_equal(s.text, "192.0.2.1");
    assert_true(s.seconds == 0);
    assert_int_equal(dns_script_count(w->server, "a.test", 1), 1);
    resolver_flush(w->resolver);
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.1");
    assert_int_equal(dns_script_count(w->server, "a.test", 1), 2);
}

/* Row A11: with a TTL of 0 a second question would get another answer. */
static void test_ttl_bounds(void **state)
{
    struct world *w = *state;
    const struct resolver_options bounds = {
        .ttl_floor = 0.3, .ttl_ceiling = 0.4, .negative_ttl = 0.3};

    world_servers(w, &bounds);
    SAY(w, .name = "zero.test", .ttl = 0, .ips = {"192.0.2.1"});
    SAY(w, .name = "long.test", .ttl = 0x7fffffff, .ips = {"192.0.2.2"});
    for (int i = 0; i < 2; i++) {
        world_expect(w, "zero.test", LOOKUP_OK, "192.0.2.1");
        world_expect(w, "long.test", LOOKUP_OK, "192.0.2.2");
        world_expect(w, "missing.test", LOOKUP_NOT_FOUND, "");
    }
    assert_int_equal(dns_script_count(w->server, "zero.test", 1), 1);
    assert_int_equal(dns_script_count(w->server, "long.test", 1), 1);
    assert_int_equal(dns_script_count(w->server, "missing.test", 1), 1);
    world_turn(w, NULL, 0.5);
    world_expect(w, "zero.test", LOOKUP_OK, "192.0.2.1");
    world_expect(w, "long.test", LOOKUP_OK, "192.0.2.2");
    world_expect(w, "missing.test", LOOKUP_NOT_FOUND, "");
    assert_int_equal(dns_script_count(w->server, "zero.test", 1), 2);
    assert_int_equal(dns_script_count(w->server, "long.test", 1), 2);
    assert_int_equal(dns_script_count(w->server, "missing.test", 1), 2);
}

static void test_failure_not_cached(void **state)
{
    struct world *w = *state;

    SAY(w, .name = "a.test", .rcode = 2);
    world_expect(w, "a.test", LOOKUP_FAILED, "");
    SAY(w, .name = "a.test", .ttl = 60, .ips = {"192.0.2.1"});
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.1");
}

static void test_eviction(void **state)
{
    struct world *w = *state;
    const struct resolver_options two = {.cache_max = 2};

    world_servers(w, &two);
    SAY(w, .name = "a.test", .ttl = 60, .ips = {"192.0.2.1"});
    SAY(w, .name = "b.test", .ttl = 60, .ips = {"192.0.2.2"});
    SAY(w, .name = "c.test", .ttl = 60, .ips = {"192.0.2.3"});
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.1");
    world_expect(w, "b.test", LOOKUP_OK, "192.0.2.2");
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.1");
    world_expect(w, "c.test", LOOKUP_OK,
                 "192.0.2.3"); /* b goes: it was used before a */
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.1");
    assert_int_equal(dns_script_count(w->server, "a.test", 1), 1);
    world_expect(w, "b.test", LOOKUP_OK, "192.0.2.2");
    assert_int_equal(dns_script_count(w->server, "b.test", 1), 2);
}

static void test_coalescing(void **state)
{
    struct world *w = *state;
    enum { MANY = 200 };
    static struct lookup_seen seen[MANY];

    memset(seen, 0, sizeof seen);
    SAY(w, .name = "a.test", .ttl = 60, .ips = {"192.0.2.1"});
    for (size_t i = 0; i < MANY; i++)
        world_look(w, &seen[i], "a.test");
    for (size_t i = 0; i < MANY; i++)
        world_turn(w, &seen[i], WORLD_PATIENCE);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(seen[i].calls, 1);
        assert_string_equal(seen[i].text, "192.0.2.1");
    }
    assert_int_equal(dns_script_count(w->server, "a.test", 1), 1);
    assert_int_equal(dns_script_count(w->server, "a.test", 28), 1);
}

static void test_cancel(void **state)
{
    struct world *w = *state;
    struct lookup_seen a = {0}, b = {0}, c = {0};

    SAY(w, .name = "a.test", .ttl = 60, .ips = {"192.0.2.1"});
    world_look(w, &a, "a.test");
    world_look(w, &b, "a.test");
    lookup_cancel(&a.lookup); /* the one that asked; the other one still waits */
    assert_null(a.lookup);
    world_turn(w, &b, WORLD_PATIENCE);
    assert_int_equal(b.calls, 1);
    world_look(w, &c, "a.test"); /* answered by the cache, not delivered yet */
    lookup_cancel(&c.lookup);
    lookup_cancel(&c.lookup);
    world_look(w, &c, "missing.test"); /* nobody is left to wait for this one */
    lookup_cancel(&c.lookup);
    world_turn(w, NULL, 0.05);
    assert_int_equal(a.calls + c.calls, 0);
}

static void test_cancel_within(void **state)
{
    struct world *w = *state;
    struct lookup_seen a = {0}, b = {0}, c = {0}, d = {0};

    SAY(w, .name = "a.test", .ttl = 60, .ips = {"192.0.2.1"});
    a.cancels = &b;
    a.starts = &d;
    world_look(w, &a, "a.test");
    world_look(w, &b, "a.test");
    world_look(w, &c, "a.test");
    world_turn(w, &c, WORLD_PATIENCE);
    world_turn(w, &d, WORLD_PATIENCE);
    assert_int_equal(a.calls, 1);
    assert_int_equal(b.calls, 0);
    assert_int_equal(c.calls, 1);
    assert_int_equal(d.calls, 1);
}

/* The resolver may go while c-ares still waits for somebody who does not. */
static void test_free_with_questions(void **state)
{
    struct world *w = *state;
    struct lookup_seen a = {0};

    SAY(w, .name = "drop.test", .trick = DNS_DROP);
    SAY(w, .name = "slow.test", .type = 28, .trick = DNS_DROP);
    SAY(w, .name = "slow.test", .type = 1, .ttl = 60, .ips = {"192.0.2.1"});
    world_expect(w, "slow.test", LOOKUP_OK, "192.0.2.1");
    world_look(w, &a, "drop.test");
    world_turn(w, NULL, 0.02);
    lookup_cancel(&a.lookup);
    resolver_free(&w->resolver);
    assert_int_equal(a.calls, 0);
}

static void test_busy(void **state)
{
    struct world *w = *state;
    const struct resolver_options few = {
        .outstanding_max = 2, .waiting_max = 4, .deadline = 0.5};
    struct lookup_seen seen[6] = {0};

    world_servers(w, &few);
    SAY(w, .name = "a.test", .trick = DNS_DROP);
    SAY(w, .name = "b.test", .trick = DNS_DROP);
    world_look(w, &seen[0], "a.test");
    world_look(w, &seen[1], "b.test");
    world_look(w, &seen[2], "c.test"); /* a third name */
    world_look(w, &seen[3], "a.test");
    world_look(w, &seen[4], "b.test");
    world_look(w, &seen[5], "a.test"); /* a fifth who waits */
    for (size_t i = 0; i < 6; i++)
        world_turn(w, &seen[i], WORLD_PATIENCE);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(seen[i].status,
                         i == 2 || i == 5 ? LOOKUP_BUSY : LOOKUP_TIMED_OUT);
    assert_int_equal(dns_script_count(w->server, "c.test", 0), 0);
    /* c-ares gives up too, but from 1.32 on it waits for at least 250 ms a try. */
    for (size_t i = 0; i < 40 && world_ask(w, "c.test").status == LOOKUP_BUSY; i++)
        world_turn(w, NULL, 0.25);
    world_expect(w, "c.test", LOOKUP_NOT_FOUND, "");
}

static void look(struct world *w, struct lookup_seen *s,
                 const struct lookup_asker *asker, const char *name)
{
    s->asker = asker;
    world_look(w, s, name);
}

/* One that asks for many names leaves room for others. What it gave up counts until it
 * is settled, and so does one whose address is another of its network; the names that
 * others ask for do not. */
static void test_share(void **state)
{
    static const struct lookup_asker greedy = {.ip = {6, {0x20, 1, [7] = 1, [15] = 1}}},
                                     again = {.ip = {6, {0x20, 1, [7] = 1, [15] = 2}}},
                                     other = {.ip = {6, {0x20, 1, [7] = 2}}},
                                     known = {.known = "ci", .ip = greedy.ip};
    const struct resolver_options few = {.outstanding_max = 8, .deadline = 0.5};
    struct world *w = *state;
    struct lookup_seen seen[10] = {0};

    world_servers(w, &few);
    SAY(w, .name = "a.test", .trick = DNS_DROP);
    SAY(w, .name = "b.test", .trick = DNS_DROP);
    SAY(w, .name = "c.test", .trick = DNS_DROP);
    SAY(w, .name = "d.test", .trick = DNS_DROP);
    look(w, &seen[0], &greedy, "a.test");
    look(w, &seen[1], &greedy, "b.test"); /* that was its quarter of 8 */
    lookup_cancel(&seen[1].lookup);
    look(w, &seen[2], &greedy, "c.test");
    look(w, &seen[3], &again, "c.test");
    look(w, &seen[4], &greedy, "a.test"); /* asked for already */
    look(w, &seen[5], &other, "c.test");
    look(w, &seen[6], &greedy, "c.test"); /* now it is, and not for this one */
    look(w, &seen[7], &known, "d.test");
    look(w, &seen[8], &other, "missing.test");
    for (size_t i = 0; i < 9; i++)
        world_turn(w, &seen[i], WORLD_PATIENCE);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(seen[i].status, i == 1             ? LOOKUP_FAILED
                                         : i == 2 || i == 3 ? LOOKUP_BUSY
                                                            : LOOKUP_TIMED_OUT);
    assert_string_equal(seen[2].why, "too many names are being looked up for this "
                                     "client");
    assert_int_equal(seen[1].calls, 0);
    assert_int_equal(seen[8].status, LOOKUP_NOT_FOUND);
    /* What is settled is given back. */
    look(w, &seen[9], &greedy, "missing.test");
    world_turn(w, &seen[9], WORLD_PATIENCE);
    assert_int_equal(seen[9].status, LOOKUP_NOT_FOUND);
}

/* A port that is ours, and that refuses everybody: its socket hears one peer only. */
static int refusing_port(char address[32])
{
    struct addr a = {.v4 = {.sin_family = AF_INET, .sin_addr = {htonl(0x7f000001)}},
                     .len = sizeof a.v4};
    struct addr peer = a;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    peer.v4.sin_port = htons(9);
    assert_int_equal(bind(fd, &a.sa, a.len), 0);
    assert_int_equal(getsockname(fd, &a.sa, &a.len), 0);
    assert_int_equal(connect(fd, &peer.sa, peer.len), 0);
    snprintf(address, 32, "127.0.0.1:%u", addr_port(&a));
    return fd;
}

/* On loopback it is known at once, and is no question of time; also for many questions
 * that share a socket, and share what it has to tell. */
static void test_refused(void **state)
{
    enum { MANY = 20 };
    struct world *w = *state;
    char address[32];
    autofd int port = refusing_port(address);
    const char *const servers[] = {address, NULL};
    const struct resolver_options patient = {.servers = servers, .deadline = 3600};
    struct lookup_seen seen[MANY] = {0};
    char name[16];
    struct err e;

    resolver_free(&w->resolver);
    assert_true(resolver_new(w->loop, &patient, &w->resolver, &e));
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "n%d.test", i);
        world_look(w, &seen[i], name);
    }
    for (int i = 0; i < MANY; i++) {
        world_turn(w, &seen[i], WORLD_PATIENCE);
        assert_int_equal(seen[i].status, LOOKUP_FAILED);
        assert_string_equal(seen[i].why, "connection refused by the DNS server");
    }
}

static void test_hosts_first(void **state)
{
    struct world *w = *state;

    SAY(w, .name = "a.test", .ttl = 60, .ips = {"192.0.2.1"});
    world_write(w->hosts, "10.0.0.1 a.test\n");
    world_expect(w, "a.test", LOOKUP_OK, "10.0.0.1");
    assert_int_equal(dns_script_count(w->server, NULL, 0), 0);
    world_write(w->hosts, "10.0.0.2 a.test b.test\n");
    world_turn(w, NULL, 1.1); /* the file is looked at once a second */
    world_expect(w, "a.test", LOOKUP_OK, "10.0.0.2");
    world_expect(w, "b.test", LOOKUP_OK, "10.0.0.2");
    unlink(w->hosts);
    world_turn(w, NULL, 1.1);
    world_expect(w, "a.test", LOOKUP_OK, "192.0.2.1");
}

static void test_localhost(void **state)
{
    struct world *w = *state;

    SAY(w, .name = "localhost", .ttl = 60, .ips = {"192.0.2.1"});
    world_expect(w, "localhost", LOOKUP_OK, "127.0.0.1 ::1");
    world_expect(w, "a.localhost", LOOKUP_OK, "127.0.0.1 ::1");
    world_expect(w, "a.onion", LOOKUP_NOT_FOUND, "");
    assert_int_equal(dns_script_count(w->server, NULL, 0), 0);
    world_expect(w, "notlocalhost", LOOKUP_NOT_FOUND, "");
    assert_int_equal(dns_script_count(w->server, "notlocalhost", 1), 1);
}

static unsigned random_below(unsigned below)
{
    static uint32_t state = 1; /* always the same run */

    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

/* Everything at once, in an order that nobody thought of. The sanitizers watch; here it
 * counts that each lookup ends once, or never after it was cancelled. */
static void test_churn(void **state)
{
    enum { AT_ONCE = 40, STEPS = 4000, NAMES = 24 };
    static struct dns_reply replies[NAMES];
    static char names[NAMES][16];
    static struct lookup_seen seen[AT_ONCE];
    const struct resolver_options tight = {.deadline = 0.05,
                                           .outstanding_max = 12,
                                           .waiting_max = 30,
                                           .cache_max = 6,
                                           .ttl_floor = 0.001,
                                           .negative_ttl = 0.001};
    struct world *w = *state;

    world_servers(w, &tight);
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "n%u.test", i);
        replies[i] = (struct dns_reply){.name = names[i],
                                        .trick = (enum dns_trick)(i % 11),
                                        .rcode = i % 5 == 4 ? 2 : 0,
                                        .ips = {"192.0.2.1", "2001:db8::1"}};
        dns_script_say(w->server, &replies[i]);
    }
    for (unsigned i = 0; i < STEPS; i++) {
        struct lookup_seen *s = &seen[random_below(AT_ONCE)];

        if (s->lookup != NULL && random_below(3) == 0) {
            lookup_cancel(&s->lookup);
        } else if (s->lookup == NULL) {
            *s = (struct lookup_seen){.cancels = &seen[random_below(AT_ONCE)]};
            world_look(w, s, names[random_below(NAMES)]);
        }
        if (random_below(50) == 0)
            resolver_flush(w->resolver);
        if (random_below(8) == 0)
            ev_run(w->loop, EVRUN_NOWAIT);
        for (unsigned j = 0; j < AT_ONCE; j++)
            assert_true(seen[j].calls <= 1 && (seen[j].calls == 0 || !seen[j].lookup));
    }
    for (unsigned i = 0; i < AT_ONCE; i++)
        world_turn(w, &seen[i], WORLD_PATIENCE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_cached),
        WORLD_TEST(test_ttl_bounds),
        WORLD_TEST(test_failure_not_cached),
        WORLD_TEST(test_eviction),
        WORLD_TEST(test_coalescing),
        WORLD_TEST(test_cancel),
        WORLD_TEST(test_cancel_within),
        WORLD_TEST(test_free_with_questions),
        WORLD_TEST(test_busy),
        WORLD_TEST(test_share),
        WORLD_TEST(test_refused),
        WORLD_TEST(test_hosts_first),
        WORLD_TEST(test_localhost),
        WORLD_TEST(test_churn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
