#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "proxy/counters.h"

static const struct row {
    double ms;
    unsigned bucket; /* which of them counts it */
} rows[] = {
    {0, 0},     {0.4, 0},   {1, 0}, /* a bound belongs to the bucket below it */
    {1.001, 1}, {9999, 12}, {10000, 12}, {10001, 13}, /* above the last bound */
};

static void test_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct counters c = {0};

        counters_request(&c,
                         &(struct audit_event){.ms_dns = rows[i].ms, .ms_connect = -1});
        assert_int_equal(count_read(&c.dns.buckets[rows[i].bucket]), 1);
        assert_int_equal(count_read(&c.dns.microseconds),
                         (unsigned long long)(rows[i].ms * 1000));
        for (unsigned b = 0; b <= COUNTERS_BOUNDS; b++)
            assert_int_equal(count_read(&c.connect.buckets[b]), 0);
    }
}

static void test_decisions(void **state)
{
    /* The bytes were counted as they went. */
    struct audit_event denied = {.ms_dns = -1, .ms_connect = -1, .bytes_up = 3};
    struct audit_event allowed = denied;
    struct counters c = {0}, total = {0};

    (void)state;
    allowed.verdict = (struct verdict){.allow = true, .reason = REASON_ALLOW_LIST};
    counters_request(&c, &denied);
    counters_request(&c, &allowed);
    counters_request(&c, &allowed);
    count_add(&c.bytes_up, 9);
    count_add(&c.connections, 2);
    count_less(&c.connections);
    counters_sum(&total, &c);
    counters_sum(&total, &c);
    assert_int_equal(count_read(&total.decisions[0][REASON_NOT_ON_ALLOW_LIST]), 2);
    assert_int_equal(count_read(&total.decisions[1][REASON_ALLOW_LIST]), 4);
    assert_int_equal(count_read(&total.bytes_up), 18);
    assert_int_equal(count_read(&total.connections), 2);
}

static void test_errors(void **state)
{
    struct counters c = {0};

    (void)state;
    counters_accept_error(&c, ENFILE);
    counters_accept_error(&c, EPROTO);
    assert_string_equal(counters_error_name(1), "ENFILE");
    assert_int_equal(count_read(&c.accept_errors[1]), 1);
    assert_string_equal(counters_error_name(COUNTERS_ERRORS - 1), "other");
    assert_int_equal(count_read(&c.accept_errors[COUNTERS_ERRORS - 1]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
