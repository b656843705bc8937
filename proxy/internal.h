/* What the files of the core know of each other: the insides of a core and a session.
 * Those who use the core from outside include core.h and session.h. */
#ifndef PROXY_INTERNAL_H
#define PROXY_INTERNAL_H

#include "proxy/clients.h"
#include "proxy/dial.h"
#include "proxy/relay.h"
#include "proxy/session.h"

struct conn;
struct listener;

/* What the first bytes of tunnels showed (weir_sni_total). */
enum sni_seen {
    SNI_NOT_TLS = 0,
    SNI_MATCH,
    SNI_MISMATCH,
    SNI_NONE,
    SNI_ENCRYPTED,
    SNI_MALFORMED,
    SNI_COUNT
};

struct core_counters {
    unsigned long sni[SNI_COUNT];
    unsigned long accept_errors;
    unsigned long cut_short; /* connections closed without a word: no room to refuse */
};

struct core {
    struct ev_loop *loop;   /* borrowed */
    struct audit *audit;    /* borrowed; NULL: none */
    struct limits limits;   /* `connections` already cut to what descriptors allow */
    struct dialler dialler; /* owns its resolver and its hostaddrs */
    struct relay_pool relays;
    struct core_counters counters;
    struct session *sessions; /* list; each one takes itself off it */
    size_t connections;       /* of all sessions, those in `refusing` left out */
    size_t refusing;          /* over a limit, and being told so */
    unsigned long next_id;    /* of connections, for the audit */
};

struct session {
    struct core *core;
    struct session *prev, *next; /* in core->sessions */
    char *name;
    struct policy *policy;      /* a reference of its own */
    struct listener *listeners; /* list */
    struct conn *conns;         /* list; each one takes itself off it */
    size_t connections;
    struct clients clients;
    struct session *door;          /* whose listeners accept for it; NULL: its own do */
    session_identify_fn *identify; /* NULL: it is no door */
    void *identify_owner;
    session_event_fn *on_event; /* NULL: nobody listens */
    void *on_event_owner;
};

static inline struct session *session_door(struct session *s)
{
    return s->door != NULL ? s->door : s;
}

#endif
