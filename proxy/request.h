/* One thing that a client asks for: how it is judged, what became of it, and the line
 * that tells. A tunnel is a connection with one request. It has no descriptor; what is
 * connected is handed to the connection. */
#ifndef PROXY_REQUEST_H
#define PROXY_REQUEST_H

#include "proxy/base/arena.h"
#include "proxy/internal.h"

struct request {
    struct arena arena;    /* of the texts below; see request_shrink() */
    struct target target;  /* HOST_NONE: none was understood */
    struct dial *dial;     /* while it runs */
    const char *why;       /* one more word on a dial that failed; NULL */
    const char *error;     /* and its error type (RFC 9209 2.3); NULL */
    enum hello_kind hello; /* what the first bytes showed */
    bool hello_seen;       /* they have come */
    bool plain;            /* a plain HTTP request, which asks for no tunnel */
    bool bodyless;         /* HEAD: no answer to it has a body */
    bool begun;            /* something was asked: there will be an audit line */
    ev_tstamp started;
    struct audit_event event; /* the notebook: the last verdict, with the generation of
                               * its policy, and all that goes into the line */
};

void request_init(struct request *r, unsigned long id, ev_tstamp now);
/* Releases everything and cancels the dial. */
void request_done(struct request *r);

/* Each asks the session's policy and notes its verdict; true: allowed. */
bool request_judge_target(struct request *r, const struct session *s);
bool request_judge_hello(struct request *r, const struct session *s,
                         enum hello_kind kind, struct str name);
/* Once more, all that was judged so far, when the session's policy is not the one that
 * was asked. On false the verdict is that of the new policy. */
bool request_judge_again(struct request *r, const struct session *s);

/* A refusal that is not the policy's. */
void request_refuse(struct request *r, enum reason reason);

/* Policy has allowed the target. `from` is the client's address, family 0 when it says
 * nothing. `done` gets the result, and passes it to request_dialled(), which notes it;
 * the descriptor is the caller's. */
void request_dial(struct request *r, const struct session *s, const struct ip *from,
                  enum dial_use use, dial_done_fn *done, void *owner);
void request_dialled(struct request *r, const struct dial_result *result);

/* What the user wrote beside the entry of a deny list that refused it; else empty. */
struct str request_own_words(const struct request *r, const struct session *s);
/* Why it was refused, for people: the user's own words of a deny list, a word on the
 * dial, or what the reason means. */
struct str request_why(const struct request *r, const struct session *s);

/* A tunnel begins: lets go of all memory but the target's. */
void request_shrink(struct request *r);

/* The only way out: writes the audit line, tells who listens to the session. Does it
 * once, and not at all when nothing was asked. `from` as above. */
void request_end(struct request *r, const struct session *s, const struct ip *from);

#endif
