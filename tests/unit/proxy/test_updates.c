#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/base/json.h"
#include "proxy/updates.h"

/* What came, as "1:text|3:text|", and "lost after N: why" at the end. */
struct heard {
    struct ev_loop *loop;
    struct updates *updates;
    int writer;
    char text[4096];
    size_t bytes; /* of the last line */
};

static void on_line(void *owner, unsigned long number, struct str line)
{
    struct heard *h = owner;
    size_t n = strlen(h->text);

    snprintf(h->text + n, sizeof h->text - n, "%lu:%.*s|", number,
             (int)(line.n < 100 ? line.n : 100), line.p);
    h->bytes = line.n;
}

static void on_lost(void *owner, unsigned long lines, const char *why)
{
    struct heard *h = owner;
    size_t n = strlen(h->text);

    snprintf(h->text + n, sizeof h->text - n, "lost after %lu: %s", lines, why);
}

static void begin(struct heard *h, int reader, int writer)
{
    struct updates_hooks hooks = {on_line, on_lost, h};

    *h = (struct heard){.loop = ev_loop_new(EVFLAG_AUTO), .writer = writer};
    assert_non_null(h->loop);
    h->updates = updates_new(h->loop, reader, &hooks);
}

static void begin_pair(struct heard *h)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    begin(h, ends[0], ends[1]);
}

static void finish(struct heard *h)
{
    updates_free(&h->updates);
    assert_null(h->updates);
    ev_loop_destroy(h->loop);
    if (h->writer >= 0)
        close(h->writer);
}

static void put(struct heard *h, const char *text, size_t n)
{
    assert_int_equal(write(h->writer, text, n), n);
    ev_run(h->loop, EVRUN_NOWAIT);
}

/* Until the channel is at its end. */
static void run_out(struct heard *h)
{
    close(h->writer);
    h->writer = -1;
    ev_run(h->loop, 0);
}

static void test_lines_in_any_pieces(void **state)
{
    static const char all[] = "{\"a\":1}\n\r\n  \n{}\r\n{\"b\":2}";
    struct heard h;

    (void)state;
    srand(7);
    for (unsigned round = 0; round < 200; round++) {
        begin_pair(&h);
        for (size_t i = 0, n; i < strlen(all); i += n) {
            n = 1 + (size_t)rand() % (round % 20 + 1);
            n = n < strlen(all) - i ? n : strlen(all) - i;
            put(&h, all + i, n);
        }
        assert_string_equal(h.text, "1:{\"a\":1}|4:{}|");
        run_out(&h);
        assert_string_equal(h.text, "1:{\"a\":1}|4:{}|5:{\"b\":2}|");
        finish(&h);
    }
}

static void test_an_end_is_no_loss(void **state)
{
    struct heard h;

    (void)state;
    begin_pair(&h);
    run_out(&h);
    assert_string_equal(h.text, "");
    finish(&h);
}

/* Whoever closes a Unix socket with bytes unread resets it. */
static void test_a_reset_is(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "lost after 0: Connection reset by peer"},
        {"{}\n{", "1:{}|lost after 1: Connection reset by peer"},
    };
    struct heard h;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int ends[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        begin(&h, ends[0], ends[1]);
        put(&h, rows[i].text, strlen(rows[i].text));
        assert_int_equal(write(ends[0], "x", 1), 1);
        run_out(&h);
        assert_string_equal(h.text, rows[i].says);
        finish(&h);
    }
}

/* A file cannot be waited for, and is read to its end all the same. */
static void test_a_file(void **state)
{
    char path[] = "/tmp/weir-test-updates-XXXXXX";
    struct heard h;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(write(fd, "one\ntwo\n", 8), 8);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    begin(&h, fd, -1);
    ev_run(h.loop, 0);
    assert_string_equal(h.text, "1:one|2:two|");
    finish(&h);
}

static void test_a_line_without_an_end(void **state)
{
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    struct heard h;

    (void)state;
    assert_true(fd >= 0);
    begin(&h, fd, -1);
    ev_run(h.loop, 0);
    assert_string_equal(
        h.text, "lost after 0: a line is longer than a settings document may be");
    finish(&h);
}

/* A line may hold as much as a file; its end does not count. */
static void test_the_longest_line(void **state)
{
    int fd = memfd_create("line", MFD_CLOEXEC);
    struct heard h;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "a", 1, 0), 1);
    assert_int_equal(pwrite(fd, "\r\n{}", 4, JSON_TEXT_MAX), 4);
    begin(&h, fd, -1);
    ev_run(h.loop, 0);
    assert_string_equal(h.text, "1:a|2:{}|");
    finish(&h);
}

static void refused(const char *number, const char *says)
{
    struct err e = {""};
    int fd = -1;

    assert_false(updates_take(number, &fd, &e));
    assert_int_equal(fd, -1);
    if (strstr(e.text, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", e.text, says);
}

static void test_taking(void **state)
{
    char number[16];
    int ends[2], fd = -1;
    struct err e;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    snprintf(number, sizeof number, "%d", ends[1]);
    refused(number, "cannot be read");
    snprintf(number, sizeof number, "%d", ends[0]);
    assert_true(updates_take(number, &fd, &e));
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(ends[0], F_GETFD), -1);
    refused(number, "cannot be read");
    close(fd);
    close(ends[1]);
    refused("0", "3 or higher");
    refused("-1", "3 or higher");
    refused("03", "3 or higher");
    refused("x", "3 or higher");
    refused("", "3 or higher");
    refused("99999999999", "3 or higher");
    refused("999999", "Bad file descriptor");
    fd = open("/", O_RDONLY | O_CLOEXEC);
    snprintf(number, sizeof number, "%d", fd);
    fd = -1;
    refused(number, "cannot be read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_in_any_pieces),
        cmocka_unit_test(test_an_end_is_no_loss),
        cmocka_unit_test(test_a_reset_is),
        cmocka_unit_test(test_a_file),
        cmocka_unit_test(test_a_line_without_an_end),
        cmocka_unit_test(test_the_longest_line),
        cmocka_unit_test(test_taking),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
