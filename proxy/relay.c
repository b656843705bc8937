/* See relay.h. One turn: each direction first sends what it had kept; if nothing is
 * kept it reads once and sends that. Watchers are set at the end from what is left. */
#include "proxy/relay.h"

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define RELAY_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RELAY_ASAN 1
#endif
#endif

#ifdef RELAY_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(place, size)   ((void)(place), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(place, size) ((void)(place), (void)(size))
#endif

void relay_pool_init(struct relay_pool *p, struct ev_loop *loop,
                     struct counters *counters)
{
    *p = (struct relay_pool){
        .loop = loop, .counters = counters, .left_max = RELAY_LEFT_MAX};
}

void relay_pool_done(struct relay_pool *p)
{
    if (p->buffer != NULL)
        ASAN_UNPOISON_MEMORY_REGION(p->buffer, RELAY_BUFFER);
    free(p->buffer);
    p->buffer = NULL;
}

static char *buffer_open(struct relay_pool *p)
{
    if (p->buffer == NULL && (p->buffer = malloc(RELAY_BUFFER)) == NULL)
        abort();
    ASAN_UNPOISON_MEMORY_REGION(p->buffer, RELAY_BUFFER);
    return p->buffer;
}

static void buffer_shut(struct relay_pool *p)
{
    ASAN_POISON_MEMORY_REGION(p->buffer, RELAY_BUFFER);
}

void relay_init(struct relay *r, struct relay_pool *pool, struct stream *client,
                struct stream *server)
{
    *r = (struct relay){
        .pool = pool,
        .up = {.from = client, .to = server, .held = true},
        .down = {.from = server, .to = client},
        .moved = ev_now(pool->loop),
    };
    /* What the owner hands over comes in two pieces, and the second on top. */
    buf_init(&r->up.left, 2 * RELAY_BUFFER);
    buf_init(&r->down.left, RELAY_BUFFER);
}

/* What is kept counts as the memory that it takes: a reader who takes almost all of it,
 * but not all, still holds the whole buffer. `had` is what was counted before. */
static void count_left(struct relay *r, const struct relay_way *w, size_t had)
{
    r->pool->left = r->pool->left - had + w->left.size;
}

static void drop_left(struct relay *r, struct relay_way *w)
{
    size_t had = w->left.size;

    buf_done(&w->left);
    count_left(r, w, had);
}

void relay_done(struct relay *r)
{
    if (r->pool == NULL)
        return;
    drop_left(r, &r->up);
    drop_left(r, &r->down);
}

static void keep(struct relay *r, struct relay_way *w, struct str bytes)
{
    size_t had = w->left.size;

    if (!buf_add(&w->left, bytes))
        abort(); /* nothing is read while something is kept, so it fits */
    count_left(r, w, had);
}

/* `to` is gone. The other direction goes on until it has said all (a server that
 * answers and closes before it has read everything), so what still comes is dropped. */
static void give_up(struct relay *r, struct relay_way *w)
{
    w->dead = true;
    drop_left(r, w);
}

static size_t sent(struct relay *r, struct relay_way *w, size_t n)
{
    struct counters *c = r->pool->counters;

    w->bytes += n;
    count_add(w == &r->up ? &c->bytes_up : &c->bytes_down, n);
    if (n > 0)
        r->moved = ev_now(r->pool->loop);
    return n;
}

static void send_left(struct relay *r, struct relay_way *w)
{
    struct str left = buf_view(&w->left);
    size_t had = w->left.size, n;

    if (stream_write(w->to, left.p, left.n, &n) == IO_ERROR) {
        give_up(r, w);
        return;
    }
    buf_drain(&w->left, sent(r, w, n));
    count_left(r, w, had);
}

static void send_fresh(struct relay *r, struct relay_way *w, struct str bytes)
{
    size_t n;

    if (w->dead)
        return;
    if (stream_write(w->to, bytes.p, bytes.n, &n) == IO_ERROR) {
        give_up(r, w);
        return;
    }
    keep(r, w, str_skip(bytes, sent(r, w, n)));
}

/* How much may be read now. When the pool is used up, slow readers must not stop the
 * others: a little is read, and only when `to` takes it, so hardly ever is more kept.
 */
