/* Memory that lives and dies with one object (a session, a request). Zeroed,
 * bounded, released in one go; nothing in it is freed on its own. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "proxy/base/str.h"

struct arena {
    char *base; /* NULL until the first allocation */
    size_t used, size;
};

/* Allocates nothing yet. */
void arena_init(struct arena *a, size_t size);
/* Releases everything; the arena may be used again, with the same bound. */
void arena_done(struct arena *a);

/* NULL when the arena is full: the caller refuses the work, it does not grow. */
void *arena_alloc(struct arena *a, size_t size);
/* The copy is NUL-terminated (the NUL is not counted); .p is NULL when the arena is
 * full. */
struct str arena_dup(struct arena *a, struct str s);

#endif
