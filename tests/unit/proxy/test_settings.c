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

struct row {
    const char *text;
    const char *says; /* a part of the error; NULL: loads */
    const char *warns;
};

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
    {"{\"Network\":{}}", "did you mean \"network\"?", NULL},
    {"{\"network\":{},\"network\":{}}", "line 1, column 15: the key \"network\"", NULL},
};

#define LISTEN "\"listen\":[\"127.0.0.1:3128\"]"

static const struct row gateway_rows[] = {
    {"{" LISTEN "}", NULL, NULL},
    {"{\"listen\":[\"127.0.0.1:0\",\"127.0.0.1:0\",\"[::1]:3128\",\"unix:/a\"]}", NULL,
     NULL},
    {"{\"listen\":[\n\"127.8.9.1:1\",\n\"0.0.0.0:1\"]}", NULL,
     "line 3: listen[1]: whoever reaches this address may use the gateway"},
    {"{\"listen\":[\"[::]:1\"]}", NULL, "listen[0]: whoever"},
    {"{" LISTEN ",\"admin\":null,\"clients\":[],\"control\":{},\"workers\":1}", NULL,
     NULL},
    {"{" LISTEN ",\"network\":{\"anything\":1}}", NULL, NULL},
    {"{" LISTEN ",\"audit\":{\"file\":\"/x\",\"onFull\":\"count\"}}", NULL, NULL},
    {"{" LISTEN ",\"audit\":{\"file\":\"-\",\"onFull\":\"refuse\"}}", NULL, NULL},
    {"{" LISTEN ",\"limits\":{}}", NULL, NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":1,\"drainSeconds\":0,"
     "\"idleSeconds\":0.5,\"headBytes\":1048576}}",
     NULL, NULL},
    {"{" LISTEN ",\"resolver\":{\"servers\":[\"192.0.2.1\",\"192.0.2.1:53\","
     "\"2001:db8::1\",\"[2001:db8::1]:53\"],\"hostsFile\":\"\"}}",
     NULL, NULL},

    {"{}", "listen: missing", NULL},
    {"[]", "line 1: expected an object", NULL},
    {"{\"listen\":[]}", "listen: expected a list with at least one address", NULL},
    {"{\"listen\":\"127.0.0.1:1\"}", "listen: expected a list", NULL},
    {"{\"listen\":[1]}", "line 1: listen[0]: expected a string", NULL},
    {"{\"listen\":[{\"address\":\"127.0.0.1:1\"}]}",
     "listen[0]: listeners with options are not supported yet", NULL},
    {"{\"listen\":[\"systemd\"]}", "\"systemd\" is not supported yet", NULL},
    {"{\"listen\":[\"localhost:1\"]}", "\"localhost:1\": expected an IP address", NULL},
    {"{\"listen\":[\":3128\"]}", "\":3128\": expected an IP address", NULL},
    {"{\"listen\":[\"127.0.0.1\"]}", "expected an IP address with a port", NULL},
    {"{\"listen\":[\"127.0.0.1:65536\"]}", "expected an IP address with a port", NULL},
    {"{\"listen\":[\"::1:3128\"]}", "expected an IP address with a port", NULL},
    {"{\"listen\":[\"unix:x\"]}", "listen[0]: expected an absolute path", NULL},
    {"{\"listen\":[\"unix:\"]}", "listen[0]: expected an absolute path", NULL},
    {"{\"listen\":[\"unix:/"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]}",
     "a Unix socket can have 107", NULL},
    {"{\"listen\":[\"127.0.0.1:1\",\n\"127.0.0.1:1\"]}",
     "line 2: listen[1]: \"127.0.0.1:1\" is in the list already", NULL},
    {"{\"listen\":[\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\","
     "\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\","
     "\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\","
     "\"127.0.0.1:0\",\"127.0.0.1:0\",\"127.0.0.1:0\"]}",
     "listen[16]: more than 16 listening sockets", NULL},
    {"{" LISTEN ",\"netwrok\":{}}", "did you mean \"network\"?", NULL},
    {"{" LISTEN ",\"network\":null}", "network: expected an object", NULL},
    {"{" LISTEN ",\"filesystem\":{}}", "unknown key \"filesystem\"", NULL},
    {"{" LISTEN ",\"admin\":\"127.0.0.1:1\"}", "admin: not supported yet", NULL},
    {"{" LISTEN ",\"clients\":[{}]}", "clients: not supported yet", NULL},
    {"{" LISTEN ",\"control\":{\"path\":\"/x\"}}", "control: not supported yet", NULL},
    {"{" LISTEN ",\"workers\":2}", "workers: more than 1 is not supported yet", NULL},
    {"{" LISTEN ",\"workers\":0}", "workers: expected a whole number", NULL},
    {"{" LISTEN ",\"workers\":\"1\"}", "workers: expected a whole number", NULL},
    {"{" LISTEN ",\"audit\":\"-\"}", "audit: expected an object", NULL},
    {"{" LISTEN ",\"audit\":{\"path\":\"/x\"}}", "audit: unknown key \"path\"", NULL},
    {"{" LISTEN ",\"audit\":{\"file\":\"x\"}}",
     "audit.file: expected an absolute path, or \"-\"", NULL},
    {"{" LISTEN ",\"audit\":{\"file\":\"\"}}", "audit.file: expected", NULL},
    {"{" LISTEN ",\"audit\":{\"onFull\":\"drop\"}}",
     "audit.onFull: expected \"refuse\" or \"count\"", NULL},
    {"{" LISTEN ",\"audit\":{\"onFull\":null}}", "audit.onFull: expected", NULL},
    {"{" LISTEN ",\"limits\":[]}", "limits: expected an object", NULL},
    {"{" LISTEN ",\"limits\":{\"conections\":1}}",
     "limits: unknown key \"conections\" (did you mean \"connections\"?)", NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":0}}",
     "limits.connections: expected a whole number from 1 to 1000000", NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":1.5}}", "limits.connections: expected",
     NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":-1}}", "limits.connections: expected",
     NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":\"7\"}}", "limits.connections: expected",
     NULL},
    {"{" LISTEN ",\"limits\":{\"connections\":1e300}}", "limits.connections: expected",
     NULL},
    {"{" LISTEN ",\"limits\":{\"headBytes\":1}}",
     "limits.headBytes: expected a whole number from 1024 to 1048576", NULL},
    {"{" LISTEN ",\"limits\":{\"idleSeconds\":0}}",
     "limits.idleSeconds: expected a number of seconds from 0.1 to 2592000", NULL},
    {"{" LISTEN ",\"limits\":{\"idleSeconds\":null}}", "limits.idleSeconds: expected",
     NULL},
    {"{" LISTEN ",\"resolver\":{\"servers\":[]}}", "resolver.servers: expected a list",
     NULL},
    {"{" LISTEN ",\"resolver\":{\"servers\":[\"dns.test\"]}}",
     "resolver.servers[0]: \"dns.test\": expected an IP address", NULL},
    {"{" LISTEN ",\"resolver\":{\"servers\":[\"192.0.2.1:0\"]}}",
     "resolver.servers[0]: \"192.0.2.1:0\"", NULL},
    {"{" LISTEN ",\"resolver\":{\"server\":[]}}", "did you mean \"servers\"?", NULL},
    {"{" LISTEN ",\"resolver\":{\"hostsFile\":\"hosts\"}}",
     "resolver.hostsFile: expected an absolute path", NULL},
};