static size_t may_read(const struct relay *r, struct relay_way *w)
{
    w->crowded = r->pool->left + RELAY_BUFFER > r->pool->left_max && !w->dead &&
                 !stream_writable(w->to);
    if (w->crowded)
        return 0;
    return r->pool->left + RELAY_BUFFER > r->pool->left_max ? RELAY_SHORT_READ
                                                            : RELAY_BUFFER;
}

static void hear(struct relay *r, struct str bytes)
{
    if (r->heard != NULL && buf_len(r->heard) < RELAY_HEARD_MAX)
        buf_add(r->heard, str_head(bytes, RELAY_HEARD_MAX - buf_len(r->heard)));
}

static bool read_once(struct relay *r, struct relay_way *w)
{
    size_t size = may_read(r, w), n;
    char *buffer;
    enum io io;

    if (size == 0)
        return true;
    buffer = buffer_open(r->pool);
    io = stream_read(w->from, buffer, size, &n);
    if (io == IO_OK && w == &r->down)
        hear(r, (struct str){buffer, n});
    if (io == IO_OK)
        send_fresh(r, w, (struct str){buffer, n});
    buffer_shut(r->pool);
    w->eof = io == IO_EOF;
    return io != IO_ERROR;
}

static bool finished(const struct relay_way *w)
{
    return w->shut || w->dead;
}

/* When the other direction has finished both sockets are closed next, which says it
 * too.
 */
static void pass_on_end(struct relay *r, struct relay_way *w, const char *who)
{
    const struct relay_way *other = w == &r->up ? &r->down : &r->up;

    if (!w->eof || w->shut || buf_len(&w->left) > 0)
        return;
    if (!w->dead && !finished(other))
        stream_shut(w->to);
    w->shut = true;
    if (r->close == NULL)
        r->close = who;
}

/* False when `from` died. */
static bool move(struct relay *r, struct relay_way *w, const char *who)
{
    bool wakes = (w->from->ready & EV_READ) != 0 ||
                 (w->crowded && (w->to->ready & EV_WRITE) != 0);

    if (buf_len(&w->left) > 0) {
        if ((w->to->ready & EV_WRITE) != 0)
            send_left(r, w);
    } else if (wakes && !w->held && !w->eof && !read_once(r, w)) {
        return false;
    }
    pass_on_end(r, w, who);
    return true;
}

/* What `in` needs of its source, and `out`, which ends there, of its destination. */
static int wants(const struct relay_way *in, const struct relay_way *out)
{
    bool read = in->held || (!in->eof && !in->crowded && buf_len(&in->left) == 0);
    bool write = out->crowded || buf_len(&out->left) > 0;

    return (read ? EV_READ : 0) | (write ? EV_WRITE : 0);
}

/* `from` died: what was cut must not look complete to the other side. */
static enum relay_status broken(struct relay *r, struct relay_way *w)
{
    stream_reset(w->to);
    r->close = "error";
    return RELAY_OVER;
}

enum relay_status relay_run(struct relay *r)
{
    if (!move(r, &r->up, "client"))
        return broken(r, &r->up);
    if (!move(r, &r->down, "server"))
        return broken(r, &r->down);
    if (finished(&r->up) && finished(&r->down)) {
        if (r->close == NULL)
            r->close = "error";
        return RELAY_OVER;
    }
    stream_want(r->up.from, r->pool->loop, wants(&r->up, &r->down));
    stream_want(r->up.to, r->pool->loop, wants(&r->down, &r->up));
    r->up.from->ready = r->up.to->ready = 0;
    return RELAY_GOES_ON;
}

/* From the owner, behind what it gave before. */
static void send_first(struct relay *r, struct str bytes)
{
    if (bytes.n > 0 && !r->up.dead && buf_len(&r->up.left) > 0)
        keep(r, &r->up, bytes);
    else if (bytes.n > 0)
        send_fresh(r, &r->up, bytes);
}

void relay_ask(struct relay *r, struct str first, struct buf *heard)
{
    r->heard = heard;
    send_first(r, first);
}

void relay_release(struct relay *r, struct buf *first, bool eof)
{
    r->heard = NULL;
    r->up.held = false;
    r->up.eof = eof;
    send_first(r, buf_view(first));
    buf_done(first);
}

bool relay_half_closed(const struct relay *r)
{
    return finished(&r->up) || finished(&r->down);
}

bool relay_silent(const struct relay *r, double seconds)
{
    return buf_len(&r->up.left) == 0 && buf_len(&r->down.left) == 0 &&
           ev_now(r->pool->loop) - r->moved >= seconds;
}
