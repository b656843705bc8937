/* See exchange.h. One turn: the request moves on, then the response; the watchers are
 * set at the end from what is left to do. */
#include "proxy/exchange.h"

#include <stdlib.h>

#include "proxy/exchange_response.h"

enum {
    /* Bounds that nothing comes near: reading stops while something is kept. */
    KEPT_MAX = 4 * 1024 * 1024,
    READ_AHEAD = 4096,
};

void exchange_room_init(struct exchange_room *room, struct relay_pool *relays,
                        const struct hangups *hangups)
{
    *room = (struct exchange_room){.relays = relays, .hangups = hangups};
}

void exchange_room_done(struct exchange_room *room)
{
    free(room->bytes);
    room->bytes = NULL;
}

char *exchange_place(const struct exchange *x)
{
    if (x->room->bytes == NULL && (x->room->bytes = malloc(EXCHANGE_ROOM)) == NULL)
        abort();
    return x->room->bytes + HTTP_CHUNK_BEFORE;
}

size_t exchange_may_read(const struct exchange *x)
{
    const struct relay_pool *pool = x->room->relays;
    bool crowded = pool->left + EXCHANGE_READ_MAX > pool->left_max;

    return crowded ? RELAY_SHORT_READ : EXCHANGE_READ_MAX;
}

bool exchange_init(struct exchange *x, struct exchange_room *room,
                   const struct http_head *request, struct stream *client,
                   struct buf *in)
{
    const struct str *expect = http_get(request, STR("Expect"));

    *x = (struct exchange){
        .room = room,
        .client = client,
        .in = in,
        .request = *request,
        .up = http_body_of_request(request),
    };
    buf_init(&x->to_server, KEPT_MAX);
    buf_init(&x->to_client, KEPT_MAX);
    buf_init(&x->head, EXCHANGE_HEAD_MAX + EXCHANGE_READ_MAX);
    if (!hops_read(&x->hops, request))
        return false;
    x->expects = expect != NULL && request->minor == 1 && !x->up.done;
    x->websocket = rewrite_wants_websocket(request, &x->hops);
    x->last = request->minor == 0 || hops_named(&x->hops, STR("close")) ||
              http_lists(request, STR("Proxy-Connection"), STR("close"));
    return true;
}

/* What is kept counts as the memory that it takes (relay.c). */
static void count_kept(struct exchange *x)
{
    size_t now = x->to_server.size + x->to_client.size + x->head.size;

    x->room->relays->left = x->room->relays->left - x->counted + now;
    x->counted = now;
}

void exchange_done(struct exchange *x)
{
    if (x->unheard)
        hangups_forget(x->room->hangups, x->client);
    x->unheard = false;
    buf_done(&x->to_server);
    buf_done(&x->to_client);
    buf_done(&x->head);
    count_kept(x);
}

static bool is_safe(struct str method)
{
    static const struct str safe[] = {STR("GET"),      STR("HEAD"),   STR("OPTIONS"),
                                      STR("PROPFIND"), STR("SEARCH"), STR("REPORT")};

    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        if (str_equal(method, safe[i]))
            return true;
    return false;
}

bool exchange_repeatable(const struct exchange *x)
{
    return is_safe(x->request.method) && !x->request.has_body && !x->websocket;
}

bool exchange_droppable(const struct exchange *x)
{
    return !x->last && !x->expects &&
           (x->up.done || (x->up.framing == HTTP_FRAMING_LENGTH &&
                           x->up.left <= EXCHANGE_DRAIN_KEPT));
}

void exchange_begin(struct exchange *x, struct stream *server,
                    const struct rewrite_route *route)
{
    buf_done(&x->to_server);
    x->server = server;
    x->moved = ev_now(x->room->relays->loop);
    x->failure = (struct exchange_failure){.status = 0};
    x->server_gone = false;
    if (!rewrite_request(&x->to_server, &x->request, &x->hops, route))
        abort(); /* a head has a bound, and this one is hardly longer */
    count_kept(x);
}

void exchange_drop(struct exchange *x)
{
    exchange_done(x);
    x->moved = ev_now(x->room->relays->loop);
    x->server = NULL;
    x->server_gone = true;
    x->responded = true;
    x->websocket = false;
    x->down = (struct http_body){.done = true};
    x->keep_client = true;
}

enum exchange_status exchange_fail(struct exchange *x, unsigned status,
                                   enum reason reason, const char *error,
                                   const char *why)
{
    if (x->responded || buf_len(&x->to_client) > 0)
        return EXCHANGE_CUT;
    x->failure = (struct exchange_failure){
        .status = status,
        .reason = reason,
        .error = error,
        .why = why,
    };
    return EXCHANGE_FAILED;
}

