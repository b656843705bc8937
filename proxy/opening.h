/* The first byte of a client tells which protocol it speaks, and so which front reads
 * the rest. */
#ifndef PROXY_OPENING_H
#define PROXY_OPENING_H

#include "proxy/front.h"

/* front->parse(), with *front chosen by the first byte of `in` (which is not empty)
 * when it is NULL. What is not spoken here is FRONT_REFUSED, and then *front stays
 * NULL. */
enum front_parse opening_parse(const struct front **front,
                               const struct front_call *call, struct front_asked *asked,
                               size_t *used);

/* In whose words somebody is turned away who has said no more than that; NULL: what is
 * not spoken here, and is no HTTP either. */
const struct front *opening_front(char first);

#endif
