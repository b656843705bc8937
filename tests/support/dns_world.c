#include "tests/support/dns_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void on_done(void *owner, const struct lookup_result *result)
{
    struct lookup_seen *s = owner;
    size_t n = 0;

    s->lookup = NULL;
    s->calls++;
    s->status = result->status;
    s->count = result->count;
    s->seconds = result->seconds;
    s->text[0] = '\0';
    for (size_t i = 0; i < result->count; i++) {
        char ip[IP_TEXT_MAX];

        n += (size_t)snprintf(s->text + n, sizeof s->text - n, "%s%s", i > 0 ? " " : "",
                              ip_text(&result->ips[i], ip));
    }
    if (result->status != LOOKUP_OK) {
        assert_non_null(result->why);
        snprintf(s->why, sizeof s->why, "%s", result->why);
    }
    if (s->cancels != NULL)
        lookup_cancel(&s->cancels->lookup);
    if (s->starts != NULL)
        world_look(s->world, s->starts, "a.test");
}

void world_look(struct world *w, struct lookup_seen *s, const char *name)
{
    s->world = w;
    s->lookup = resolver_lookup(w->resolver, str_from(name), s->asker, on_done, s);
    assert_non_null(s->lookup);
}

static void on_guard(struct ev_loop *loop, ev_timer *t, int revents)
{
    (void)revents;
    *(bool *)t->data = true;
    ev_break(loop, EVBREAK_ONE);
}

void world_turn(struct world *w, const struct lookup_seen *s, double seconds)
{
    bool over = false;
    ev_timer guard;

    ev_now_update(w->loop);
    ev_timer_init(&guard, on_guard, seconds, 0.);
    guard.data = &over;
    ev_timer_start(w->loop, &guard);
    while (!over && (s == NULL || s->lookup != NULL))
        ev_run(w->loop, EVRUN_ONCE);
    ev_timer_stop(w->loop, &guard);
    if (s != NULL)
        assert_null(s->lookup);
}

struct lookup_seen world_ask(struct world *w, const char *name)
{
    struct lookup_seen s = {0};

    world_look(w, &s, name);
    assert_int_equal(s.calls, 0); /* never from within the call */
    world_turn(w, &s, WORLD_PATIENCE);
    assert_int_equal(s.calls, 1);
    return s;
}

void world_expect(struct world *w, const char *name, enum lookup_status status,
                  const char *ips)
{
    struct lookup_seen s = world_ask(w, name);

    if (s.status != status || strcmp(s.text, ips) != 0)
        fail_msg("%s: status %d \"%s\" (%s), expected %d \"%s\"", name, s.status,
                 s.text, s.why, status, ips);
}

void world_write(const char *path, const char *text)
{
    char fresh[80];
    FILE *f;

    snprintf(fresh, sizeof fresh, "%s.new", path);
    f = fopen(fresh, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(fresh, path), 0);
}

static void new_resolver(struct world *w, const struct resolver_options *extra,
                         const char *const *servers)
{
    struct resolver_options options =
        extra != NULL ? *extra : (struct resolver_options){0};
    struct err e;

    resolver_free(&w->resolver);
    options.servers = servers;
    options.hosts_file = w->hosts;
    options.resolv_conf = w->resolv_conf;
    assert_true(resolver_new(w->loop, &options, &w->resolver, &e));
}

void world_servers(struct world *w, const struct resolver_options *extra)
{
    const char *servers[] = {dns_script_address(w->server), NULL};

    new_resolver(w, extra, servers);
}

void world_resolv_conf(struct world *w, const struct resolver_options *extra)
{
    new_resolver(w, extra, NULL);
}

int world_set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    w->loop = ev_loop_new(0);
    w->server = dns_script_new(w->loop);
    snprintf(w->folder, sizeof w->folder, "/tmp/weir-dns-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    snprintf(w->hosts, sizeof w->hosts, "%s/hosts", w->folder);
    snprintf(w->resolv_conf, sizeof w->resolv_conf, "%s/resolv.conf", w->folder);
    world_servers(w, NULL);
    *state = w;
    return 0;
}

int world_tear_down(void **state)
{
    struct world *w = *state;

    resolver_free(&w->resolver);
    assert_null(w->resolver);
    dns_script_free(&w->server);
    ev_loop_destroy(w->loop);
    unlink(w->hosts);
    unlink(w->resolv_conf);
    assert_int_equal(rmdir(w->folder), 0);
    free(w);
    return 0;
}
