#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "proxy/health.h"

enum { ROOM = 1024 };

/* What is said, and whether it is alive and ready. */
static const struct row {
    struct health health;
    bool alive, ready;
    const char *says;
} rows[] = {
    {{0}, true, true, "ok"},
    {{.silence = 3}, true, true, "ok"},
    {{.silence = 11}, false, false, "a worker does not answer"},
    {{.rests = true}, true, false, "descriptors or memory"},
    {{.crowded = true}, true, true, "no more descriptors"},
    {{.audit_failing = true}, true, true, "the audit cannot be written"},
    {{.audit_failing = true, .audit_refuses = true}, true, false, "are refused"},
    {{.reload_failed = true}, true, true, "the last reload failed"},
    {{.ending = true}, true, false, "ending"},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct buf body, ready;
        char text[ROOM];

        buf_init(&body, ROOM);
        buf_init(&ready, ROOM);
        assert_int_equal(health_write(&r->health, &body), r->alive);
        assert_int_equal(health_is_alive(&r->health), r->alive);
        assert_int_equal(health_write_ready(&r->health, &ready), r->ready);
        snprintf(text, sizeof text, STR_FMT, STR_ARG(buf_view(&body)));
        if (strstr(text, r->says) == NULL)
            fail_msg("%s, not %s", text, r->says);
        assert_int_equal(str_ends(buf_view(&ready), STR("ready\n")), r->ready);
        buf_done(&body);
        buf_done(&ready);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
