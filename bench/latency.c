#include "bench/latency.h"

/* Slots are as wide as their value is large: 32 for each power of two. */
enum { STEP_BITS = 5 };

static unsigned slot_of(uint64_t value)
{
    unsigned power;

    if (value < LATENCY_STEPS)
        return (unsigned)value;
    power = 63 - (unsigned)__builtin_clzll(value);
    return (power - STEP_BITS + 1) * LATENCY_STEPS +
           (unsigned)(value >> (power - STEP_BITS)) % LATENCY_STEPS;
}

/* The least value of a slot. */
static uint64_t value_of(unsigned slot)
{
    unsigned power;

    if (slot < LATENCY_STEPS)
        return slot;
    power = slot / LATENCY_STEPS + STEP_BITS - 1;
    return (LATENCY_STEPS + (uint64_t)(slot % LATENCY_STEPS)) << (power - STEP_BITS);
}

void latency_add(struct latency *h, uint64_t value)
{
    h->slots[slot_of(value)]++;
    h->count++;
    h->max = value > h->max ? value : h->max;
}

uint64_t latency_at(const struct latency *h, double share)
{
    uint64_t wanted = (uint64_t)((double)h->count * share), seen = 0;

    for (unsigned i = 0; i < LATENCY_SLOTS; i++) {
        seen += h->slots[i];
        if (seen > wanted)
            return value_of(i);
    }
    return h->max;
}
