#include "proxy/parent_talk.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

static const struct talk_protocol *protocol_of(const struct parent_talk *t)
{
    return t->parent->kind == PARENT_SOCKS5 ? &talk_socks : &talk_http;
}

enum talk talk_fail(struct parent_talk *t, enum reason reason, const char *error,
                    const char *fmt, ...)
{
    struct talk_failure *f = &t->failure;
    va_list args;
    int n;

    f->reason = reason;
    f->error = error;
    n = snprintf(f->why, sizeof f->why, "the parent proxy %s ", t->parent->name);
    if (n < 0 || (size_t)n >= sizeof f->why)
        return TALK_FAILED;
    va_start(args, fmt);
    vsnprintf(f->why + n, sizeof f->why - (size_t)n, fmt, args);
    va_end(args);
    return TALK_FAILED;
}

void parent_talk_start(struct parent_talk *t, const struct parent *parent,
                       const struct target *to, struct buf *out)
{
    *t = (struct parent_talk){.parent = parent, .to = to};
    protocol_of(t)->start(t, out);
}

size_t parent_talk_need(const struct parent_talk *t)
{
    return protocol_of(t)->need(t);
}

enum talk parent_talk_feed(struct parent_talk *t, struct str in, struct buf *out)
{
    assert(in.n <= parent_talk_need(t));
    return protocol_of(t)->feed(t, in, out);
}

void parent_talk_closed(struct parent_talk *t)
{
    talk_fail(t, REASON_PARENT_FAILURE, protocol_of(t)->closed_error,
              "closed the connection %s its answer",
              t->seen > 0 ? "in the middle of" : "before");
}
