#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "proxy/hostaddrs.h"
#include "tests/support/private_net.h"

static bool private_net;
static char no_net[128];

static bool has(struct hostaddrs_watch *w, const char *text)
{
    const struct hostaddrs *h = hostaddrs_now(w);
    struct ip ip;

    assert_non_null(h);
    assert_true(ip_parse(str_from(text), &ip));
    for (size_t i = 0; i < h->interface_count; i++)
        if (ip_equal(&h->interfaces[i], &ip))
            return true;
    return false;
}

static int set_up(void **state)
{
    struct err e;

    return hostaddrs_watch_new((struct hostaddrs_watch **)state, &e) ? 0 : -1;
}

static int tear_down(void **state)
{
    hostaddrs_watch_free((struct hostaddrs_watch **)state);
    return 0;
}

static void test_loopback(void **state)
{
    assert_true(has(*state, "127.0.0.1"));
    assert_false(has(*state, "192.0.2.1"));
}

/* Nothing listens in this namespace, so an address of this host refuses at once. */
static bool refuses(const struct addr *a)
{
    int fd = socket(a->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    int error = 0;

    assert_true(fd >= 0);
    if (connect(fd, &a->sa, a->len) != 0 && errno != EINPROGRESS)
        error = errno;
    else if (poll(&ready, 1, 1) == 1)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){sizeof error});
    close(fd);
    return error == ECONNREFUSED;
}

/* The kernel takes its time with IPv6: an address leads somewhere only some moments
 * after it was added. The notice is out before that. */
static void wait_until_there(const char *text)
{
    struct ip ip;
    struct addr a;

    assert_true(ip_parse(str_from(text), &ip));
    a = addr_from_ip(&ip, 9);
    for (int i = 0; i < 5000; i++) {
        if (refuses(&a))
            return;
        usleep(1000);
    }
    fail_msg("%s does not become an address of this host", text);
}

/* No loop turns and nobody waits in between: the next question knows. */
static void test_change_is_known_at_once(void **state)
{
    static const char *const ips[] = {"198.51.100.7", "2001:db8::7"};

    if (!private_net) {
        print_message("skipped: %s\n", no_net);
        skip();
    }
    for (size_t i = 0; i < sizeof ips / sizeof *ips; i++) {
        assert_false(has(*state, ips[i]));
        assert_true(private_net_address(ips[i], true));
        wait_until_there(ips[i]);
        assert_true(has(*state, ips[i]));
        assert_true(has(*state, "127.0.0.1"));
        assert_true(private_net_address(ips[i], false));
        assert_false(has(*state, ips[i]));
    }
}

/* In a turn of the loop all are told the same; in the next one what is true then. */
static void test_once_a_turn(void **state)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);

    if (!private_net) {
        print_message("skipped: %s\n", no_net);
        skip();
    }
    hostaddrs_watch_turns(*state, loop);
    for (unsigned i = 0; i < 3; i++) {
        bool add = i % 2 == 0;

        assert_int_equal(has(*state, "198.51.100.5"), !add);
        assert_true(private_net_address("198.51.100.5", add));
        assert_int_equal(has(*state, "198.51.100.5"), !add);
        ev_run(loop, EVRUN_NOWAIT);
        assert_int_equal(has(*state, "198.51.100.5"), add);
    }
    assert_true(private_net_address("198.51.100.5", false));
    hostaddrs_watch_turns(*state, NULL);
    assert_false(has(*state, "198.51.100.5"));
    ev_loop_destroy(loop);
}

/* More changes than the kernel queues for us: it drops some, and says so. */
static void test_lost_notices(void **state)
{
    enum { CHANGES = 4000 };

    if (!private_net) {
        print_message("skipped: %s\n", no_net);
        skip();
    }
    for (int i = 0; i < CHANGES; i++)
        assert_true(private_net_address("198.51.100.8", i % 2 == 0));
    assert_true(private_net_address("198.51.100.9", true));
    assert_true(has(*state, "198.51.100.9"));
    assert_false(has(*state, "198.51.100.8"));
    assert_true(private_net_address("198.51.100.9", false));
    /* Also while what is left of the queue is worked off. */
    for (int i = 0; i < CHANGES; i++)
        assert_false(has(*state, "198.51.100.9"));
}

/* More than one message of the kernel holds. */
static void test_many(void **state)
{
    enum { MANY = 1000 };
    char ip[32];

    if (!private_net) {
        print_message("skipped: %s\n", no_net);
        skip();
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(ip, sizeof ip, "10.9.%d.%d", i / 250, 1 + i % 250);
        assert_true(private_net_address(ip, true));
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(ip, sizeof ip, "10.9.%d.%d", i / 250, 1 + i % 250);
        assert_true(has(*state, ip));
    }
    assert_true(has(*state, "127.0.0.1"));
}

static size_t own_count(struct hostaddrs_watch *w)
{
    const struct hostaddrs *h = hostaddrs_now(w);

    assert_non_null(h);
    return h->own_count;
}

static void test_own(void **state)
{
    struct hostaddrs_watch *w = *state;
    struct ip ip;
    struct addr a, b;

    assert_true(ip_parse(STR("127.0.0.1"), &ip));
    a = addr_from_ip(&ip, 3128);
    b = addr_from_ip(&ip, 3129);
    assert_int_equal(own_count(w), 0);
    hostaddrs_add_own(w, &a);
    hostaddrs_add_own(w, &a);
    hostaddrs_add_own(w, &b);
    assert_int_equal(own_count(w), 3);
    hostaddrs_remove_own(w, &a);
    hostaddrs_remove_own(w, &b);
    hostaddrs_remove_own(w, &b);
    assert_int_equal(own_count(w), 1);
    assert_int_equal(addr_port(&hostaddrs_now(w)->own[0]), 3128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_loopback, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_change_is_known_at_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_once_a_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost_notices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_own, set_up, tear_down),
    };

    private_net = private_net_enter(no_net, sizeof no_net);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
