/* Dials through a parent that the test plays itself: what it is asked, and what becomes
 * of its answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/proxy/core_world.h"
#include "tests/unit/proxy/parents_from.h"

static const char hosts[] = "127.0.0.1 parent.test\n"
                            "2001:db8::7 name.test\n192.0.2.7 name.test\n"
                            "169.254.1.1 inside.test\n";

enum { PIECES_MAX = 3, HEARD_MAX = 4096 };

struct seen {
    unsigned count;
    struct dial_result result;
    char why[512], via[128], authorization[128];
};

/* The parent: to each thing that it hears it says the next piece. */
struct play {
    struct str says[PIECES_MAX];
    bool hangs_up; /* behind the last one */
    size_t said;
    int listener, fd;
    unsigned port;
    char path[64]; /* "" when it is on a port */
    char heard[HEARD_MAX];
    size_t heard_len;
};

static void on_done(void *owner, const struct dial_result *result)
{
    struct seen *seen = owner;

    seen->count++;
    seen->result = *result;
    snprintf(seen->why, sizeof seen->why, "%s", result->why != NULL ? result->why : "");
    snprintf(seen->via, sizeof seen->via, "%s", result->via != NULL ? result->via : "");
    snprintf(seen->authorization, sizeof seen->authorization, STR_FMT,
             STR_ARG(result->authorization));
}

static void open_play(struct play *p)
{
    p->fd = -1;
    p->listener = core_world_listen("127.0.0.1", &p->port);
}

static void close_play(struct play *p)
{
    fd_close(&p->fd);
    fd_close(&p->listener);
}

static void go_on(struct play *p)
{
    ssize_t n;

    if (p->fd < 0)
        p->fd = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (p->fd < 0)
        return;
    n = recv(p->fd, p->heard + p->heard_len, HEARD_MAX - 1 - p->heard_len,
             MSG_DONTWAIT);
    if (n <= 0 || p->said == PIECES_MAX)
        return;
    p->heard_len += (size_t)n;
    if (p->says[p->said].p != NULL)
        assert_true(fd_write_all(p->fd, p->says[p->said].p, p->says[p->said].n));
    p->said++;
    if (p->hangs_up && (p->said == PIECES_MAX || p->says[p->said].p == NULL))
        fd_close(&p->fd);
}

/* `network` has a %u for the parent's port. */
__attribute__((format(printf, 3, 0))) static struct seen
dial(struct core_world *w, struct play *play, const char *network, const char *host,
     enum dial_use use)
{
    char text[512];
    struct seen seen = {.result.fd = -1};
    struct policy *policy;
    struct parents *parents;
    struct arena a;
    struct target t;

    snprintf(text, sizeof text, network, play->port);
    policy = policy_from(text);
    parents = parents_of(text);
    arena_init(&a, 1024);
    assert_true(target_set(&t, &a, str_from(host), strchr(host, ':') != NULL, 443));
    dial_start(&w->core->dialler,
               &(struct dial_ask){
                   .policy = policy, .parents = parents, .target = &t, .use = use},
               on_done, &seen);
    policy_unref(&policy);
    parents_unref(&parents);
    assert_int_equal(seen.count, 0); /* never from within the start */
    for (int i = 0; i < 2000 && seen.count == 0; i++) {
        core_world_turn(w, 0.01);
        go_on(play);
    }
    assert_int_equal(seen.count, 1);
    go_on(play);
    arena_done(&a);
    return seen;
}

#define HTTP    "{\"parentProxy\": {\"http\": \"http://u:p@127.0.0.1:%u\"}"
#define BY_NAME "{\"parentProxy\": {\"http\": \"http://parent.test:%u\"}"
#define SOCKS   "{\"parentProxy\": {\"http\": \"socks5://127.0.0.1:%u\"}"
#define LOCAL(scheme)                        \
    "{\"parentProxy\": {\"http\": \"" scheme \
    "://127.0.0.1:%u\", \"resolve\": \"local\"}"
