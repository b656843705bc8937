#include "proxy/hostaddrs.h"

#include <assert.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <sys/time.h>

#include "proxy/base/fd.h"

enum {
    MESSAGE_MAX = 32 << 10, /* the kernel fills at most so much at once */
    MESSAGES_MAX = 4096,    /* in one reading */
    DRAIN_MAX = 64,         /* notices taken in one call; the rest can wait */
    READ_TRIES = 8,         /* addresses may change while they are read */
    ANSWER_SECONDS = 2,     /* the kernel answers at once, or never */
    OWN_MAX = 4096,         /* listeners */
};

struct list {
    struct ip *ips;
    size_t count, room;
    struct ip_range *local;
    size_t local_count, local_room;
};

/* The three readings that make up a list. */
static const struct question {
    unsigned short type;
    unsigned char family;
} questions[] = {
    {RTM_GETADDR, AF_UNSPEC},
    {RTM_GETROUTE, AF_INET},
    {RTM_GETROUTE, AF_INET6},
};

/* The start of what the kernel tells of a change. */
struct notice {
    struct nlmsghdr head;
    struct rtmsg route; /* when it is one of a route */
};

struct hostaddrs_watch {
    int ask;    /* where the addresses are asked for */
    int notice; /* where changes are told; -1 when the kernel does not */
    bool stale; /* the list was not read since the last change */
    unsigned serial;
    struct list list;
    struct addr *own;
    size_t own_count;
    struct hostaddrs snapshot; /* views of the two lists */
    struct ev_loop *loop;      /* borrowed; NULL: each question is for the kernel */
    unsigned turn;             /* of the loop, in which the kernel was asked last */
    bool asked;
};

static int open_netlink(unsigned groups)
{
    struct sockaddr_nl at = {.nl_family = AF_NETLINK, .nl_groups = groups};
    autofd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0)
        return -1;
    return fd_steal(&fd);
}

static void add_address(struct list *l, const struct ip *ip)
{
    if (l->count == l->room) {
        l->room = l->room > 0 ? 2 * l->room : 16;
        l->ips = reallocarray(l->ips, l->room, sizeof *l->ips);
        if (l->ips == NULL)
            abort();
    }
    l->ips[l->count++] = *ip;
}

static void add_local(struct list *l, const struct ip_range *range)
{
    if (l->local_count == l->local_room) {
        l->local_room = l->local_room > 0 ? 2 * l->local_room : 16;
        l->local = reallocarray(l->local, l->local_room, sizeof *l->local);
        if (l->local == NULL)
            abort();
    }
    l->local[l->local_count++] = *range;
}

static void list_done(struct list *l)
{
    free(l->ips);
    free(l->local);
    *l = (struct list){0};
}

/* One interface address. Of a point-to-point link IFA_ADDRESS is the other end and
 * IFA_LOCAL ours; elsewhere IPv6 has IFA_ADDRESS alone. */
static void take_address(struct list *l, struct nlmsghdr *m)
{
    struct ifaddrmsg *head = NLMSG_DATA(m);
    int left = (int)IFA_PAYLOAD(m);
    const size_t size = head->ifa_family == AF_INET ? 4 : 16;
    struct ip ip = {.family = 0};

    if (head->ifa_family != AF_INET && head->ifa_family != AF_INET6)
        return;
    for (struct rtattr *a = IFA_RTA(head); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        bool local = a->rta_type == IFA_LOCAL;

        if (RTA_PAYLOAD(a) < size ||
            !(local || (a->rta_type == IFA_ADDRESS && ip.family == 0)))
            continue;
        ip.family = head->ifa_family == AF_INET ? 4 : 6;
        memcpy(ip.bytes, RTA_DATA(a), size);
    }
    if (ip.family != 0)
        add_address(l, &ip);
}

/* In other tables a local route need not be one of this host's: transparent proxies
 * have one for the whole internet. */
static bool is_local_route(const struct rtmsg *head)
{
    return head->rtm_type == RTN_LOCAL && head->rtm_table == RT_TABLE_LOCAL &&
           (head->rtm_family == AF_INET || head->rtm_family == AF_INET6);
}

