#include "dns/servers.h"

#include <stdlib.h>

#include "dns/stamp.h"

enum {
    SERVERS_MAX = 16,
    PORT = 53,
    FORMER_MAX = 4, /* more changes while questions are under way: the oldest fail */
};
static const double LOOK_EVERY = 5; /* seconds between two looks at resolv.conf */

struct servers {
    struct ev_loop *loop; /* borrowed */
    struct addr addrs[SERVERS_MAX];
    size_t count; /* 0: those of resolv.conf */
    char *resolv_conf;
    double deadline;
    struct stamp stamp;                 /* of resolv.conf */
    struct channel *channel;            /* NULL until the first question */
    struct channel *former[FORMER_MAX]; /* the oldest first; NULL where there is none */
};

/* "192.0.2.1", "192.0.2.1:5353", "2001:db8::1", "[2001:db8::1]:53". */
static bool parse_server(struct str text, struct addr *out)
{
    struct ip ip;

    if (!ip_parse(text, &ip))
        return addr_parse(text, out) && addr_port(out) > 0;
    *out = addr_from_ip(&ip, PORT);
    return true;
}

static bool parse_servers(struct servers *s, const char *const *texts, struct err *e)
{
    for (; texts != NULL && *texts != NULL; texts++) {
        if (s->count == SERVERS_MAX)
            return err_set(e, "more than %d name servers", SERVERS_MAX);
        if (!parse_server(str_from(*texts), &s->addrs[s->count]))
            return err_set(e,
                           "\"%s\" is not a name server: expected an IP address, or "
                           "one with a port as in \"192.0.2.1:53\" or "
                           "\"[2001:db8::1]:53\"",
                           *texts);
        s->count++;
    }
    return true;
}

bool servers_new(struct ev_loop *loop, const struct resolver_options *options,
                 struct servers **out, struct err *e)
{
    struct servers *s = calloc(1, sizeof *s);

    if (s == NULL || (s->resolv_conf = strdup(options->resolv_conf)) == NULL)
        abort();
    s->loop = loop;
    s->deadline = options->deadline;
    if (!parse_servers(s, options->servers, e)) {
        servers_free(&s);
        return false;
    }
    *out = s;
    return true;
}

void servers_free(struct servers **sp)
{
    struct servers *s = *sp;

    if (s == NULL)
        return;
    channel_free(&s->channel);
    for (size_t i = 0; i < FORMER_MAX; i++)
        channel_free(&s->former[i]);
    free(s->resolv_conf);
    free(s);
    *sp = NULL;
}

/* Frees the former channels that nobody waits for any more. */
static void sweep(struct servers *s)
{
    for (size_t i = 0; i < FORMER_MAX; i++)
        if (s->former[i] != NULL && channel_pending(s->former[i]) == 0)
            channel_free(&s->former[i]);
}

static void retire(struct servers *s)
{
    size_t free_slot = 0;

    if (s->channel == NULL)
        return;
    if (channel_pending(s->channel) == 0) {
        channel_free(&s->channel);
        return;
    }
    while (free_slot < FORMER_MAX && s->former[free_slot] != NULL)
        free_slot++;
    if (free_slot == FORMER_MAX) {
        channel_free(&s->former[0]);
        memmove(s->former, s->former + 1, sizeof s->former - sizeof s->former[0]);
        free_slot = FORMER_MAX - 1;
    }
    s->former[free_slot] = s->channel;
    s->channel = NULL;
}

bool servers_refresh(struct servers *s, double now)
{
    bool first = s->stamp.looked == 0;

    sweep(s);
    if (s->count > 0 || !stamp_changed(&s->stamp, s->resolv_conf, now, LOOK_EVERY))
        return false;
    retire(s);
    return !first;
}

struct channel *servers_channel(struct servers *s)
{
    struct err e;

    if (s->channel == NULL && !channel_new(s->loop, s->addrs, s->count, s->resolv_conf,
                                           s->deadline, &s->channel, &e))
        return NULL;
    return s->channel;
}

unsigned servers_pending(const struct servers *s)
{
    unsigned pending = s->channel != NULL ? channel_pending(s->channel) : 0;

    for (size_t i = 0; i < FORMER_MAX; i++)
        if (s->former[i] != NULL)
            pending += channel_pending(s->former[i]);
    return pending;
}
