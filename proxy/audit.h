/* The record of what was asked and what came of it: one JSON object a line, one writer
 * thread behind a bounded queue, so that a slow disk never holds up the loop.
 * Diagnostics about the proxy itself go to the log instead. */
#ifndef PROXY_AUDIT_H
#define PROXY_AUDIT_H

#include "proxy/base/err.h"
#include "proxy/base/target.h"
#include "proxy/policy/policy.h"

struct audit;

enum audit_on_full {
    AUDIT_REFUSE = 0, /* audit_ready() is false while writing fails or half of the queue
                       * is full (the other half is for what is under way): refuse
                       * requests */
    AUDIT_COUNT,      /* drop the line and count it */
};

enum { AUDIT_QUEUE_MIN = 64 * 1024, AUDIT_QUEUE_MAX = 1024 * 1024 * 1024 };

struct audit_options {
    const char *file; /* "-" is stdout; NULL: none is written. Appended to, made with
                       * mode 0600 */
    int fd;           /* used instead when >= 0; taken over */
    enum audit_on_full on_full;
    size_t queue_max; /* bytes; 0: 8 MiB */
};

/* On false *e names the file. */
bool audit_new(const struct audit_options *options, struct audit **out, struct err *e);
/* Writes out what is queued, for at most `seconds` and a second of grace. A thread that
 * hangs in the system then is left behind. */
void audit_free(struct audit **a, double seconds);

/* Whether a line more could be taken; always true with AUDIT_COUNT. */
bool audit_ready(const struct audit *a);
/* The last try to write was an error. */
bool audit_failing(const struct audit *a);
unsigned long audit_dropped(const struct audit *a);
/* The file is opened again by its name (after rotation); on failure the old one stays.
 */
bool audit_reopen(struct audit *a, struct err *e);

/* One request. A NULL or empty member is left out of the line. */
struct audit_event {
    struct str session, client;
    unsigned long id; /* the connection; the same in each of its lines */
    const char *front;
    const struct target *target; /* NULL: malformed; then `raw` */
    struct str raw;              /* at most 64 bytes, escaped in the line */
    struct verdict verdict;
    char rule[128]; /* policy_rule_text() */
    struct addr addr;
    struct str sni;  /* what the hello showed */
    const char *via; /* a parent proxy; later */
    unsigned long long bytes_up, bytes_down;
    double ms_dns, ms_connect, ms; /* negative: left out */
    const char *close; /* "client", "server", "idle", "error", "shutdown" … */
};

/* Copies what it needs; never blocks. */
void audit_write(struct audit *a, const struct audit_event *event);

/* The line itself, without the newline but with a NUL: for tests and for callers that
 * print it. `now` is seconds since 1970. Returns its length, 0 when it does not fit;
 * 4096 bytes do for all that a client can do. */
size_t audit_format(const struct audit_event *event, double now, char *line,
                    size_t size);

#endif
