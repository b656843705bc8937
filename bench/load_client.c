#include "bench/load_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/load_opening.h"
#include "bench/net.h"

enum { IN_SIZE = 2048, CHUNK = 65536, SLOW_CHUNK = 16384, MESSAGE = 64 };

static const uint64_t patience = 30000000000u; /* nanoseconds */

/* Ordinary memory at this end as well: origin_peer.c says why. */
static char chunk[CHUNK];

enum client_state {
    CLIENT_CLOSED = 0, /* no connection; free */
    CLIENT_READY,      /* connected through; free */
    CLIENT_CONNECTING, /* the socket is not connected yet */
    CLIENT_OPENING,    /* the proxy's answer to message `step` is awaited */
    CLIENT_ANSWER,     /* the answer to a GET is awaited */
    CLIENT_ECHO,       /* `left` bytes of a message have yet to come back */
    CLIENT_RECEIVING,  /* `left` bytes of a transfer have yet to come */
    CLIENT_SENDING,    /* `left` bytes have yet to be sent */
    CLIENT_SENT,       /* all are sent, the target has yet to say so */
    CLIENT_HELD,       /* idle for good; nothing may come */
};

struct load_client {
    struct load *load;             /* borrowed: outlives us */
    struct load_client *next_free; /* while free */
    enum client_state state;
    int fd;
    uint32_t watched; /* what epoll waits for now */
    bool paused;      /* a slow transfer until the next tick */
    unsigned step;
    unsigned long number; /* of the connection */
    uint64_t due, moved;  /* when the operation was due, when something last moved */
    uint64_t left;
    size_t in_len;
    char in[IN_SIZE + 1];
};

static void watch(struct load_client *c, uint32_t events)
{
    if (c->watched == events)
        return;
    net_watch(c->load->epoll,
              c->watched == 0 && !c->paused ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, c->fd,
              events, c);
    c->watched = events;
}

static void release(struct load_client *c, enum client_state state)
{
    c->state = state;
    c->next_free = c->load->free;
    c->load->free = c;
}

struct load_client *load_client_new(struct load *load)
{
    struct load_client *c = calloc(1, sizeof *c);

    if (c == NULL)
        abort();
    c->load = load;
    c->fd = -1;
    release(c, CLIENT_CLOSED);
    return c;
}

/* --- ends ---------------------------------------------------------------------------
 */

static void close_connection(struct load_client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->watched = 0;
    c->paused = false;
}

static void fail(struct load_client *c, enum load_error kind)
{
    c->load->totals.errors[kind]++;
    close_connection(c);
    if (c->state == CLIENT_HELD) {
        c->load->totals.held--;
        c->state = CLIENT_CLOSED;
        return;
    }
    c->load->busy--;
    c->load->opening -= c->state == CLIENT_CONNECTING || c->state == CLIENT_OPENING;
    release(c, CLIENT_CLOSED);
}

/* recv() or send() gave `n`. */
static void fail_io(struct load_client *c, ssize_t n)
{
    fail(c, n == 0 ? LOAD_ERROR_CLOSED : LOAD_ERROR_RESET);
}

static void succeed(struct load_client *c)
{
    struct load *load = c->load;
    enum load_mode mode = load->plan->mode;

    load->totals.operations++;
    latency_add(&load->totals.latency, net_now() - c->due);
    load->busy--;
    if (mode == LOAD_IDLE) {
        load->totals.held++;
        c->state = CLIENT_HELD;
    } else if (mode == LOAD_KEEP || mode == LOAD_MESSAGE) {
        release(c, CLIENT_READY);
    } else {
        close_connection(c);
        release(c, CLIENT_CLOSED);
    }
}

/* --- operations ---------------------------------------------------------------------
 */

static void say(struct load_client *c, const char *text, size_t len,
                enum client_state next)
{
    ssize_t n = send(c->fd, text, len, MSG_NOSIGNAL);

    if (n != (ssize_t)len) {
        fail_io(c, n);
        return;
    }
    c->state = next;
    c->in_len = 0;
    watch(c, EPOLLIN);
}

