/* What is said to a parent proxy until the tunnel through it stands: HTTP's CONNECT or
 * SOCKS5. Bytes in, bytes out; no descriptor, no clock, no log.
 *
 * Behind the last byte of what the parent says the server may be speaking already, and
 * those bytes are not ours: so parent_talk_need() tells how many are surely still the
 * parent's, and never more than that may be read and fed. */
#ifndef PROXY_PARENT_TALK_H
#define PROXY_PARENT_TALK_H

#include "proxy/base/buf.h"
#include "proxy/parent.h"
#include "proxy/policy/policy.h"

enum talk {
    TALK_FAILED = 0, /* see `failure` */
    TALK_MORE,
    TALK_OPEN, /* all that follows is the server's */
};

enum {
    TALK_WHY_MAX = 512,
    TALK_HEADS_MAX = 16384, /* bytes of all heads of HTTP together */
    TALK_LINE_KEPT = 96,    /* of a status line */
    TALK_SOCKS_MAX = 5 + 255 + 2,
};

struct talk_failure {
    enum reason reason;
    const char *error; /* of RFC 9209 2.3 */
    char why[TALK_WHY_MAX];
};

struct parent_talk {
    const struct parent *parent; /* borrowed, as `to` */
    const struct target *to;
    struct talk_failure failure;
    unsigned char stage;
    unsigned char interim; /* HTTP: heads of 1xx so far */
    size_t seen;           /* HTTP: bytes of all heads; SOCKS: of this message */
    size_t want;           /* SOCKS: so many are this message, as far as is known */
    size_t line_len;       /* HTTP */
    char line[TALK_LINE_KEPT];
    unsigned char message[TALK_SOCKS_MAX]; /* SOCKS */
};

/* Asks `parent` for a tunnel to `to`; both outlive the talk. What is to be sent goes to
 * `out`, here and below, which has room for TALK_OUT_MAX. */
enum { TALK_OUT_MAX = 8192 };
void parent_talk_start(struct parent_talk *t, const struct parent *parent,
                       const struct target *to, struct buf *out);
/* At least 1. */
size_t parent_talk_need(const struct parent_talk *t);
/* `in`: at most parent_talk_need() bytes. */
enum talk parent_talk_feed(struct parent_talk *t, struct str in, struct buf *out);
/* The parent sends no more: fills in `failure`. */
void parent_talk_closed(struct parent_talk *t);

/* For the two protocols. Always TALK_FAILED; `fmt` follows the parent's name. */
enum talk talk_fail(struct parent_talk *t, enum reason reason, const char *error,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

struct talk_protocol {
    void (*start)(struct parent_talk *t, struct buf *out);
    size_t (*need)(const struct parent_talk *t);
    enum talk (*feed)(struct parent_talk *t, struct str in, struct buf *out);
    const char *closed_error; /* of RFC 9209 2.3 */
};
extern const struct talk_protocol talk_http, talk_socks;

#endif
