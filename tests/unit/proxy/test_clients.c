#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/clients.h"

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
        struct clients c;

        clients_init(&c);
        assert_true(clients_enter(&c, &a, 1));
        assert_int_equal(clients_enter(&c, &b, 1), !rows[i].same);
        clients_done(&c);
    }
}

static void test_leaving_makes_room(void **state)
{
    struct ip a = ip("192.0.2.1");
    struct clients c;

    (void)state;
    clients_init(&c);
    assert_false(clients_enter(&c, &a, 0));
    assert_true(clients_enter(&c, &a, 2));
    assert_true(clients_enter(&c, &a, 2));
    assert_false(clients_enter(&c, &a, 2));
    clients_leave(&c, &a);
    assert_true(clients_enter(&c, &a, 2));
    clients_leave(&c, &a);
    clients_leave(&c, &a);
    assert_int_equal(c.count, 0);
    clients_done(&c);
}

static void test_many(void **state)
{
    enum { MANY = 5000 };
    struct clients c;

    (void)state;
    clients_init(&c);
    for (unsigned i = 0; i < MANY; i++) {
        struct ip a = {.family = 4, .bytes = {10, 0, i >> 8 & 255, i & 255}};

        assert_true(clients_enter(&c, &a, 1));
    }
    assert_int_equal(c.count, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        struct ip a = {.family = 4, .bytes = {10, 0, i >> 8 & 255, i & 255}};

        assert_false(clients_enter(&c, &a, 1));
        clients_leave(&c, &a);
    }
    assert_int_equal(c.count, 0);
    clients_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_one_client),
        cmocka_unit_test(test_leaving_makes_room),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
