#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/metrics.h"

enum { ROOM = 64 * 1024 };

static char *write_text(const struct counters *total)
{
    struct metrics m = {.total = total, .workers = 2, .reloaded = 3};
    struct buf out;
    char *text;

    buf_init(&out, ROOM);
    assert_true(metrics_write(&m, &out));
    assert_true(buf_add(&out, (struct str){"", 1}));
    text = strdup(buf_view(&out).p);
    assert_non_null(text);
    buf_done(&out);
    return text;
}

static void has(const char *text, const char *line)
{
    if (strstr(text, line) == NULL)
        fail_msg("no \"%s\" in %s", line, text);
}

/* A rate of what has never happened can only be had when it is there with 0. */
static void test_nothing_yet(void **state)
{
    struct counters c = {0};
    char *text = write_text(&c);

    (void)state;
    has(text, "\nweir_decisions_total{verdict=\"allow\",reason=\"allow-list\"} 0\n");
    has(text, "\nweir_decisions_total{verdict=\"deny\",reason=\"deny-list\"} 0\n");
    assert_null(strstr(text, "verdict=\"allow\",reason=\"deny-list\""));
    has(text, "\nweir_accept_errors_total{errno=\"EMFILE\"} 0\n");
    has(text, "\nweir_sni_total{category=\"mismatch\"} 0\n");
    has(text, "\nweir_reloads_total{result=\"success\"} 3\n");
    has(text, "\nweir_workers 2\n");
    free(text);
}

/* The buckets of the text hold what is below them too. */
static void test_histogram(void **state)
{
    struct audit_event quick = {.ms_dns = 0.5, .ms_connect = -1}, slow = quick,
                       never = quick;
    struct counters c = {0};
    char *text;

    (void)state;
    slow.ms_dns = 300;
    never.ms_dns = 60000;
    counters_request(&c, &quick);
    counters_request(&c, &slow);
    counters_request(&c, &never);
    text = write_text(&c);
    has(text, "\nweir_dns_seconds_bucket{le=\"0.001\"} 1\n");
    has(text, "\nweir_dns_seconds_bucket{le=\"0.25\"} 1\n");
    has(text, "\nweir_dns_seconds_bucket{le=\"0.5\"} 2\n");
    has(text, "\nweir_dns_seconds_bucket{le=\"10\"} 2\n");
    has(text, "\nweir_dns_seconds_bucket{le=\"+Inf\"} 3\n");
    has(text, "\nweir_dns_seconds_sum 60.300500\nweir_dns_seconds_count 3\n");
    has(text, "\nweir_connect_seconds_count 0\n");
    free(text);
}

static void test_no_room(void **state)
{
    struct counters c = {0};
    struct metrics m = {.total = &c};
    struct buf out;

    (void)state;
    buf_init(&out, 1000);
    assert_false(metrics_write(&m, &out));
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_yet),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
