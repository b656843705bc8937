#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy/base/fd.h"
#include "proxy/stamps.h"

static char folder[] = "/tmp/weir-test-stamps-XXXXXX";
static char one[64], other[64];

static void write_file(const char *path, const char *text)
{
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    assert_return_code(fd, errno);
    assert_true(fd_write_all(fd, text, strlen(text)));
}

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(one, sizeof one, "%s/one", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(one);
    unlink(other);
    return rmdir(folder);
}

/* Told once, and only when a look has found it at rest. */
static void told_once(struct stamps *s)
{
    assert_false(stamps_look(s));
    assert_true(stamps_look(s));
    assert_false(stamps_look(s));
}

static void test_changes(void **state)
{
    const char *const paths[] = {one, other, NULL};
    struct stamps *s = stamps_new();

    (void)state;
    write_file(one, "a");
    stamps_set(s, paths);
    assert_false(stamps_look(s));
    write_file(one, "b");
    told_once(s);
    write_file(other, "appeared");
    told_once(s);
    assert_int_equal(rename(other, one), 0);
    told_once(s);
    assert_int_equal(unlink(one), 0);
    told_once(s);
    stamps_free(&s);
}

static void test_while_it_is_written(void **state)
{
    const char *const paths[] = {one, NULL};
    struct stamps *s = stamps_new();

    (void)state;
    write_file(one, "a");
    stamps_set(s, paths);
    for (int i = 0; i < 5; i++) {
        write_file(one, "more");
        assert_false(stamps_look(s));
    }
    assert_true(stamps_look(s));
    stamps_free(&s);
}

/* What was read by a reload that somebody asked for is no change; what came after it
 * is, also when the list of files is another one now. */
static void test_mark_and_set(void **state)
{
    const char *const before[] = {one, NULL}, *const after[] = {other, one, NULL};
    struct stamps *s = stamps_new();

    (void)state;
    stamps_set(s, before);
    write_file(one, "changed");
    stamps_mark(s);
    write_file(one, "while it was read");
    stamps_set(s, after);
    told_once(s);
    stamps_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_while_it_is_written),
        cmocka_unit_test(test_mark_and_set),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
