/* One client of the reference relay and its server: reads the request, connects,
 * relays. */
#ifndef BENCH_REF_TUNNEL_H
#define BENCH_REF_TUNNEL_H

#include <stdint.h>

enum { REF_BUFFER = 262144 };

struct ref_tunnel;
struct ref_side;

/* All that the tunnels share. */
struct ref {
    int epoll;
    struct ref_tunnel *dead; /* to be freed when no event speaks of them any more */
    char buffer[REF_BUFFER]; /* holds nothing between two events */
};

/* Takes over `fd`. The tunnel ends by itself; `ref` outlives it. */
void ref_tunnel_new(struct ref *ref, int fd);

void ref_tunnel_event(struct ref_side *side, uint32_t events);

/* Frees the tunnels that have ended. To be called between two rounds of events, since
 * those of one round may speak of both sides of a tunnel. */
void ref_bury(struct ref *ref);

#endif
