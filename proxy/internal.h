/* What the files of the core know of each other: the insides of a core and a session.
 * Those who use the core from outside include core.h and session.h. */
#ifndef PROXY_INTERNAL_H
#define PROXY_INTERNAL_H

#include "proxy/clients.h"
#include "proxy/counters.h"
#include "proxy/dial.h"
#include "proxy/exchange.h"
#include "proxy/relay.h"
#include "proxy/session.h"
#include "proxy/upstream.h"

struct conn;
struct listener;

struct core {
    struct ev_loop *loop;   /* borrowed */
    struct audit *audit;    /* borrowed; NULL: none */
    struct limits limits;   /* `connections` already cut to what descriptors allow */
    struct dialler dialler; /* owns its resolver and its hostaddrs */
    struct relay_pool relays;
    struct hangups hangups; /* of clients */
    struct exchange_room exchanges;
    struct upstreams *upstreams;
    struct counters counters;
    struct clients *clients; /* of all cores that share the limits */
    bool owns_clients;
    struct session *sessions; /* list; each one takes itself off it */
    size_t refusing;          /* connections over a limit, which are being told so */
    unsigned long last_id;    /* of connections, for the audit */
    ev_tstamp shed_again;     /* before that nothing is looked for to be shed */
    bool ending;              /* an answer is the last of its connection */
    unsigned fit; /* connections that there are descriptors for, in all cores */
    bool short_of_descriptors; /* `connections` was cut */
    unsigned id_step; /* from one to the next: other cores have those between */
};

struct session {
    struct core *core;
    struct session *prev, *next; /* in core->sessions */
    char *name;
    struct policy *policy;      /* a reference of its own */
    struct parents *parents;    /* as well; NULL: all connections are direct */
    unsigned long ways;         /* how often `parents` has been set to others */
    struct listener *listeners; /* list */
    struct conn *conns;         /* list; each one takes itself off it */
    size_t connections;
    size_t upstreams;              /* of the core's, that wait for it */
    struct session *door;          /* whose listeners accept for it; NULL: its own do */
    session_identify_fn *identify; /* NULL: it is no door */
    bool logins;                   /* of a door: some of those behind it log in */
    void *identify_owner;
    session_event_fn *on_event; /* NULL: nobody listens */
    void *on_event_owner;
};

static inline struct session *session_door(struct session *s)
{
    return s->door != NULL ? s->door : s;
}

#endif
