#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/proxy/parents_from.h"

enum { VARIABLES_MAX = 5 };

static const struct {
    const char *variables[VARIABLES_MAX];
    const char *http, *https; /* names; NULL: none */
} rows[] = {
    {{"PATH=/bin"}, NULL, NULL},
    {{"HTTP_PROXY=http://p.test:1"}, "http://p.test:1", NULL},
    {{"http_proxy=http://p.test:1"}, "http://p.test:1", NULL},
    {{"HTTPS_PROXY=http://p.test:1"}, NULL, "http://p.test:1"},
    {{"https_proxy=http://q.test:1", "HTTPS_PROXY=http://p.test:1"},
     NULL,
     "http://p.test:1"},
    {{"HTTPS_PROXY=", "https_proxy=http://q.test:1"}, NULL, "http://q.test:1"},
    {{"ALL_PROXY=socks5h://p.test"}, "socks5h://p.test:1080", NULL},
    {{"ALL_PROXY=socks5h://p.test", "HTTPS_PROXY=http://q.test:1"},
     "socks5h://p.test:1080",
     "http://q.test:1"},
    {{"all_proxy=socks5://p.test", "HTTP_PROXY=http://q.test:1"},
     "http://q.test:1",
     NULL},
    {{"HTTP_PROXY=p.test:3128"}, "http://p.test:3128", NULL},
    {{"HTTP_PROXY=u:secret@p.test"}, "http://p.test:80", NULL},
    {{"HTTP_PROXY_X=http://p.test", "XHTTP_PROXY=http://p.test"}, NULL, NULL},
    {{"NO_PROXY=a.test"}, NULL, NULL},
};

static void check(const struct parents *p, enum parents_which which, const char *name)
{
    const struct parent *parent = parents_get(p, which);

    assert_int_equal(parent != NULL, name != NULL);
    if (name != NULL)
        assert_string_equal(parent->name, name);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct parents *p = NULL;
        struct told told;
        struct err e = {""};
        const char *text = "{}";

        if (!parents_from(&text, 1, (char *const *)rows[i].variables, &told, &p, &e))
            fail_msg("%s: %s", rows[i].variables[0], e.text);
        check(p, PARENTS_HTTP, rows[i].http);
        check(p, PARENTS_HTTPS, rows[i].https);
        parents_unref(&p);
    }
}

static void test_no_proxy(void **state)
{
    static char *const variables[] = {
        (char *)"HTTP_PROXY=http://p.test:1",
        (char *)"no_proxy=localhost, .direct.test,10.0.0.0/8,,<local>,127.0.0.1:*",
        NULL};
    const char *text = "{}";
    struct parents *p = NULL;
    struct told told;
    struct err e = {""};
    struct arena a;
    struct target t;

    (void)state;
    assert_true(parents_from(&text, 1, variables, &told, &p, &e));
    assert_int_equal(told.count, 2);
    assert_non_null(strstr(told.text, "no_proxy: \"<local>\" is no"));
    assert_non_null(strstr(told.text, "no_proxy: \"127.0.0.1:*\" is no"));
    arena_init(&a, 1024);
    assert_true(target_set(&t, &a, STR("x.direct.test"), false, 443));
    assert_null(parents_route(p, &t, DIAL_TUNNEL));
    assert_true(target_set(&t, &a, STR("x.test"), false, 443));
    assert_non_null(parents_route(p, &t, DIAL_TUNNEL));
    arena_done(&a);
    parents_unref(&p);
}

/* A parent that cannot be used is an error and never no parent. */
static void test_bad(void **state)
{
    static char *const variables[] = {(char *)"https_proxy=ftp://u:secret@p.test:1",
                                      NULL};
    const char *text = "{}";
    struct parents *p = NULL;
    struct told told;
    struct err e = {""};

    (void)state;
    assert_false(parents_from(&text, 1, variables, &told, &p, &e));
    assert_non_null(strstr(e.text, "https_proxy (of the environment"));
    assert_null(strstr(e.text, "secret"));
}

/* A parentProxy of the settings, also an empty one, is all there is. */
static void test_settings_first(void **state)
{
    static char *const variables[] = {(char *)"HTTP_PROXY=http://p.test:1",
                                      (char *)"HTTPS_PROXY=gopher://x", NULL};
    const char *empty = "{\"parentProxy\": {}}";
    const char *own = "{\"parentProxy\": {\"https\": \"http://q.test:1\"}}";
    struct parents *p = NULL;
    struct told told;
    struct err e = {""};

    (void)state;
    assert_true(parents_from(&empty, 1, variables, &told, &p, &e));
    assert_null(p);
    assert_true(parents_from(&own, 1, variables, &told, &p, &e));
    check(p, PARENTS_HTTP, NULL);
    check(p, PARENTS_HTTPS, "http://q.test:1");
    parents_unref(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_no_proxy),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_settings_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
