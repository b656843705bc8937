#include "proxy/policy/span.h"
#include "tests/unit/policy/loaded.h"

struct twice {
    size_t count;
    uint32_t first, second; /* of the last call */
};

static void on_twice(void *owner, uint32_t first, uint32_t second)
{
    struct twice *t = owner;

    t->count++;
    t->first = first;
    t->second = second;
}

static void test_settle(void **state)
{
    struct span spans[] = {{80, 80, 0}, {1, 65535, 1}, {443, 443, 2}};
    struct span apart[] = {{443, 443, 0}, {80, 90, 1}, {85, 100, 2}, {1, 1, 3}};
    struct twice t = {0};

    (void)state;
    assert_int_equal(spans_settle(spans, 3, on_twice, &t), 1);
    assert_int_equal(spans_find(spans, 1, 443)->entry, 1);
    assert_int_equal(spans_settle(apart, 4, on_twice, &t), 4);
    assert_int_equal(spans_find(apart, 4, 85)->entry, 1);
    assert_int_equal(spans_find(apart, 4, 91)->entry, 2);
    assert_int_equal(spans_find(apart, 4, 100)->entry, 2);
    assert_int_equal(spans_find(apart, 4, 443)->entry, 0);
    assert_null(spans_find(apart, 4, 101));
    assert_null(spans_find(apart, 4, 2));
    assert_null(spans_find(apart, 0, 2));
    assert_int_equal(t.count, 0);
}

static void test_twice(void **state)
{
    struct span spans[] = {{80, 80, 5}, {80, 90, 6}, {80, 80, 9}, {80, 80, 7}};
    struct twice t = {0};

    (void)state;
    assert_int_equal(spans_settle(spans, 4, on_twice, &t), 2);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.first, 7);
    assert_int_equal(t.second, 9);
    assert_int_equal(spans_find(spans, 2, 80)->entry, 5);
    assert_int_equal(spans_find(spans, 2, 81)->entry, 6);
}

/* Against a table of all ports, at random. */
static void test_as_table(void **state)
{
    enum { SPANS = 60, PORTS = 200 };
    unsigned seed = 7;
    struct twice t;

    (void)state;
    for (int round = 0; round < 200; round++) {
        struct span spans[SPANS];
        bool held[PORTS + 2] = {false};
        size_t count;

        for (size_t i = 0; i < SPANS; i++) {
            unsigned first, last;

            seed = seed * 1103515245u + 12345u;
            first = 1 + (seed >> 16) % PORTS;
            seed = seed * 1103515245u + 12345u;
            last = first + (seed >> 16) % 4;
            last = last > PORTS ? PORTS : last;
            spans[i] = (struct span){(uint16_t)first, (uint16_t)last, (uint32_t)i};
            for (unsigned port = first; port <= last; port++)
                held[port] = true;
        }
        count = spans_settle(spans, SPANS, on_twice, &t);
        for (unsigned port = 0; port <= PORTS + 1; port++)
            assert_int_equal(spans_find(spans, count, port) != NULL, held[port]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_as_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
