#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "proxy/base/fd.h"
#include "proxy/race.h"

enum { FILLERS = 8, EATEN_MAX = 64 };

/* Where a race can end. */
struct place {
    int fd; /* -1: nobody listens there any more */
    int fillers[FILLERS];
    struct addr addr;
};

struct seen {
    unsigned count;
    struct race_result result;
};

static struct ev_loop *loop;
static const struct race_spare nobody;

static void on_done(void *owner, const struct race_result *result)
{
    struct seen *seen = owner;

    seen->count++;
    seen->result = *result;
    ev_break(loop, EVBREAK_ALL);
}

static void on_too_long(struct ev_loop *l, ev_timer *w, int events)
{
    (void)l, (void)w, (void)events;
    fail_msg("the race did not end");
}

static struct seen run_with(struct race_spare spare, const struct addr *addrs,
                            size_t count)
{
    struct seen seen = {.result.fd = -1};
    ev_timer limit;

    race_start(loop, spare, addrs, count, on_done, &seen);
    assert_int_equal(seen.count, 0); /* never from within the start */
    ev_timer_init(&limit, on_too_long, 20, 0);
    ev_timer_start(loop, &limit);
    ev_run(loop, 0);
    ev_timer_stop(loop, &limit);
    assert_int_equal(seen.count, 1);
    fd_close(&seen.result.fd);
    return seen;
}

static struct seen run(const struct addr *addrs, size_t count)
{
    return run_with(nobody, addrs, count);
}

static struct place listen_at(const char *text, int backlog)
{
    struct place p = {.fd = -1};
    struct ip ip = {0};

    memset(p.fillers, -1, sizeof p.fillers);
    assert_true(ip_parse(str_from(text), &ip));
    p.addr = addr_from_ip(&ip, 0);
    p.fd = socket(p.addr.sa.sa_family, SOCK_STREAM, 0);
    assert_return_code(p.fd, errno);
    assert_return_code(bind(p.fd, &p.addr.sa, p.addr.len), errno);
    p.addr.len = sizeof p.addr.v6;
    getsockname(p.fd, &p.addr.sa, &p.addr.len);
    assert_return_code(listen(p.fd, backlog), errno);
    return p;
}

static struct place open_at(const char *text)
{
    return listen_at(text, 8);
}

/* Connections are refused there. */
static struct place closed_at(const char *text)
{
    struct place p = listen_at(text, 8);

    fd_close(&p.fd);
    return p;
}

/* The kernel answers nothing there: the queue is full. */
static struct place silent_at(const char *text)
{
    struct place p = listen_at(text, 0);

