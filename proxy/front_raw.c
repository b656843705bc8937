#include "proxy/front_raw.h"

enum { RAW_MAX = 64 };

struct str front_raw(struct arena *a, struct str sent)
{
    const char *at = sent.n > 0 ? memrchr(sent.p, '@', sent.n) : NULL;

    if (at != NULL)
        sent = str_skip(sent, (size_t)(at - sent.p));
    return arena_dup(a, str_head(sent, RAW_MAX));
}
