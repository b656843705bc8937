/* What came of it. */
#ifndef BENCH_LOAD_TOTALS_H
#define BENCH_LOAD_TOTALS_H

#include "bench/latency.h"
#include "bench/load_plan.h"

enum load_error {
    LOAD_ERROR_LOCAL = 0, /* no socket, no port: ours, not the proxy's */
    LOAD_ERROR_CONNECT,   /* the proxy (or the target, directly) does not accept */
    LOAD_ERROR_REFUSED,   /* the proxy answered, and not with yes */
    LOAD_ERROR_CLOSED,    /* the connection ended too early */
    LOAD_ERROR_RESET,     /* the same, with an error */
    LOAD_ERROR_ANSWER,    /* the target's answer is not what it sends */
    LOAD_ERROR_TIMEOUT,   /* nothing for half a minute */
    LOAD_ERROR_KINDS,
};

struct load_totals {
    uint64_t operations; /* that went well */
    uint64_t bytes;      /* of transfers, also of those that were cut at the end */
    uint64_t held;       /* connections that are open and idle (LOAD_IDLE) */
    uint64_t errors[LOAD_ERROR_KINDS];
    struct latency latency; /* nanoseconds an operation took since it was due */
};

uint64_t load_totals_errors(const struct load_totals *totals);

/* One JSON object on a line of standard output. */
void load_totals_print(const struct load_totals *totals, const struct load_plan *plan,
                       double seconds);

#endif
