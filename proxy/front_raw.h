/* What a client sent where a host should stand, for the audit: who sends nonsense
 * should be seen. */
#ifndef PROXY_FRONT_RAW_H
#define PROXY_FRONT_RAW_H

#include "proxy/base/arena.h"

/* At most 64 bytes, in the arena. What stood before an "@" is left out: it may be a
 * password. */
struct str front_raw(struct arena *a, struct str sent);

#endif
