#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "proxy/base/fd.h"

enum { MAX = 20000 };

static char folder[] = "/tmp/weir-read-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, size_t size)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    for (size_t i = 0; i < size; i++)
        fputc('a' + (int)(i % 26), f);
    fclose(f);
}

static void expect_error(const char *path, const char *says)
{
    char *text = NULL;
    size_t len = 0;
    struct err e = {""};

    assert_false(fd_read_file(path, MAX, &text, &len, &e));
    assert_null(text);
    if (strstr(e.text, says) == NULL || strstr(e.text, path) != e.text)
        fail_msg("%s", e.text);
}

static void test_sizes(void **state)
{
    static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 8191, MAX};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *path = path_of("file");
        char *text = NULL;
        size_t len = 0;
        struct err e;

        write_file(path, sizes[i]);
        assert_true(fd_read_file(path, MAX, &text, &len, &e));
        assert_int_equal(len, sizes[i]);
        assert_int_equal(strlen(text), sizes[i]);
        free(text);
    }
    write_file(path_of("file"), MAX + 1);
    expect_error(path_of("file"), "larger than 20000 bytes");
}

static void test_no_files(void **state)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int sock = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    expect_error(path_of("missing"), "No such file");
    expect_error(folder, "is a directory");
    expect_error("/dev/null", "is a device");
    assert_in_range(snprintf(at.sun_path, sizeof at.sun_path, "%s", path_of("socket")),
                    1, sizeof at.sun_path - 1);
    assert_int_equal(bind(sock, (struct sockaddr *)&at, sizeof at), 0);
    expect_error(path_of("socket"), "No such device");
    close(sock);
}

/* Grows while it is read and tells no size. */
static void test_endless(void **state)
{
    (void)state;
    expect_error("/dev/zero", "is a device");
    if (access("/proc/kallsyms", R_OK) == 0)
        expect_error("/proc/kallsyms", "larger than 20000 bytes");
    else
        print_message("skipped: /proc/kallsyms cannot be read\n");
}

static void test_fifo_without_writer(void **state)
{
    char *text = NULL;
    size_t len = 1;
    struct err e;

    (void)state;
    assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
    assert_true(fd_read_file(path_of("fifo"), MAX, &text, &len, &e));
    assert_int_equal(len, 0);
    free(text);
}

/* What a shell makes of <(command): the writer may need a while. */
static void test_pipe(void **state)
{
    int ends[2], status;
    char path[64], *text = NULL;
    size_t len = 0;
    struct err e;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        usleep(50000);
        _exit(fd_write_all(ends[1], "late", 4) ? 0 : 1);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_true(fd_read_file(path, MAX, &text, &len, &e));
    assert_string_equal(text, "late");
    free(text);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"file", "socket", "fifo"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_no_files),
        cmocka_unit_test(test_endless), cmocka_unit_test(test_fifo_without_writer),
        cmocka_unit_test(test_pipe),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