#define ESTABLISHED STR("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nserver")
#define BASIC       "Basic dTpw"

/* The first bytes that come out of the tunnel are the server's. */
static void expect_tunnel(struct seen *seen, const char *first)
{
    char got[64];
    ssize_t n;

    if (!seen->result.verdict.allow || seen->result.fd < 0)
        fail_msg("no tunnel: %s", seen->why);
    n = recv(seen->result.fd, got, sizeof got - 1, MSG_DONTWAIT);
    if (first == NULL) {
        assert_int_equal(n, -1);
    } else {
        assert_true(n > 0);
        got[n] = '\0';
        assert_string_equal(got, first);
    }
    fd_close(&seen->result.fd);
}

static void expect_failure(const struct seen *seen, enum reason reason, const char *why,
                           const char *error)
{
    assert_int_equal(seen->result.fd, -1);
    assert_false(seen->result.verdict.allow);
    assert_string_equal(reason_name(seen->result.verdict.reason), reason_name(reason));
    if (strstr(seen->why, why) == NULL)
        fail_msg("%s", seen->why);
    if (error != NULL)
        assert_string_equal(seen->result.error, error);
}

/* A name goes to the parent as it is, though it cannot be resolved here. */
static void test_connect(void **state)
{
    struct play play = {.says = {ESTABLISHED}};
    struct seen seen;

    open_play(&play);
    seen = dial(*state, &play, HTTP "}", "unknown.test", DIAL_TUNNEL);
    assert_string_equal(play.heard, "CONNECT unknown.test:443 HTTP/1.1\r\n"
                                    "Host: unknown.test:443\r\n"
                                    "Proxy-Authorization: " BASIC "\r\n\r\n");
    assert_non_null(strstr(seen.via, "http://127.0.0.1:"));
    assert_null(strstr(seen.via, "u:p"));
    assert_int_equal(seen.result.addr.len, 0);
    assert_false(seen.result.absolute);
    assert_true(seen.result.ms_dns < 0 && seen.result.ms_connect >= 0);
    expect_tunnel(&seen, "server");
    close_play(&play);
}

static void test_parent_by_name(void **state)
{
    struct play play = {.says = {ESTABLISHED}};
    struct seen seen;

    open_play(&play);
    seen = dial(*state, &play, BY_NAME "}", "192.0.2.1", DIAL_TUNNEL);
    assert_non_null(strstr(play.heard, "CONNECT 192.0.2.1:443 HTTP/1.1\r\n"));
    expect_tunnel(&seen, "server");
    close_play(&play);
}

static void test_socks(void **state)
{
    struct play play = {
        .says = {STR("\x05\x00"),
                 STR("\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00server")}};
    struct seen seen;

    open_play(&play);
    seen = dial(*state, &play, SOCKS "}", "unknown.test", DIAL_EXCHANGE);
    assert_memory_equal(play.heard,
                        "\x05\x01\x00\x05\x01\x00\x03\x0cunknown.test\x01\xbb", 22);
    assert_false(seen.result.absolute);
    expect_tunnel(&seen, "server");
    close_play(&play);
}

/* The address that was checked is what the parent gets; IPv4 where there is one. */
static void test_resolved_here(void **state)
{
    struct play play = {.says = {ESTABLISHED}};
    struct seen seen;
    struct ip ip;
    char text[IP_TEXT_MAX];

    open_play(&play);
    seen = dial(*state, &play,
                LOCAL("http") ", \"deniedResolvedAddresses\": [\"10.0.0.0/8\"]}",
                "name.test", DIAL_TUNNEL);
    assert_non_null(strstr(play.heard, "CONNECT 192.0.2.7:443 HTTP/1.1\r\nHost: "
                                       "192.0.2.7:443\r\n\r\n"));
    ip = addr_ip(&seen.result.addr);
    assert_string_equal(ip_text(&ip, text), "192.0.2.7");
    expect_tunnel(&seen, "server");
    close_play(&play);
}

