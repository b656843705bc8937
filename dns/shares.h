/* How many of the names that are being asked for each asker has caused, so that nobody
 * takes all the room that there is. */
#ifndef DNS_SHARES_H
#define DNS_SHARES_H

#include "dns/resolver.h"

struct share;

struct shares {
    void
        *root; /* struct share by asker, of tsearch(); only those that hold something */
};

/* One more for `asker`; NULL when it holds `max` already. Given back with
 * share_give(). */
struct share *share_take(struct shares *s, const struct lookup_asker *asker,
                         unsigned max);
/* NULL is nothing to give. */
void share_give(struct shares *s, struct share *share);

#endif
