/* The newer half of c-ares' interface is missing from 1.18, which Debian 12 has. */
#define CARES_NO_DEPRECATED
#include "dns/channel.h"

#include <arpa/nameser.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <ares.h>

#include "dns/sockets.h"

enum {
    UDP_ANSWER_MAX = 1232, /* as DNS flag day 2020 has it: no fragments */
    SERVERS_COUNTED = 16,  /* more servers than this do not shorten the waiting */
    PORT_QUESTIONS = 100,  /* then another source port, where c-ares can do it */
};
static const double WAIT_MIN = 0.001; /* seconds; ares_timeout() may say 0 */

/* A socket of c-ares. */
struct watch {
    ev_io io;
    LIST_ENTRY(watch) all;
};

struct channel {
    struct ev_loop *loop;
    ares_channel ares;
    LIST_HEAD(, watch) watches;
    ev_timer wait;    /* until c-ares wants to send again or give up */
    ev_prepare rearm; /* runs once before the loop sleeps, when `wait` may be wrong */
    unsigned pending;
    int last_error; /* errno of the sockets; 0: none yet */
};

/* However much happens in one turn of the loop, the timer is set once. */
static void touched(struct channel *c)
{
    ev_prepare_start(c->loop, &c->rearm);
}

static void on_rearm(struct ev_loop *loop, ev_prepare *w, int revents)
{
    struct channel *c = w->data;
    struct timeval tv;

    (void)revents;
    ev_prepare_stop(loop, w);
    ev_timer_stop(loop, &c->wait);
    if (ares_timeout(c->ares, NULL, &tv) != NULL) {
        double wait = (double)tv.tv_sec + (double)tv.tv_usec / 1e6;

        ev_timer_set(&c->wait, wait > WAIT_MIN ? wait : WAIT_MIN, 0.);
        ev_timer_start(loop, &c->wait);
    }
}

