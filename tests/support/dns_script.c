#include "tests/support/dns_script.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MESSAGE_MAX = 8192,
    REPLIES_MAX = 64,
    QUESTIONS_MAX = 65536,
    HEAD = 12,
    TRIES_MAX = 50,
    TYPE_A = 1,
    TYPE_CNAME = 5,
    FLAG_TC = 0x02, /* in the third byte */
};

struct message {
    uint8_t bytes[MESSAGE_MAX];
    size_t len;
};

struct question {
    char name[256];
    int type;
    size_t end; /* of the question in the message */
};

/* A TCP connection. */
struct stream {
    ev_io io;
    struct dns_script *script;
    LIST_ENTRY(stream) all;
};

struct dns_script {
    struct ev_loop *loop;
    ev_io udp, tcp;
    LIST_HEAD(, stream) streams;
    char address[32];
    const struct dns_reply *replies[REPLIES_MAX];
    size_t reply_count;
    struct question questions[QUESTIONS_MAX];
    size_t question_count;
    unsigned tcp_count;
};

/* The questions come from c-ares and are well formed. */
static struct question read_question(const uint8_t *bytes, size_t len)
{
    struct question q = {0};
    size_t at = HEAD, n = 0;

    while (at < len && bytes[at] != 0) {
        size_t label = bytes[at++];

        assert(at + label < len && n + label + 1 < sizeof q.name);
        if (n > 0)
            q.name[n++] = '.';
        for (size_t i = 0; i < label; i++)
            q.name[n++] =
                (char)(bytes[at + i] |
                       (bytes[at + i] >= 'A' && bytes[at + i] <= 'Z' ? 0x20 : 0));
        at += label;
    }
    assert(at + 5 <= len);
    q.type = bytes[at + 1] << 8 | bytes[at + 2];
    q.end = at + 5;
    return q;
}

static void put(struct message *m, const void *bytes, size_t len)
{
    assert(m->len + len <= sizeof m->bytes);
    memcpy(m->bytes + m->len, bytes, len);
    m->len += len;
}

static void put16(struct message *m, unsigned v)
{
    const uint8_t bytes[] = {(uint8_t)(v >> 8), (uint8_t)v};

    put(m, bytes, 2);
}

static void put_name(struct message *m, const char *name)
{
    while (*name != '\0') {
        size_t label = strcspn(name, ".");
        uint8_t size = (uint8_t)label;

        put(m, &size, 1);
        put(m, name, label);
        name += label + (name[label] == '.');
    }
    put(m, "", 1);
}

static void put_record(struct message *m, const char *owner, int type, unsigned ttl,
                       const void *data, size_t len)
{
    put_name(m, owner);
    put16(m, (unsigned)type);
    put16(m, 1);
    put16(m, ttl >> 16);
    put16(m, ttl & 0xffff);
    put16(m, (unsigned)len);
    put(m, data, len);
    m->bytes[7]++; /* the answers; never more than 255 here */
}

static void put_cnames(struct message *m, const struct dns_reply *r, const char *name)
{
    for (size_t i = 0; i < 4 && r->cname[i] != NULL; i++) {
        struct message data = {.len = 0};

        put_name(&data, r->cname[i]);
        put_record(m, i == 0 ? name : r->cname[i - 1], TYPE_CNAME, r->ttl, data.bytes,
                   data.len);
    }
}

static void put_addresses(struct message *m, const struct dns_reply *r,
                          const char *owner, int type)
{
    const int family = type == TYPE_A ? AF_INET : AF_INET6;
    const size_t size = type == TYPE_A ? 4 : 16;
    uint8_t ip[16];

    for (size_t i = 0; i < 8 && r->ips[i] != NULL; i++)
        if (inet_pton(family, r->ips[i], ip) == 1)
            put_record(m, owner, type, r->ttl, ip, size);
    inet_pton(family, type == TYPE_A ? "198.51.100.0" : "2001:db8::", ip);
    for (unsigned i = 0; i < r->many; i++) {
        ip[size - 1] = (uint8_t)(i + 1);
        put_record(m, owner, type, r->ttl, ip, size);
    }
}