/* A request for a name that was resolved here is no exchange with the parent: it would
 * resolve the name once more. */
static void test_resolved_exchange(void **state)
{
    struct play play = {.says = {ESTABLISHED}};
    struct seen seen;

    open_play(&play);
    seen = dial(*state, &play, LOCAL("http") "}", "name.test", DIAL_EXCHANGE);
    assert_false(seen.result.absolute);
    assert_non_null(strstr(play.heard, "CONNECT 192.0.2.7:443 "));
    expect_tunnel(&seen, "server");
    close_play(&play);
}

static void test_resolved_denied(void **state)
{
    struct play play = {.said = 0};
    struct seen seen;

    open_play(&play);
    seen = dial(*state, &play, LOCAL("socks5") "}", "inside.test", DIAL_TUNNEL);
    expect_failure(&seen, REASON_ADDRESS_LINK_LOCAL, "", NULL);
    assert_int_equal(play.fd, -1); /* nobody was asked */
    close_play(&play);
}

static void test_exchange(void **state)
{
    struct play play = {.said = 0};
    struct seen seen;

    open_play(&play);
    seen = dial(*state, &play, HTTP "}", "unknown.test", DIAL_EXCHANGE);
    assert_true(seen.result.absolute);
    assert_string_equal(seen.authorization, BASIC);
    assert_int_equal(play.heard_len, 0);
    expect_tunnel(&seen, NULL);
    close_play(&play);
}

/* Rules for addresses, and nobody here would see one: nobody is asked. */
static void test_unchecked(void **state)
{
    struct play play = {.said = 0};
    struct seen seen;

    open_play(&play);
    seen = dial(*state, &play, HTTP ", \"deniedResolvedAddresses\": [\"10.0.0.0/8\"]}",
                "unknown.test", DIAL_TUNNEL);
    expect_failure(&seen, REASON_ADDRESS_UNCHECKED, "", NULL);
    assert_int_equal(seen.result.verdict.rule.list, RULE_DENIED_ADDRESSES);
    assert_int_equal(play.fd, -1);
    close_play(&play);
}

static void test_refused(void **state)
{
    struct play play = {
        .says = {STR("HTTP/1.1 403 No\r\nContent-Length: 3\r\n\r\nno!")}};
    struct seen seen;

    open_play(&play);
    seen = dial(*state, &play, HTTP "}", "unknown.test", DIAL_TUNNEL);
    expect_failure(&seen, REASON_PARENT_REFUSED, "refused: 403 No",
                   "destination_unavailable");
    assert_true(seen.via[0] != '\0');
    close_play(&play);
}

static void test_hung_up(void **state)
{
    struct play play = {.says = {STR("HTTP/1.1 200 OK\r\nX")}, .hangs_up = true};
    struct seen seen;

    open_play(&play);
    seen = dial(*state, &play, HTTP "}", "unknown.test", DIAL_TUNNEL);
    expect_failure(&seen, REASON_PARENT_FAILURE, "in the middle of its answer",
                   "http_response_incomplete");
    close_play(&play);
}

static void test_not_there(void **state)
{
    struct play play = {.said = 0};
    struct seen seen;

    open_play(&play);
    fd_close(&play.listener);
    seen = dial(*state, &play, HTTP "}", "unknown.test", DIAL_TUNNEL);
    expect_failure(&seen, REASON_PARENT_FAILURE,
                   "cannot be reached: the connection was refused",
                   "connection_refused");
    seen =
        dial(*state, &play, "{\"parentProxy\": {\"http\": \"http://nowhere.test:%u\"}}",
             "a.test", DIAL_TUNNEL);
    expect_failure(&seen, REASON_PARENT_FAILURE,
                   "the parent proxy http://nowhere.test:", "dns_error");
    seen = dial(*state, &play,
                "{\"mitmProxy\": {\"socketPath\": \"/nowhere/%u\", \"domains\": "
                "[\"a.test\"]}}",
                "a.test", DIAL_TUNNEL);
    expect_failure(&seen, REASON_PARENT_FAILURE, "the parent proxy unix:/nowhere/",
                   NULL);
}

