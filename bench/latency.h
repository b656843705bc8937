/* Durations by how often they occurred, to about three parts in a hundred, in a fixed
 * amount of memory. */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include <stdint.h>

enum { LATENCY_STEPS = 32, LATENCY_SLOTS = 64 * LATENCY_STEPS };

struct latency {
    uint64_t count, max;
    uint64_t slots[LATENCY_SLOTS];
};

void latency_add(struct latency *h, uint64_t value);

/* The value that `share` (0 to 1) of all do not exceed; 0 when there are none. */
uint64_t latency_at(const struct latency *h, double share);

#endif
