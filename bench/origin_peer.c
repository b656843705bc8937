#include "bench/origin_peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/net.h"

enum { HEAD_SIZE = 2048, CHUNK = 65536 };

static const char http_answer[] = "HTTP/1.1 200 OK\r\n"
                                  "Content-Type: text/plain\r\n"
                                  "Content-Length: 2\r\n\r\n"
                                  "ok";

/* What is sent and received in bulk is ordinary memory, moved by send() and recv() in
 * pieces of 64 KiB, as most servers do it. With sendfile(), MSG_ZEROCOPY or MSG_TRUNC
 * the bytes would never be in a processor's cache at this end, and a proxy that splices
 * would look better than it is with servers that make or read what they send. */
static char chunk[CHUNK];

enum peer_state {
    PEER_HEAD = 0, /* `in` is the beginning of a request */
    PEER_SOURCE,   /* `left` bytes are to be sent */
    PEER_SINK,     /* `left` bytes are to come */
    PEER_ECHO,     /* `in` from `sent` on is to be sent back */
    PEER_LAST,     /* all is said, the client has yet to close */
};

struct origin_peer {
    int epoll, fd;
    uint32_t watched; /* what epoll waits for now */
    enum peer_state state;
    uint64_t left;
    size_t sent, len;
    char in[HEAD_SIZE + 1];
};

static void watch(struct origin_peer *p, uint32_t events)
{
    if (p->watched == events)
        return;
    net_watch(p->epoll, p->watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, p->fd, events,
              p);
    p->watched = events;
}

void origin_peer_new(int epoll, int fd)
{
    struct origin_peer *p = calloc(1, sizeof *p);

    if (p == NULL)
        abort();
    p->epoll = epoll;
    p->fd = fd;
    watch(p, EPOLLIN);
}

static bool send_text(struct origin_peer *p, const char *text, size_t len)
{
    return send(p->fd, text, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Every step returns false when the connection is to be closed. */
static bool step_echo(struct origin_peer *p)
{
    ssize_t n;

    if (p->sent == p->len) {
        n = recv(p->fd, p->in, HEAD_SIZE, 0);
        if (n <= 0)
            return n < 0 && errno == EAGAIN;
        p->sent = 0;
        p->len = (size_t)n;
    }
    n = send(p->fd, p->in + p->sent, p->len - p->sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN)
        return false;
    p->sent += n > 0 ? (size_t)n : 0;
    watch(p, p->sent == p->len ? EPOLLIN : EPOLLOUT);
    return true;
}

static bool step_source(struct origin_peer *p)
{
    ssize_t n = send(p->fd, chunk, p->left < CHUNK ? p->left : CHUNK, MSG_NOSIGNAL);

    if (n < 0)
        return errno == EAGAIN;
    p->left -= (uint64_t)n;
    if (p->left > 0)
        return true;
    p->state = PEER_LAST;
    watch(p, EPOLLIN);
    return shutdown(p->fd, SHUT_WR) == 0;
}

static bool step_sink(struct origin_peer *p)
{
    ssize_t n = p->left == 0 ? 0 : recv(p->fd, chunk, CHUNK, 0);

    if (n < 0)
        return errno == EAGAIN;
    if (n == 0 || (uint64_t)n > p->left)
        return false;
    p->left -= (uint64_t)n;
    if (p->left > 0)
        return true;
    p->state = PEER_LAST;
    return send_text(p, "done\n", 5);
}

static bool step_last(struct origin_peer *p)
{
    ssize_t n = recv(p->fd, p->in, HEAD_SIZE, 0);

    return n < 0 && errno == EAGAIN;
}

/* Takes `len` bytes off the front of what has come. */
static void consume(struct origin_peer *p, size_t len)
{
    p->len -= len;
    memmove(p->in, p->in + len, p->len + 1);
}

static bool answer_requests(struct origin_peer *p)
{
    const char *end;

    while ((end = strstr(p->in, "\r\n\r\n")) != NULL) {
        if (!send_text(p, http_answer, sizeof http_answer - 1))
            return false;
        consume(p, (size_t)(end - p->in) + 4);
    }
    return p->len < HEAD_SIZE;
}

static bool begin_bulk(struct origin_peer *p, enum peer_state state, const char *number,
                       size_t line_len)
{
    if (!net_number_parse(number, UINT64_MAX, &p->left) || p->left == 0)
        return false;
    p->state = state;
    consume(p, line_len);
    if (state == PEER_SOURCE) {
        watch(p, EPOLLOUT);
        return p->len == 0;
    }
    if (p->len >= p->left)
        return false; /* our client never asks for so few */
    p->left -= p->len;
    return true;
}

static bool begin_echo(struct origin_peer *p, size_t line_len)
{
    p->state = PEER_ECHO;
    consume(p, line_len);
    p->sent = 0;
    return p->len == 0 || step_echo(p);
}

static bool step_head(struct origin_peer *p)
{
    ssize_t n = recv(p->fd, p->in + p->len, HEAD_SIZE - p->len, 0);
    char *end;

    if (n <= 0)
        return n < 0 && errno == EAGAIN;
    p->len += (size_t)n;
    p->in[p->len] = '\0';
    if (strncmp(p->in, "GET ", 4) == 0)
        return answer_requests(p);
    end = strchr(p->in, '\n');
    if (end == NULL)
        return p->len < HEAD_SIZE;
    *end = '\0';
    if (strncmp(p->in, "SOURCE ", 7) == 0)
        return begin_bulk(p, PEER_SOURCE, p->in + 7, (size_t)(end - p->in) + 1);
    if (strncmp(p->in, "SINK ", 5) == 0)
        return begin_bulk(p, PEER_SINK, p->in + 5, (size_t)(end - p->in) + 1);
    return strcmp(p->in, "ECHO") == 0 && begin_echo(p, (size_t)(end - p->in) + 1);
}

void origin_peer_event(struct origin_peer *p, uint32_t events)
{
    static bool (*const steps[])(struct origin_peer *) = {
        step_head, step_source, step_sink, step_echo, step_last,
    };

    if ((events & EPOLLERR) == 0 && steps[p->state](p))
        return;
    close(p->fd);
    free(p);
}
