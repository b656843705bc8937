/* An array that doubles. For what is made while a policy is compiled: its size is
 * bounded by the settings file, and without memory there is nothing to go on with. */
#ifndef POLICY_GROW_H
#define POLICY_GROW_H

#include <stddef.h>
#include <stdlib.h>

/* `p` with room for `need` elements of `size` bytes; *room says for how many. */
static inline void *grow(void *p, size_t *room, size_t need, size_t size)
{
    size_t wanted = *room != 0 ? *room : 16;

    if (need <= *room)
        return p;
    while (wanted < need)
        wanted *= 2;
    p = reallocarray(p, wanted, size);
    if (p == NULL)
        abort();
    *room = wanted;
    return p;
}

#endif
