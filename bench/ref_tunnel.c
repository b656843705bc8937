#include "bench/ref_tunnel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/net.h"
#include "bench/ref_request.h"

enum {
    HEAD_SIZE = 4096,
    TURN_MAX = 1 << 20, /* bytes one way in one turn, so that others get theirs */
};

static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";

enum tunnel_state {
    TUNNEL_HEAD = 0,   /* `head` is the beginning of a request */
    TUNNEL_CONNECTING, /* the server's socket is not connected yet */
    TUNNEL_RELAY,      /* `head` is gone */
    TUNNEL_GET,        /* heads are rewritten one way, the other way is relayed */
    TUNNEL_DEAD,       /* closed, not freed yet */
};

struct ref_side {
    struct ref_tunnel *tunnel;
    int fd;                  /* -1 before there is one */
    bool readable, writable; /* what the last events said and nothing has disproved */
    bool ended;              /* it has said its last */
    bool passed_on;          /* and the other side was told */
    char *left;              /* what the other side did not take, from left_start on */
    size_t left_start, left_len;
};

struct ref_tunnel {
    struct ref *ref; /* borrowed */
    struct ref_side client, server;
    enum tunnel_state state;
    enum ref_request request;
    bool methods_done;
    char *head; /* HEAD_SIZE, NUL-terminated */
    size_t head_len;
    struct ref_tunnel *next_dead;
};

/* Both ways of both sockets, once and for all: a tunnel needs no other call than the
 * two that add its sockets. */
static void watch(struct ref_side *s, int op)
{
    net_watch(s->tunnel->ref->epoll, op, s->fd,
              EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, s);
}

void ref_tunnel_new(struct ref *ref, int fd)
{
    struct ref_tunnel *t = calloc(1, sizeof *t);

    if (t == NULL)
        abort();
    t->ref = ref;
    t->client = (struct ref_side){.tunnel = t, .fd = fd};
    t->server = (struct ref_side){.tunnel = t, .fd = -1};
    watch(&t->client, EPOLL_CTL_ADD);
}

static void end(struct ref_tunnel *t)
{
    close(t->client.fd);
    if (t->server.fd >= 0)
        close(t->server.fd);
    free(t->client.left);
    free(t->server.left);
    free(t->head);
    t->state = TUNNEL_DEAD;
    t->next_dead = t->ref->dead;
    t->ref->dead = t;
}

void ref_bury(struct ref *ref)
{
    while (ref->dead != NULL) {
        struct ref_tunnel *t = ref->dead;

        ref->dead = t->next_dead;
        free(t);
    }
}

/* --- relay: all of these return false when the tunnel is over -----------------------
 */

static bool send_left(struct ref_side *from, struct ref_side *to)
{
    ssize_t n;

    if (!to->writable)
        return true;
    n = send(to->fd, from->left + from->left_start, from->left_len, MSG_NOSIGNAL);
    if (n < 0) {
        to->writable = false;
        return errno == EAGAIN;
    }
    from->left_start += (size_t)n;
    from->left_len -= (size_t)n;
    to->writable = from->left_len == 0;
    if (from->left_len == 0) {
        free(from->left);
        from->left = NULL;
    }
    return true;
}

static void keep(struct ref_side *from, const char *bytes, size_t len)
{
    from->left = malloc(len);
    if (from->left == NULL)
        abort();
    memcpy(from->left, bytes, len);
    from->left_start = 0;
    from->left_len = len;
}

static bool send_new(struct ref_side *from, struct ref_side *to, const char *bytes,
                     size_t len)
{
    ssize_t n = to->writable ? send(to->fd, bytes, len, MSG_NOSIGNAL) : 0;

    if (n < 0 && errno != EAGAIN)
        return false;
    n = n < 0 ? 0 : n;
    if ((size_t)n == len)
        return true;
    to->writable = false;
    keep(from, bytes + n, len - (size_t)n);
    return true;
}

static bool pass_end_on(struct ref_side *from, struct ref_side *to)
{
    if (from->ended && from->left == NULL && !from->passed_on) {
        from->passed_on = true;
        if (!to->passed_on)
            shutdown(to->fd, SHUT_WR);
    }
    return !(from->passed_on && to->passed_on);
}

/* Moves what there is from one side to the other. A read that did not fill the buffer
 * has emptied the socket: asking it again would be a call for nothing. */
