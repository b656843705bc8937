#include "proxy/policy/span.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

size_t spans_settle(struct span *spans, size_t count, span_twice_fn *twice, void *owner)
{
    size_t kept = 0;
    unsigned end = 0; /* the highest port that a kept span holds */

    if (count < 2)
        return count;
    qsort(spans, count, sizeof *spans, compare);
    for (size_t i = 1; i < count; i++)
        if (spans[i].first == spans[i - 1].first && spans[i].last == spans[i - 1].last)
            twice(owner, spans[i - 1].entry, spans[i].entry);
    for (size_t i = 0; i < count; i++) {
        struct span s = spans[i];

        if (s.last <= end)
            continue;
        if (s.first <= end)
            s.first = (uint16_t)(end + 1);
        end = s.last;
        spans[kept++] = s;
    }
    return kept;
}

const struct span *spans_find(const struct span *spans, size_t count, unsigned port)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (port < spans[middle].first)
            high = middle;
        else if (port > spans[middle].last)
            low = middle + 1;
        else
            return &spans[middle];
    }
    return NULL;
}
