/* Connections to servers that have answered a plain HTTP request and may answer another
 * one. Each belongs to one session and one target, and was made to an address that
 * policy had allowed; who takes one has its address judged again. None is kept
 * for long, so that a name which moves is followed. */
#ifndef PROXY_UPSTREAM_H
#define PROXY_UPSTREAM_H

#include "proxy/base/stream.h"
#include "proxy/base/target.h"

struct core;
struct session;
struct upstreams; /* of one core */

/* What is known of a connection beside its stream. */
struct upstream_facts {
    struct addr addr;         /* of the server; or of a parent proxy */
    const char *via;          /* the parent; NULL: none */
    bool absolute;            /* it takes requests in absolute form */
    struct str authorization; /* for it */
    ev_tstamp since;          /* when it was made; 0: now */
};

enum {
    UPSTREAMS_MAX = 256, /* that wait, of a core; fewer where descriptors are short */
    UPSTREAMS_EACH = 64, /* of a session */
    UPSTREAM_IDLE_SECONDS = 30,
    UPSTREAM_AGE_SECONDS = 300,
};

struct upstreams *upstreams_new(struct core *core);
void upstreams_free(struct upstreams **u);

/* Takes over the stream, on which all that was asked has been answered; it is closed
 * when it has no place here. What `target` and `facts` view is copied. */
void upstream_put(struct session *s, const struct target *target,
                  const struct upstream_facts *facts, struct stream *stream);

/* A connection of the session to the target that its policy allows now. *stream is
 * filled, with `on_ready` and `owner` as in stream_init(); texts of *facts are in the
 * arena. False: there is none. */
bool upstream_take(struct session *s, const struct target *target, struct arena *a,
                   struct upstream_facts *facts, struct stream *stream,
                   stream_ready_fn *on_ready, void *owner);

/* The session's policy is another one: closes what it denies, and what goes through a
 * parent. */
void upstream_judge(struct session *s);
/* Closes all of a session. */
void upstream_drop(struct session *s);
/* There is one more client: closes those whose descriptors it may need. */
void upstream_fit(struct upstreams *u);
/* Closes all, when the system has no more descriptors. False: there was none. */
bool upstream_shed(struct upstreams *u);

size_t upstream_count(const struct upstreams *u);

#endif