    for (unsigned i = 0; i < FILLERS; i++) {
        p.fillers[i] = socket(p.addr.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(p.fillers[i], &p.addr.sa, p.addr.len);
    }
    return p;
}

static void leave(struct place *p)
{
    fd_close(&p->fd);
    for (unsigned i = 0; i < FILLERS; i++)
        fd_close(&p->fillers[i]);
}

static void expect_won(const struct seen *seen, const struct place *p)
{
    char got[ADDR_TEXT_MAX], want[ADDR_TEXT_MAX];

    assert_int_equal(seen->result.error, 0);
    assert_string_equal(addr_text(&seen->result.addr, got), addr_text(&p->addr, want));
}

static void test_one(void **state)
{
    struct place p = open_at("127.0.0.1");
    struct seen seen = run(&p.addr, 1);

    (void)state;
    expect_won(&seen, &p);
    leave(&p);
}

static void test_refused(void **state)
{
    struct place p = closed_at("127.0.0.1");
    struct seen seen = run(&p.addr, 1);

    (void)state;
    assert_int_equal(seen.result.fd, -1);
    assert_int_equal(seen.result.error, ECONNREFUSED);
    leave(&p);
}

static void test_next_when_refused(void **state)
{
    struct place a = closed_at("127.0.0.1"), b = open_at("127.0.0.2");
    struct addr addrs[] = {a.addr, b.addr};
    struct seen seen = run(addrs, 2);

    (void)state;
    expect_won(&seen, &b);
    leave(&a);
    leave(&b);
}

/* An attempt that hears nothing does not hold up the next for long. */
static void test_next_beside_a_silent_one(void **state)
{
    struct place a = silent_at("127.0.0.1"), b = silent_at("127.0.0.2"),
                 c = open_at("127.0.0.3");
    struct addr addrs[] = {a.addr, b.addr, c.addr};
    struct seen seen = run(addrs, 3);

    (void)state;
    expect_won(&seen, &c);
    leave(&a);
    leave(&b);
    leave(&c);
}

/* More silent ones than may be under way at once. */
static void test_many_silent_ones(void **state)
{
    enum { SILENT = 10 };
    struct place a = silent_at("127.0.0.1"), b = open_at("127.0.0.2");
    struct addr addrs[SILENT + 1];
    struct seen seen;

    (void)state;
    for (unsigned i = 0; i < SILENT; i++)
        addrs[i] = a.addr;
    addrs[SILENT] = b.addr;
    seen = run(addrs, SILENT + 1);
    expect_won(&seen, &b);
    leave(&a);
    leave(&b);
}

static void test_families_by_turns(void **state)
{
    struct place v4 = open_at("127.0.0.1"), v6 = open_at("::1"),
                 shut = closed_at("::1"), other = open_at("127.0.0.2");
    struct addr first_v6[] = {v4.addr, other.addr, v6.addr};
    struct addr then_v4[] = {shut.addr, shut.addr, v4.addr, other.addr};
    struct seen seen = run(first_v6, 3);

    (void)state;
    expect_won(&seen, &v6);
    seen = run(then_v4, 4);
    expect_won(&seen, &v4);
    leave(&v4);
    leave(&v6);
    leave(&shut);
    leave(&other);
}

static void test_cancel(void **state)
{
    struct place p = open_at("127.0.0.1");
    struct seen seen = {.result.fd = -1};
    struct race *r = race_start(loop, nobody, &p.addr, 1, on_done, &seen);

    (void)state;
    race_cancel(&r);
    assert_null(r);
    race_cancel(&r);
    r = race_start(loop, nobody, &p.addr, 1, on_done, &seen);
    ev_run(loop, EVRUN_NOWAIT);
    if (seen.count == 0)
        race_cancel(&r);
    ev_run(loop, EVRUN_NOWAIT);
    assert_in_range(seen.count, 0, 1);
    fd_close(&seen.result.fd);
    leave(&p);
}

/* What is connected is ready for use by others. */
static void test_descriptor(void **state)
{
    struct place p = open_at("127.0.0.1");
    struct seen seen = {.result.fd = -1};

    (void)state;
    race_start(loop, nobody, &p.addr, 1, on_done, &seen);
    ev_run(loop, 0);
    assert_true((fcntl(seen.result.fd, F_GETFL) & O_NONBLOCK) != 0);
    assert_true((fcntl(seen.result.fd, F_GETFD) & FD_CLOEXEC) != 0);
    fd_close(&seen.result.fd);
    leave(&p);
}

/* All descriptors of this process, of which somebody may give one up. */
struct eaten {
    int fds[EATEN_MAX];
    size_t count;
    unsigned asked;
    bool gives;
};

static bool give_one_up(void *owner)
{
    struct eaten *e = owner;

    e->asked++;
    if (e->gives)
        close(e->fds[--e->count]);
    return e->gives;
}

static struct seen run_without_descriptors(const struct place *p, struct eaten *e)
{
    struct rlimit before, few;
    struct seen seen;
    int fd;

    ev_run(loop, EVRUN_NOWAIT); /* it has what it needs itself */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){EATEN_MAX, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    while ((fd = dup(p->fd)) >= 0)
        e->fds[e->count++] = fd;
    assert_int_equal(errno, EMFILE);
    seen = run_with((struct race_spare){give_one_up, e}, &p->addr, 1);
    while (e->count > 0)
        close(e->fds[--e->count]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    return seen;
}

static void test_no_descriptor_left(void **state)
{
    struct place p = open_at("127.0.0.1");
    struct eaten e = {.gives = true};
    struct seen seen = run_without_descriptors(&p, &e);

    (void)state;
    expect_won(&seen, &p);
    assert_int_equal(e.asked, 1);
    e = (struct eaten){.gives = false};
    seen = run_without_descriptors(&p, &e);
    assert_int_equal(seen.result.error, EMFILE);
    assert_int_equal(e.asked, 1);
    leave(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_next_when_refused),
        cmocka_unit_test(test_next_beside_a_silent_one),
        cmocka_unit_test(test_many_silent_ones),
        cmocka_unit_test(test_families_by_turns),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_descriptor),
        cmocka_unit_test(test_no_descriptor_left),
    };
    int failed;

    loop = ev_loop_new(EVFLAG_AUTO);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    ev_loop_destroy(loop);
    return failed;
}
