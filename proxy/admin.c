/* See admin.h. One request a connection, then it is closed: whoever scrapes does so
 * every few seconds, and what never lasts needs no looking after. */
#include "proxy/admin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "proxy/base/fd.h"
#include "proxy/base/http.h"
#include "proxy/base/log.h"
#include "proxy/base/stream.h"

enum {
    READ_SIZE = 2048,
    HEADER_ROOM = 1024, /* of the answer */
    ARENA_MIN = 8192,
    ARENA_EACH = 2, /* what was sent, once more for views and their ends */
};

/* From the connection to its end; and how long accepting rests. */
static const double guest_seconds = 10, rest_seconds = 0.2;

enum guest_state {
    GUEST_ASKS,   /* `in` holds what was sent so far */
    GUEST_TAKES,  /* `out` holds what is left of the answer */
    GUEST_LEAVES, /* it has all; until it closes */
};

struct guest {
    struct admin *admin;
    struct guest *next; /* younger first */
    struct stream stream;
    struct buf in, out;
    ev_timer deadline;
    enum guest_state state;
};

struct admin {
    struct ev_loop *loop; /* borrowed */
    admin_page_fn *page;
    void *owner;
    struct addr own; /* family 0: a Unix socket */
    int fd;
    int reserve; /* given up for a guest when there is no other descriptor; -1 then */
    ev_io watch;
    ev_timer rest;
    struct guest *guests;
    size_t guest_count;
};

static const struct page {
    const char *path;
    const char *type;
    enum admin_page page;
} pages[] = {
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", ADMIN_METRICS},
    {"/healthz", "text/plain; charset=utf-8", ADMIN_HEALTH},
    {"/readyz", "text/plain; charset=utf-8", ADMIN_READY},
};

/* "PORT" behind the address is part of it; only that of HTTP itself may be left out. */
bool admin_host_is_own(struct str host, const struct addr *own)
{
    char text[ADDR_TEXT_MAX], name[ADDR_TEXT_MAX];
    unsigned port = addr_port(own);

    if (own->len == 0)
        return true;
    snprintf(name, sizeof name, "localhost:%u", port);
    addr_text(own, text);
    if (str_equal(host, str_from(text)) || str_equal_nocase(host, str_from(name)))
        return true;
    return port == 80 &&
           (str_equal_nocase(host, STR("localhost")) ||
            str_equal(host, str_head(str_from(text), strlen(text) - strlen(":80"))));
}

static void open_reserve(struct admin *a)
{
    if (a->reserve < 0)
        a->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void guest_free(struct guest *g)
{
    struct admin *a = g->admin;
    struct guest **at = &a->guests;

    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    a->guest_count--;
    ev_timer_stop(a->loop, &g->deadline);
    stream_done(&g->stream, a->loop);
    buf_done(&g->in);
    buf_done(&g->out);
    free(g);
    open_reserve(a);
}

/* `more` are fields, each with its line end. The answer to HEAD is the same, but for
 * the body (RFC 9110 9.3.2). */
static void answer(struct guest *g, const char *status, const char *more,
                   const char *type, struct str body, bool with_body)
{
    if (!buf_printf(&g->out,
                    "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                    "%sConnection: close\r\n\r\n",
                    status, type, body.n, more) ||
        (with_body && !buf_add(&g->out, body)))
        abort(); /* a body is never larger than the room for it */
    g->state = GUEST_TAKES;
}

static void refuse(struct guest *g, const char *status, const char *more,
                   const char *why)
{
    answer(g, status, more, "text/plain; charset=utf-8", str_from(why), true);
}

static const struct page *find_page(struct str target)
{
    struct str path = str_cut(&target, '?');

    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (str_equal(path, str_from(pages[i].path)))
            return &pages[i];
    return NULL;
}

static void show(struct guest *g, const struct page *page, bool with_body)
{
    struct admin *a = g->admin;
    struct buf body;
    bool good;

    buf_init(&body, ADMIN_BODY_MAX);
    good = a->page(a->owner, page->page, &body);
    answer(g, good ? "200 OK" : "503 Service Unavailable", "", page->type,
           buf_view(&body), with_body);
    buf_done(&body);
}

static void serve(struct guest *g, const struct http_head *head)
{
    const struct str *host = http_get(head, STR("Host"));
    const struct page *page = find_page(head->target);
    bool get = str_equal(head->method, STR("GET"));

    /* A second one would be the one that another program reads (RFC 9112 3.2). */
    if (http_count(head, STR("Host")) > 1)
        refuse(g, "400 Bad Request", "", "more than one Host field\n");
    else if (g->admin->own.len != 0 &&
             (host == NULL || !admin_host_is_own(*host, &g->admin->own)))
        refuse(g, "421 Misdirected Request", "",
               "the Host field does not name this address\n");
    else if (!get && !str_equal(head->method, STR("HEAD")))
        refuse(g, "405 Method Not Allowed", "Allow: GET, HEAD\r\n",
               "only GET and HEAD\n");
    else if (head->has_body)
        refuse(g, "400 Bad Request", "", "a request without a body, please\n");
    else if (page == NULL)
        refuse(g, "404 Not Found", "", "there are /metrics, /healthz and /readyz\n");
    else
        show(g, page, get);
}

/* False: more has to come. */
static bool understand(struct guest *g)
{
    struct str in = buf_view(&g->in);
    struct http_head head;
    struct arena arena;
    size_t used;

    arena_init(&arena, ARENA_MIN + ARENA_EACH * in.n);
    switch (http_parse_request(in, ADMIN_HEAD_MAX, &arena, &head, &used, NULL)) {
    case HTTP_MORE:
        break;
    case HTTP_DONE:
        serve(g, &head);
        break;
    case HTTP_BAD:
        refuse(g, "400 Bad Request", "", "this is no HTTP request\n");
        break;
    case HTTP_TOO_LARGE:
        refuse(g, "431 Request Header Fields Too Large", "", "too large\n");
        break;
    }
    arena_done(&arena);
    return g->state != GUEST_ASKS;
}

/* False: the guest has gone. */
static bool read_request(struct guest *g)
{
    size_t room, n;
    char *tail = buf_tail(&g->in, READ_SIZE, &room);
    enum io io = stream_read(&g->stream, tail, room, &n);

    buf_filled(&g->in, n);
    if (io == IO_EOF || io == IO_ERROR)
        return false;
    if (io == IO_OK && understand(g))
        buf_done(&g->in);
    return true;
}

static bool write_answer(struct guest *g)
{
    struct str out = buf_view(&g->out);
    size_t n = 0;

    if (stream_write(&g->stream, out.p, out.n, &n) == IO_ERROR)
        return false;
    buf_drain(&g->out, n);
    if (buf_len(&g->out) > 0)
        return true;
    stream_shut(&g->stream);
    g->state = GUEST_LEAVES;
    return true;
}

/* What it still sends is thrown away, so that no reset overtakes the answer. */
static bool wait_for_end(struct guest *g)
{
    char scrap[READ_SIZE];
    size_t n;
    enum io io = stream_read(&g->stream, scrap, sizeof scrap, &n);

    return io != IO_EOF && io != IO_ERROR;
}

static bool step(struct guest *g)
{
    bool here = true;

    if (g->state == GUEST_ASKS && (g->stream.ready & EV_READ) != 0)
        here = read_request(g);
    else if (g->state == GUEST_LEAVES && (g->stream.ready & EV_READ) != 0)
        here = wait_for_end(g);
    if (here && g->state == GUEST_TAKES)
        here = write_answer(g);
    if (here)
        stream_want(&g->stream, g->admin->loop,
                    g->state == GUEST_TAKES ? EV_WRITE : EV_READ);
    return here;
}

static void on_ready(struct ev_loop *loop, ev_io *w, int events)
{
    struct guest *g = w->data;

    (void)loop;
    stream_note(&g->stream, events);
    if (!step(g))
        guest_free(g);
}

static void on_deadline(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)events;
    guest_free(w->data);
}

