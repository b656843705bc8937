#include "dns/answer.h"

#include <assert.h>
#include <stdlib.h>

static size_t size_of(size_t count)
{
    return sizeof(struct answer) + count * sizeof(struct ip);
}

struct answer *answer_new(enum lookup_status status, const char *why)
{
    struct answer *a = calloc(1, size_of(LOOKUP_MAX));

    if (a == NULL)
        abort();
    a->refs = 1;
    a->status = status;
    a->why = why;
    return a;
}

struct answer *answer_ref(struct answer *a)
{
    assert(a->refs > 0);
    a->refs++;
    return a;
}

void answer_unref(struct answer **a)
{
    if (*a != NULL && --(*a)->refs == 0)
        free(*a);
    *a = NULL;
}

void answer_add(struct answer *a, const struct ip *ip)
{
    assert(a->refs == 1);
    for (size_t i = 0; i < a->count; i++)
        if (ip_equal(&a->ips[i], ip))
            return;
    if (a->count < LOOKUP_MAX)
        a->ips[a->count++] = *ip;
}

struct answer *answer_finish(struct answer *a)
{
    struct answer *small = realloc(a, size_of(a->count));

    return small != NULL ? small : a;
}
