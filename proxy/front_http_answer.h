/* The answers of the HTTP front, in bytes: see front.h, whose answer() this is. */
#ifndef PROXY_FRONT_HTTP_ANSWER_H
#define PROXY_FRONT_HTTP_ANSWER_H

#include "proxy/front.h"

/* Adds all of the answer, or nothing when `out` has no room for it (4 KiB do). */
void front_http_answer(struct buf *out, const struct front_answer *answer);

#endif
