/* The ways a client may ask: HTTP, SOCKS; transparent later. A front is bytes in, bytes
 * out; it owns no descriptor and takes no decision, so it can be tested with strings.
 */
#ifndef PROXY_FRONT_H
#define PROXY_FRONT_H

#include "proxy/base/arena.h"
#include "proxy/base/buf.h"
#include "proxy/base/target.h"
#include "proxy/identity.h"
#include "proxy/policy/policy.h"

enum front_parse {
    FRONT_MORE = 0,
    FRONT_DONE,
    FRONT_REFUSED, /* `asked.status` and `asked.reason` say how to answer; then close */
    FRONT_REPLY,   /* `asked.reply` goes to the client; then parse() what follows */
    FRONT_LOGIN, /* `asked.login` is to be checked; logged_in() writes what came of it.
                  * When it is good, parse() what follows; else the connection ends */
};

/* What parse() is given. */
struct front_call {
    struct str
        in; /* all that the client sent and that was not used so far; not empty */
    size_t head_max;
    struct arena *arena;
    bool login_wanted;    /* somebody must log in, and has not */
    bool login_heard;     /* a login would tell better who it is than the rest does */
    unsigned char *phase; /* the front's own; 0 when the connection begins */
};

struct http_head; /* base/http.h */

/* What the front understood. */
struct front_asked {
    struct target target; /* FRONT_DONE; also of a FRONT_REFUSED that was understood
                           * so far, else its kind is HOST_NONE */
    const char *form;     /* for the audit's `front`: "connect", "http" */
    unsigned status;      /* FRONT_REFUSED: HTTP status 400, 431, 501 … */
    enum reason reason;   /* FRONT_REFUSED */
    const char *why;      /* FRONT_REFUSED: a constant sentence, for body and audit */
    struct str raw; /* FRONT_REFUSED for a malformed host: what was sent, a view into
                     * the arena, at most 64 bytes; else empty */
    struct login login;           /* FRONT_LOGIN; and FRONT_DONE of HTTP */
    struct str reply;             /* FRONT_REPLY: a constant, or in the arena. Also of
                                   * FRONT_REFUSED: stands for answer() unless empty */
    const struct http_head *head; /* FRONT_DONE: a plain request, in the arena, whose
                                   * body follows; NULL: a tunnel is asked for */
};

/* How the asking ended: what answer() has to say. */
struct front_answer {
    bool ok;            /* the tunnel stands */
    unsigned status;    /* when not: HTTP status */
    enum reason reason; /* when not */
    struct str why; /* when not: one sentence for people; cleaned by the front: control
                     * and invisible runs become a blank, <> dropped, at most 500
                     * bytes, others than ASCII become ? in a status phrase */
    const struct target *target; /* NULL when none was understood */
    const char *label; /* in front of "network.…" in the settings: "clients[2]."; NULL:
                        * nothing */
    const char *error; /* the error type of RFC 9209 2.3 when the caller knows it better
                        * than reason and status tell, "connection_refused"; or NULL */
    bool keep;         /* when not: the client may ask again on this connection */
    bool bodyless;     /* when not: it was HEAD, and a body would be the next answer */
};

struct front {
    const char *name;
    /* Fills *asked. On FRONT_DONE, _REPLY and _LOGIN *used bytes of `in` were that;
     * what follows FRONT_DONE is the server's. */
    enum front_parse (*parse)(const struct front_call *call, struct front_asked *asked,
                              size_t *used);
    /* The last word before the tunnel, or before the close. */
    void (*answer)(struct buf *out, const struct front_answer *answer);
    /* The answer to FRONT_LOGIN. NULL: whoever asks says who he is with each request,
     * and may say it again when that was wrong. */
    void (*logged_in)(struct buf *out, bool ok);
    /* Stands for answer() to a client that is not even heard; empty: answer() does. */
    struct str turned_away;
};

extern const struct front front_http, front_socks4, front_socks5;

/* "SSH-2.0-…" banner and SSH_MSG_DISCONNECT with `why`, in clear (RFC 4253 4.2, 11.1):
 * for a denied CONNECT to port 22, where OpenSSH prints it. Only an explicit reason of
 * the deny list is told so. */
bool front_ssh_refusal(struct buf *out, struct str why);

#endif
