/* A control connection as the core's end sees it: the other end is a launcher here, or
 * somebody who behaves badly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

#include "proxy/base/handoff.h"
#include "proxy/control.h"
#include "tests/unit/proxy/core_world.h"

enum { MESSAGE_MAX = 8192 };

struct fixture {
    struct core_world w;
    struct policy *policy;
    struct control *control;
    struct session *session;
    unsigned closed;
    int peer;     /* the launcher's end */
    int listener; /* and its copy of what it hands over */
    unsigned port;
};

static struct policy *on_policy(void *owner, const char *name, struct parents **parents)
{
    struct fixture *f = owner;

    assert_null(*parents);
    return strcmp(name, "default") == 0 ? f->policy : NULL;
}

static void on_attached(void *owner, struct session *s)
{
    ((struct fixture *)owner)->session = s;
}

static void on_closed(void *owner)
{
    struct fixture *f = owner;

    f->closed++;
    f->session = NULL;
    f->control = NULL;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct control_hooks hooks = {
        .policy = on_policy, .attached = on_attached, .closed = on_closed, .owner = f};
    int pair[2];

    core_world_open(&f->w, "127.0.0.1 good.test\n", &limits_default);
    f->policy = policy_allowing("\"good.test\"");
    assert_return_code(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair),
                       errno);
    f->peer = pair[0];
    f->listener = core_world_listen("127.0.0.1", &f->port);
    f->control = control_new(f->w.core, pair[1], &hooks);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    control_free(&f->control);
    core_world_close(&f->w);
    policy_unref(&f->policy);
    fd_close(&f->peer);
    fd_close(&f->listener);
    free(f);
    return 0;
}

static void send_text(struct fixture *f, const char *text, const int *fds, size_t count)
{
    struct err e;

    assert_true(fd_send(f->peer, text, strlen(text), fds, count, &e));
}

/* The next message of the core; NULL when it has closed. */
static const char *receive(struct fixture *f, char text[MESSAGE_MAX])
{
    ssize_t n = -1;

    core_world_until(&f->w,
                     (n = recv(f->peer, text, MESSAGE_MAX - 1, MSG_DONTWAIT)) >= 0);
    text[n] = '\0';
    return n > 0 ? text : NULL;
}

static void attach(struct fixture *f)
{
    char text[MESSAGE_MAX];

    send_text(f,
              "{\"attach\":{\"session\":\"run-1\",\"policy\":\"default\","
              "\"sockets\":[\"proxy\"]}}",
              &f->listener, 1);
    assert_non_null(strstr(receive(f, text), "\"attached\""));
    assert_non_null(f->session);
}

