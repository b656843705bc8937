#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "proxy/clients.h"

enum { MOST = 100000 }; /* more than here ever come */

static struct ip ip(const char *text)
{
    struct ip out = {0};

    if (text[0] != '\0')
        assert_true(ip_parse(str_from(text), &out));
    return out;
}

/* Pairs of addresses, and whether they are one client. */
static const struct row {
    const char *a, *b;
    bool same;
} rows[] = {
    {"192.0.2.1", "192.0.2.1", true},
    {"192.0.2.1", "192.0.2.2", false},
    {"192.0.2.1", "::ffff:192.0.2.1", true},
    {"2001:db8::1", "2001:db8::2", true}, /* one /64 */
    {"2001:db8::1", "2001:db8:0:1::1", false},
    {"::1", "127.0.0.1", false},
    {"", "", true}, /* a Unix socket */
};

static void test_who_is_one_client(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ip a = ip(rows[i].a), b = ip(rows[i].b);
        struct clients *c = clients_new();

        assert_true(clients_enter(c, &a, MOST, 1));
        assert_int_equal(clients_enter(c, &b, MOST, 1), !rows[i].same);
        clients_free(&c);
    }
}

static void test_leaving_makes_room(void **state)
{
    struct ip a = ip("192.0.2.1");
    struct clients *c = clients_new();

    (void)state;
    assert_false(clients_enter(c, &a, MOST, 0));
    assert_true(clients_enter(c, &a, MOST, 2));
    assert_true(clients_enter(c, &a, MOST, 2));
    assert_false(clients_enter(c, &a, MOST, 2));
    clients_leave(c, &a);
    assert_true(clients_enter(c, &a, MOST, 2));
    clients_leave(c, &a);
    clients_leave(c, &a);
    assert_int_equal(clients_count(c), 0);
    clients_free(&c);
}

static void test_many(void **state)
{
    enum { MANY = 5000 };
    struct clients *c = clients_new();

    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        struct ip a = {.family = 4, .bytes = {10, 0, i >> 8 & 255, i & 255}};

        assert_true(clients_enter(c, &a, MOST, 1));
    }
    assert_int_equal(clients_count(c), MANY);
    for (unsigned i = 0; i < MANY; i++) {
        struct ip a = {.family = 4, .bytes = {10, 0, i >> 8 & 255, i & 255}};

        assert_false(clients_enter(c, &a, MOST, 1));
        clients_leave(c, &a);
    }
    assert_int_equal(clients_count(c), 0);
    clients_free(&c);
}

/* One that was refused is not counted. */
static void test_all_together(void **state)
{
    struct ip a = ip("192.0.2.1"), b = ip("192.0.2.2");
    struct clients *c = clients_new();

    (void)state;
    assert_true(clients_enter(c, &a, 3, 2));
    assert_true(clients_enter(c, &a, 3, 2));
    assert_false(clients_enter(c, &a, 3, 2));
    assert_true(clients_enter(c, &b, 3, 2));
    assert_false(clients_enter(c, &b, 3, 2));
    assert_int_equal(clients_connections(c), 3);
    clients_leave(c, &a);
    assert_true(clients_enter(c, &b, 3, 2));
    clients_leave(c, &a);
    clients_leave(c, &b);
    clients_leave(c, &b);
    assert_int_equal(clients_connections(c), 0);
    clients_free(&c);
}

enum { THREADS = 4, TURNS = 20000, EACH = 3 };

static void *come_and_go(void *arg)
{
    struct clients *c = arg;
    struct ip a = ip("192.0.2.1");

    for (unsigned i = 0; i < TURNS; i++)
        if (clients_enter(c, &a, MOST, EACH))
            clients_leave(c, &a);
    return NULL;
}

static void test_threads(void **state)
{
    struct clients *c = clients_new();
    pthread_t threads[THREADS];

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, c), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(clients_connections(c), 0);
    assert_int_equal(clients_count(c), 0);
    clients_free(&c);
}

/* A name counts beside the addresses, and is no client more. */
static void test_named(void **state)
{
    struct ip ip = {.family = 4, .bytes = {192, 0, 2, 1}};
    struct clients *c = clients_new();

    (void)state;
    assert_true(clients_enter(c, &ip, 9, 9));
    assert_int_equal(clients_enter_named(c, STR("ci")), 1);
    assert_int_equal(clients_enter_named(c, STR("ci")), 2);
    assert_int_equal(clients_enter_named(c, STR("lan")), 1);
    assert_int_equal(clients_connections(c), 1);
    assert_int_equal(clients_count(c), 1);
    clients_leave_named(c, STR("ci"));
    assert_int_equal(clients_enter_named(c, STR("ci")), 2);
    clients_leave_named(c, STR("ci"));
    clients_leave_named(c, STR("ci"));
    assert_int_equal(clients_enter_named(c, STR("ci")), 1);
    clients_leave_named(c, STR("ci"));
    clients_leave_named(c, STR("lan"));
    clients_leave(c, &ip);
    assert_int_equal(clients_count(c), 0);
    clients_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_who_is_one_client),
        cmocka_unit_test(test_leaving_makes_room),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_all_together),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