static void say_request(struct load_client *c)
{
    char text[LOAD_TEXT_SIZE];

    say(c, text, load_request(c->load->plan, c->number, text), CLIENT_ANSWER);
}

static void say_transfer(struct load_client *c, const char *verb,
                         enum client_state next)
{
    char text[LOAD_TEXT_SIZE];
    int len;

    c->left = c->load->plan->bytes;
    len = snprintf(text, sizeof text, "%s %ju\n", verb, (uintmax_t)c->left);
    say(c, text, (size_t)len, next);
    if (c->state == CLIENT_SENDING)
        watch(c, EPOLLOUT);
}

/* The line that asks for an echo goes ahead of the first message. */
static void say_message(struct load_client *c, bool first)
{
    static const char line[] = "ECHO\n";
    char text[sizeof line + MESSAGE];
    size_t len = first ? sizeof line - 1 : 0;

    memcpy(text, line, len);
    memset(text + len, 'm', MESSAGE);
    c->left = MESSAGE;
    say(c, text, len + MESSAGE, CLIENT_ECHO);
}

static void begin_operation(struct load_client *c, bool first)
{
    switch (c->load->plan->mode) {
    case LOAD_OPEN:
    case LOAD_KEEP:
    case LOAD_IDLE:
        say_request(c);
        return;
    case LOAD_MESSAGE:
        say_message(c, first);
        return;
    case LOAD_DOWN:
        say_transfer(c, "SOURCE", CLIENT_RECEIVING);
        return;
    case LOAD_UP:
        say_transfer(c, "SINK", CLIENT_SENDING);
        return;
    }
}

static void say_opening(struct load_client *c)
{
    char text[LOAD_TEXT_SIZE];
    size_t len = load_opening_say(c->load->plan, c->step, c->number, text);

    if (len > 0) {
        say(c, text, len, CLIENT_OPENING);
        return;
    }
    c->load->opening--;
    c->state = CLIENT_READY;
    begin_operation(c, true);
}

bool load_client_opens(const struct load *load)
{
    return load->free->state == CLIENT_CLOSED;
}

void load_client_start(struct load *load, uint64_t due)
{
    struct load_client *c = load->free;
    const struct load_plan *plan = load->plan;

    load->free = c->next_free;
    load->busy++;
    c->due = c->moved = due;
    if (c->state == CLIENT_READY) {
        begin_operation(c, false);
        return;
    }
    load->opening++;
    c->state = CLIENT_CONNECTING;
    c->step = 0;
    c->number = load->next_number++;
    c->fd = net_connect(plan->way == LOAD_DIRECT ? &plan->target : &plan->proxy);
    if (c->fd >= 0)
        watch(c, EPOLLOUT);
    else
        fail(c, errno == ECONNREFUSED ? LOAD_ERROR_CONNECT : LOAD_ERROR_LOCAL);
}

/* --- events: each of these leaves the client free, or waiting for the next -----------
 */

static void on_connected(struct load_client *c)
{
    if (net_error(c->fd) != 0)
        fail(c, LOAD_ERROR_CONNECT);
    else
        say_opening(c);
}

/* Adds to `in`; false when there is nothing to go on with. */
static bool read_more(struct load_client *c)
{
    ssize_t n = recv(c->fd, c->in + c->in_len, IN_SIZE - c->in_len, 0);

    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        fail_io(c, n);
        return false;
    }
    c->in_len += (size_t)n;
    c->in[c->in_len] = '\0';
    return true;
}

static void on_opening(struct load_client *c)
{
    if (!read_more(c))
        return;
    switch (load_opening_hear(c->load->plan, c->step, c->in, c->in_len)) {
    case OPENING_BAD:
        fail(c, LOAD_ERROR_REFUSED);
        return;
    case OPENING_MORE:
        if (c->in_len == IN_SIZE)
            fail(c, LOAD_ERROR_REFUSED);
        return;
    case OPENING_NEXT:
    case OPENING_DONE:
        c->step++;
        say_opening(c);
        return;
    }
}

/* A proxy may add fields; the status and the two bytes at the end must be the target's.
 */
