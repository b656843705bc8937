/* A bounded run of bytes on the heap, filled at the end and drained at the start. It
 * holds no memory while it is empty: an idle connection costs nothing here. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "proxy/base/str.h"

struct buf {
    char *bytes;       /* NULL while empty */
    size_t start, end; /* what is there */
    size_t size;       /* of `bytes` */
    size_t max;        /* more than this is refused */
};

void buf_init(struct buf *b, size_t max);
void buf_done(struct buf *b);

static inline struct str buf_view(const struct buf *b)
{
    return (struct str){b->bytes != NULL ? b->bytes + b->start : "", b->end - b->start};
}

static inline size_t buf_len(const struct buf *b)
{
    return b->end - b->start;
}

static inline size_t buf_room(const struct buf *b)
{
    return b->max - buf_len(b);
}

/* A place for `want` more bytes (fewer when the bound is near; *room tells, 0 and NULL
 * when full). Views taken before this call are dead after it. */
char *buf_tail(struct buf *b, size_t want, size_t *room);
/* `n` bytes were written to what buf_tail() gave. */
void buf_filled(struct buf *b, size_t n);
/* Takes `n` bytes off the front; releases the memory when nothing is left. */
void buf_drain(struct buf *b, size_t n);
/* False, and nothing added, when it does not fit. */
bool buf_add(struct buf *b, struct str s);
bool buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
