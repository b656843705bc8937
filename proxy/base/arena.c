#include "proxy/base/arena.h"

#include <stdlib.h>

enum { ALIGNMENT = 16 };

void arena_init(struct arena *a, size_t size)
{
    *a = (struct arena){.size = size};
}

void arena_done(struct arena *a)
{
    free(a->base);
    a->base = NULL;
    a->used = 0;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t room = a->size - a->used;
    void *p;

    if (size > room || room - size < ALIGNMENT)
        return NULL;
    if (a->base == NULL && (a->base = calloc(1, a->size)) == NULL)
        abort();
    p = a->base + a->used;
    a->used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return p;
}

struct str arena_dup(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);

    if (p == NULL)
        return (struct str){NULL, 0};
    if (s.n > 0)
        memcpy(p, s.p, s.n);
    return (struct str){p, s.n};
}
