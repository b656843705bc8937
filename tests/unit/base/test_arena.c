#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/base/arena.h"

static void test_zeroed_aligned_apart(void **state)
{
    struct arena a;
    char *before = NULL;

    (void)state;
    arena_init(&a, 4096);
    assert_null(a.base);
    for (size_t size = 1; size < 40; size++) {
        char *p = arena_alloc(&a, size);

        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 'x', size);
        assert_true(before == NULL || p >= before + size - 1);
        before = p;
    }
    arena_done(&a);
}

/* It does not grow, and a refusal changes nothing. */
static void test_full(void **state)
{
    struct arena a;
    size_t used;

    (void)state;
    arena_init(&a, 128);
    assert_null(arena_alloc(&a, 129));
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(a.base);
    assert_non_null(arena_alloc(&a, 64));
    used = a.used;
    assert_null(arena_alloc(&a, 64));
    assert_null(arena_alloc(&a, SIZE_MAX - 15));
    assert_int_equal(a.used, used);
    assert_non_null(arena_alloc(&a, 32));
    assert_true(a.used <= a.size);
    arena_done(&a);
    arena_done(&a);
    assert_non_null(arena_alloc(&a, 64)); /* may be used again, with the same bound */
    assert_null(arena_alloc(&a, 64));
    arena_done(&a);
}

static void test_never_beyond(void **state)
{
    (void)state;
    for (size_t size = 0; size < 200; size++) {
        struct arena a;
        char *p;

        arena_init(&a, size);
        while ((p = arena_alloc(&a, 7)) != NULL) {
            memset(p, 'x', 7);
            assert_true(p + 7 <= a.base + a.size);
        }
        arena_done(&a);
    }
}

static void test_dup(void **state)
{
    struct arena a;
    struct str copy;

    (void)state;
    arena_init(&a, 64);
    copy = arena_dup(&a, STR("a\0b"));
    assert_true(str_equal(copy, STR("a\0b")));
    assert_int_equal(copy.p[3], '\0');
    copy = arena_dup(&a, (struct str){NULL, 0});
    assert_int_equal(copy.n, 0);
    assert_int_equal(copy.p[0], '\0');
    copy = arena_dup(&a, STR("this is longer than what is left of the arena"));
    assert_null(copy.p);
    assert_int_equal(copy.n, 0);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed_aligned_apart),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_never_beyond),
        cmocka_unit_test(test_dup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