static bool write_some(struct exchange *x, struct stream *to, struct str bytes,
                       unsigned long long *count, size_t *n)
{
    struct counters *c = x->room->relays->counters;

    if (stream_write(to, bytes.p, bytes.n, n) == IO_ERROR)
        return false;
    if (*n > 0)
        x->moved = ev_now(x->room->relays->loop);
    *count += *n;
    count_add(count == &x->bytes_up ? &c->bytes_up : &c->bytes_down, *n);
    return true;
}

static bool flush(struct exchange *x, struct stream *to, struct buf *kept,
                  unsigned long long *count)
{
    size_t n;

    if (buf_len(kept) == 0)
        return true;
    if (!write_some(x, to, buf_view(kept), count, &n))
        return false;
    buf_drain(kept, n);
    return true;
}

/* Nothing is read while something is kept, so it fits. */
static void keep(struct buf *kept, struct str bytes)
{
    if (!buf_add(kept, bytes))
        abort();
}

bool exchange_send(struct exchange *x, struct stream *to, struct buf *kept,
                   struct str bytes, unsigned long long *count)
{
    size_t n = 0;

    if (buf_len(kept) > 0) {
        keep(kept, bytes);
        return flush(x, to, kept, count);
    }
    if (bytes.n > 0 && !write_some(x, to, bytes, count, &n))
        return false;
    keep(kept, str_skip(bytes, n));
    return true;
}

/* The server may still have an answer for us: it is listened to. */
static void lose_server(struct exchange *x)
{
    x->server_gone = true;
    buf_done(&x->to_server);
}

static void pass_body(struct exchange *x, char *bytes, size_t len)
{
    struct str piece = {bytes, len};

    x->moved = ev_now(x->room->relays->loop);
    if (x->server_gone) {
        x->dropped += len;
        return;
    }
    if (x->up.framing == HTTP_FRAMING_CHUNKED)
        piece = http_chunk(bytes, len, x->up.done);
    if (!exchange_send(x, x->server, &x->to_server, piece, &x->bytes_up))
        lose_server(x);
}

static enum exchange_status take_body(struct exchange *x, char *bytes, size_t n,
                                      size_t *used)
{
    size_t len;

    x->expects = false;
    if (!http_body_take(&x->up, bytes, n, used, &len)) {
        x->last = true; /* where the next request would begin nobody knows */
        return exchange_fail(x, 400, REASON_MALFORMED_REQUEST, "http_request_error",
                             "the body is not chunked as it should be");
    }
    pass_body(x, bytes, len);
    return EXCHANGE_GOES_ON;
}

/* From what came with the head, or with the request before. */
static enum exchange_status take_what_came(struct exchange *x)
{
    struct str came = str_head(buf_view(x->in), exchange_may_read(x));
    char *bytes = exchange_place(x);
    enum exchange_status status;
    size_t used;

    memcpy(bytes, came.p, came.n);
    status = take_body(x, bytes, came.n, &used);
    if (status == EXCHANGE_GOES_ON)
        buf_drain(x->in, used);
    return status;
}

static enum exchange_status client_left(struct exchange *x)
{
    x->client_ended = true;
    return exchange_fail(x, 0, REASON_CLIENT_LEFT, NULL, NULL);
}

static enum exchange_status read_body(struct exchange *x)
{
    char *bytes = exchange_place(x);
    size_t size = exchange_may_read(x), n, used;
    enum exchange_status status;

    if (size > x->in->max)
        size = x->in->max; /* what is too much must fit in there */
    switch (stream_read(x->client, bytes, size, &n)) {
    case IO_AGAIN:
        return EXCHANGE_GOES_ON;
    case IO_OK:
        break;
    default:
        return client_left(x);
    }
    status = take_body(x, bytes, n, &used);
    if (status == EXCHANGE_GOES_ON &&
        !buf_add(x->in, (struct str){bytes + used, n - used}))
        abort();
    return status;
}

/* Behind its request the client may send the next one, or say its last. */
static enum exchange_status read_ahead(struct exchange *x)
{
    size_t room, n;
    char *tail;
    enum io io;