static int client_open(struct fixture *f)
{
    struct ip ip = {.family = 4, .bytes = {127, 0, 0, 1}};
    struct addr a = addr_from_ip(&ip, f->port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_return_code(connect(fd, &a.sa, a.len), errno);
    return fd;
}

static void ask(struct fixture *f, const char *head)
{
    autofd int fd = client_open(f);
    ssize_t n = -1;
    char text[MESSAGE_MAX];

    assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
    core_world_until(&f->w, (n = recv(fd, text, sizeof text - 1, MSG_DONTWAIT)) > 0);
}

static void test_violation(void **state)
{
    struct fixture *f = *state;
    char text[MESSAGE_MAX];
    const char *got;

    attach(f);
    ask(f, "CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
    got = receive(f, text);
    assert_non_null(strstr(got, "{\"violation\":{"));
    assert_non_null(strstr(got, "\"evil.test\""));
    assert_non_null(strstr(got, "\"session\":\"run-1\""));
    assert_int_equal(got[strlen(got) - 1], '}');
}

/* That a server cannot be had is no violation. */
static void test_failure_is_no_violation(void **state)
{
    struct fixture *f = *state;
    struct policy *p = policy_allowing("\"127.0.0.1:1\"");
    char text[MESSAGE_MAX];

    attach(f);
    session_set_policy(f->session, p, NULL);
    policy_unref(&p);
    ask(f, "CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n");
    ask(f, "CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
    assert_non_null(strstr(receive(f, text), "evil.test"));
}

/* A peer that reads nothing loses events and holds up nothing. */
static void test_peer_does_not_read(void **state)
{
    struct fixture *f = *state;
    unsigned asked;

    attach(f);
    for (asked = 0; asked < 600; asked++)
        ask(f, "CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
    assert_non_null(f->session);
}

static void expect_over(struct fixture *f)
{
    autofd int fd = -1;
    struct ip ip = {.family = 4, .bytes = {127, 0, 0, 1}};
    struct addr a = addr_from_ip(&ip, f->port);

    core_world_until(&f->w, f->closed == 1);
    assert_null(f->w.core->sessions);
    /* Nobody listens any more. */
    fd_close(&f->listener);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, &a.sa, a.len), -1);
}

static void test_hang_up(void **state)
{
    struct fixture *f = *state;

    attach(f);
    fd_close(&f->peer);
    expect_over(f);
}

static void test_hang_up_before(void **state)
{
    struct fixture *f = *state;

    fd_close(&f->peer);
    core_world_until(&f->w, f->closed == 1);
}

static void test_detach(void **state)
{
    struct fixture *f = *state;

    attach(f);
    send_text(f, "{\"detach\":{}}", NULL, 0);
    expect_over(f);
}

/* Later messages that are not understood; and one with a descriptor in it. */
static void test_later_nonsense(void **state)
{
    struct fixture *f = *state;

    attach(f);
    send_text(f, "{\"detach\":{},\"detach\":{}}", NULL, 0);
    expect_over(f);
}

static void test_later_descriptors(void **state)
{
    struct fixture *f = *state;

    attach(f);
    send_text(f, "{\"detach\":{}}", &f->listener, 1);
    expect_over(f);
}

/* First messages that are refused, with `error`, and nothing is left. */
static const struct row {
    const char *text;
    bool with_fd;
} refused[] = {
    {"nonsense", false},
    {"{}", false},
    {"{\"detach\":{}}", false},
    {"{\"attach\":{\"session\":\"a\",\"policy\":\"default\",\"sockets\":[\"proxy\"]}}",
     false},
    {"{\"attach\":{\"session\":\"a\",\"policy\":\"other\",\"sockets\":[\"proxy\"]}}",
     true},
    {"{\"attach\":{\"session\":\"../"
     "a\",\"policy\":\"default\",\"sockets\":[\"proxy\"]}}",
     true},
    {"{\"attach\":{\"session\":\"a\",\"policy\":\"default\",\"sockets\":[\"dns\"]}}",
     true},
};

static void test_refused(void **state)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct fixture *f = *state;
        char text[MESSAGE_MAX];
        const char *got;

        send_text(f, refused[i].text, &f->listener, refused[i].with_fd ? 1 : 0);
        got = receive(f, text);
        if (got == NULL || strstr(got, "\"error\"") == NULL)
            fail_msg("%s: %s", refused[i].text, got != NULL ? got : "closed");
        assert_null(receive(f, text));
        expect_over(f);
        teardown(state);
        setup(state);
    }
}

/* Whoever holds a copy can take the flag off the socket that was handed over. An accept
 * after the last connection must not stop the loop. */
static void test_blocking_listener(void **state)
{
    struct fixture *f = *state;

    attach(f);
    for (unsigned i = 0; i < 3; i++) {
        fcntl(f->listener, F_SETFL, fcntl(f->listener, F_GETFL) & ~O_NONBLOCK);
        ask(f, "CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_violation),
        TEST(test_failure_is_no_violation),
        TEST(test_peer_does_not_read),
        TEST(test_hang_up),
        TEST(test_hang_up_before),
        TEST(test_detach),
        TEST(test_later_nonsense),
        TEST(test_later_descriptors),
        TEST(test_refused),
        TEST(test_blocking_listener),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
