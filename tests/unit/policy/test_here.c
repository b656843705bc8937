#include "proxy/policy/here.h"
#include "tests/unit/policy/loaded.h"

static struct ip ip(const char *text)
{
    struct ip out;

    if (!ip_parse(str_from(text), &out))
        fail_msg("%s: is no address", text);
    return out;
}

static bool is_own(const char *listener, const char *asked, unsigned port)
{
    struct ip interfaces[] = {ip("127.0.0.1"), ip("192.0.2.7"), ip("2001:db8::7")};
    struct ip at = ip(listener), to = ip(asked);
    struct addr own[] = {addr_from_ip(&at, 3128)};
    struct ip_range local[] = {{ip("203.0.113.0"), 28}, {ip("2001:db8:9::"), 64}};
    struct hostaddrs host = {interfaces, 3, own, 1, local, 2};

    return here_is_own(&host, &to, port);
}

static void test_own(void **state)
{
    static const struct {
        const char *listener, *asked;
        unsigned port;
        bool own;
    } rows[] = {
        {"127.0.0.1", "127.0.0.1", 3128, true},
        {"127.0.0.1", "127.0.0.1", 3129, false},
        {"127.0.0.1", "127.0.0.2", 3128, false},
        {"127.0.0.1", "0.0.0.0", 3128, true},
        {"127.0.0.1", "::", 3128, true},
        {"127.0.0.1", "0.0.0.1", 3128, false},
        {"127.0.0.1", "192.0.2.7", 3128, false},
        {"::ffff:127.0.0.1", "127.0.0.1", 3128, true},
        {"192.0.2.7", "192.0.2.7", 3128, true},
        {"192.0.2.7", "192.0.2.8", 3128, false},
        {"0.0.0.0", "127.0.0.1", 3128, true},
        {"0.0.0.0", "127.9.9.9", 3128, true},
        {"0.0.0.0", "192.0.2.7", 3128, true},
        {"0.0.0.0", "192.0.2.8", 3128, false},
        {"0.0.0.0", "192.0.2.7", 80, false},
        {"::", "127.0.0.1", 3128, true}, /* a dual socket takes both */
        {"::", "2001:db8::7", 3128, true},
        {"::", "::1", 3128, true},
        {"::", "2001:db8::8", 3128, false},
        {"2001:db8::7", "2001:db8::7", 3128, true},
        {"0.0.0.0", "203.0.113.15", 3128, true}, /* routed here */
        {"0.0.0.0", "203.0.113.16", 3128, false},
        {"::", "2001:db8:9::5", 3128, true},
        {"192.0.2.7", "203.0.113.15", 3128, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_own(rows[i].listener, rows[i].asked, rows[i].port) != rows[i].own)
            fail_msg("%s %s:%u", rows[i].listener, rows[i].asked, rows[i].port);
}

static void test_has(void **state)
{
    struct ip interfaces[] = {ip("192.0.2.7"), ip("::ffff:192.0.2.8")};
    struct ip_range local[] = {{ip("203.0.113.0"), 28}};
    struct hostaddrs host = {interfaces, 2, NULL, 0, local, 1}, none = {0};
    struct ip first = ip("192.0.2.7"), mapped = ip("192.0.2.8"),
              other = ip("192.0.2.9"), routed = ip("203.0.113.1");

    (void)state;
    assert_true(here_has(&host, &first));
    assert_true(here_has(&host, &mapped));
    assert_true(here_has(&host, &routed));
    assert_false(here_has(&host, &other));
    assert_false(here_has(&none, &first));
    assert_false(here_is_own(&none, &first, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
