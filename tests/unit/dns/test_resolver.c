#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/dns_world.h"

static void test_both_families(void **state)
{
    struct world *w = *state;
    struct lookup_seen s;

    SAY(w, .name = "a.test", .ttl = 60,
        .ips = {"192.0.2.1", "2001:db8::1", "192.0.2.2"});
    s = world_ask(w, "a.test");
    assert_int_equal(s.status, LOOKUP_OK);
    assert_int_equal(s.count, 3);
    assert_non_null(strstr(s.text, "192.0.2.1 192.0.2.2"));
    assert_non_null(strstr(s.text, "2001:db8::1"));
    assert_true(s.seconds > 0);
    assert_int_equal(dns_script_count(w->server, "a.test", 1), 1);
    assert_int_equal(dns_script_count(w->server, "a.test", 28), 1);
}

static void test_one_family(void **state)
{
    struct world *w = *state;

    SAY(w, .name = "v4.test", .ttl = 60, .ips = {"192.0.2.1"});
    SAY(w, .name = "v6.test", .ttl = 60, .ips = {"2001:db8::1"});
    SAY(w, .name = "mapped.test", .ttl = 60, .ips = {"::ffff:127.0.0.1"});
    SAY(w, .name = "half.test", .type = 28, .rcode = 3);
    SAY(w, .name = "half.test", .type = 1, .ttl = 60, .ips = {"192.0.2.1"});
    world_expect(w, "v4.test", LOOKUP_OK, "192.0.2.1");
    world_expect(w, "v6.test", LOOKUP_OK, "2001:db8::1");
    world_expect(w, "mapped.test", LOOKUP_OK, "::ffff:127.0.0.1");
    /* A balancer that says NXDOMAIN for the type that it does not know. */
    world_expect(w, "half.test", LOOKUP_OK, "192.0.2.1");
}

static void test_nothing(void **state)
{
    struct world *w = *state;

    SAY(w, .name = "empty.test", .ttl = 60);
    SAY(w, .name = "broken.test", .rcode = 2);
    world_expect(w, "missing.test", LOOKUP_NOT_FOUND, "");
    world_expect(w, "empty.test", LOOKUP_NOT_FOUND, "");
    world_expect(w, "broken.test", LOOKUP_FAILED, "");
}

static void test_names_of_every_kind(void **state)
{
    struct world *w = *state;
    static char longest[254];
    static struct dns_reply long_reply = {
        .name = longest, .ttl = 9, .ips = {"192.0.2.9"}};

    memset(longest, 'a', 253);
    for (size_t i = 63; i < 253; i += 64)
        longest[i] = '.';
    dns_script_say(w->server, &long_reply);
    SAY(w, .name = "a_b.-x.test", .ttl = 60, .ips = {"192.0.2.1"});
    SAY(w, .name = "single", .ttl = 60, .ips = {"192.0.2.2"});
    world_expect(w, longest, LOOKUP_OK, "192.0.2.9");
    world_expect(w, "a_b.-x.test", LOOKUP_OK, "192.0.2.1");
    world_expect(w, "single", LOOKUP_OK, "192.0.2.2");
}

static void test_no_answer(void **state)
{
    struct world *w = *state;
    const struct resolver_options soon = {.deadline = 0.4};

    world_servers(w, &soon);
    SAY(w, .name = "drop.test", .trick = DNS_DROP);
    world_expect(w, "drop.test", LOOKUP_TIMED_OUT, "");
    assert_true(dns_script_count(w->server, "drop.test", 1) >=
                2); /* it was sent again */
}

static void test_unreachable_server(void **state)
{
    struct world *w = *state;
    const struct resolver_options soon = {.deadline = 0.4};
    struct lookup_seen s;

    world_servers(w, &soon);
    dns_script_free(&w->server); /* its port is closed now */
    s = world_ask(w, "a.test");
    assert_true(s.status == LOOKUP_FAILED || s.status == LOOKUP_TIMED_OUT);
    w->server = dns_script_new(w->loop);
}

/* The family that fails or is silent does not take the other one down with it. */
static void test_partial(void **state)
{
    struct world *w = *state;
    struct lookup_seen s;

    SAY(w, .name = "slow.test", .type = 28, .trick = DNS_DROP);
    SAY(w, .name = "slow.test", .type = 1, .ttl = 60, .ips = {"192.0.2.1"});
    SAY(w, .name = "fail.test", .type = 1, .rcode = 2);
    SAY(w, .name = "fail.test", .type = 28, .ttl = 60, .ips = {"2001:db8::1"});
    SAY(w, .name = "none.test", .type = 1, .rcode = 2);
    SAY(w, .name = "none.test", .type = 28, .ttl = 60);
    s = world_ask(w, "slow.test");
    assert_string_equal(s.text, "192.0.2.1");
    assert_true(s.seconds < 3); /* the deadline is 5 */
    world_expect(w, "fail.test", LOOKUP_OK, "2001:db8::1");
    /* One family is empty and the other unknown: that is not "not found". */
    world_expect(w, "none.test", LOOKUP_FAILED, "");
}

static void test_truncated(void **state)
{
    struct world *w = *state;

    SAY(w, .name = "big.test", .ttl = 60, .trick = DNS_TRUNCATE, .ips = {"192.0.2.1"});
    SAY(w, .name = "ever.test", .ttl = 60, .trick = DNS_TRUNCATE_EVER);
    world_expect(w, "big.test", LOOKUP_OK, "192.0.2.1");
    assert_true(dns_script_tcp_count(w->server) >= 2);
    assert_int_not_equal(world_ask(w, "ever.test").status, LOOKUP_OK);
}

