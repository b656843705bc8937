/* One session of a core with a listener, a server that its policy allows, and what the
 * session told. */
#ifndef TEST_CONN_WORLD_H
#define TEST_CONN_WORLD_H

#include "proxy/conn.h"
#include "tests/unit/proxy/core_world.h"

enum { EVENTS_MAX = 64, TEXT_MAX = 4096 };

struct event {
    bool allow;
    enum reason reason;
    char host[64], close[16], client[IP_TEXT_MAX];
    unsigned long long up, down;
};

struct fixture {
    struct core_world w;
    struct session *session;
    int server; /* listens, where the name leads */
    unsigned port, server_port;
    struct event events[EVENTS_MAX];
    size_t event_count;
};

static inline void copy(char *to, size_t size, struct str from)
{
    snprintf(to, size, STR_FMT, STR_ARG(from));
}

static inline void on_event(void *owner, const struct audit_event *event)
{
    struct fixture *f = owner;
    struct event *e = &f->events[f->event_count++];

    assert_true(f->event_count <= EVENTS_MAX);
    e->allow = event->verdict.allow;
    e->reason = event->verdict.reason;
    e->up = event->bytes_up;
    e->down = event->bytes_down;
    if (event->target != NULL)
        copy(e->host, sizeof e->host, event->target->host);
    copy(e->client, sizeof e->client, event->client);
    if (event->close != NULL)
        copy(e->close, sizeof e->close, str_from(event->close));
}

static inline void open_with(struct fixture *f, const struct limits *limits)
{
    struct policy *p;
    struct err e;
    int fd;

    core_world_open(&f->w, "127.0.0.1 good.test\n127.0.0.1 other.test\n", limits);
    f->server = core_world_listen("127.0.0.1", &f->server_port);
    fd = core_world_listen("127.0.0.1", &f->port);
    p = policy_allowing("\"good.test:%u\", \"127.0.0.1:%u\"", f->server_port,
                        f->server_port);
    f->session = session_new(f->w.core, STR("test"), p, NULL);
    policy_unref(&p);
    session_on_event(f->session, on_event, f);
    assert_true(session_listen(f->session, fd, true, &e));
}

static inline struct fixture *fixture_new(const struct limits *limits)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    open_with(f, limits);
    return f;
}

static inline void fixture_free(struct fixture *f)
{
    session_free(&f->session);
    core_world_close(&f->w);
    fd_close(&f->server);
    free(f);
}

static inline int client_open(struct fixture *f)
{
    struct ip ip = {.family = 4, .bytes = {127, 0, 0, 1}};
    struct addr a = addr_from_ip(&ip, f->port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_return_code(connect(fd, &a.sa, a.len), errno);
    return fd;
}

static inline void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Until `want` has come, or the end. What came is in `got`; true: the end. */
static inline bool hear(struct fixture *f, int fd, const char *want, char got[TEXT_MAX])
{
    double end = ev_time() + core_world_patience;
    size_t n = 0;

    got[0] = '\0';
    while (want == NULL || strstr(got, want) == NULL) {
        ssize_t r;

        core_world_turn(&f->w, 0.01);
        r = recv(fd, got + n, TEXT_MAX - n - 1, MSG_DONTWAIT);
        if (r == 0 || (r < 0 && errno != EAGAIN))
            return true;
        n += r > 0 ? (size_t)r : 0;
        got[n] = '\0';
        if (ev_time() > end)
            fail_msg("\"%s\" did not come, but \"%s\"", want, got);
    }
    return false;
}

static inline void ask(struct fixture *f, int fd, const char *host)
{
    char head[128];

    snprintf(head, sizeof head, "CONNECT %s:%u HTTP/1.1\r\n\r\n", host, f->server_port);
    say(fd, head);
}

#endif