static void drop_oldest(struct admin *a)
{
    struct guest *g = a->guests;

    while (g->next != NULL)
        g = g->next;
    guest_free(g);
}

static void guest_new(struct admin *a, int fd)
{
    struct guest *g = calloc(1, sizeof *g);

    if (g == NULL)
        abort();
    g->admin = a;
    stream_init(&g->stream, fd, on_ready, g);
    /* One more than is allowed, so that too much can be told from enough. */
    buf_init(&g->in, ADMIN_HEAD_MAX + 1);
    buf_init(&g->out, ADMIN_BODY_MAX + HEADER_ROOM);
    ev_timer_init(&g->deadline, on_deadline, guest_seconds, 0);
    g->deadline.data = g;
    ev_timer_start(a->loop, &g->deadline);
    g->next = a->guests;
    a->guests = g;
    if (++a->guest_count > ADMIN_GUESTS_MAX)
        drop_oldest(a);
    stream_want(&g->stream, a->loop, EV_READ);
}

static int accept_one(const struct admin *a)
{
    return accept4(a->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* Watching a listener that cannot be served would spin. */
static void rest(struct admin *a)
{
    ev_io_stop(a->loop, &a->watch);
    ev_timer_set(&a->rest, rest_seconds, 0);
    ev_timer_start(a->loop, &a->rest);
}

static void on_rested(struct ev_loop *loop, ev_timer *w, int events)
{
    struct admin *a = w->data;

    (void)events;
    open_reserve(a);
    ev_io_start(loop, &a->watch);
}

static void on_acceptable(struct ev_loop *loop, ev_io *w, int events)
{
    struct admin *a = w->data;
    int fd = accept_one(a);

    (void)loop, (void)events;
    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && a->reserve >= 0) {
        fd_close(&a->reserve);
        fd = accept_one(a);
    }
    if (fd >= 0)
        guest_new(a, fd);
    else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        rest(a);
}

struct admin *admin_new(struct ev_loop *loop, struct endpoint *at, admin_page_fn *page,
                        void *owner)
{
    struct admin *a = calloc(1, sizeof *a);

    if (a == NULL)
        abort();
    a->loop = loop;
    a->page = page;
    a->owner = owner;
    a->own = at->addr;
    a->fd = fd_steal(&at->fd);
    a->reserve = -1;
    open_reserve(a);
    ev_io_init(&a->watch, on_acceptable, a->fd, EV_READ);
    a->watch.data = a;
    ev_init(&a->rest, on_rested);
    a->rest.data = a;
    ev_io_start(loop, &a->watch);
    return a;
}

void admin_free(struct admin **pointer)
{
    struct admin *a = *pointer;

    if (a == NULL)
        return;
    while (a->guests != NULL)
        guest_free(a->guests);
    ev_io_stop(a->loop, &a->watch);
    ev_timer_stop(a->loop, &a->rest);
    fd_close(&a->fd);
    fd_close(&a->reserve);
    free(a);
    *pointer = NULL;
}
