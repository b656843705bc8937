#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/admin.h"

/* Which Host fields name a listener; `own` empty: a Unix socket. */
static const struct row {
    const char *own, *host;
    bool right;
} rows[] = {
    {"127.0.0.1:9128", "127.0.0.1:9128", true},
    {"127.0.0.1:9128", "localhost:9128", true},
    {"127.0.0.1:9128", "LocalHost:9128", true},
    {"127.0.0.1:9128", "127.0.0.1", false},
    {"127.0.0.1:9128", "127.0.0.1:91280", false},
    {"127.0.0.1:9128", "127.0.0.1:912", false},
    {"127.0.0.1:9128", "localhost", false},
    {"127.0.0.1:9128", "localhost.:9128", false},
    {"127.0.0.1:9128", "evil.test:9128", false},
    {"127.0.0.1:9128", "evil.test", false},
    {"127.0.0.1:9128", "127.0.0.1:9128.evil.test", false},
    {"127.0.0.1:9128", "127.0.0.2:9128", false},
    {"127.0.0.1:9128", "[::1]:9128", false},
    {"127.0.0.1:9128", "", false},
    {"[::1]:9128", "[::1]:9128", true},
    {"[::1]:9128", "localhost:9128", true},
    {"[::1]:9128", "[0:0:0:0:0:0:0:1]:9128", false}, /* nobody writes it so */
    {"127.0.0.1:80", "127.0.0.1", true},
    {"127.0.0.1:80", "localhost", true},
    {"127.0.0.1:80", "127.0.0.1:80", true},
    {"127.0.0.1:80", "evil.test", false},
    {"[::1]:80", "[::1]", true},
    {"", "whatever.test", true},
    {"", "", true},
};

static void test_hosts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct addr own = {.len = 0};

        assert_true(rows[i].own[0] == '\0' || addr_parse(str_from(rows[i].own), &own));
        if (admin_host_is_own(str_from(rows[i].host), &own) != rows[i].right)
            fail_msg("%s at %s", rows[i].host, rows[i].own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hosts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
