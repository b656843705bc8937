#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/proxy/core_world.h"

/* Names of the hosts file. What is not said to be open is denied by its class. */
static const char hosts[] = "127.0.0.1 one.test\n"
                            "127.0.0.2 two.test\n127.0.0.1 two.test\n"
                            "::1 six.test\n127.0.0.1 six.test\n"
                            "::ffff:127.0.0.1 mapped.test\n"
                            "169.254.169.254 classes.test\n127.0.0.1 classes.test\n"
                            "127.0.0.1 again.test\n169.254.169.254 again.test\n"
                            "10.0.0.1 listed.test\n127.0.0.1 listed.test\n";

struct seen {
    struct core_world *w;
    unsigned count;
    struct dial_result result;
    char why[128];
};

static void on_done(void *owner, const struct dial_result *result)
{
    struct seen *seen = owner;

    seen->count++;
    seen->result = *result;
    snprintf(seen->why, sizeof seen->why, "%s", result->why != NULL ? result->why : "");
    assert_non_null(result->policy);
}

static struct target target(struct arena *a, const char *host, unsigned port)
{
    struct target t = {0};

    assert_true(target_set(&t, a, str_from(host), strchr(host, ':') != NULL, port));
    return t;
}

static struct seen dial(struct core_world *w, struct policy *p, const char *host,
                        unsigned port)
{
    struct seen seen = {.w = w, .result.fd = -1};
    struct arena a;
    struct target t;

    arena_init(&a, 4096);
    t = target(&a, host, port);
    dial_start(&w->core->dialler, &(struct dial_ask){.policy = p, .target = &t},
               on_done, &seen);
    assert_int_equal(seen.count, 0); /* never from within the start */
    core_world_until(w, seen.count > 0);
    assert_int_equal(seen.count, 1);
    fd_close(&seen.result.fd);
    arena_done(&a);
    return seen;
}

static void expect_addr(const struct seen *seen, const char *ip, unsigned port)
{
    char got[ADDR_TEXT_MAX], want[ADDR_TEXT_MAX];

    snprintf(want, sizeof want, strchr(ip, ':') != NULL ? "[%s]:%u" : "%s:%u", ip,
             port);
    assert_string_equal(addr_text(&seen->result.addr, got), want);
}

static void expect_reason(const struct seen *seen, enum reason reason)
{
    assert_false(seen->result.verdict.allow);
    assert_string_equal(reason_name(seen->result.verdict.reason), reason_name(reason));
}

static bool was_connected(int listener)
{
    autofd int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

    return fd >= 0;
}

static void test_literal(void **state)
{
    struct core_world *w = *state;
    unsigned port = 0;
    autofd int listener = core_world_listen("127.0.0.1", &port);
    struct policy *p = policy_allowing("\"127.0.0.1:%u\"", port);
    struct seen seen = dial(w, p, "127.0.0.1", port);

    assert_true(seen.result.verdict.allow);
    expect_addr(&seen, "127.0.0.1", port);
    assert_true(seen.result.ms_dns < 0);
    assert_true(seen.result.ms_connect >= 0);
    assert_true(was_connected(listener));
    policy_unref(&p);
}

/* A name without a word on its address: all of loopback is denied. */
static void test_denied_address(void **state)
{
    struct core_world *w = *state;
    unsigned port = 0;
    autofd int listener = core_world_listen("127.0.0.1", &port);
    struct policy *p = policy_allowing("\"one.test:%u\"", port);
    struct seen seen = dial(w, p, "one.test", port);

    expect_reason(&seen, REASON_ADDRESS_LOOPBACK);
    expect_addr(&seen, "127.0.0.1", port);
    assert_false(was_connected(listener));
    policy_unref(&p);
}

/* Of two addresses the denied one is not dialled, whichever comes first. */
static void test_survivor(void **state)
{
    struct core_world *w = *state;
    int fds[2];
    unsigned port = core_world_listen_pair("127.0.0.1", "127.0.0.2", fds);
    autofd int listener = fds[0], other = fds[1];
    struct policy *p = policy_allowing("\"two.test:%u\", \"127.0.0.1:%u\"", port, port);
    struct seen seen = dial(w, p, "two.test", port);

    assert_true(seen.result.verdict.allow);
    expect_addr(&seen, "127.0.0.1", port);
    assert_true(was_connected(listener));
    assert_false(was_connected(other));
    policy_unref(&p);
}

static void test_ipv6_first(void **state)
{
    struct core_world *w = *state;
    int fds[2];
    unsigned port = core_world_listen_pair("::1", "127.0.0.1", fds);
    autofd int six = fds[0], four __attribute__((unused)) = fds[1];
    struct policy *p = policy_allowing(
        "\"six.test:%u\", \"[::1]:%u\", \"127.0.0.1:%u\"", port, port, port);
    struct seen seen = dial(w, p, "six.test", port);

    expect_addr(&seen, "::1", port);
    fd_close(&six);
    seen = dial(w, p, "six.test", port);
    expect_addr(&seen, "127.0.0.1", port);
    policy_unref(&p);
}

static void test_mapped_is_ipv4(void **state)
{
    struct core_world *w = *state;
    unsigned port = 0;
    autofd int listener = core_world_listen("127.0.0.1", &port);
    struct policy *open =
        policy_allowing("\"mapped.test:%u\", \"127.0.0.1:%u\"", port, port);
    struct policy *shut = policy_allowing("\"mapped.test:%u\"", port);
    struct seen seen = dial(w, open, "mapped.test", port);

    expect_addr(&seen, "127.0.0.1", port);
    assert_true(was_connected(listener));
    seen = dial(w, shut, "mapped.test", port);
    expect_reason(&seen, REASON_ADDRESS_LOOPBACK);
    policy_unref(&open);
    policy_unref(&shut);
}

