#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include "proxy/base/addr.h"
#include "proxy/base/handoff.h"

#define ATTACH(sockets)                                                              \
    "{\"attach\":{\"session\":\"run-1\",\"policy\":\"default\",\"sockets\":" sockets \
    "}}"

static const struct parse_row {
    struct str message;
    const char *wrong; /* part of the error; NULL: it is accepted */
} parse_rows[] = {
    {STR(ATTACH("[\"proxy\"]")), NULL},
    {STR(ATTACH("[\"proxy\", \"dns\" ,\"transparent\",\"dns\"]")), NULL},
    {STR("{\"attach\":{\"sockets\":[\"dns\"],\"policy\":\"a_b.c-D\","
         "\"session\":\"_\"}}"),
     NULL},
    {STR(""), "hand-off message"},
    {STR("{"), "hand-off message"},
    {STR("[]"), "attach"},
    {STR("{}"), "attach"},
    {STR("null"), "attach"},
    {STR("{\"attach\":[]}"), "attach"},
    {STR("{\"Attach\":{}}"), "attach"},
    {STR("{\"attach\":{}}"), "session"},
    {STR(ATTACH("[\"proxy\"]") "x"), "hand-off message"},
    {STR(ATTACH("[\"proxy\",]")), "hand-off message"},
    {STR("{\"attach\":{\"session\":\"a\",\"session\":\"b\",\"policy\":\"p\","
         "\"sockets\":[\"dns\"]}}"),
     "session"},
    {STR("{\"attach\":{\"session\":\"a\",\"policy\":\"p\",\"sockets\":[\"dns\"],"
         "\"uid\":0}}"),
     "uid"},
    {STR("{\"attach\":{\"session\":\"a\",\"policy\":\"p\",\"sockets\":[\"dns\"]},"
         "\"detach\":{}}"),
     "detach"},
    {STR("{\"attach\":{\"session\":\"a\",\"policy\":{\"allowedDomains\":[\"*\"]},"
         "\"sockets\":[\"dns\"]}}"),
     "policy"},
    {STR(ATTACH("[]")), "sockets"},
    {STR(ATTACH("\"proxy\"")), "sockets"},
    {STR(ATTACH("[\"Proxy\"]")), "sockets[0]"},
    {STR(ATTACH("[\"proxy\",1]")), "sockets[1]"},
    {STR(ATTACH("[\"\"]")), "sockets[0]"},
    {STR(ATTACH("[\"dns\",\"dns\",\"dns\",\"dns\",\"dns\",\"dns\",\"dns\",\"dns\","
                "\"dns\",\"dns\",\"dns\",\"dns\",\"dns\",\"dns\",\"dns\",\"dns\","
                "\"dns\"]")),
     "more than 16"},
};

static void test_parse(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof parse_rows / sizeof *parse_rows; i++) {
        const struct parse_row *row = &parse_rows[i];
        struct handoff_attach attach = {.fds = {42}, .count = 99};
        struct err e = {{0}};
        bool ok = handoff_parse_attach(row->message, &attach, &e);

        if (ok != (row->wrong == NULL))
            fail_msg("\"" STR_FMT "\" was %s %s", STR_ARG(row->message),
                     ok ? "accepted" : "refused", e.text);
        if (!ok && strstr(e.text, row->wrong) == NULL)
            fail_msg("\"" STR_FMT "\": \"%s\"", STR_ARG(row->message), e.text);
        assert_int_equal(attach.fds[0], 42);
        assert_int_equal(ok, attach.count != 99);
    }
}

/* Names as session and as policy. */
static void test_names(void **state)
{
    static const struct {
        const char *name;
        bool good;
    } rows[] = {
        {"a", true},
        {"run-4711", true},
        {"A.b_c-9", true},
        {"0123456789012345678901234567890123456789012345678901234567890123", true},
        {"01234567890123456789012345678901234567890123456789012345678901234", false},
        {"", false},
        {".", false},
        {"..", false},
        {".hidden", false},
        {"a/b", false},
        {"../etc", false},
        {"/etc/passwd", false},
        {"a b", false},
        {"a\\nb", false},
        {"a\\\"b", false},
        {"a\\u0000b", false},
        {"b\xc3\xbc", false},
    };
    char message[512];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct handoff_attach attach = {.count = 0};
        struct err e;

        snprintf(message, sizeof message,
                 "{\"attach\":{\"session\":\"%s\",\"policy\":\"p\","
                 "\"sockets\":[\"dns\"]}}",
                 rows[i].name);
        assert_int_equal(handoff_parse_attach(str_from(message), &attach, &e),
                         rows[i].good);
        snprintf(message, sizeof message,
                 "{\"attach\":{\"session\":\"s\",\"policy\":\"%s\","
                 "\"sockets\":[\"dns\"]}}",
                 rows[i].name);
        assert_int_equal(handoff_parse_attach(str_from(message), &attach, &e),
                         rows[i].good);
    }
}