static void take_route(struct list *l, struct nlmsghdr *m)
{
    struct rtmsg *head = NLMSG_DATA(m);
    int left = (int)RTM_PAYLOAD(m);
    const size_t size = head->rtm_family == AF_INET ? 4 : 16;
    struct ip_range range = {{head->rtm_family == AF_INET ? 4 : 6, {0}}, 0};

    if (!is_local_route(head) || head->rtm_dst_len > 8 * size)
        return;
    range.bits = head->rtm_dst_len;
    for (struct rtattr *a = RTM_RTA(head); RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == RTA_DST && RTA_PAYLOAD(a) >= size)
            memcpy(range.ip.bytes, RTA_DATA(a), size);
    add_local(l, &range);
}

enum reading { READING_FAILED = 0, READING_ON, READING_DONE };

/* A kernel that has no routes of that kind, or no such table, says so with an error. */
static enum reading end_by_error(const struct question *q)
{
    return q->type == RTM_GETROUTE ? READING_DONE : READING_FAILED;
}

static void take_message(struct list *l, struct nlmsghdr *m)
{
    if (m->nlmsg_type == RTM_NEWADDR &&
        m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifaddrmsg)))
        take_address(l, m);
    if (m->nlmsg_type == RTM_NEWROUTE &&
        m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct rtmsg)))
        take_route(l, m);
}

static enum reading take_messages(struct list *l, const struct question *q, void *bytes,
                                  size_t len, unsigned serial)
{
    struct nlmsghdr *m = bytes;
    enum reading state = READING_ON;

    for (; NLMSG_OK(m, len); m = NLMSG_NEXT(m, len)) {
        if (m->nlmsg_seq != serial)
            continue; /* of a reading that was given up */
        if (m->nlmsg_type == NLMSG_ERROR)
            return end_by_error(q);
        if ((m->nlmsg_flags & NLM_F_DUMP_INTR) != 0)
            return READING_FAILED;
        if (m->nlmsg_type == NLMSG_DONE)
            state = READING_DONE;
        else
            take_message(l, m);
    }
    return state;
}

static bool send_request(int fd, const struct question *q, unsigned serial)
{
    struct {
        struct nlmsghdr head;
        union {
            struct ifaddrmsg addr;
            struct rtmsg route;
        };
    } request = {.head = {.nlmsg_type = q->type,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                          .nlmsg_seq = serial}};
    size_t len = NLMSG_LENGTH(sizeof request.addr);

    if (q->type == RTM_GETROUTE) {
        request.route = (struct rtmsg){.rtm_family = q->family,
                                       .rtm_table = RT_TABLE_LOCAL,
                                       .rtm_type = RTN_LOCAL};
        len = NLMSG_LENGTH(sizeof request.route);
    }
    request.head.nlmsg_len = (unsigned)len;
    return send(fd, &request, len, 0) == (ssize_t)len;
}

/* The socket blocks, but for no longer than ANSWER_SECONDS a message. */
static bool read_once(struct hostaddrs_watch *w, const struct question *q,
                      struct list *l)
{
    char bytes[MESSAGE_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
    enum reading state = READING_ON;

    if (!send_request(w->ask, q, ++w->serial))
        return false;
    for (int i = 0; i < MESSAGES_MAX && state == READING_ON; i++) {
        struct sockaddr_nl from = {.nl_pid = UINT32_MAX};
        socklen_t from_len = sizeof from;
        ssize_t n = recvfrom(w->ask, bytes, sizeof bytes, MSG_TRUNC,
                             (struct sockaddr *)&from, &from_len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || (size_t)n > sizeof bytes)
            return false;
        if (from.nl_pid == 0) /* the kernel, and no other process */
            state = take_messages(l, q, bytes, (size_t)n, w->serial);
    }
    return state == READING_DONE;
}

static bool read_questions(struct hostaddrs_watch *w, struct list *l)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (!read_once(w, &questions[i], l))
            return false;
    return true;
}

static bool read_all(struct hostaddrs_watch *w)
{
    for (int i = 0; i < READ_TRIES; i++) {
        struct list fresh = {0};

        if (read_questions(w, &fresh)) {
            list_done(&w->list);
            w->list = fresh;
            return true;
        }
        list_done(&fresh);
    }
    return false;
}