static void test_forged(void **state)
{
    struct world *w = *state;

    SAY(w, .name = "id.test", .ttl = 60, .trick = DNS_WRONG_ID, .ips = {"192.0.2.1"});
    SAY(w, .name = "name.test", .ttl = 60, .trick = DNS_WRONG_NAME,
        .ips = {"192.0.2.1"});
    SAY(w, .name = "zero.test", .ttl = 60, .trick = DNS_EMPTY_FIRST,
        .ips = {"192.0.2.1"});
    world_expect(w, "id.test", LOOKUP_OK, "192.0.2.1");
    world_expect(w, "name.test", LOOKUP_OK, "192.0.2.1");
    world_expect(w, "zero.test", LOOKUP_OK, "192.0.2.1");
}

static void test_malformed(void **state)
{
    struct world *w = *state;
    const struct resolver_options soon = {.deadline = 0.4};

    world_servers(w, &soon);
    SAY(w, .name = "cut.test", .ttl = 60, .trick = DNS_CUT,
        .ips = {"192.0.2.1", "::2"});
    SAY(w, .name = "bare.test", .ttl = 60, .trick = DNS_NO_QUESTION,
        .ips = {"192.0.2.1", "2001:db8::2"});
    SAY(w, .name = "other.test", .ttl = 60, .trick = DNS_FOREIGN,
        .ips = {"192.0.2.1", "2001:db8::2"});
    assert_int_not_equal(world_ask(w, "cut.test").status, LOOKUP_OK);
    assert_int_not_equal(world_ask(w, "bare.test").status, LOOKUP_OK);
    world_expect(w, "other.test", LOOKUP_NOT_FOUND, "");
}

/* Row A14. */
static void test_cname(void **state)
{
    struct world *w = *state;

    SAY(w, .name = "alias.test", .ttl = 60, .cname = {"b.test", "c.test", "d.test"},
        .ips = {"192.0.2.1"});
    SAY(w, .name = "mixed.test", .ttl = 60, .trick = DNS_UNSORTED,
        .cname = {"b.test", "c.test"}, .ips = {"192.0.2.2"});
    SAY(w, .name = "ring.test", .ttl = 60, .cname = {"b.test", "c.test", "ring.test"});
    SAY(w, .name = "end.test", .ttl = 60, .cname = {"b.test"});
    world_expect(w, "alias.test", LOOKUP_OK, "192.0.2.1");
    world_expect(w, "mixed.test", LOOKUP_OK, "192.0.2.2");
    assert_int_not_equal(world_ask(w, "ring.test").status, LOOKUP_OK);
    world_expect(w, "end.test", LOOKUP_NOT_FOUND, "");
}

static void test_many(void **state)
{
    struct world *w = *state;
    struct lookup_seen s;

    SAY(w, .name = "v4.test", .type = 1, .ttl = 60, .many = 40);
    SAY(w, .name = "v4.test", .type = 28, .ttl = 60);
    SAY(w, .name = "both.test", .ttl = 60, .many = 40);
    SAY(w, .name = "twice.test", .ttl = 60,
        .ips = {"192.0.2.1", "192.0.2.2", "192.0.2.1"});
    s = world_ask(w, "v4.test");
    assert_int_equal(s.count, LOOKUP_MAX);
    assert_memory_equal(s.text, "198.51.100.1 198.51.100.2 ", 26);
    s = world_ask(w, "both.test"); /* neither family pushes the other one out */
    assert_int_equal(s.count, LOOKUP_MAX);
    assert_non_null(strstr(s.text, "198.51.100.16"));
    assert_non_null(strstr(s.text, "2001:db8::10"));
    assert_null(strstr(s.text, "198.51.100.17"));
    world_expect(w, "twice.test", LOOKUP_OK, "192.0.2.1 192.0.2.2");
}

static void test_bad_servers(void **state)
{
    static const char *const bad[] = {
        "",           "ns.test",         "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536",
        "[::1",       "[::1]53",         "[::1]:",     "[192.0.2.1]", "127.1",
        "192.0.2.1 ", "192.0.2.1:5353x", "fe80::1%lo", "::1:",        "[]:53",
    };
    static const char *const good[] = {"192.0.2.1", "192.0.2.1:5353", "2001:db8::1",
                                       "[2001:db8::1]:5353", NULL};
    struct world *w = *state;
    struct resolver_options options = {.servers = good};
    struct resolver *r = NULL;
    struct err e;

    assert_true(resolver_new(w->loop, &options, &r, &e));
    resolver_free(&r);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *servers[] = {"192.0.2.1", bad[i], NULL};

        options.servers = servers;
        if (resolver_new(w->loop, &options, &r, &e))
            fail_msg("\"%s\" was accepted", bad[i]);
        assert_null(r);
        assert_non_null(strstr(e.text, bad[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_both_families), WORLD_TEST(test_one_family),
        WORLD_TEST(test_nothing),       WORLD_TEST(test_names_of_every_kind),
        WORLD_TEST(test_no_answer),     WORLD_TEST(test_unreachable_server),
        WORLD_TEST(test_partial),       WORLD_TEST(test_truncated),
        WORLD_TEST(test_forged),        WORLD_TEST(test_malformed),
        WORLD_TEST(test_cname),         WORLD_TEST(test_many),
        WORLD_TEST(test_bad_servers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
