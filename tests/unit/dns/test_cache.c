#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "dns/cache.h"

static void put(struct cache *c, const char *name, unsigned ttl, double until)
{
    struct answer *a = answer_new(LOOKUP_OK, NULL);

    a->ttl = ttl; /* tells the answers apart */
    a = answer_finish(a);
    cache_put(c, name, a, until);
    answer_unref(&a);
}

static int get(struct cache *c, const char *name, double now)
{
    const struct answer *a = cache_get(c, name, now);

    return a != NULL ? (int)a->ttl : -1;
}

static void test_until(void **state)
{
    struct cache *c = cache_new(10);

    (void)state;
    put(c, "a.test", 1, 100);
    assert_int_equal(get(c, "a.test", 99.9), 1);
    assert_int_equal(get(c, "a.test", 100), -1);
    assert_int_equal(get(c, "a.test", 99), -1); /* it was dropped */
    assert_int_equal(get(c, "b.test", 0), -1);
    cache_free(&c);
    assert_null(c);
}

static void test_replace(void **state)
{
    struct cache *c = cache_new(2);

    (void)state;
    put(c, "a.test", 1, 100);
    put(c, "b.test", 2, 100);
    put(c, "a.test", 3, 200); /* takes no room of b */
    assert_int_equal(get(c, "a.test", 150), 3);
    assert_int_equal(get(c, "b.test", 50), 2);
    cache_free(&c);
}

static void test_bound(void **state)
{
    enum { MAX = 100, MANY = 5000 };
    struct cache *c = cache_new(MAX);
    char name[32];
    int left = 0;

    (void)state;
    put(c, "kept.test", 7, 100);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%u.test", i);
        put(c, name, i, 100);
        assert_int_equal(get(c, "kept.test", 1), 7); /* always the one used last */
    }
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%u.test", i);
        if (get(c, name, 1) >= 0) {
            assert_int_equal(get(c, name, 1), i);
            left++;
        }
    }
    assert_int_equal(left, MAX - 1);
    cache_clear(c);
    assert_int_equal(get(c, "kept.test", 1), -1);
    put(c, "kept.test", 8, 100);
    assert_int_equal(get(c, "kept.test", 1), 8);
    cache_free(&c);
}

/* Who holds an answer keeps it when the cache drops it. */
static void test_shared(void **state)
{
    struct cache *c = cache_new(1);
    struct answer *a;

    (void)state;
    put(c, "a.test", 1, 100);
    a = answer_ref(cache_get(c, "a.test", 1));
    put(c, "b.test", 2, 100);
    assert_int_equal(get(c, "a.test", 1), -1);
    cache_free(&c);
    assert_int_equal(a->ttl, 1);
    answer_unref(&a);
    assert_null(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_until),
        cmocka_unit_test(test_replace),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_shared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
