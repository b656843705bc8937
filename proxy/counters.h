/* What one core has counted since it began. Its own thread counts; any thread may read
 * at any time. Each number is right by itself, a set of them may be a moment apart, and
 * nobody waits for anybody. */
#ifndef PROXY_COUNTERS_H
#define PROXY_COUNTERS_H

#include <stdatomic.h>

#include "proxy/audit.h"

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

enum {
    COUNTERS_BOUNDS = 13, /* of a histogram; one bucket more is for what is above */
    COUNTERS_ERRORS = 6,  /* kinds of errors of accept */
};

struct count {
    atomic_ullong n;
};

struct histogram {
    struct count buckets[COUNTERS_BOUNDS + 1]; /* of each bucket alone */
    struct count microseconds;                 /* the sum of all */
};

struct counters {
    struct count decisions[2][REASON_COUNT]; /* [1]: allowed */
    struct count bytes_up,
        bytes_down; /* that were taken, also of requests that go on */
    struct histogram dns, connect;
    struct count sni[SNI_COUNT];
    struct count accept_errors[COUNTERS_ERRORS];
    struct count cut_short; /* connections closed without a word: no room to refuse */
    struct count shed;      /* idle tunnels cut for want of descriptors or memory */
    struct count needs;     /* how often somebody needed room, and none was to be had */
    struct count connections; /* now: with those that are being refused */
};

/* By the core's own thread. */
static inline void count_add(struct count *c, unsigned long long n)
{
    atomic_store_explicit(&c->n, atomic_load_explicit(&c->n, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static inline void count_less(struct count *c)
{
    atomic_store_explicit(&c->n, atomic_load_explicit(&c->n, memory_order_relaxed) - 1,
                          memory_order_relaxed);
}

static inline unsigned long long count_read(const struct count *c)
{
    return atomic_load_explicit(&c->n, memory_order_relaxed);
}

/* A request that has ended; its bytes were counted as they went. */
void counters_request(struct counters *c, const struct audit_event *event);
/* `error` is an errno of accept. */
void counters_accept_error(struct counters *c, int error);
/* Adds all of `one` to `total`, which is the caller's own. */
void counters_sum(struct counters *total, const struct counters *one);

/* The upper bound of a bucket, in seconds. */
double counters_bound(unsigned bucket);
/* The name of a kind of error; the last is "other". */
const char *counters_error_name(unsigned kind);

#endif