static bool move(struct ref_side *from, struct ref_side *to)
{
    char *buffer = from->tunnel->ref->buffer;
    size_t moved = 0;

    if (from->left != NULL && !send_left(from, to))
        return false;
    while (from->readable && !from->ended && from->left == NULL && moved < TURN_MAX) {
        ssize_t n = recv(from->fd, buffer, REF_BUFFER, 0);

        if (n < 0 && errno != EAGAIN)
            return false;
        from->readable = n == REF_BUFFER;
        from->ended = n == 0;
        if (n > 0 && !send_new(from, to, buffer, (size_t)n))
            return false;
        moved += n > 0 ? (size_t)n : 0;
    }
    if (moved >= TURN_MAX)
        watch(from, EPOLL_CTL_MOD); /* what is there already is told once more */
    return pass_end_on(from, to);
}

static struct ref_side *other(struct ref_side *s)
{
    return s == &s->tunnel->client ? &s->tunnel->server : &s->tunnel->client;
}

/* --- request ------------------------------------------------------------------------
 */

/* Sends the heads that are whole with paths in the place of URLs. */
static bool forward_heads(struct ref_tunnel *t)
{
    static const char scheme[] = "GET http://";
    char *end;

    while ((end = strstr(t->head, "\r\n\r\n")) != NULL) {
        size_t len = (size_t)(end - t->head) + 4;
        char *path = strchr(t->head + sizeof scheme - 1, '/');

        if (path == NULL || path > end)
            return false;
        memcpy(path - 4, "GET ", 4);
        len -= (size_t)(path - 4 - t->head);
        if (send(t->server.fd, path - 4, len, MSG_NOSIGNAL) != (ssize_t)len)
            return false;
        t->head_len -= (size_t)(end + 4 - t->head);
        memmove(t->head, end + 4, t->head_len + 1);
    }
    return true;
}

static bool connect_server(struct ref_tunnel *t, const struct sockaddr_in *addr)
{
    t->server.fd = net_connect(addr);
    if (t->server.fd < 0)
        return false;
    watch(&t->server, EPOLL_CTL_ADD);
    t->state = TUNNEL_CONNECTING;
    return true;
}

static bool answer_methods(struct ref_tunnel *t)
{
    t->methods_done = true;
    t->head_len = 0;
    return send(t->client.fd, "\5", 2, MSG_NOSIGNAL) == 2;
}

static bool read_head(struct ref_tunnel *t)
{
    struct sockaddr_in addr;
    ssize_t n;

    if (t->head == NULL && (t->head = malloc(HEAD_SIZE + 1)) == NULL)
        abort();
    n = recv(t->client.fd, t->head + t->head_len, HEAD_SIZE - t->head_len, 0);
    if (n <= 0)
        return n < 0 && errno == EAGAIN;
    t->head_len += (size_t)n;
    t->head[t->head_len] = '\0';
    if (t->state == TUNNEL_GET)
        return forward_heads(t);
    t->client.readable = false;
    t->request = ref_request_parse(t->head, t->head_len, t->methods_done, &addr);
    if (t->request == REF_METHODS)
        return answer_methods(t);
    return t->request == REF_MORE ||
           (t->request != REF_BAD && connect_server(t, &addr));
}

static bool answer(struct ref_tunnel *t)
{
    static const char socks[10] = {5, 0, 0, 1};
    const char *text = t->request == REF_SOCKS ? socks : established;
    size_t len = t->request == REF_SOCKS ? sizeof socks : sizeof established - 1;

    t->state = TUNNEL_RELAY;
    free(t->head);
    t->head = NULL;
    return send(t->client.fd, text, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool connected(struct ref_tunnel *t)
{
    if (!t->server.writable)
        return true;
    if (t->request != REF_GET)
        return answer(t) && move(&t->client, &t->server);
    t->state = TUNNEL_GET;
    return forward_heads(t);
}

static bool relay(struct ref_side *s, bool in, bool out)
{
    return (!in || move(s, other(s))) && (!out || move(other(s), s));
}

/* Edge-triggered events come with the other direction's flag as well: `out` matters
 * only where something waits for it. */
static bool step(struct ref_tunnel *t, struct ref_side *s, bool in)
{
    switch (t->state) {
    case TUNNEL_HEAD:
        return s != &t->client || !in || read_head(t);
    case TUNNEL_CONNECTING:
        return s != &t->server || connected(t);
    case TUNNEL_RELAY:
        return relay(s, in,
                     s->writable && (other(s)->left != NULL || other(s)->readable));
    case TUNNEL_GET:
        if (s == &t->client && in && !read_head(t))
            return false;
        return move(&t->server, &t->client);
    case TUNNEL_DEAD:
        break;
    }
    return true;
}

void ref_tunnel_event(struct ref_side *s, uint32_t events)
{
    struct ref_tunnel *t = s->tunnel;
    bool in = (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) != 0;

    if (t->state == TUNNEL_DEAD)
        return;
    s->readable |= in;
    s->writable |= (events & EPOLLOUT) != 0;
    if ((events & EPOLLERR) != 0 || !step(t, s, in))
        end(t);
}
