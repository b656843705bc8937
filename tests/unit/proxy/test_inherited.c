#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy/inherited.h"

/* Descriptors 3 and 4, as a service manager leaves them. */
static void open_two(void)
{
    for (int fd = 3; fd < 5; fd++) {
        int null = open("/dev/null", O_RDONLY);

        assert_return_code(null, errno);
        if (null != fd) {
            assert_return_code(dup2(null, fd), errno);
            close(null);
        }
    }
}

static void set(const char *pid, const char *count, const char *names)
{
    char own[16];

    snprintf(own, sizeof own, "%d", (int)getpid());
    setenv("LISTEN_PID", strcmp(pid, "own") == 0 ? own : pid, 1);
    setenv("LISTEN_FDS", count, 1);
    setenv("LISTEN_FDNAMES", names, 1);
}

static void nothing_in_environment(void)
{
    assert_null(getenv("LISTEN_PID"));
    assert_null(getenv("LISTEN_FDS"));
    assert_null(getenv("LISTEN_FDNAMES"));
}

static void test_two(void **state)
{
    struct inherited in;
    struct err e = {""};

    (void)state;
    open_two();
    set("own", "2", "proxy:metrics");
    assert_true(inherited_take(&in, &e));
    nothing_in_environment();
    assert_int_equal(in.count, 2);
    assert_int_equal(fcntl(3, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(4, F_GETFD), FD_CLOEXEC);
    assert_int_equal(inherited_next(&in, STR("metrics")), 4);
    assert_int_equal(inherited_next(&in, STR("metrics")), -1);
    inherited_done(&in); /* closes 3, which nobody wanted */
    assert_int_equal(fcntl(3, F_GETFD), -1);
    assert_int_equal(close(4), 0);
}

static const struct name_row {
    const char *names, *first, *second;
} names[] = {
    {"", "unknown", "unknown"},
    {"a", "a", "unknown"},
    {":b", "unknown", "b"},
    {"a:b:c", "a", "b"},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct inherited in;
        struct err e = {""};

        open_two();
        set("own", "2", names[i].names);
        assert_true(inherited_take(&in, &e));
        assert_string_equal(in.sockets[0].name, names[i].first);
        assert_string_equal(in.sockets[1].name, names[i].second);
        inherited_done(&in);
    }
}

static void test_for_somebody_else(void **state)
{
    struct inherited in;
    struct err e = {""};

    (void)state;
    set("1", "2", "");
    assert_true(inherited_take(&in, &e));
    assert_int_equal(in.count, 0);
    nothing_in_environment();
}

static const struct bad_row {
    const char *pid, *count, *says;
} bad[] = {
    {"own", "17", "LISTEN_FDS"}, {"own", "-1", "LISTEN_FDS"},
    {"own", "", "LISTEN_FDS"},   {"own", "two", "LISTEN_FDS"},
    {"x", "1", "LISTEN_PID"},    {"own", "16", "descriptor"}, /* they are not there */
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct inherited in;
        struct err e = {""};

        set(bad[i].pid, bad[i].count, "");
        assert_false(inherited_take(&in, &e));
        if (strstr(e.text, bad[i].says) == NULL)
            fail_msg("%s: %s", bad[i].count, e.text);
        nothing_in_environment();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_for_somebody_else),
        cmocka_unit_test(test_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