static void put_records(struct message *m, const struct dns_reply *r,
                        const struct question *q)
{
    const char *end = q->name;

    for (size_t i = 0; i < 4 && r->cname[i] != NULL; i++)
        end = r->cname[i];
    if (r->trick == DNS_FOREIGN)
        end = "foreign.example";
    if (r->trick != DNS_UNSORTED)
        put_cnames(m, r, q->name);
    put_addresses(m, r, end, q->type);
    if (r->trick == DNS_UNSORTED)
        put_cnames(m, r, q->name);
}

static const struct dns_reply *find_reply(const struct dns_script *s,
                                          const struct question *q)
{
    static const struct dns_reply none = {.rcode = 3};

    for (size_t i = s->reply_count; i > 0; i--) {
        const struct dns_reply *r = s->replies[i - 1];

        if (strcmp(r->name, q->name) == 0 && (r->type == 0 || r->type == q->type))
            return r;
    }
    return &none;
}

static struct message make_reply(const struct dns_reply *r, const struct question *q,
                                 const uint8_t *asked, bool tcp)
{
    struct message m = {.len = 0};
    bool cut = r->trick == DNS_TRUNCATE_EVER || (r->trick == DNS_TRUNCATE && !tcp);

    put(&m, asked, q->end);
    memset(m.bytes + 6, 0, 6);
    m.bytes[2] = (uint8_t)(0x81 | (cut ? FLAG_TC : 0));
    m.bytes[3] = (uint8_t)(0x80 | r->rcode);
    if (r->trick == DNS_NO_QUESTION) {
        m.bytes[5] = 0;
        m.len = HEAD;
    }
    if (!cut && r->rcode == 0)
        put_records(&m, r, q);
    if (r->trick == DNS_CUT)
        m.len -= 2;
    return m;
}

/* An answer that would be believed if only id or name were right. */
static struct message forge(const struct question *q, const uint8_t *asked,
                            enum dns_trick trick)
{
    static const struct dns_reply evil = {.ttl = 300,
                                          .ips = {"192.0.2.66", "2001:db8::66"}};
    struct message m = make_reply(&evil, q, asked, false);

    if (trick == DNS_WRONG_ID)
        m.bytes[1] ^= 1;
    else
        m.bytes[HEAD + 1] ^= 1;
    return m;
}

static const struct dns_reply *note(struct dns_script *s, const uint8_t *bytes,
                                    size_t len, struct question *q)
{
    *q = read_question(bytes, len);
    assert(s->question_count < QUESTIONS_MAX);
    s->questions[s->question_count++] = *q;
    return find_reply(s, q);
}

static void on_udp(struct ev_loop *loop, ev_io *w, int revents)
{
    struct dns_script *s = w->data;
    struct sockaddr_in from;
    socklen_t from_len = sizeof from;
    uint8_t bytes[MESSAGE_MAX];
    ssize_t n = recvfrom(w->fd, bytes, sizeof bytes, MSG_DONTWAIT,
                         (struct sockaddr *)&from, &from_len);
    const struct dns_reply *r;
    struct question q;
    struct message m;

    (void)loop, (void)revents;
    if (n < HEAD)
        return;
    r = note(s, bytes, (size_t)n, &q);
    if (r->trick == DNS_DROP)
        return;
    if (r->trick == DNS_WRONG_ID || r->trick == DNS_WRONG_NAME) {
        m = forge(&q, bytes, r->trick);
        sendto(w->fd, m.bytes, m.len, 0, (struct sockaddr *)&from, from_len);
    }
    if (r->trick == DNS_EMPTY_FIRST)
        sendto(w->fd, "", 0, 0, (struct sockaddr *)&from, from_len);
    m = make_reply(r, &q, bytes, false);
    sendto(w->fd, m.bytes, m.len, 0, (struct sockaddr *)&from, from_len);
}

static void stream_free(struct stream *t)
{
    ev_io_stop(t->script->loop, &t->io);
    LIST_REMOVE(t, all);
    close(t->io.fd);
    free(t);
}

