#include "proxy/door.h"

#include <assert.h>
#include <stdlib.h>

#include "proxy/conn.h"
#include "proxy/gateway_identify.h"
#include "proxy/internal.h"
#include "proxy/listener.h"

/* What the audit calls the door itself. */
#define DOOR_NAME STR("gateway")

/* An open socket, and the entry of the config that it is. */
struct opening {
    struct listener *listener;
    size_t index;
};

struct door {
    struct core *core;        /* borrowed */
    struct config *config;    /* a reference of its own */
    struct session *entry;    /* has the listeners */
    struct session **clients; /* in the order of the config */
    struct opening openings[SESSION_LISTENERS_MAX];
    size_t opening_count;
};

static enum identity identify(void *owner, const struct caller *who,
                              const struct login *login, struct session **session,
                              uint32_t *proof)
{
    const struct door *d = owner;
    size_t client = 0;
    enum identity identity = gateway_identify(d->config, who, login, &client, proof);

    if (identity == IDENTITY_KNOWN)
        *session = d->clients[client];
    return identity;
}

static bool has_clients(const struct config *c)
{
    return c->settings.client_count > 0;
}

/* The door is a client of none, so that what it holds when there are clients is denied;
 * it does not matter how it came there. */
static struct policy *entry_policy(const struct config *c)
{
    return has_clients(c) ? c->nobody : c->policy;
}

static void set_identify(struct door *d)
{
    session_identify(d->entry, has_clients(d->config) ? identify : NULL, d);
    d->entry->logins = d->config->tokens;
}

static struct session *new_client(struct door *d, const struct config_client *client)
{
    struct session *s = session_new(d->core, str_from(client->settings->name),
                                    client->policy, client->parents);

    s->door = d->entry;
    return s;
}

/* As many as there are clients, and none yet. */
static struct session **new_array(const struct config *c)
{
    size_t count = c->settings.client_count;
    struct session **array = calloc(count > 0 ? count : 1, sizeof *array);

    if (array == NULL)
        abort();
    return array;
}

struct door *door_new(struct core *core, struct config *config)
{
    struct door *d = calloc(1, sizeof *d);

    if (d == NULL)
        abort();
    d->core = core;
    d->config = config_ref(config);
    d->entry = session_new(core, DOOR_NAME, entry_policy(config), config->parents);
    d->clients = new_array(config);
    for (size_t i = 0; i < config->settings.client_count; i++)
        d->clients[i] = new_client(d, &config->clients[i]);
    set_identify(d);
    return d;
}

void door_free(struct door **dp)
{
    struct door *d = *dp;

    if (d == NULL)
        return;
    *dp = NULL;
    for (size_t i = 0; i < d->config->settings.client_count; i++)
        session_free(&d->clients[i]);
    session_free(&d->entry);
    free(d->clients);
    config_unref(&d->config);
    free(d);
}

static void tell_listener(struct door *d, const struct opening *o)
{
    const struct listen_settings *listen = &d->config->settings.listen[o->index];

    listener_set_proxies(o->listener, listen->proxies, listen->proxy_count);
    listener_set_tls(o->listener, listen->tls);
}

bool door_listen(struct door *d, size_t index, int fd, struct err *e)
{
    struct opening *o = &d->openings[d->opening_count];

    assert(index < d->config->settings.listen_count);
    if (!session_listen(d->entry, fd, true, e))
        return false;
    *o = (struct opening){d->entry->listeners, index};
    d->opening_count++;
    tell_listener(d, o);
    return true;
}

bool door_listens(const struct door *d, size_t index)
{
    for (size_t i = 0; i < d->opening_count; i++)
        if (d->openings[i].index == index)
            return true;
    return false;
}

void door_rest(struct door *d)
{
    session_rest(d->entry);
    d->opening_count = 0;
}

void door_close_idle(struct door *d, double silent)
{
    session_close_idle(d->entry, silent);
    for (size_t i = 0; i < d->config->settings.client_count; i++)
        session_close_idle(d->clients[i], silent);
}

size_t door_connections(const struct door *d)
{
    size_t n = session_connections(d->entry);

    for (size_t i = 0; i < d->config->settings.client_count; i++)
        n += session_connections(d->clients[i]);
    return n;
}

/* Which listener of `to` each one of `from` is; SIZE_MAX: it is gone. Those on any free
 * port are written alike, so each is taken once. */
static void match_listeners(const struct gateway_settings *from,
                            const struct gateway_settings *to,
                            size_t map[SESSION_LISTENERS_MAX])
{
    bool taken[SESSION_LISTENERS_MAX] = {false};

    for (size_t i = 0; i < from->listen_count; i++) {
        size_t j = 0;

        while (j < to->listen_count &&
               (taken[j] || strcmp(from->listen[i].text, to->listen[j].text) != 0))
            j++;
        map[i] = j < to->listen_count ? j : SIZE_MAX;
        if (j < to->listen_count)
            taken[j] = true;
    }
}

/* The config is the new one already. */
static void move_listeners(struct door *d, const struct config *old)
{
    size_t map[SESSION_LISTENERS_MAX], kept = 0;

    match_listeners(&old->settings, &d->config->settings, map);
    for (size_t i = 0; i < d->opening_count; i++) {
        struct opening o = d->openings[i];

        o.index = map[o.index];
        if (o.index == SIZE_MAX) {
            listener_close(d->entry, o.listener);
            continue;
        }
        tell_listener(d, &o);
        d->openings[kept++] = o;
    }
    d->opening_count = kept;
}

static bool still_holds(void *owner, const struct caller *who, uint32_t proof)
{
    return gateway_identity_holds(owner, who, proof);
}

/* The session of that name among the old ones, which loses it. Files are mostly edited
 * in place, so it is looked for at its old place first. */
static struct session *take_session(struct session **old, size_t count, size_t guess,
                                    const char *name)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = (guess + i) % count;
        struct session *s = old[at];

        if (s != NULL && strcmp(s->name, name) == 0) {
            old[at] = NULL;
            return s;
        }
    }
    return NULL;
}

static struct session *next_client(struct door *d, struct session **old, size_t count,
                                   size_t index)
{
    const struct config_client *client = &d->config->clients[index];
    struct session *s = take_session(old, count, index, client->settings->name);

    if (s == NULL)
        return new_client(d, client);
    /* Who is not that client any more first: it must not be judged as one. */
    conn_revoke(s, still_holds, (void *)client->settings);
    session_set_policy(s, client->policy, client->parents);
    return s;
}

static void end_client(struct session *s)
{
    conn_revoke(s, NULL, NULL);
    session_free(&s);
}

void door_set_config(struct door *d, struct config *config)
{
    struct config *old = d->config;
    struct session **clients = d->clients;
    size_t count = old->settings.client_count;

    d->config = config_ref(config);
    d->clients = new_array(config);
    set_identify(d);
    session_set_policy(d->entry, entry_policy(config), config->parents);
    for (size_t i = 0; i < config->settings.client_count; i++)
        d->clients[i] = next_client(d, clients, count, i);
    for (size_t i = 0; i < count; i++)
        if (clients[i] != NULL)
            end_client(clients[i]);
    move_listeners(d, old);
    free(clients);
    config_unref(&old);
}
