/* A core in a test: its loop, a hosts file of the test's own, policies from text, and
 * servers on loopback. No question leaves the machine. */
#ifndef TEST_CORE_WORLD_H
#define TEST_CORE_WORLD_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proxy/base/fd.h"
#include "proxy/internal.h"

/* More than any of these tests needs, on any machine. */
static const double core_world_patience = 20;

struct core_world {
    struct ev_loop *loop;
    struct core *core;
    char hosts[64]; /* path */
};

static inline struct policy *policy_from(const char *network)
{
    struct policy_layer layer = {.label = ""};
    struct json_doc *doc = NULL;
    struct policy *p = NULL;
    struct err e = {""};

    if (!json_parse(str_from(network), JSON_SETTINGS, &doc, &e))
        fail_msg("%s: %s", network, e.text);
    layer.doc = doc;
    layer.network = json_root(doc);
    if (!policy_load(&layer, 1, NULL, NULL, &p, &e))
        fail_msg("%s: %s", network, e.text);
    json_free(&doc);
    return p;
}

/* allowedDomains of up to three entries with a port put in for each %u. */
__attribute__((format(printf, 1, 2))) static inline struct policy *
policy_allowing(const char *list, ...)
{
    char entries[512], network[600];
    va_list args;

    va_start(args, list);
    vsnprintf(entries, sizeof entries, list, args);
    va_end(args);
    snprintf(network, sizeof network, "{\"allowedDomains\": [%s]}", entries);
    return policy_from(network);
}

static inline void core_world_open(struct core_world *w, const char *hosts,
                                   const struct limits *limits)
{
    static const char *const nobody[] = {"127.0.0.1:9", NULL};
    struct core_options options = {.limits = *limits};
    struct err e;
    autofd int fd = -1;

    snprintf(w->hosts, sizeof w->hosts, "/tmp/weir-test-hosts-XXXXXX");
    fd = mkstemp(w->hosts);
    assert_return_code(fd, errno);
    assert_true(fd_write_all(fd, hosts, strlen(hosts)));
    options.resolver.servers = nobody;
    options.resolver.hosts_file = w->hosts;
    w->loop = ev_loop_new(EVFLAG_AUTO);
    assert_true(core_new(w->loop, &options, &w->core, &e));
}

/* From now on names are asked of a server that never answers: to be closed, after the
 * world. Nobody at all will not do, newer c-ares notice that at once. */
static inline int core_world_mute_with(struct core_world *w,
                                       struct resolver_options options)
{
    int mute = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    char server[32];
    const char *servers[] = {server, NULL};
    struct err e;

    options.servers = servers;
    options.hosts_file = "";
    assert_return_code(bind(mute, (struct sockaddr *)&a, len), errno);
    assert_return_code(getsockname(mute, (struct sockaddr *)&a, &len), errno);
    snprintf(server, sizeof server, "127.0.0.1:%u", ntohs(a.sin_port));
    resolver_free(&w->core->dialler.resolver);
    assert_true(resolver_new(w->loop, &options, &w->core->dialler.resolver, &e));
    return mute;
}

static inline int core_world_mute(struct core_world *w)
{
    return core_world_mute_with(w, (struct resolver_options){0});
}

static inline void core_world_close(struct core_world *w)
{
    core_free(&w->core);
    ev_loop_destroy(w->loop);
    unlink(w->hosts);
}

static inline void core_world_late(struct ev_loop *loop, ev_timer *t, int events)
{
    (void)events;
    *(bool *)t->data = true;
    ev_break(loop, EVBREAK_ALL);
}

/* One turn of the loop, at most `seconds` long; false: nothing happened in it. */
static inline bool core_world_turn(struct core_world *w, double seconds)
{
    bool late = false;
    ev_timer t;

    ev_timer_init(&t, core_world_late, seconds, 0);
    t.data = &late;
    ev_now_update(w->loop);
    ev_timer_start(w->loop, &t);
    ev_run(w->loop, EVRUN_ONCE);
    ev_timer_stop(w->loop, &t);
    return !late;
}

/* Turns until `what` holds. */
#define core_world_until(w, what)                                \
    do {                                                         \
        double core_world_end = ev_time() + core_world_patience; \
                                                                 \
        while (!(what)) {                                        \
            core_world_turn(w, 0.05);                            \
            if (ev_time() > core_world_end)                      \
                fail_msg("it did not come to %s", #what);        \
        }                                                        \
    } while (0)

/* -1 when the port is taken. */
static inline int core_world_try_listen(const char *text, unsigned *port)
{
    struct ip ip = {0};
    struct addr a;
    int fd;

    assert_true(ip_parse(str_from(text), &ip));
    a = addr_from_ip(&ip, *port);
    fd = socket(a.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(fd, &a.sa, a.len) != 0 || listen(fd, 64) != 0) {
        close(fd);
        return -1;
    }
    a.len = sizeof a.v6;
    getsockname(fd, &a.sa, &a.len);
    *port = addr_port(&a);
    return fd;
}

/* A listening socket on an address of loopback, and its port. */
static inline int core_world_listen(const char *text, unsigned *port)
{
    int fd = core_world_try_listen(text, port);

    assert_true(fd >= 0);
    return fd;
}

/* Two addresses, one port: one that the kernel gave for the first may be taken on the
 * second. */
static inline unsigned core_world_listen_pair(const char *one, const char *other,
                                              int fds[2])
{
    for (int tries = 0; tries < 20; tries++) {
        unsigned port = 0;

        fds[0] = core_world_listen(one, &port);
        fds[1] = core_world_try_listen(other, &port);
        if (fds[1] >= 0)
            return port;
        close(fds[0]);
    }
    fail_msg("no port is free on both %s and %s", one, other);
    return 0;
}

#endif
