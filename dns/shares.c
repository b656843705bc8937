#include "dns/shares.h"

#include <search.h>
#include <stdlib.h>

enum { NETWORK_BYTES = 8 };

struct share {
    struct lookup_asker asker; /* as canonical() makes it */
    unsigned held;
};

/* Who is known counts as that, from wherever it asks. Of IPv6 the /64 counts, since who
 * has one address of it has them all. */
static struct lookup_asker canonical(const struct lookup_asker *asker)
{
    struct lookup_asker who = {.known = asker->known};

    if (who.known != NULL)
        return who;
    who.ip = asker->ip;
    ip_unmap(&who.ip);
    if (who.ip.family == 6)
        memset(who.ip.bytes + NETWORK_BYTES, 0, sizeof who.ip.bytes - NETWORK_BYTES);
    return who;
}

static int compare(const void *a, const void *b)
{
    const struct lookup_asker *one = &((const struct share *)a)->asker;
    const struct lookup_asker *other = &((const struct share *)b)->asker;

    if (one->known != other->known)
        return (uintptr_t)one->known < (uintptr_t)other->known ? -1 : 1;
    if (one->ip.family != other->ip.family)
        return one->ip.family < other->ip.family ? -1 : 1;
    return memcmp(one->ip.bytes, other->ip.bytes, sizeof one->ip.bytes);
}

static struct share *share_new(struct shares *s, const struct lookup_asker *who)
{
    struct share *share = calloc(1, sizeof *share);

    if (share == NULL)
        abort();
    share->asker = *who;
    if (tsearch(share, &s->root, compare) == NULL)
        abort();
    return share;
}

struct share *share_take(struct shares *s, const struct lookup_asker *asker,
                         unsigned max)
{
    const struct share key = {.asker = canonical(asker)};
    void *node = tfind(&key, &s->root, compare);
    struct share *share = node != NULL ? *(struct share **)node : NULL;

    if ((share != NULL ? share->held : 0) >= max)
        return NULL;
    if (share == NULL)
        share = share_new(s, &key.asker);
    share->held++;
    return share;
}

void share_give(struct shares *s, struct share *share)
{
    if (share == NULL || --share->held > 0)
        return;
    tdelete(share, &s->root, compare);
    free(share);
}
