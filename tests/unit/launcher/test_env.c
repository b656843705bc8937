#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/env.h"

static const char *value_of(char *const *env, const char *name)
{
    size_t len = strlen(name);

    for (; *env != NULL; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

static size_t count_of(char *const *env, const char *name)
{
    size_t len = strlen(name), count = 0;

    for (; *env != NULL; env++)
        count += strncmp(*env, name, len) == 0 && (*env)[len] == '=';
    return count;
}

static void test_scrub(void **state)
{
    /* In pairs: an entry, and whether it stays. */
    static const struct {
        const char *entry;
        bool stays;
    } rows[] = {
        {"PATH=/bin", true},
        {"LD_PRELOAD=x", false},
        {"ld_library_path=x", false},
        {"LD_=x", false},
        {"LDFLAGS=x", true},
        {"DYLD_X=x", false},
        {"ENV=x", false},
        {"ENVIRONMENT=x", true},
        {"BASH_ENV=x", false},
        {"BASH_FUNC_ls%%=() { :; }", false},
        {"GIT_CONFIG_GLOBAL=x", true},
        {"GIT_AUTHOR_NAME=x", true},
        {"MY_PROXY=http://x", false},
        {"PROXY=x", true},
        {"GOPROXY=x", true},
        {"CLOUDSDK_PROXY_USERNAME=x", false},
        {"CLOUDSDK_PYTHON=x", true},
        {"TMP=/x", true}, /* set anew, see below */
        {"NOVALUE", true},
        {"=odd", true},
        {"LD_PRELOAD", false},
    };
    enum { COUNT = sizeof rows / sizeof *rows };
    char *inherited[COUNT + 1] = {NULL}, **env;

    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        inherited[i] = (char *)rows[i].entry;
    env = env_build(inherited);
    for (size_t i = 0; i < COUNT; i++) {
        bool there = false;

        for (char **entry = env; *entry != NULL; entry++)
            there = there || strcmp(*entry, rows[i].entry) == 0;
        if (strncmp(rows[i].entry, "TMP=", 4) == 0)
            assert_string_equal(value_of(env, "TMP"), SANDBOX_TMPDIR);
        else if (there != rows[i].stays)
            fail_msg("%s", rows[i].entry);
    }
    env_free(&env);
    assert_null(env);
}

static void test_set(void **state)
{
    char *inherited[] = {(char *)"http_proxy=http://old.example:1",
                         (char *)"HTTP_PROXY=http://old.example:1",
                         (char *)"HTTP_PROXY=http://twice.example:1",
                         (char *)"JAVA_TOOL_OPTIONS=-Xmx1g", NULL};
    char **env = env_build(inherited);

    (void)state;
    assert_string_equal(value_of(env, "http_proxy"), "http://127.0.0.1:3128");
    assert_string_equal(value_of(env, "ALL_PROXY"), "http://127.0.0.1:3128");
    assert_int_equal(count_of(env, "HTTP_PROXY"), 1);
    assert_null(value_of(env, "TMP"));
    assert_string_equal(value_of(env, "TMPDIR"), SANDBOX_TMPDIR);
    assert_int_equal(
        strncmp(value_of(env, "JAVA_TOOL_OPTIONS"), "-Xmx1g -Dhttp.proxyHost=", 24), 0);
    env_free(&env);
}

static void count_change(void *owner, const char *name, const char *value,
                         const char *why)
{
    size_t *counts = owner;

    assert_true(name[0] != '\0' && why[0] != '\0');
    counts[value == NULL]++;
}

static void test_changes(void **state)
{
    char *inherited[] = {(char *)"LD_PRELOAD=x", (char *)"A=b", NULL};
    size_t counts[2] = {0, 0};

    (void)state;
    env_changes(inherited, count_change, counts);
    assert_int_equal(counts[1], 1);
    assert_true(counts[0] > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scrub),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
