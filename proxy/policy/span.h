/* Ports, as runs from first to last, each with the entry that it comes from. */
#ifndef POLICY_SPAN_H
#define POLICY_SPAN_H

#include <stddef.h>
#include <stdint.h>

struct span {
    uint16_t first, last;
    uint32_t entry; /* number in the policy's table of entries */
};

/* Two entries of one list say the same; `first` was written earlier. */
typedef void span_twice_fn(void *owner, uint32_t first, uint32_t second);

/* Sorts, and cuts what overlaps, so that a port is in one span at most: of spans that
 * hold the same port the one with the lower first port keeps it, then the one with the
 * lower last port, then the one that was written first. Returns how many are left. */
size_t spans_settle(struct span *spans, size_t count, span_twice_fn *twice,
                    void *owner);

/* Of settled spans, the one that holds the port; NULL when none does. */
const struct span *spans_find(const struct span *spans, size_t count, unsigned port);

#endif