static void on_wait(struct ev_loop *loop, ev_timer *w, int revents)
{
    struct channel *c = w->data;

    (void)loop, (void)revents;
    ares_process_fd(c->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    touched(c);
}

static void on_socket(struct ev_loop *loop, ev_io *w, int revents)
{
    struct channel *c = w->data;
    int fd = w->fd;

    (void)loop;
    /* The call may end in on_interest(), which frees the watch. */
    ares_process_fd(c->ares, revents & EV_READ ? fd : ARES_SOCKET_BAD,
                    revents & EV_WRITE ? fd : ARES_SOCKET_BAD);
    touched(c);
}

static struct watch *watch_of(struct channel *c, int fd)
{
    struct watch *w;

    LIST_FOREACH(w, &c->watches, all)
    if (w->io.fd == fd)
        return w;
    w = calloc(1, sizeof *w);
    if (w == NULL)
        abort();
    ev_io_init(&w->io, on_socket, fd, 0);
    w->io.data = c;
    LIST_INSERT_HEAD(&c->watches, w, all);
    return w;
}

/* c-ares says which of its sockets to watch, and for what; before it closes one, for
 * nothing. */
static void on_interest(void *arg, ares_socket_t fd, int readable, int writable)
{
    struct channel *c = arg;
    struct watch *w = watch_of(c, fd);

    ev_io_stop(c->loop, &w->io);
    if (!readable && !writable) {
        LIST_REMOVE(w, all);
        free(w);
        return;
    }
    ev_io_set(&w->io, fd, (readable ? EV_READ : 0) | (writable ? EV_WRITE : 0));
    ev_io_start(c->loop, &w->io);
}

/* How often each server is asked, and how long the first time is, so that all of them
 * had their turns by the deadline: the waiting doubles from round to round. */
static void set_patience(struct ares_options *options, size_t servers, double deadline)
{
    double shares;

    if (servers > SERVERS_COUNTED)
        servers = SERVERS_COUNTED;
    options->tries = servers <= 1 ? 3 : 2;
    shares = servers <= 1 ? 7 : 3 * (double)servers;
    options->timeout = (int)(deadline * 1000 / shares);
    if (options->timeout < 1)
        options->timeout = 1;
}

static int set_up(struct channel *c, const char *resolv_conf, size_t servers,
                  double deadline)
{
    struct ares_options options = {.flags = ARES_FLAG_EDNS | ARES_FLAG_NOSEARCH |
                                            ARES_FLAG_NOALIASES,
                                   .ednspsz = UDP_ANSWER_MAX,
                                   .lookups = (char *)"b",
                                   .sock_state_cb = on_interest,
                                   .sock_state_cb_data = c,
                                   .resolvconf_path = (char *)resolv_conf};
    int mask = ARES_OPT_FLAGS | ARES_OPT_EDNSPSZ | ARES_OPT_LOOKUPS |
               ARES_OPT_SOCK_STATE_CB | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
               ARES_OPT_RESOLVCONF;
    int rc;

    /* Not ARES_FLAG_DNS0x20: a server that does not keep the case of a question would
     * look as if it were silent. */
    set_patience(&options, servers, deadline);
#ifdef ARES_OPT_UDP_MAX_QUERIES
    options.udp_max_queries = PORT_QUESTIONS;
    mask |= ARES_OPT_UDP_MAX_QUERIES;
#endif
#ifdef ARES_OPT_QUERY_CACHE
    /* Ours keeps to the TTL within our bounds and can be flushed. */
    options.qcache_max_ttl = 0;
    mask |= ARES_OPT_QUERY_CACHE;
#endif
    rc = ares_init_options(&c->ares, &options, mask);
    if (rc == ARES_SUCCESS)
        sockets_take(c->ares, &c->last_error);
    return rc;
}

static int set_servers(struct channel *c, const struct addr *servers, size_t count)
{
    struct ares_addr_port_node *nodes = calloc(count, sizeof *nodes);
    int rc;

    if (nodes == NULL)
        abort();
    for (size_t i = 0; i < count; i++) {
        nodes[i].next = i + 1 < count ? &nodes[i + 1] : NULL;
        nodes[i].family = servers[i].sa.sa_family;
        nodes[i].udp_port = nodes[i].tcp_port = (int)addr_port(&servers[i]);
        if (nodes[i].family == AF_INET)
            memcpy(&nodes[i].addr, &servers[i].v4.sin_addr, 4);
        else
            memcpy(&nodes[i].addr, &servers[i].v6.sin6_addr, 16);
    }
    rc = ares_set_servers_ports(c->ares, nodes);
    free(nodes);
    return rc;
}

static size_t count_servers(struct channel *c)
{
    struct ares_addr_port_node *list = NULL;
    size_t count = 0;

    if (ares_get_servers_ports(c->ares, &list) != ARES_SUCCESS)
        return 1;
    for (const struct ares_addr_port_node *n = list; n != NULL; n = n->next)
        count++;
    ares_free_data(list);
    return count;
}

/* c-ares tells how many servers resolv.conf names only when it is set up, and takes the
 * patience only before that. */
static int open_ares(struct channel *c, const struct addr *servers, size_t count,
                     const char *resolv_conf, double deadline)
{
    int rc = set_up(c, resolv_conf, count, deadline);
    size_t found;

    if (rc != ARES_SUCCESS)
        return rc;
    if (count > 0)
        return set_servers(c, servers, count);
    found = count_servers(c);
    if (found <= 1)
        return rc;
    ares_destroy(c->ares);
    c->ares = NULL;
    return set_up(c, resolv_conf, found, deadline);
}

bool channel_new(struct ev_loop *loop, const struct addr *servers, size_t count,
                 const char *resolv_conf, double deadline, struct channel **out,
                 struct err *e)
{
    struct channel *c = calloc(1, sizeof *c);
    int rc;

    if (c == NULL)
        abort();
    c->loop = loop;
    LIST_INIT(&c->watches);
    ev_init(&c->wait, on_wait);
    ev_prepare_init(&c->rearm, on_rearm);
    c->wait.data = c->rearm.data = c;
    rc = open_ares(c, servers, count, resolv_conf, deadline);
    if (rc != ARES_SUCCESS) {
        channel_free(&c);
        return err_set(e, "resolver: %s", ares_strerror(rc));
    }
    *out = c;
    return true;
}

void channel_free(struct channel **cp)
{
    struct channel *c = *cp;

    if (c == NULL)
        return;
    if (c->ares != NULL)
        ares_destroy(c->ares);
    assert(LIST_EMPTY(&c->watches) && c->pending == 0);
    ev_timer_stop(c->loop, &c->wait);
    ev_prepare_stop(c->loop, &c->rearm);
    free(c);
    *cp = NULL;
}

/* What c-ares sums up as "could not contact DNS servers". */
static const char *unreachable(int error)
{
    switch (error) {
    case ECONNREFUSED:
        return "connection refused by the DNS server";
    case ENETUNREACH:
    case EHOSTUNREACH:
        return "no route to the DNS server";
    default:
        return "the name servers cannot be reached";
    }
}

static struct channel_answer answer_of(const struct channel *c, int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return (struct channel_answer){.status = LOOKUP_OK};
    case ARES_ENODATA:
        return (struct channel_answer){LOOKUP_NOT_FOUND, "the name has no address",
                                       NULL, 0};
    case ARES_ENOTFOUND:
        return (struct channel_answer){LOOKUP_NOT_FOUND, "no such name", NULL, 0};
    case ARES_ETIMEOUT:
        return (struct channel_answer){LOOKUP_TIMED_OUT,
                                       "the name servers do not answer", NULL, 0};
    case ARES_ECONNREFUSED:
        return (struct channel_answer){LOOKUP_FAILED, unreachable(c->last_error), NULL,
                                       0};
    default:
        return (struct channel_answer){LOOKUP_FAILED, ares_strerror(status), NULL, 0};
    }
}

static void on_answer(void *arg, int status, int timeouts, unsigned char *bytes,
                      int len)
{
    struct channel_query *q = arg;
    struct channel_answer a = answer_of(q->channel, status);

    (void)timeouts;
    if (a.status == LOOKUP_OK) {
        a.bytes = bytes;
        a.len = (size_t)len;
    }
    q->channel->pending--;
    q->done(q->owner, &a);
}

void channel_ask(struct channel *c, struct channel_query *q, const char *name, int type,
                 channel_answer_fn *done, void *owner)
{
    *q = (struct channel_query){c, done, owner};
    c->pending++;
    ares_query(c->ares, name, ns_c_in, type, on_answer, q);
    touched(c);
}

unsigned channel_pending(const struct channel *c)
{
    return c->pending;
}
