/* What came of a question about a name. Immutable once made, so the cache and all who
 * wait for it share it by reference count. */
#ifndef DNS_ANSWER_H
#define DNS_ANSWER_H

#include "dns/resolver.h"

struct answer {
    unsigned refs;
    enum lookup_status status;
    const char *why; /* a constant; for people, when status is not LOOKUP_OK */
    bool partial;    /* one family answered, the other failed or was too slow */
    unsigned ttl;    /* seconds, the lowest of its records; only of LOOKUP_OK */
    size_t count;
    struct ip ips[]; /* at most LOOKUP_MAX, no duplicates */
};

/* With one reference, and room for LOOKUP_MAX addresses that are added with
 * answer_add(). */
struct answer *answer_new(enum lookup_status status, const char *why);
struct answer *answer_ref(struct answer *a);
void answer_unref(struct answer **a);

/* Left out when it is there already or when there is no more room. Only for its maker,
 * before anybody shares it. */
void answer_add(struct answer *a, const struct ip *ip);
/* Gives the room that is not used back, and the answer, which may have moved. */
struct answer *answer_finish(struct answer *a);

#endif