/* What is said does not hang on the order of the answers. */
static void test_order_of_refusals(void **state)
{
    struct core_world *w = *state;
    struct policy *p = policy_allowing("\"classes.test:1\", \"again.test:1\"");
    struct seen a = dial(w, p, "classes.test", 1), b = dial(w, p, "again.test", 1);

    expect_reason(&a, REASON_ADDRESS_LOOPBACK);
    expect_reason(&b, REASON_ADDRESS_LOOPBACK);
    policy_unref(&p);
}

static void test_own_address(void **state)
{
    struct core_world *w = *state;
    unsigned port = 0;
    autofd int listener = core_world_listen("127.0.0.1", &port);
    struct policy *p = policy_allowing("\"one.test:%u\", \"127.0.0.1:%u\"", port, port);
    struct ip ip = {.family = 4, .bytes = {127, 0, 0, 1}};
    struct addr own = addr_from_ip(&ip, port);
    struct seen seen;

    core_add_own(w->core, &own);
    seen = dial(w, p, "one.test", port);
    expect_reason(&seen, REASON_ADDRESS_OWN);
    assert_false(was_connected(listener));
    policy_unref(&p);
}

static void test_refused(void **state)
{
    struct core_world *w = *state;
    unsigned port = 0;
    int listener = core_world_listen("127.0.0.1", &port);
    struct policy *p = policy_allowing("\"127.0.0.1:%u\"", port);
    struct seen seen;

    fd_close(&listener);
    seen = dial(w, p, "127.0.0.1", port);
    expect_reason(&seen, REASON_CONNECT_FAILURE);
    assert_string_equal(seen.why, "the server refused the connection");
    assert_string_equal(seen.result.error, "connection_refused");
    expect_addr(&seen, "127.0.0.1", port);
    policy_unref(&p);
}

/* No name server is there. */
static void test_unresolved(void **state)
{
    struct core_world *w = *state;
    struct policy *p = policy_allowing("\"nowhere.test\"");
    struct seen seen = dial(w, p, "nowhere.test", 443);

    /* Not every kernel tells that nobody listens on a UDP port. */
    if (seen.result.verdict.reason != REASON_TIMEOUT)
        expect_reason(&seen, REASON_DNS_FAILURE);
    assert_int_equal(seen.result.addr.len, 0);
    assert_true(seen.why[0] != '\0');
    policy_unref(&p);
}

/* A name server that never answers, and a server that does not: one deadline. */
static void test_too_long(void **state)
{
    struct core_world *w = *state;
    autofd int mute = core_world_mute(w);
    struct policy *p = policy_allowing("\"slow.test\"");
    struct seen seen;

    assert_true(mute >= 0);
    w->core->dialler.seconds = 0.3;
    seen = dial(w, p, "slow.test", 443);
    expect_reason(&seen, REASON_TIMEOUT);
    assert_string_equal(seen.result.error, "dns_timeout");
    policy_unref(&p);
}

static void test_silent_server(void **state)
{
    enum { FILLERS = 8 };
    struct core_world *w = *state;
    unsigned port = 0;
    autofd int listener = core_world_listen("127.0.0.1", &port);
    struct policy *p = policy_allowing("\"127.0.0.1:%u\"", port);
    struct ip ip = {.family = 4, .bytes = {127, 0, 0, 1}};
    struct addr a = addr_from_ip(&ip, port);
    int fillers[FILLERS];
    struct seen seen;

    /* A queue of one place, which is full: further SYNs are dropped. */
    assert_return_code(listen(listener, 0), errno);
    for (unsigned i = 0; i < FILLERS; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(fillers[i], &a.sa, a.len);
    }
    w->core->dialler.seconds = 0.3;
    seen = dial(w, p, "127.0.0.1", port);
    expect_reason(&seen, REASON_TIMEOUT);
    expect_addr(&seen, "127.0.0.1", port);
    for (unsigned i = 0; i < FILLERS; i++)
        fd_close(&fillers[i]);
    policy_unref(&p);
}

static void test_cancel(void **state)
{
    struct core_world *w = *state;
    struct policy *p = policy_allowing("\"one.test:1\", \"nowhere.test\"");
    struct seen seen = {.w = w, .result.fd = -1};
    struct arena a;
    struct target cached, asked;
    struct dial *d;

    arena_init(&a, 4096);
    cached = target(&a, "one.test", 1);
    asked = target(&a, "nowhere.test", 443);
    d = dial_start(&w->core->dialler,
                   &(struct dial_ask){.policy = p, .target = &cached}, on_done, &seen);
    dial_cancel(&d);
    assert_null(d);
    dial_cancel(&d);
    d = dial_start(&w->core->dialler, &(struct dial_ask){.policy = p, .target = &asked},
                   on_done, &seen);
    core_world_turn(w, 0);
    if (seen.count == 0)
        dial_cancel(&d);
    for (unsigned i = 0; i < 20; i++)
        core_world_turn(w, 0.01);
    assert_in_range(seen.count, 0, 1);
    arena_done(&a);
    policy_unref(&p);
}

static int setup(void **state)
{
    struct core_world *w = calloc(1, sizeof *w);

    core_world_open(w, hosts, &limits_default);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct core_world *w = *state;
    core_world_close(w);
    free(w);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_literal),     TEST(test_denied_address), TEST(test_survivor),
        TEST(test_ipv6_first),  TEST(test_mapped_is_ipv4), TEST(test_order_of_refusals),
        TEST(test_own_address), TEST(test_refused),        TEST(test_unresolved),
        TEST(test_too_long),    TEST(test_silent_server),  TEST(test_cancel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