static size_t count_open(void)
{
    DIR *d = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(d);
    while (readdir(d) != NULL)
        count++;
    closedir(d);
    return count;
}

static int make_socket(int domain, int type, bool bind_it)
{
    struct addr any = {.len = domain == AF_INET ? sizeof any.v4 : sizeof any.v6};
    int fd = socket(domain, type | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    any.sa.sa_family = (sa_family_t)domain;
    if (bind_it)
        assert_int_equal(bind(fd, &any.sa, any.len), 0);
    return fd;
}

static int make_listening(int domain)
{
    int fd = make_socket(domain, SOCK_STREAM, true);

    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static int make_listening_unix(void)
{
    struct sockaddr name = {.sa_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, &name, sizeof name.sa_family), 0); /* autobind */
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static int make_connected_udp(void)
{
    int peer = make_socket(AF_INET, SOCK_DGRAM, true);
    int fd = make_socket(AF_INET, SOCK_DGRAM, true);
    struct addr to = {.len = sizeof to.v4};

    assert_int_equal(getsockname(peer, &to.sa, &to.len), 0);
    assert_int_equal(connect(fd, &to.sa, to.len), 0);
    close(peer);
    return fd;
}

enum made {
    TCP4,
    TCP6,
    TCP_BOUND,
    TCP_FRESH,
    UDP4,
    UDP6,
    UDP_FRESH,
    UDP_CONNECTED,
    UNIX_STREAM,
    UNIX_PAIR,
    REGULAR,
    NULL_DEVICE,
    PIPE,
};

static int make_pair_end(void)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    close(ends[1]);
    return ends[0];
}

static int make_pipe_end(void)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    close(ends[1]);
    return ends[0];
}

static int make(enum made what)
{
    switch (what) {
    case TCP4:
        return make_listening(AF_INET);
    case TCP6:
        return make_listening(AF_INET6);
    case TCP_BOUND:
        return make_socket(AF_INET, SOCK_STREAM, true);
    case TCP_FRESH:
        return make_socket(AF_INET, SOCK_STREAM, false);
    case UDP4:
        return make_socket(AF_INET, SOCK_DGRAM, true);
    case UDP6:
        return make_socket(AF_INET6, SOCK_DGRAM, true);
    case UDP_FRESH:
        return make_socket(AF_INET, SOCK_DGRAM, false);
    case UDP_CONNECTED:
        return make_connected_udp();
    case UNIX_STREAM:
        return make_listening_unix();
    case UNIX_PAIR:
        return make_pair_end();
    case REGULAR:
        return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    case NULL_DEVICE:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    case PIPE:
        return make_pipe_end();
    }
    return -1;
}

