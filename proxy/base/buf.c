#include "proxy/base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALLEST = 512 };

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_done(struct buf *b)
{
    free(b->bytes);
    *b = (struct buf){.max = b->max};
}

static void make_room(struct buf *b, size_t need)
{
    size_t len = buf_len(b), size = b->size > 0 ? b->size : SMALLEST;

    if (b->start > 0) {
        memmove(b->bytes, b->bytes + b->start, len);
        b->start = 0;
        b->end = len;
    }
    while (size < len + need)
        size *= 2;
    if (size > b->size || b->bytes == NULL) {
        b->bytes = realloc(b->bytes, size);
        if (b->bytes == NULL)
            abort();
        b->size = size;
    }
}

char *buf_tail(struct buf *b, size_t want, size_t *room)
{
    *room = want < buf_room(b) ? want : buf_room(b);
    if (*room == 0)
        return NULL;
    if (b->bytes == NULL || b->size - b->end < *room)
        make_room(b, *room);
    return b->bytes + b->end;
}

void buf_filled(struct buf *b, size_t n)
{
    assert(b->end + n <= b->size && buf_len(b) + n <= b->max);
    b->end += n;
}

void buf_drain(struct buf *b, size_t n)
{
    assert(n <= buf_len(b));
    b->start += n;
    if (b->start == b->end)
        buf_done(b);
}

bool buf_add(struct buf *b, struct str s)
{
    size_t room;
    char *tail;

    if (s.n == 0)
        return true;
    if (s.n > buf_room(b))
        return false;
    tail = buf_tail(b, s.n, &room);
    memcpy(tail, s.p, s.n);
    buf_filled(b, s.n);
    return true;
}

bool buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;
    int n;
    size_t room;
    char *tail;

    va_start(args, fmt);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= buf_room(b))
        return false;
    tail = buf_tail(b, (size_t)n + 1, &room);
    va_start(args, fmt);
    vsnprintf(tail, room, fmt, args);
    va_end(args);
    buf_filled(b, (size_t)n);
    return true;
}
