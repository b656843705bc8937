#include "proxy/policy/hash.h"
#include "tests/unit/policy/loaded.h"

/* The key counts, each byte counts, and so does the length. */
static void test_differs(void **state)
{
    static const struct hash_key key = {1, 2}, other = {1, 3};
    uint8_t bytes[64] = {0};
    uint64_t seen[65];

    (void)state;
    for (size_t len = 0; len <= sizeof bytes; len++) {
        seen[len] = hash_bytes(&key, 7, bytes, len);
        assert_int_equal(seen[len], hash_bytes(&key, 7, bytes, len));
        assert_int_not_equal(seen[len], hash_bytes(&other, 7, bytes, len));
        assert_int_not_equal(seen[len], hash_bytes(&key, 8, bytes, len));
        for (size_t before = 0; before < len; before++)
            assert_int_not_equal(seen[len], seen[before]);
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = 1;
        assert_int_not_equal(hash_bytes(&key, 7, bytes, sizeof bytes), seen[64]);
        bytes[i] = 0;
    }
}

static void test_keys(void **state)
{
    struct hash_key a, b;
    struct err e;

    (void)state;
    assert_true(hash_key_make(&a, &e) && hash_key_make(&b, &e));
    assert_true(a.k0 != b.k0 && a.k1 != b.k1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differs),
        cmocka_unit_test(test_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