static const struct take_row {
    const char *sockets;
    enum made made[3];
    size_t count;
    const char *wrong; /* NULL: taken */
} take_rows[] = {
    {"[\"proxy\"]", {TCP4}, 1, NULL},
    {"[\"proxy\",\"dns\",\"dns\"]", {TCP6, UDP4, TCP4}, 3, NULL},
    {"[\"transparent\",\"dns\"]", {TCP4, UDP6}, 2, NULL},
    {"[\"proxy\"]", {TCP4, TCP4}, 2, "1 sockets named, 2 handed over"},
    {"[\"proxy\",\"dns\"]", {TCP4}, 1, "2 sockets named, 1 handed over"},
    {"[\"proxy\"]", {0}, 0, "1 sockets named, 0 handed over"},
    {"[\"proxy\"]", {TCP_BOUND}, 1, "does not listen"},
    {"[\"proxy\"]", {TCP_FRESH}, 1, "does not listen"},
    {"[\"dns\"]", {TCP_BOUND}, 1, "does not listen"},
    {"[\"proxy\"]", {UDP4}, 1, "not a TCP socket"},
    {"[\"transparent\"]", {UDP4}, 1, "not a TCP socket"},
    {"[\"dns\"]", {UDP_FRESH}, 1, "not bound"},
    {"[\"dns\"]", {UDP_CONNECTED}, 1, "is connected"},
    {"[\"proxy\"]", {UNIX_STREAM}, 1, "not an internet socket"},
    {"[\"dns\"]", {UNIX_PAIR}, 1, "not an internet socket"},
    {"[\"proxy\"]", {REGULAR}, 1, "not an internet socket"},
    {"[\"proxy\"]", {NULL_DEVICE}, 1, "not an internet socket"},
    {"[\"proxy\"]", {PIPE}, 1, "not an internet socket"},
    {"[\"proxy\",\"proxy\",\"proxy\"]", {TCP4, TCP4, REGULAR}, 3, "sockets[2]"},
    {"[\"bogus\"]", {TCP4, TCP6}, 2, "sockets[0]"},
    {"garbage", {TCP4, REGULAR, PIPE}, 3, "hand-off message"},
};

static void send_row(int sock, const struct take_row *row)
{
    char message[512];
    int fds[3];
    struct err e;

    snprintf(message, sizeof message,
             "{\"attach\":{\"session\":\"s\",\"policy\":\"p\",\"sockets\":%s}}",
             row->sockets);
    for (size_t i = 0; i < row->count; i++)
        assert_true((fds[i] = make(row->made[i])) >= 0);
    assert_true(fd_send(sock, message, strlen(message), fds, row->count, &e));
    for (size_t i = 0; i < row->count; i++)
        close(fds[i]);
}

/* Whatever is wrong, nothing of what came stays open. */
static void test_take(void **state)
{
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    for (size_t i = 0; i < sizeof take_rows / sizeof *take_rows; i++) {
        const struct take_row *row = &take_rows[i];
        struct handoff_attach attach = {.count = 77};
        struct err e = {{0}};
        size_t before = count_open();
        enum fd_recv result;

        send_row(ends[0], row);
        result = handoff_take(ends[1], &attach, &e);
        if (result != (row->wrong == NULL ? FD_RECV_OK : FD_RECV_ERROR))
            fail_msg("row %zu: result %d, %s", i, result, e.text);
        if (row->wrong != NULL && strstr(e.text, row->wrong) == NULL)
            fail_msg("row %zu: \"%s\"", i, e.text);
        if (row->wrong != NULL)
            assert_int_equal(attach.count, 77);
        else
            assert_int_equal(attach.count, row->count);
        for (size_t j = 0; row->wrong == NULL && j < attach.count; j++) {
            assert_int_equal(fcntl(attach.fds[j], F_GETFD), FD_CLOEXEC);
            close(attach.fds[j]);
        }
        assert_int_equal(count_open(), before);
    }
    close(ends[0]);
    close(ends[1]);
}

/* Messages that are none: empty, with descriptors or without, too long, none yet. */
static void test_take_odd(void **state)
{
    struct handoff_attach attach = {.count = 0};
    char *big = calloc(1, HANDOFF_MESSAGE_MAX + 1);
    int ends[2], listening = make_listening(AF_INET);
    size_t before;
    struct err e;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    before = count_open();
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(handoff_take(ends[1], &attach, &e), FD_RECV_AGAIN);
    assert_true(fd_send(ends[0], "", 0, &listening, 1, &e));
    assert_int_equal(handoff_take(ends[1], &attach, &e), FD_RECV_ERROR);
    assert_true(fd_send(ends[0], big, HANDOFF_MESSAGE_MAX + 1, &listening, 1, &e));
    assert_int_equal(handoff_take(ends[1], &attach, &e), FD_RECV_ERROR);
    memset(big, '[', HANDOFF_MESSAGE_MAX);
    assert_true(fd_send(ends[0], big, HANDOFF_MESSAGE_MAX, &listening, 1, &e));
    assert_int_equal(handoff_take(ends[1], &attach, &e), FD_RECV_ERROR);
    assert_int_equal(count_open(), before);
    close(ends[0]);
    assert_int_equal(handoff_take(ends[1], &attach, &e), FD_RECV_GONE);
    close(ends[1]);
    close(listening);
    free(big);
}

