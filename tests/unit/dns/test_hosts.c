#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dns/hosts.h"

static const char *look(struct hosts *h, const char *name, double now)
{
    static char text[LOOKUP_MAX * IP_TEXT_MAX];
    struct answer *a = hosts_lookup(h, name, now);
    size_t n = 0;

    text[0] = '\0';
    if (a == NULL)
        return "ask";
    if (a->status != LOOKUP_OK)
        n = (size_t)snprintf(text, sizeof text, "%s", a->why);
    for (size_t i = 0; i < a->count; i++) {
        char ip[IP_TEXT_MAX];

        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i > 0 ? " " : "",
                              ip_text(&a->ips[i], ip));
    }
    answer_unref(&a);
    return text;
}

static const char *in(const char *file, const char *name)
{
    struct hosts *h = hosts_new("");
    const char *result;

    hosts_parse(h, str_from(file));
    result = look(h, name, 1);
    hosts_free(&h);
    return result;
}

static void test_lines(void **state)
{
    static const struct {
        const char *file, *name, *ips;
    } rows[] = {
        {"192.0.2.1 a.test", "a.test", "192.0.2.1"}, /* no newline at the end */
        {"192.0.2.1 a.test\n", "b.test", "ask"},
        {"192.0.2.1\ta.test \t b.test\r\n", "b.test", "192.0.2.1"},
        {"  192.0.2.1 A.TEST.\n", "a.test", "192.0.2.1"},
        {"192.0.2.1 a.test\n2001:db8::1 a.test\n192.0.2.2 a.test\n", "a.test",
         "192.0.2.1 2001:db8::1 192.0.2.2"}, /* in the order of the file */
        {"192.0.2.1 a.test a.test\n192.0.2.1 a.test\n", "a.test", "192.0.2.1"},
        {"#192.0.2.1 a.test\n", "a.test", "ask"},
        {"192.0.2.1 #a.test\n", "a.test", "ask"},
        {"192.0.2.1 a.test#b.test\n", "a.test", "192.0.2.1"},
        {"192.0.2.1\n192.0.2.2 a.test\n", "a.test", "192.0.2.2"},
        {"192.0.2.1\na.test\n", "a.test", "ask"},
        {"127.1 a.test\n0x7f.1 a.test\n192.0.2.300 a.test\n", "a.test", "ask"},
        {"fe80::1%lo a.test\n192.0.2.1 a.test\n", "a.test", "192.0.2.1"},
        {"::ffff:192.0.2.1 a.test\n", "a.test", "::ffff:192.0.2.1"},
        {"0.0.0.0 a.test\n", "a.test", "0.0.0.0"}, /* for policy to judge */
        {"192.0.2.1 .\n192.0.2.2 a..test\n", "a.test", "ask"},
        {"\n\n\n \n192.0.2.1 a.test", "a.test", "192.0.2.1"},
        {"", "a.test", "ask"},
        {"192.0.2.1 localhost\n", "localhost", "192.0.2.1"},
        {"192.0.2.1 localhost\n", "x.localhost", "127.0.0.1 ::1"},
        {"", "localhost", "127.0.0.1 ::1"},
        {"", "a.b.localhost", "127.0.0.1 ::1"},
        {"", "xlocalhost", "ask"},
        {"", "localhost.test", "ask"},
        {"", "a.onion", "no such name"},
        {"", "a.invalid", "no such name"},
        {"192.0.2.1 a.invalid", "a.invalid", "192.0.2.1"},
        {"", "invalid.test", "ask"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(in(rows[i].file, rows[i].name), rows[i].ips) != 0)
            fail_msg("\"%s\": %s is \"%s\", expected \"%s\"", rows[i].file,
                     rows[i].name, in(rows[i].file, rows[i].name), rows[i].ips);
}

/* What stands behind a NUL is no text. */
static void test_nul(void **state)
{
    struct hosts *h = hosts_new("");

    (void)state;
    hosts_parse(h, STR("192.0.2.1 a.test\n\0\n192.0.2.2 b.test\n"));
    assert_string_equal(look(h, "a.test", 1), "192.0.2.1");
    assert_string_equal(look(h, "b.test", 1), "ask");
    hosts_free(&h);
}

static void test_many(void **state)
{
    enum { MANY = 20000 };
    struct hosts *h = hosts_new("");
    char *text = malloc(MANY * 40), name[32];
    size_t n = 0;

    (void)state;
    for (unsigned i = 0; i < MANY; i++)
        n += (size_t)snprintf(text + n, 40, "10.0.%u.%u h%u.test\n", i / 250, i % 250,
                              i);
    hosts_parse(h, (struct str){text, n});
    for (unsigned i = 0; i < MANY; i += 97) {
        char ip[32];

        snprintf(name, sizeof name, "h%u.test", i);
        snprintf(ip, sizeof ip, "10.0.%u.%u", i / 250, i % 250);
        assert_string_equal(look(h, name, 1), ip);
    }
    free(text);
    hosts_free(&h);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* The clock is given, so nobody waits. */
static void test_file(void **state)
{
    char path[] = "/tmp/weir-hosts-XXXXXX";
    int fd = mkstemp(path);
    struct hosts *h;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    h = hosts_new(path);
    write_file(path, "192.0.2.1 a.test\n");
    assert_string_equal(look(h, "a.test", 100), "192.0.2.1");
    write_file(path, "192.0.2.22 a.test\n"); /* of another size, whatever the clock */
    assert_string_equal(look(h, "a.test", 100.9), "192.0.2.1");
    assert_string_equal(look(h, "a.test", 101.1), "192.0.2.22");
    unlink(path);
    assert_string_equal(look(h, "a.test", 103), "ask");
    /* There, but nothing that can be read: whatever it may say, nobody else is asked.
     */
    assert_int_equal(mkdir(path, 0700), 0);
    assert_string_equal(look(h, "a.test", 105), "the hosts file cannot be read");
    assert_string_equal(look(h, "localhost", 105.5), "the hosts file cannot be read");
    assert_int_equal(rmdir(path), 0);
    write_file(path, "192.0.2.3 a.test\n");
    assert_string_equal(look(h, "a.test", 107), "192.0.2.3");
    unlink(path);
    hosts_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_nul),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