/* Then the kernel tells only the local routes of those that it is asked for; one that
 * does not know this option tells all, and the others are passed over. */
static void ask_strictly(int fd)
{
    int on = 1;

    setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
}

bool hostaddrs_watch_new(struct hostaddrs_watch **out, struct err *e)
{
    const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
    struct hostaddrs_watch *w = calloc(1, sizeof *w);

    if (w == NULL)
        abort();
    /* Notices first: what changes during the first reading is read again. */
    w->notice = open_netlink(RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
                             RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE);
    w->ask = open_netlink(0);
    ask_strictly(w->ask);
    w->stale = true;
    if (w->ask < 0)
        err_sys(e, "this host's addresses cannot be read: a netlink socket");
    else if (setsockopt(w->ask, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) ==
                 0 &&
             hostaddrs_now(w) != NULL) {
        *out = w;
        return true;
    } else
        err_sys(e, "this host's addresses cannot be read from the kernel");
    hostaddrs_watch_free(&w);
    return false;
}

void hostaddrs_watch_free(struct hostaddrs_watch **wp)
{
    struct hostaddrs_watch *w = *wp;

    if (w == NULL)
        return;
    fd_close(&w->ask);
    fd_close(&w->notice);
    list_done(&w->list);
    free(w->own);
    free(w);
    *wp = NULL;
}

/* What a notice says does not matter: all is read again. But routes come and go by the
 * thousand where this host is a router, and most of them are not local. */
static bool matters(const struct notice *n, ssize_t len)
{
    bool is_route =
        n->head.nlmsg_type == RTM_NEWROUTE || n->head.nlmsg_type == RTM_DELROUTE;

    return len < (ssize_t)sizeof *n || !is_route || is_local_route(&n->route);
}

/* ENOBUFS says that some were lost, and counts as one. */
static bool take_notices(struct hostaddrs_watch *w)
{
    bool any = false;

    if (w->notice < 0)
        return true;
    for (int i = 0; i < DRAIN_MAX; i++) {
        struct notice notice; /* the rest is dropped */
        ssize_t n = recv(w->notice, &notice, sizeof notice, MSG_DONTWAIT);

        if (n < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK)
                break;
            if (errno == EINTR)
                continue;
        }
        any |= n < 0 || matters(&notice, n);
    }
    return any;
}

void hostaddrs_watch_turns(struct hostaddrs_watch *w, struct ev_loop *loop)
{
    w->loop = loop;
    w->asked = false;
}

/* Without notices nothing that was read can be held to be true any more. */
static bool was_asked_in_this_turn(struct hostaddrs_watch *w)
{
    unsigned turn = w->loop != NULL ? ev_iteration(w->loop) : 0;
    bool asked = w->asked && w->turn == turn;

    w->turn = turn;
    w->asked = w->loop != NULL && w->notice >= 0;
    return asked;
}

const struct hostaddrs *hostaddrs_now(struct hostaddrs_watch *w)
{
    if (!was_asked_in_this_turn(w) && take_notices(w))
        w->stale = true;
    if (w->stale && !read_all(w))
        return NULL;
    w->stale = false;
    w->snapshot = (struct hostaddrs){w->list.ips,  w->list.count, w->own,
                                     w->own_count, w->list.local, w->list.local_count};
    return &w->snapshot;
}

void hostaddrs_add_own(struct hostaddrs_watch *w, const struct addr *a)
{
    assert(w->own_count < OWN_MAX);
    w->own = reallocarray(w->own, w->own_count + 1, sizeof *w->own);
    if (w->own == NULL)
        abort();
    w->own[w->own_count++] = *a;
}

static bool same_addr(const struct addr *a, const struct addr *b)
{
    struct ip x = addr_ip(a), y = addr_ip(b);

    return ip_equal(&x, &y) && addr_port(a) == addr_port(b);
}

void hostaddrs_remove_own(struct hostaddrs_watch *w, const struct addr *a)
{
    for (size_t i = 0; i < w->own_count; i++)
        if (same_addr(&w->own[i], a)) {
            w->own[i] = w->own[--w->own_count];
            return;
        }
}