static void on_answer(struct load_client *c)
{
    const char *end;

    if (!read_more(c))
        return;
    end = strstr(c->in, "\r\n\r\n");
    if (end == NULL ? c->in_len < IN_SIZE : c->in_len < (size_t)(end + 6 - c->in))
        return;
    if (strncmp(c->in, "HTTP/1.", 7) != 0 || strncmp(c->in + 8, " 200", 4) != 0)
        fail(c, LOAD_ERROR_REFUSED);
    else if (end == NULL || strcmp(end + 4, "ok") != 0)
        fail(c, LOAD_ERROR_ANSWER);
    else
        succeed(c);
}

static void on_echo(struct load_client *c)
{
    ssize_t n = recv(c->fd, c->in, IN_SIZE, 0);

    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0)
        fail_io(c, n);
    else if ((uint64_t)n > c->left || c->in[0] != 'm')
        fail(c, LOAD_ERROR_ANSWER);
    else if ((c->left -= (uint64_t)n) == 0)
        succeed(c);
}

/* A transfer moved `n` bytes. */
static void note_moved(struct load_client *c, ssize_t n)
{
    c->left -= (uint64_t)n;
    c->load->totals.bytes += (uint64_t)n;
    if (!c->load->plan->slow)
        return;
    c->paused = true;
    watch(c, 0);
}

static size_t piece(const struct load_client *c)
{
    size_t most = c->load->plan->slow ? SLOW_CHUNK : CHUNK;

    return c->left < most ? (size_t)c->left : most;
}

static void on_receiving(struct load_client *c)
{
    ssize_t n = recv(c->fd, chunk, piece(c), 0);

    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        fail_io(c, n);
        return;
    }
    note_moved(c, n);
    if (c->left == 0)
        succeed(c);
}

static void on_sending(struct load_client *c)
{
    ssize_t n = send(c->fd, chunk, piece(c), MSG_NOSIGNAL);

    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        fail_io(c, n);
        return;
    }
    note_moved(c, n);
    if (c->left > 0)
        return;
    c->state = CLIENT_SENT;
    c->in_len = 0;
    watch(c, EPOLLIN);
}

static void on_sent(struct load_client *c)
{
    if (!read_more(c) || c->in_len < 5)
        return;
    if (strcmp(c->in, "done\n") == 0)
        succeed(c);
    else
        fail(c, LOAD_ERROR_ANSWER);
}

/* A free client's connection may be closed by the proxy between two requests: the
 * client stays where it is among the free ones and opens a new one when it is its turn.
 */
static void on_unexpected(struct load_client *c)
{
    if (c->state == CLIENT_HELD) {
        fail(c, LOAD_ERROR_CLOSED);
        return;
    }
    close_connection(c);
    c->state = CLIENT_CLOSED;
}

void load_client_event(struct load_client *c, uint32_t events)
{
    static void (*const steps[])(struct load_client *) = {
        [CLIENT_CLOSED] = on_unexpected,
        [CLIENT_READY] = on_unexpected,
        [CLIENT_CONNECTING] = on_connected,
        [CLIENT_OPENING] = on_opening,
        [CLIENT_ANSWER] = on_answer,
        [CLIENT_ECHO] = on_echo,
        [CLIENT_RECEIVING] = on_receiving,
        [CLIENT_SENDING] = on_sending,
        [CLIENT_SENT] = on_sent,
        [CLIENT_HELD] = on_unexpected,
    };

    if ((events & EPOLLERR) != 0 && c->state > CLIENT_CONNECTING) {
        fail(c, LOAD_ERROR_RESET);
        return;
    }
    c->moved = net_now();
    steps[c->state](c);
}

void load_client_tick(struct load_client *c, uint64_t now)
{
    if (c->paused) {
        watch(c, c->state == CLIENT_SENDING ? EPOLLOUT : EPOLLIN);
        c->paused = false;
        return;
    }
    if (c->state > CLIENT_READY && c->state != CLIENT_HELD && now > c->moved &&
        now - c->moved > patience)
        fail(c, LOAD_ERROR_TIMEOUT);
}
