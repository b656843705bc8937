/* How a tunnel is opened: what is sent to the proxy and what it has to answer. Bytes
 * in, bytes out; no sockets here. */
#ifndef BENCH_LOAD_OPENING_H
#define BENCH_LOAD_OPENING_H

#include <stddef.h>

#include "bench/load_plan.h"

enum { LOAD_TEXT_SIZE = 1024 };

enum load_opening {
    OPENING_BAD = 0, /* it refuses, or it is no proxy of this kind */
    OPENING_MORE,    /* the answer is not whole yet */
    OPENING_NEXT,    /* the next message is due */
    OPENING_DONE,    /* what comes now is from the target */
};

/* The message of this step of the opening, 0 for the first; `number` is that of the
 * connection. Returns its length; 0 when there is nothing (more) to be said. */
size_t load_opening_say(const struct load_plan *plan, unsigned step,
                        unsigned long number, char text[LOAD_TEXT_SIZE]);

/* What the answer to that message means. `answer` is NUL-terminated behind `len`. */
enum load_opening load_opening_hear(const struct load_plan *plan, unsigned step,
                                    const char *answer, size_t len);

/* The request of LOAD_OPEN and LOAD_KEEP; returns its length. */
size_t load_request(const struct load_plan *plan, unsigned long number,
                    char text[LOAD_TEXT_SIZE]);

#endif
