/* What a parent answers. The first byte chooses the protocol and in which pieces the
 * rest comes: whatever these are, the talk ends in the same way and at the same byte,
 * no byte behind the answer is taken, and what is sent is bounded. */
#include <stdint.h>
#include <stdlib.h>

#include "proxy/parent_talk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    enum talk talk;
    size_t taken;
    enum reason reason;
};

static const char *const urls[] = {"http://p.test", "http://u:p@p.test",
                                   "socks5://p.test", "socks5h://u:p@p.test"};
enum { URLS = sizeof urls / sizeof *urls };

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* An open tunnel of HTTP begins right behind an empty line. */
static void check_open(const struct parent *parent, struct str in, size_t taken)
{
    if (parent->kind == PARENT_HTTP)
        require(taken >= 16 && str_ends(str_head(in, taken), STR("\r\n\r\n")));
    else
        require(taken >= 9);
}

static struct outcome talk_through(const struct parent *parent, struct str in,
                                   size_t piece)
{
    struct target to = {.kind = HOST_NAME, .host = STR("a.test"), .port = 443};
    struct outcome o = {.talk = TALK_MORE};
    struct parent_talk t;
    struct buf out;

    buf_init(&out, TALK_OUT_MAX);
    parent_talk_start(&t, parent, &to, &out);
    while (o.talk == TALK_MORE && o.taken < in.n) {
        size_t need = parent_talk_need(&t);
        struct str next = str_head(str_skip(in, o.taken), need < piece ? need : piece);

        require(need > 0 && need <= TALK_SOCKS_MAX);
        o.talk = parent_talk_feed(&t, next, &out);
        o.taken += next.n;
        require(buf_len(&out) < 512 && o.taken <= TALK_HEADS_MAX + TALK_SOCKS_MAX);
    }
    if (o.talk == TALK_MORE)
        parent_talk_closed(&t);
    if (o.talk == TALK_OPEN)
        check_open(parent, in, o.taken);
    else
        require(t.failure.error != NULL && t.failure.why[0] != '\0');
    o.reason = t.failure.reason;
    buf_done(&out);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = {(const char *)data + 1, size > 0 ? size - 1 : 0};
    struct outcome whole, pieces;
    struct parent parent;
    struct err e;

    if (size == 0)
        return 0;
    require(parent_from_url(str_from(urls[data[0] % URLS]), &parent, &e));
    whole = talk_through(&parent, in, TALK_SOCKS_MAX);
    pieces = talk_through(&parent, in, 1 + data[0] / URLS % 16);
    require(whole.talk == pieces.talk && whole.reason == pieces.reason);
    /* A failure ends the talk with the piece in which it lies. */
    require(whole.talk == TALK_FAILED || pieces.taken == whole.taken);
    parent_done(&parent);
    return 0;
}
