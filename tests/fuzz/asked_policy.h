/* What is true of every policy, whatever file it came from. */
#ifndef FUZZ_ASKED_POLICY_H
#define FUZZ_ASKED_POLICY_H

#include <stdlib.h>

#include "proxy/policy/policy.h"

/* A warning has something to say. */
static inline void on_warn(void *owner, const char *text)
{
    (void)owner;
    if (text[0] == '\0')
        abort();
}

/* Whether it lets a name through that stands in no corpus; never by its allow list. */
static inline bool allows(const struct policy *p)
{
    struct hostaddrs host = {0};
    struct target t = {0};
    struct verdict v;
    struct arena a;

    arena_init(&a, 256);
    if (!target_set(&t, &a, STR("never-in-the-corpus.invalid"), false, 443))
        abort();
    v = policy_check_target(p, &t, &host);
    if (v.allow && v.reason == REASON_NOT_ON_ALLOW_LIST)
        abort();
    arena_done(&a);
    return v.allow;
}

#endif
