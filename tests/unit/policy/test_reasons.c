#include "tests/unit/policy/loaded.h"

/* Each reason has words of its own; the machine's are what the audit promises. */
static void test_words(void **state)
{
    struct target literal = {.kind = HOST_ADDR};

    (void)state;
    for (int r = 0; r < REASON_COUNT; r++) {
        assert_non_null(reason_name((enum reason)r));
        assert_non_null(reason_text((enum reason)r));
        assert_int_equal(
            strspn(reason_name((enum reason)r), "abcdefghijklmnopqrstuvwxyz-"),
            strlen(reason_name((enum reason)r)));
        for (int other = 0; other < r; other++)
            assert_string_not_equal(reason_name((enum reason)r),
                                    reason_name((enum reason)other));
    }
    assert_string_equal(reason_name(REASON_NOT_ON_ALLOW_LIST), "not-on-allow-list");
    assert_string_equal(reason_text(REASON_DENY_LIST), "host is on the deny list");
    assert_string_equal(reason_text(REASON_ADDRESS_LOOPBACK),
                        "resolved to a loopback address");
    assert_string_equal(reason_text_of(REASON_ADDRESS_LOOPBACK, &literal),
                        "is a loopback address");
    assert_string_equal(reason_text_of(REASON_DENY_LIST, &literal),
                        reason_text(REASON_DENY_LIST));
    assert_string_equal(reason_text_of(REASON_ADDRESS_OWN, NULL),
                        reason_text(REASON_ADDRESS_OWN));
    assert_string_equal(reason_name((enum reason)99), "not-on-allow-list");
}

/* Whatever was forgotten is refused. */
static void test_zero(void **state)
{
    struct verdict v = {0};
    struct name_verdict n = {0};

    (void)state;
    assert_false(v.allow);
    assert_int_equal(v.reason, REASON_NOT_ON_ALLOW_LIST);
    assert_int_equal(n.answer, NAME_DENIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
