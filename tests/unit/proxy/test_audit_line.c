#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/audit.h"

/* 2026-11-30T21:40:02.113Z */
static const double moment = 1796074802.1135;

static struct audit_event make_event(const struct target *t)
{
    return (struct audit_event){.session = STR("run-4711"),
                                .id = 7,
                                .front = "connect",
                                .target = t,
                                .verdict = {.allow = true, .reason = REASON_ALLOW_LIST},
                                .rule = "network.allowedDomains[0]",
                                .bytes_up = 1532,
                                .bytes_down = 88213,
                                .ms_dns = 1.2,
                                .ms_connect = 14.8,
                                .ms = 203.14,
                                .close = "server"};
}

static struct target make_target(struct arena *a)
{
    struct target t = {0};

    arena_init(a, 1024);
    assert_true(target_parse(&t, a, STR("api.example.test:443")));
    return t;
}

/* The example of the design, byte for byte. */
static void test_format(void **state)
{
    struct arena arena;
    struct target t = make_target(&arena);
    struct audit_event event = make_event(&t);
    struct ip ip;
    char line[4096];
    size_t n;

    (void)state;
    assert_true(ip_parse(STR("203.0.113.7"), &ip));
    event.addr = addr_from_ip(&ip, 443);
    n = audit_format(&event, moment, line, sizeof line);
    assert_int_equal(n, strlen(line));
    assert_string_equal(
        line,
        "{\"t\":\"2026-11-30T21:40:02.113Z\",\"v\":1,\"session\":\"run-4711\",\"id\":7,"
        "\"front\":\"connect\",\"host\":\"api.example.test\",\"port\":443,"
        "\"verdict\":\"allow\",\"reason\":\"allow-list\","
        "\"rule\":\"network.allowedDomains[0]\",\"addr\":\"203.0.113.7\","
        "\"bytes_up\":1532,\"bytes_down\":88213,\"ms_dns\":1.2,\"ms_connect\":14.8,"
        "\"ms\":203.1,\"close\":\"server\"}");
    event.client = STR("ci");
    event.sni = STR("api.example.test");
    event.via = "parent.example.test:3128";
    event.ms_dns = event.ms_connect = -1;
    audit_format(&event, moment, line, sizeof line);
    assert_non_null(strstr(line, "\"run-4711\",\"client\":\"ci\",\"id\":7"));
    assert_non_null(strstr(line, "[0]\",\"sni\":\"api.example.test\",\"addr\":\"203."));
    assert_non_null(strstr(line, ".7\",\"via\":\"parent.example.test:3128\",\"bytes"));
    assert_null(strstr(line, "ms_dns"));
    assert_null(strstr(line, "ms_connect"));
    arena_done(&arena);
}

static void test_format_little(void **state)
{
    struct audit_event event = {.ms_dns = -1, .ms_connect = -1, .ms = -1};
    char line[4096];

    (void)state;
    audit_format(&event, 0, line, sizeof line);
    assert_string_equal(line, "{\"t\":\"1970-01-01T00:00:00.000Z\",\"v\":1,\"id\":0,"
                              "\"verdict\":\"deny\",\"reason\":\"not-on-allow-list\","
                              "\"bytes_up\":0,\"bytes_down\":0}");
}

/* Row P7: what a client sends cannot end a line, forge a key or steer a terminal. */
static void test_escapes(void **state)
{
    struct audit_event event = {
        .raw = STR("a\"b\\c\r\n\x1b[2J\0\x7f\xc2\x9b\xff{}|"),
        .sni = STR("x\",\"verdict\":\"allow\n"),
        .client = STR("B\xc3\xbcro \"1\"\n"),
        .ms_dns = -1,
        .ms_connect = -1,
        .ms = -1,
    };
    char line[4096], long_raw[80], longest[300];

    (void)state;
    audit_format(&event, 0, line, sizeof line);
    assert_non_null(strstr(line, "\"raw\":\"a\\u0022b\\u005cc\\u000d\\u000a\\u001b[2J"
                                 "\\u0000\\u007f\\u00c2\\u009b\\u00ff{}|\","));
    assert_non_null(strstr(
        line, "\"sni\":\"x\\u0022,\\u0022verdict\\u0022:\\u0022allow\\u000a\","));
    assert_non_null(strstr(line, "\"client\":\"B\xc3\xbcro \\\"1\\\"\\n\","));
    /* Never more than 64 bytes of it; and the worst of all still fits. */
    memset(long_raw, 'r', sizeof long_raw);
    event.raw = (struct str){long_raw, sizeof long_raw};
    audit_format(&event, 0, line, sizeof line);
    assert_non_null(strstr(line, "rr\","));
    assert_int_equal(strspn(strstr(line, "\"raw\":\"") + 7, "r"), 64);
    memset(longest, '\1', sizeof longest);
    event.raw = event.sni = event.client = (struct str){longest, sizeof longest};
    event.session = (struct str){longest, 64};
    assert_true(audit_format(&event, 0, line, sizeof line) > 0);
}

static void test_format_small(void **state)
{
    struct audit_event event = make_event(NULL);
    char line[400], whole[400];
    size_t n = audit_format(&event, moment, whole, sizeof whole);

    (void)state;
    assert_true(n > 0);
    for (size_t size = 1; size <= n; size++)
        assert_int_equal(audit_format(&event, moment, line, size), 0);
    assert_int_equal(audit_format(&event, moment, line, n + 1), n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_little),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_format_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