/* The core's side of a whole hand-off, in a thread. */
struct core_side {
    int sock;
    const char *answer; /* NULL: handoff_accept(); else handoff_refuse(), or if it
                         * begins with "{", as it stands; "": close */
    struct handoff_attach attach;
    enum fd_recv result;
};

static void *answer(void *arg)
{
    struct core_side *c = arg;
    struct err e;
    int extra = 0;

    c->result = handoff_take(c->sock, &c->attach, &e);
    if (c->answer == NULL)
        handoff_accept(c->sock, c->attach.session, &e);
    else if (c->answer[0] == '{')
        fd_send(c->sock, c->answer, strlen(c->answer), &extra, 1, &e);
    else if (c->answer[0] != '\0')
        handoff_refuse(c->sock, c->answer, &e);
    close(c->sock);
    return NULL;
}

static bool offer_to(const char *said, struct err *e)
{
    struct handoff_attach attach = {
        .session = "run-1", .policy = "default", .kinds = {HANDOFF_PROXY, HANDOFF_DNS}};
    struct core_side core = {.answer = said};
    pthread_t thread;
    size_t before = count_open();
    int ends[2];
    bool ok;

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    core.sock = ends[1];
    attach.fds[attach.count++] = make(TCP4);
    attach.fds[attach.count++] = make(UDP4);
    assert_int_equal(pthread_create(&thread, NULL, answer, &core), 0);
    ok = handoff_offer(ends[0], &attach, e);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(core.result, FD_RECV_OK);
    assert_string_equal(core.attach.session, "run-1");
    assert_string_equal(core.attach.policy, "default");
    assert_int_equal(core.attach.count, 2);
    assert_int_equal(core.attach.kinds[0], HANDOFF_PROXY);
    assert_int_equal(core.attach.kinds[1], HANDOFF_DNS);
    for (size_t i = 0; i < 2; i++) {
        close(core.attach.fds[i]);
        assert_int_equal(close(attach.fds[i]), 0); /* still the caller's */
    }
    close(ends[0]);
    assert_int_equal(count_open(), before);
    return ok;
}

static void test_offer(void **state)
{
    static const struct {
        const char *answer, *wrong;
    } rows[] = {
        {"no policy of the name \"default\"\n",
         "refused: no policy of the name \"default\""},
        {"", "without an answer"},
        {"{}", "no answer to this session"},
        {"{\"attached\":{\"session\":\"run-2\"}}", "no answer to this session"},
        {"{\"attached\":{\"session\":1}}", "no answer to this session"},
        {"{\"attached\":\"run-1\"}", "no answer to this session"},
        {"{\"attached\":{\"session\":\"run-1\"}} ", NULL},
        {"{\"attached\":{\"session\":\"run-1\"}}x", "line 1"},
        {NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {{0}};
        bool ok = offer_to(rows[i].answer, &e);

        if (ok != (rows[i].wrong == NULL) ||
            (!ok && strstr(e.text, rows[i].wrong) == NULL))
            fail_msg("row %zu: %d \"%s\"", i, ok, e.text);
    }
}

static void test_offer_bad_name(void **state)
{
    struct handoff_attach attach = {.session = "a/b", .policy = "p", .count = 1};
    struct err e;

    (void)state;
    attach.kinds[0] = HANDOFF_PROXY;
    assert_false(handoff_offer(-1, &attach, &e));
    assert_non_null(strstr(e.text, "a/b"));
}

/* A refusal may be long, and hold anything. */
static void test_refuse_anything(void **state)
{
    char why[5000], message[4096];
    int ends[2], fds[FD_PASS_MAX];
    size_t len, count;
    struct err e;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    for (int c = 1; c < 256; c += 1) {
        memset(why, c, sizeof why - 1);
        why[sizeof why - 1] = '\0';
        assert_true(handoff_refuse(ends[0], why, &e));
        assert_int_equal(
            fd_recv(ends[1], message, sizeof message, &len, fds, &count, &e),
            FD_RECV_OK);
        assert_true(str_starts((struct str){message, len}, STR("{\"error\":\"")));
        assert_true(str_ends((struct str){message, len}, STR("\"}")));
    }
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_take_odd),
        cmocka_unit_test(test_offer),
        cmocka_unit_test(test_offer_bad_name),
        cmocka_unit_test(test_refuse_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