/* One question a connection, written by the client in one piece: all that is needed. */
static void on_stream(struct ev_loop *loop, ev_io *w, int revents)
{
    struct stream *t = w->data;
    uint8_t bytes[MESSAGE_MAX], size[2];
    ssize_t n = recv(w->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    struct question q;
    struct message m;

    (void)loop, (void)revents;
    if (n >= 2 + HEAD) {
        t->script->tcp_count++;
        m = make_reply(note(t->script, bytes + 2, (size_t)n - 2, &q), &q, bytes + 2,
                       true);
        size[0] = (uint8_t)(m.len >> 8);
        size[1] = (uint8_t)m.len;
        send(w->fd, size, 2, MSG_MORE | MSG_NOSIGNAL);
        send(w->fd, m.bytes, m.len, MSG_NOSIGNAL);
    }
    stream_free(t);
}

static void on_tcp(struct ev_loop *loop, ev_io *w, int revents)
{
    struct dns_script *s = w->data;
    int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct stream *t = fd >= 0 ? calloc(1, sizeof *t) : NULL;

    (void)revents;
    if (t == NULL)
        return;
    t->script = s;
    ev_io_init(&t->io, on_stream, fd, EV_READ);
    t->io.data = t;
    LIST_INSERT_HEAD(&s->streams, t, all);
    ev_io_start(loop, &t->io);
}

/* The port that the kernel picks for UDP may be taken for TCP: then once more. */
static void open_sockets(struct dns_script *s, struct sockaddr_in at)
{
    const in_port_t port = at.sin_port;
    socklen_t len = sizeof at;
    int udp = -1, tcp = -1;

    for (int tries = 0; tries < TRIES_MAX; tries++) {
        at.sin_port = port;
        udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
        if (bind(udp, (struct sockaddr *)&at, len) != 0 ||
            getsockname(udp, (struct sockaddr *)&at, &len) != 0)
            abort();
        if (bind(tcp, (struct sockaddr *)&at, len) == 0 && listen(tcp, 64) == 0)
            break;
        close(udp);
        close(tcp);
        assert(tries + 1 < TRIES_MAX);
    }
    inet_ntop(AF_INET, &at.sin_addr, s->address, sizeof s->address);
    len = (socklen_t)strlen(s->address);
    snprintf(s->address + len, sizeof s->address - len, ":%u", ntohs(at.sin_port));
    ev_io_init(&s->udp, on_udp, udp, EV_READ);
    ev_io_init(&s->tcp, on_tcp, tcp, EV_READ);
    s->udp.data = s->tcp.data = s;
    ev_io_start(s->loop, &s->udp);
    ev_io_start(s->loop, &s->tcp);
}

static struct dns_script *new_at(struct ev_loop *loop, const char *ip, in_port_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct dns_script *s = calloc(1, sizeof *s);

    if (s == NULL || inet_pton(AF_INET, ip, &at.sin_addr) != 1)
        abort();
    s->loop = loop;
    open_sockets(s, at);
    return s;
}

struct dns_script *dns_script_new(struct ev_loop *loop)
{
    return new_at(loop, "127.0.0.1", 0);
}

struct dns_script *dns_script_new_at(struct ev_loop *loop, const char *ip)
{
    return new_at(loop, ip, 53);
}

void dns_script_free(struct dns_script **s)
{
    if (*s == NULL)
        return;
    while (!LIST_EMPTY(&(*s)->streams))
        stream_free(LIST_FIRST(&(*s)->streams));
    ev_io_stop((*s)->loop, &(*s)->udp);
    ev_io_stop((*s)->loop, &(*s)->tcp);
    close((*s)->udp.fd);
    close((*s)->tcp.fd);
    free(*s);
    *s = NULL;
}

const char *dns_script_address(const struct dns_script *s)
{
    return s->address;
}

void dns_script_say(struct dns_script *s, const struct dns_reply *reply)
{
    assert(s->reply_count < REPLIES_MAX);
    s->replies[s->reply_count++] = reply;
}

unsigned dns_script_count(const struct dns_script *s, const char *name, int type)
{
    unsigned n = 0;

    for (size_t i = 0; i < s->question_count; i++)
        n += (name == NULL || strcmp(s->questions[i].name, name) == 0) &&
             (type == 0 || s->questions[i].type == type);
    return n;
}

unsigned dns_script_tcp_count(const struct dns_script *s)
{
    return s->tcp_count;
}
