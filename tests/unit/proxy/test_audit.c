#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "proxy/audit.h"
#include "proxy/base/fd.h"

enum { PATIENCE_MS = 20000, FILE_MAX = 1 << 24 };

struct place {
    char dir[64], file[96];
};

static struct place make_place(void)
{
    struct place p = {.dir = "/tmp/weir-test-audit-XXXXXX"};

    assert_non_null(mkdtemp(p.dir));
    snprintf(p.file, sizeof p.file, "%s/audit.log", p.dir);
    return p;
}

static void remove_place(const struct place *p)
{
    unlink(p->file);
    assert_int_equal(rmdir(p->dir), 0);
}

static struct audit *start(struct audit_options options)
{
    struct audit *a = NULL;
    struct err e;

    if (!audit_new(&options, &a, &e))
        fail_msg("%s", e.text);
    return a;
}

static const struct audit_event event = {.session = {"run-4711", 8},
                                         .id = 7,
                                         .front = "connect",
                                         .verdict = {.allow = true},
                                         .close = "server"};

static size_t count_lines(const char *path)
{
    char *text;
    size_t len, lines = 0;
    struct err e;

    if (!fd_read_file(path, FILE_MAX, &text, &len, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0, begin = 0; i < len; i++)
        if (text[i] == '\n') {
            assert_true(
                str_starts((struct str){text + begin, len - begin}, STR("{\"t\":\"2")));
            assert_int_equal(text[i - 1], '}');
            begin = i + 1;
            lines++;
        }
    assert_true(len == 0 || text[len - 1] == '\n');
    free(text);
    return lines;
}

static void test_file(void **state)
{
    struct place p = make_place();
    struct stat st;

    (void)state;
    for (int round = 1; round <= 2; round++) { /* the second appends */
        struct audit *a = start((struct audit_options){.file = p.file, .fd = -1});

        for (int i = 0; i < 1000; i++)
            audit_write(a, &event);
        assert_int_equal(audit_dropped(a), 0);
        audit_free(&a, 20);
        assert_null(a);
        assert_int_equal(count_lines(p.file), 1000 * round);
    }
    assert_int_equal(stat(p.file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    remove_place(&p);
}

static void test_errors(void **state)
{
    struct place p = make_place();
    struct audit *a = NULL;
    struct err e = {{0}};
    struct audit_options options = {.file = p.dir, .fd = -1};

    (void)state;
    assert_false(audit_new(&options, &a, &e));
    assert_non_null(strstr(e.text, p.dir));
    assert_null(a);
    /* A FIFO that nobody reads must not hold up the start. */
    assert_int_equal(mkfifo(p.file, 0600), 0);
    options.file = p.file;
    assert_false(audit_new(&options, &a, &e));
    audit_free(&a, 1);
    remove_place(&p);
}

static void test_none(void **state)
{
    struct audit *a = start((struct audit_options){.fd = -1});
    struct err e;

    (void)state;
    audit_write(a, &event);
    assert_true(audit_ready(a));
    assert_int_equal(audit_dropped(a), 0);
    assert_true(audit_reopen(a, &e));
    audit_free(&a, 1);
}

static void test_reopen(void **state)
{
    struct place p = make_place();
    struct audit *a = start((struct audit_options){.file = p.file, .fd = -1});
    char old[128], moved[128];
    struct err e;

    (void)state;
    snprintf(old, sizeof old, "%s.1", p.file);
    for (int i = 0; i < 500; i++)
        audit_write(a, &event);
    assert_int_equal(rename(p.file, old), 0);
    assert_true(audit_reopen(a, &e));
    for (int i = 0; i < 500; i++)
        audit_write(a, &event);
    /* On failure the one that is open stays. */
    snprintf(moved, sizeof moved, "%s.moved", p.dir);
    assert_int_equal(rename(p.dir, moved), 0);
    assert_false(audit_reopen(a, &e));
    assert_non_null(strstr(e.text, p.file));
    assert_int_equal(rename(moved, p.dir), 0);
    audit_write(a, &event);
    audit_free(&a, 20);
    assert_true(count_lines(p.file) >= 501);
    assert_int_equal(count_lines(p.file) + count_lines(old), 1001);
    unlink(old);
    remove_place(&p);
}

static void put_file(const char *path, const char *text)
{
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0 && fd_write_all(fd, text, strlen(text)));
}

/* A full disk can leave half a line at the end: the next line is one of its own, at the
 * start and where the file is opened anew. */
static void test_after_half_a_line(void **state)
{
    static const char begun[] = "{\"t\":\"2}\n{\"t\":\"2026}";
    struct place p = make_place();
    struct audit *a;
    struct err e;

    (void)state;
    put_file(p.file, begun);
    a = start((struct audit_options){.file = p.file, .fd = -1});
    audit_write(a, &event);
    audit_free(&a, 20);
    assert_int_equal(count_lines(p.file), 3);

    /* As weir run has it: opened already. */
    put_file(p.file, begun);
    a = start(
        (struct audit_options){.fd = open(p.file, O_WRONLY | O_APPEND | O_CLOEXEC)});
    audit_write(a, &event);
    audit_write(a, &event);
    audit_free(&a, 20);
    assert_int_equal(count_lines(p.file), 4);

    a = start((struct audit_options){.file = p.file, .fd = -1});
    put_file(p.file, begun);
    assert_true(audit_reopen(a, &e));
    audit_write(a, &event);
    audit_free(&a, 20);
    assert_int_equal(count_lines(p.file), 3);
    remove_place(&p);
}

static void wait_for(bool ready(struct audit *), struct audit *a)
{
    for (int i = 0; i < PATIENCE_MS / 5; i++) {
        if (ready(a))
            return;
        poll(NULL, 0, 5);
    }
    fail_msg("it did not come about");
}

static bool is_ready(struct audit *a)
{
    return audit_ready(a);
}

static bool is_not_ready(struct audit *a)
{
    return !audit_ready(a);
}

/* Row P16: no room on the disk. What was taken is kept until there is room. */
static void test_disk_full(void **state)
{
    struct place p = make_place();
    struct audit *a;
    struct err e;

    (void)state;
    assert_int_equal(symlink("/dev/full", p.file), 0);
    a = start((struct audit_options){.file = p.file, .fd = -1});
    assert_true(audit_ready(a));
    for (int i = 0; i < 10; i++)
        audit_write(a, &event);
    wait_for(is_not_ready, a);
    assert_int_equal(unlink(p.file), 0);
    assert_true(audit_reopen(a, &e));
    wait_for(is_ready, a);
    audit_free(&a, 20);
    assert_int_equal(count_lines(p.file), 10);
    remove_place(&p);
}

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) +
           (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

/* A disk that stays full: the end comes within its deadline all the same. */
static void test_full_until_the_end(void **state)
{
    struct audit *a = start((struct audit_options){.file = "/dev/full", .fd = -1});
    struct timespec begin;

    (void)state;
    audit_write(a, &event);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    audit_free(&a, 0.1);
    assert_true(seconds_since(&begin) < 10);
}

/* Reads lines until the writer has closed, from a thread of its own. */
struct reader {
    pthread_t thread;
    int fd;
    char *text;
    size_t n;
};

static void *read_all(void *arg)
{
    struct reader *r = arg;
    ssize_t n;

    while ((n = read(r->fd, r->text + r->n, FILE_MAX - r->n)) > 0)
        r->n += (size_t)n;
    return NULL;
}

static void start_reader(struct reader *r, int fd)
{
    *r = (struct reader){.fd = fd, .text = malloc(FILE_MAX)};
    assert_non_null(r->text);
    assert_int_equal(pthread_create(&r->thread, NULL, read_all, r), 0);
}

/* All of them whole. */
static size_t finish_reader(struct reader *r)
{
    struct str rest;
    size_t lines = 0;

    assert_int_equal(pthread_join(r->thread, NULL), 0);
    rest = (struct str){r->text, r->n};
    while (rest.n > 0) {
        struct str line = str_cut(&rest, '\n');

        assert_true(str_starts(line, STR("{\"t\":\"2")) && str_ends(line, STR("\"}")));
        lines++;
    }
    close(r->fd);
    free(r->text);
    return lines;
}

/* Row P16: nobody reads, so pipe and queue fill up. The caller is never held up; what
 * was taken comes out whole as soon as somebody reads. */
static void check_blocked(int read_end, int write_end, enum audit_on_full on_full)
{
    struct audit *a = start((struct audit_options){
        .fd = write_end, .on_full = on_full, .queue_max = 65536});
    struct reader reader;
    size_t written = 0;

    /* More than twice what both can hold. */
    for (; written < 4000; written++)
        audit_write(a, &event);
    assert_true(audit_dropped(a) > 1000);
    assert_int_equal(audit_ready(a), on_full == AUDIT_COUNT);
    written -= audit_dropped(a);
    start_reader(&reader, read_end);
    wait_for(is_ready, a);
    audit_free(&a, 20);
    assert_int_equal(finish_reader(&reader), written);
}

static void test_blocked(void **state)
{
    static const int flags[] = {0, O_NONBLOCK};
    int ends[2], small = 4608;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        assert_int_equal(fcntl(ends[1], F_SETFL, flags[i % 2]), 0);
        check_blocked(ends[0], ends[1], i < 2 ? AUDIT_REFUSE : AUDIT_COUNT);
    }
    /* A socket takes a part of what it is given: lines are finished later. */
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    check_blocked(ends[0], ends[1], AUDIT_COUNT);
}

/* Room for requests is refused at half of the queue; what is under way then still gets
 * its line. */
static void test_reserve(void **state)
{
    struct audit *a;
    struct reader reader;
    size_t written = 0;
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    a = start((struct audit_options){.fd = ends[1], .queue_max = 65536});
    while (audit_ready(a) && written < 100000) {
        audit_write(a, &event);
        written++;
    }
    assert_true(written < 100000);
    for (int i = 0; i < 50; i++)
        audit_write(a, &event);
    assert_int_equal(audit_dropped(a), 0);
    start_reader(&reader, ends[0]);
    audit_free(&a, 20);
    assert_int_equal(finish_reader(&reader), written + 50);
}

/* A reader that has gone: no SIGPIPE, no spin, an end in time. */
static void test_broken_pipe(void **state)
{
    struct audit *a;
    struct timespec begin;
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    a = start((struct audit_options){.fd = ends[1]});
    close(ends[0]);
    audit_write(a, &event);
    wait_for(is_not_ready, a);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    audit_free(&a, 0.1);
    assert_true(seconds_since(&begin) < 10);
}

/* Signals are for the loop: the thread takes none. */
static void test_signals_blocked(void **state)
{
    struct audit *a = start((struct audit_options){.file = "/dev/null", .fd = -1});
    char path[64], line[256] = "";
    unsigned long long blocked = 0;
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    sigset_t mine;

    (void)state;
    assert_non_null(tasks);
    while ((entry = readdir(tasks)) != NULL) {
        FILE *status;

        if (entry->d_name[0] == '.' || strtol(entry->d_name, NULL, 10) == getpid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/status", entry->d_name);
        status = fopen(path, "r");
        while (status != NULL && fgets(line, sizeof line, status) != NULL)
            if (strncmp(line, "SigBlk:", 7) == 0)
                blocked = strtoull(line + 7, NULL, 16);
        if (status != NULL)
            fclose(status);
    }
    closedir(tasks);
    assert_true((blocked & 1ull << (SIGTERM - 1)) != 0);
    assert_true((blocked & 1ull << (SIGPIPE - 1)) != 0);
    assert_true((blocked & 1ull << (SIGINT - 1)) != 0);
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    assert_int_equal(sigismember(&mine, SIGTERM), 0);
    audit_free(&a, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_reopen),
        cmocka_unit_test(test_after_half_a_line),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_full_until_the_end),
        cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_broken_pipe),
        cmocka_unit_test(test_signals_blocked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
