/* One connection of the origin. What it does is asked for by its first line:
 *   GET /...  HTTP requests without bodies, each answered with 200 and two bytes; the
 *             connection stays
 *   SOURCE n  sends n bytes and says its last
 *   SINK n    receives n bytes and answers "done\n"
 *   ECHO      sends back whatever comes */
#ifndef BENCH_ORIGIN_PEER_H
#define BENCH_ORIGIN_PEER_H

#include <stdint.h>

struct origin_peer;

/* Takes over `fd`. The peer frees itself when its connection has ended. */
void origin_peer_new(int epoll, int fd);

/* `peer` may be gone afterwards. */
void origin_peer_event(struct origin_peer *peer, uint32_t events);

#endif