/* It is connected to and says nothing: the deadline is one for all. */
static void test_silent(void **state)
{
    struct core_world *w = *state;
    struct play play = {.said = PIECES_MAX};
    struct seen seen;

    open_play(&play);
    w->core->dialler.seconds = 0.2;
    seen = dial(w, &play, SOCKS "}", "unknown.test", DIAL_TUNNEL);
    expect_failure(&seen, REASON_TIMEOUT, "did not answer in time",
                   "connection_read_timeout");
    close_play(&play);
}

/* The parent turns out to be where we listen. */
static void test_own(void **state)
{
    struct core_world *w = *state;
    struct play play = {.said = 0};
    struct addr own = {.len = 0};
    char text[64];
    struct seen seen;

    open_play(&play);
    snprintf(text, sizeof text, "127.0.0.1:%u", play.port);
    assert_true(addr_parse(str_from(text), &own));
    core_add_own(w->core, &own);
    seen = dial(w, &play, BY_NAME "}", "unknown.test", DIAL_TUNNEL);
    expect_failure(&seen, REASON_ADDRESS_OWN, "is this proxy itself",
                   "proxy_loop_detected");
    assert_int_equal(play.fd, -1);
    close_play(&play);
}

static void test_own_socket(void **state)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    char network[256];
    struct play play = {.said = 0};
    struct seen seen;

    snprintf(un.sun_path, sizeof un.sun_path, "/tmp/weir-test-mitm-%d", (int)getpid());
    play.fd = -1;
    play.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_return_code(bind(play.listener, (struct sockaddr *)&un, sizeof un), errno);
    assert_return_code(listen(play.listener, 1), errno);
    snprintf(network, sizeof network,
             "{\"mitmProxy\": {\"socketPath\": \"%s\", \"domains\": [\"a.test\"]}}",
             un.sun_path);
    seen = dial(*state, &play, network, "a.test", DIAL_TUNNEL);
    expect_failure(&seen, REASON_ADDRESS_OWN, "is this proxy itself",
                   "proxy_loop_detected");
    unlink(un.sun_path);
    close_play(&play);
}

/* At every point of its life. */
static void test_cancel(void **state)
{
    struct core_world *w = *state;
    struct play play = {.said = PIECES_MAX};
    char text[256];
    struct parents *parents;
    struct policy *policy = policy_from("{}");
    struct target t = {.kind = HOST_NAME, .host = STR("a.test"), .port = 443};

    open_play(&play);
    snprintf(text, sizeof text, BY_NAME "}", play.port);
    parents = parents_of(text);
    for (unsigned turns = 0; turns < 6; turns++) {
        struct seen seen = {.count = 0};
        struct dial *d = dial_start(
            &w->core->dialler,
            &(struct dial_ask){.policy = policy, .parents = parents, .target = &t},
            on_done, &seen);

        for (unsigned i = 0; i < turns; i++)
            core_world_turn(w, 0.01);
        dial_cancel(&d);
        assert_int_equal(seen.count, 0);
    }
    policy_unref(&policy);
    parents_unref(&parents);
    close_play(&play);
}

static int setup(void **state)
{
    struct core_world *w = calloc(1, sizeof *w);

    core_world_open(w, hosts, &limits_default);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct core_world *w = *state;

    core_world_close(w);
    free(w);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_connect),
        TEST(test_parent_by_name),
        TEST(test_socks),
        TEST(test_resolved_here),
        TEST(test_resolved_exchange),
        TEST(test_resolved_denied),
        TEST(test_exchange),
        TEST(test_unchecked),
        TEST(test_refused),
        TEST(test_hung_up),
        TEST(test_not_there),
        TEST(test_silent),
        TEST(test_own),
        TEST(test_own_socket),
        TEST(test_cancel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