    if (x->client_ended || buf_len(x->in) >= EXCHANGE_AHEAD_MAX)
        return EXCHANGE_GOES_ON;
    tail = buf_tail(x->in, READ_AHEAD, &room);
    if (room == 0)
        return EXCHANGE_GOES_ON;
    io = stream_read(x->client, tail, room, &n);
    buf_filled(x->in, n);
    buf_drain(x->in, 0);
    if (io == IO_ERROR)
        return client_left(x);
    x->client_ended = io == IO_EOF;
    return EXCHANGE_GOES_ON;
}

/* Nobody waits for the rest of the body, or it is too much. */
static bool given_up(const struct exchange *x)
{
    return x->responded && x->down.done && buf_len(&x->to_client) == 0 && !x->up.done &&
           (x->expects || x->dropped > EXCHANGE_DRAIN_MAX);
}

static enum exchange_status move_up(struct exchange *x)
{
    bool readable = (x->client->ready & EV_READ) != 0;
    enum exchange_status status = EXCHANGE_GOES_ON;

    /* The first piece of a body goes out together with the head. */
    if (!x->up.done && buf_len(x->in) > 0 && buf_len(&x->to_server) < EXCHANGE_READ_MAX)
        status = take_what_came(x);
    else if (!x->up.done && readable && buf_len(&x->to_server) == 0)
        status = read_body(x);
    else if (x->up.done && readable)
        status = read_ahead(x);
    if (status == EXCHANGE_GOES_ON && !x->server_gone &&
        !flush(x, x->server, &x->to_server, &x->bytes_up))
        lose_server(x);
    return status;
}

static enum exchange_status move_down(struct exchange *x)
{
    if (buf_len(&x->to_client) > 0 &&
        !flush(x, x->client, &x->to_client, &x->bytes_down))
        return client_left(x);
    if (!x->down.done && buf_len(&x->to_client) == 0 &&
        (x->server->ready & EV_READ) != 0)
        return exchange_listen(x);
    return EXCHANGE_GOES_ON;
}

static bool is_whole(const struct exchange *x)
{
    return x->responded && x->down.done && buf_len(&x->to_client) == 0;
}

static enum exchange_status finish(struct exchange *x)
{
    if (given_up(x))
        x->keep_client = x->keep_server = false;
    else if (!x->up.done || buf_len(&x->to_server) > 0)
        return EXCHANGE_GOES_ON;
    if (x->server_gone)
        x->keep_server = false;
    return EXCHANGE_OVER;
}

/* A client that has sent all, or more than has room, may leave before it has the
 * answer: while the server is silent nothing is written to it that would show it. */
static void watch_client(struct exchange *x, int events)
{
    stream_want(x->client, x->room->relays->loop, events);
    x->client->ready = 0;
    if (events != 0 || x->unheard)
        return;
    hangups_watch(x->room->hangups, x->client);
    x->unheard = true;
}

static void watch(struct exchange *x)
{
    struct ev_loop *loop = x->room->relays->loop;
    bool wanted = x->up.done ? buf_len(x->in) < EXCHANGE_AHEAD_MAX
                             : buf_len(x->in) == 0 && buf_len(&x->to_server) == 0;
    int client = wanted && !x->client_ended ? EV_READ : 0, server = 0;

    if (buf_len(&x->to_client) > 0)
        client |= EV_WRITE;
    if (!x->down.done && buf_len(&x->to_client) == 0)
        server |= EV_READ;
    if (buf_len(&x->to_server) > 0)
        server |= EV_WRITE;
    watch_client(x, client);
    if (x->server == NULL)
        return;
    stream_want(x->server, loop, server);
    x->server->ready = 0;
}

/* What came already and could be taken is not told by any watcher. */
static bool has_more(const struct exchange *x)
{
    return !x->up.done && buf_len(x->in) > 0 && buf_len(&x->to_server) == 0;
}

enum exchange_status exchange_run(struct exchange *x)
{
    enum exchange_status status;

    if (x->client->gone)
        return client_left(x);
    do
        status = move_up(x);
    while (status == EXCHANGE_GOES_ON && has_more(x));
    if (status == EXCHANGE_GOES_ON)
        status = move_down(x);
    if (status == EXCHANGE_GOES_ON && is_whole(x) && x->websocket)
        return EXCHANGE_TUNNEL;
    if (status == EXCHANGE_GOES_ON && is_whole(x))
        status = finish(x);
    if (status == EXCHANGE_GOES_ON)
        watch(x);
    count_kept(x);
    return status;
}

bool exchange_waits(const struct exchange *x)
{
    return !x->responded;
}

bool exchange_drains(const struct exchange *x)
{
    return is_whole(x) && x->server_gone;
}
