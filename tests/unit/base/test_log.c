#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proxy/base/log.h"

/* What log_warn() writes to stderr. */
static void logged(const char *text, char *out, size_t size)
{
    int pipes[2], kept = dup(STDERR_FILENO);
    ssize_t n;

    assert_return_code(kept, errno);
    assert_return_code(pipe(pipes), errno);
    assert_return_code(dup2(pipes[1], STDERR_FILENO), errno);
    log_warn("%s", text);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(pipes[1]);
    n = read(pipes[0], out, size - 1);
    close(pipes[0]);
    assert_true(n > 0);
    out[n] = '\0';
}

/* As shown.h shows it; a message is one line whatever is in it. */
static void test_nothing_steers_the_reader(void **state)
{
    char line[256];

    (void)state;
    logged("a\nweir: b\x1b[2J\xc2\x9b"
           "2J ex\xc3\xa4mple",
           line, sizeof line);
    assert_string_equal(line, "weir: warning: a\\x0aweir: b\\x1b[2J\\xc2\\x9b"
                              "2J ex\xc3\xa4mple\n");
}

/* A message of any length is one line. */
static void test_long(void **state)
{
    char text[8192], line[8192];

    (void)state;
    memset(text, '\x1b', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    logged(text, line, sizeof line);
    assert_true(strlen(line) < sizeof line - 1);
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

/* Takes the place of stderr, full; returns the end to read from. */
static int full_stderr(void)
{
    char page[4096] = {0};
    int pipes[2];

    assert_return_code(pipe2(pipes, O_NONBLOCK), errno);
    while (write(pipes[1], page, sizeof page) > 0)
        ;
    /* As most programs get it: a write blocks. */
    assert_return_code(fcntl(pipes[1], F_SETFL, 0), errno);
    assert_return_code(dup2(pipes[1], STDERR_FILENO), errno);
    close(pipes[1]);
    return pipes[0];
}

static void drain(int fd, char *out, size_t size)
{
    ssize_t n, len = 0;

    while ((n = read(fd, out, size - 1)) > 0)
        len = n;
    assert_int_equal(errno, EAGAIN);
    out[len] = '\0';
}

/* A line for which there is no room holds up nobody, and is counted. */
static void test_no_reader(void **state)
{
    static const char note[] =
        "weir: warning: lines missing here, as nobody read them: 3\n";
    char text[1 << 17];
    int kept = dup(STDERR_FILENO), from = full_stderr();

    (void)state;
    log_set_waiting(false);
    for (int i = 0; i < 3; i++)
        log_warn("%d", i);
    drain(from, text, sizeof text);
    log_warn("four");
    log_warn("five");
    drain(from, text, sizeof text);
    assert_memory_equal(text, note, strlen(note));
    assert_string_equal(text + strlen(note),
                        "weir: warning: four\nweir: warning: five\n");

    /* Who may wait again is told at once. */
    close(from);
    from = full_stderr();
    for (int i = 0; i < 3; i++)
        log_warn("%d", i);
    drain(from, text, sizeof text);
    log_set_waiting(true);
    drain(from, text, sizeof text);
    assert_string_equal(text, note);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_steers_the_reader),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_no_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
