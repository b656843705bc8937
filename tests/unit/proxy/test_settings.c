#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "proxy/settings.h"
#include "tests/unit/proxy/settings_rows.h"

static const struct row settings_rows[] = {
    {"{}", NULL, NULL},
    {"{\"$schema\": \"x\"}", NULL, NULL},
    {"{\"network\":{\"anything\":1},\"filesystem\":{\"anything\":1}}", NULL, NULL},
    {"{\"credentials\":{}}", NULL, NULL},
    {"{\"allowNestedUserNamespaces\":false}", NULL, NULL},
    {"\xef\xbb\xbf{ // comment\n \"allowPty\": true, }", NULL,
     "line 2: allowPty: means nothing here: for macOS"},
    {"{\"ignoreViolations\":{\"*\":[\"/usr\"]}}", NULL, "line 1: ignoreViolations: "},
    {"{\"enableWeakerNestedSandbox\":false}", NULL, "enableWeakerNestedSandbox: "},

    {"", "the text is empty", NULL},
    {" \n", "line 2, column 1: the text ends here", NULL},
    {"[]", "line 1: expected an object", NULL},
    {"null", "line 1: expected an object", NULL},
    {"\"x\"", "line 1: expected an object", NULL},
    {"{\"network\":null}", "line 1: network: expected an object", NULL},
    {"{\"network\":[]}", "line 1: network: expected an object", NULL},
    {"{\n\"filesystem\":\n\"x\"}", "line 2: filesystem: expected an object", NULL},
    {"{\"credentials\":{\"files\":[]}}", "line 1: credentials: not supported yet",
     NULL},
    {"{\"credentials\":\"x\"}", "credentials: not supported yet", NULL},
    {"{\"credentials\":null}", "credentials: expected an object", NULL},
    {"{\"allowNestedUserNamespaces\":true}",
     "allowNestedUserNamespaces: not supported yet", NULL},
    {"{\"git\":{\"safeDirectories\":[\"/x\"]}}", "git: not supported yet", NULL},
    {"{\n\n\"netwrok\":{}}",
     "line 3: unknown key \"netwrok\" (did you mean \"network\"?)", NULL},
    {"{\"sandbox\":{}}", "unknown key \"sandbox\"", NULL},
    {"{\n\"listen\":[]}",
     "line 2: listen: belongs to a gateway file, which is given with -f to weir "
     "gateway "
     "or weir check",
     NULL},
    {"{\"network\":{},\"clients\":[{}]}", "clients: belongs to a gateway file", NULL},
    {"{\"Network\":{}}", "did you mean \"network\"?", NULL},
    {"{\"network\":{},\"network\":{}}", "line 1, column 15: the key \"network\"", NULL},
};

static void test_settings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof settings_rows / sizeof *settings_rows; i++) {
        struct settings s = {0};
        struct warned w = {.count = 0};
        struct err e = {""};
        bool ok;

        write_text(file, settings_rows[i].text);
        ok = settings_load(file, on_warn, &w, &s, &e);
        check_row(&settings_rows[i], ok, &e, &w);
        assert_int_equal(ok, s.doc != NULL && strcmp(s.path, file) == 0);
        settings_done(&s);
    }
}

/* The path that is loaded; "" for the built-in defaults, NULL for an error. */
static const char *loaded(char *path, size_t size)
{
    struct settings s = {0};
    struct err e;

    if (!settings_load(NULL, NULL, NULL, &s, &e))
        return NULL;
    snprintf(path, size, "%s", s.path != NULL ? s.path : "");
    settings_done(&s);
    return path;
}

static void test_places(void **state)
{
    char xdg[64], own[64], srt[64], path[128];

    (void)state;
    snprintf(xdg, sizeof xdg, "%s/xdg/weir/settings.json", folder);
    snprintf(own, sizeof own, "%s/.config/weir/settings.json", folder);
    snprintf(srt, sizeof srt, "%s/.srt-settings.json", folder);
    setenv("HOME", folder, 1);
    unsetenv("XDG_CONFIG_HOME");
    assert_string_equal(loaded(path, sizeof path), "");
    write_text(srt, "{}");
    assert_string_equal(loaded(path, sizeof path), srt);
    write_text(own, "{}");
    assert_string_equal(loaded(path, sizeof path), own);
    snprintf(path, sizeof path, "%s/xdg", folder);
    setenv("XDG_CONFIG_HOME", path, 1);
    assert_string_equal(loaded(path, sizeof path), srt);
    write_text(xdg, "{}");
    assert_string_equal(loaded(path, sizeof path), xdg);

    /* What is there and does not load is an error, not a reason to look further. */
    write_text(xdg, "{");
    assert_null(loaded(path, sizeof path));
    unlink(xdg);
    assert_int_equal(symlink("/nowhere/at/all", xdg), 0);
    assert_null(loaded(path, sizeof path));
    unlink(xdg);

    /* A relative folder would be one of the current directory. */
    assert_int_equal(chdir(folder), 0);
    setenv("XDG_CONFIG_HOME", ".config", 1);
    setenv("HOME", ".", 1);
    assert_string_equal(loaded(path, sizeof path), "");
    unlink(own);
    unlink(srt);
}

static void test_default_paths(void **state)
{
    char *paths[3];

    (void)state;
    setenv("HOME", "/home/a", 1);
    setenv("XDG_CONFIG_HOME", "/x", 1);
    assert_int_equal(settings_default_paths(paths), 3);
    assert_string_equal(paths[0], "/x/weir/settings.json");
    assert_string_equal(paths[1], "/home/a/.config/weir/settings.json");
    assert_string_equal(paths[2], "/home/a/.srt-settings.json");
    for (size_t i = 0; i < 3; i++)
        free(paths[i]);
    unsetenv("XDG_CONFIG_HOME");
    assert_int_equal(settings_default_paths(paths), 2);
    free(paths[0]);
    free(paths[1]);
    unsetenv("HOME");
    assert_int_equal(settings_default_paths(paths), 0);
}

/* A path that is named must be there: never the defaults instead. */
static void test_named_file_must_load(void **state)
{
    struct settings s = {0};
    struct err e = {""};
    char path[128];

    (void)state;
    snprintf(path, sizeof path, "%s/missing.json", folder);
    assert_false(settings_load(path, NULL, NULL, &s, &e));
    assert_non_null(strstr(e.text, "missing.json: No such file"));
    assert_false(settings_load(folder, NULL, NULL, &s, &e));
    assert_non_null(strstr(e.text, "is a directory"));
    assert_false(settings_load("", NULL, NULL, &s, &e));
    assert_null(s.doc);
}

static int make_folder(void **state)
{
    static const char *const names[] = {"xdg", "xdg/weir", ".config", ".config/weir"};
    char path[128];

    (void)state;
    if (!open_folder())
        return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        mkdir(path, 0700);
    }
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"xdg/weir", "xdg", ".config/weir", ".config"};
    char path[128];

    (void)state;
    unlink(file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        rmdir(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_default_paths),
        cmocka_unit_test(test_named_file_must_load),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