static char folder[] = "/tmp/weir-settings-XXXXXX";
static char file[64];

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

struct warned {
    char text[1024];
    unsigned count;
};

static void on_warn(void *owner, const char *text)
{
    struct warned *w = owner;

    snprintf(w->text, sizeof w->text, "%s", text);
    w->count++;
}

static void check_row(const struct row *row, bool ok, const struct err *e,
                      const struct warned *w)
{
    if (ok != (row->says == NULL))
        fail_msg("%s: %s", row->text, ok ? "loads" : e->text);
    if (!ok && (strstr(e->text, file) != e->text || strstr(e->text, row->says) == NULL))
        fail_msg("%s: said \"%s\", expected \"%s\"", row->text, e->text, row->says);
    assert_int_equal(w->count, row->warns != NULL);
    if (row->warns != NULL &&
        (strstr(w->text, file) != w->text || strstr(w->text, row->warns) == NULL))
        fail_msg("%s: warned \"%s\"", row->text, w->text);
}

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

static void test_gateway(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof gateway_rows / sizeof *gateway_rows; i++) {
        struct gateway_settings s = {0};
        struct warned w = {.count = 0};
        struct err e = {""};
        bool ok;

        write_text(file, gateway_rows[i].text);
        ok = gateway_settings_load(file, on_warn, &w, &s, &e);
        check_row(&gateway_rows[i], ok, &e, &w);
        assert_int_equal(ok, s.doc != NULL && strcmp(s.path, file) == 0);
        gateway_settings_done(&s);
    }
}

static void test_gateway_values(void **state)
{
    struct gateway_settings s;
    struct err e;

    (void)state;
    write_text(file, "{" LISTEN ",\"network\":{\"mode\":\"report\"},"
                     "\"audit\":{\"file\":\"/x\",\"onFull\":\"count\"},"
                     "\"limits\":{\"connections\":7,\"idleSeconds\":2.5},"
                     "\"resolver\":{\"servers\":[\"192.0.2.1:5353\"],"
                     "\"hostsFile\":\"/h\"}}");
    assert_true(gateway_settings_load(file, NULL, NULL, &s, &e));
    assert_string_equal(s.listen[0], "127.0.0.1:3128");
    assert_null(s.listen[1]);
    assert_non_null(json_get(s.network, "mode"));
    assert_string_equal(s.audit.file, "/x");
    assert_int_equal(s.audit.fd, -1);
    assert_int_equal(s.audit.on_full, AUDIT_COUNT);
    assert_int_equal(s.limits.connections, 7);
    assert_int_equal(s.limits.connections_per_client, 1000);
    assert_true(s.limits.idle_seconds == 2.5);
    assert_string_equal(s.resolver_servers[0], "192.0.2.1:5353");
    assert_null(s.resolver_servers[1]);
    assert_string_equal(s.resolver_hosts, "/h");
    gateway_settings_done(&s);

    write_text(file, "{" LISTEN "}");
    assert_true(gateway_settings_load(file, NULL, NULL, &s, &e));
    assert_null(s.network);
    assert_string_equal(s.audit.file, "-");
    assert_int_equal(s.audit.on_full, AUDIT_REFUSE);
    assert_memory_equal(&s.limits, &limits_default, sizeof s.limits);
    assert_null(s.resolver_servers);
    assert_null(s.resolver_hosts);
    gateway_settings_done(&s);
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
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(file, sizeof file, "%s/file.json", folder);
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
        cmocka_unit_test(test_gateway),
        cmocka_unit_test(test_gateway_values),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_default_paths),
        cmocka_unit_test(test_named_file_must_load),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
