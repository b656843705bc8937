/* One client: a connection, and the operation that it is at. When an operation has
 * ended, well or not, the client stands among the free ones of its `struct load`. */
#ifndef BENCH_LOAD_CLIENT_H
#define BENCH_LOAD_CLIENT_H

#include "bench/load_totals.h"

struct load_client;

/* What all clients of a run share. */
struct load {
    const struct load_plan *plan; /* borrowed: outlives the run */
    int epoll;
    struct load_totals totals;
    struct load_client *free;  /* those that may start; the last that came first */
    uint64_t opening, busy;    /* of the others: not connected through yet; all */
    unsigned long next_number; /* of the next connection */
};

/* A new client among the free ones; it lives as long as the program. */
struct load_client *load_client_new(struct load *load);

/* Takes the first of the free clients and starts its next operation, which was `due` at
 * that time. There must be one. */
void load_client_start(struct load *load, uint64_t due);

/* Whether the first of the free clients has to open a connection for that. */
bool load_client_opens(const struct load *load);

void load_client_event(struct load_client *client, uint32_t events);

/* To be called some times a second: gives up what has waited for too long, and lets
 * slow transfers go on. */
void load_client_tick(struct load_client *client, uint64_t now);

#endif
