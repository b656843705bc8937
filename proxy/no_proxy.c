#include "proxy/no_proxy.h"

#include <stdio.h>
#include <stdlib.h>

#include "proxy/host_set.h"
#include "proxy/policy/radix.h"
#include "proxy/policy/range.h"

_Static_assert((int)NO_PROXY_NOTE_MAX >= (int)RANGE_NOTE_MAX, "a range's note fits");

enum { PORT_MAX = 65535, ENTRY_ARENA = 1024 };

struct no_proxy {
    bool all;
    struct host_set *names;
    struct radix *ranges;
};

bool no_proxy_new(struct no_proxy **out, struct err *e)
{
    struct host_set *names;
    struct no_proxy *n;

    if (!host_set_new(&names, e))
        return false;
    n = calloc(1, sizeof *n);
    if (n == NULL)
        abort();
    n->names = names;
    n->ranges = radix_new();
    *out = n;
    return true;
}

void no_proxy_free(struct no_proxy **pointer)
{
    struct no_proxy *n = *pointer;

    if (n == NULL)
        return;
    host_set_free(&n->names);
    radix_free(&n->ranges);
    free(n);
    *pointer = NULL;
}

static void add_range(struct no_proxy *n, const struct ip_range *range)
{
    uint32_t entry = 0;

    radix_add(n->ranges, range, &entry);
}

static void add_address(struct no_proxy *n, struct ip ip)
{
    struct ip_range range;

    ip_unmap(&ip);
    range = (struct ip_range){ip, ip.family == 4 ? 32 : 128};
    add_range(n, &range);
}

/* The name itself and what is below it. */
static void add_name(struct no_proxy *n, struct str name)
{
    struct pattern p = {.kind = PATTERN_NAME, .first_port = 1, .last_port = PORT_MAX};

    memcpy(p.text, name.p, name.n);
    p.name = (struct str){p.text, name.n};
    host_set_add(n->names, &p);
    p.kind = PATTERN_BELOW;
    host_set_add(n->names, &p);
}

static bool is_port(struct str text)
{
    unsigned port;

    return str_to_uint(text, PORT_MAX, &port);
}

/* Cuts ":port" off what is no IPv6 address. */
static struct str cut_port(struct str entry, bool *bracketed, bool *had_port)
{
    struct str rest = entry, host;
    const char *colon = memrchr(entry.p, ':', entry.n);
    struct ip ip;

    *bracketed = entry.p[0] == '[';
    if (*bracketed && memchr(entry.p, ']', entry.n) == NULL)
        return entry;
    if (*bracketed) {
        rest = str_skip(rest, 1);
        host = str_cut(&rest, ']');
        *had_port = rest.n > 1 && rest.p[0] == ':' && is_port(str_skip(rest, 1));
        return rest.n == 0 || *had_port ? host : entry;
    }
    if (colon == NULL || ip_parse(entry, &ip))
        return entry;
    host = str_head(entry, (size_t)(colon - entry.p));
    *had_port = is_port(str_skip(entry, host.n + 1));
    return *had_port ? host : entry;
}

static bool add_host(struct no_proxy *n, struct str host, bool bracketed, struct err *e)
{
    struct arena a;
    struct target t;
    struct ip ip;
    bool good = true;

    if (ip_parse(host, &ip) && (ip.family == 6 || !bracketed)) {
        add_address(n, ip);
        return true;
    }
    if (str_starts(host, STR("*.")))
        host = str_skip(host, 1);
    if (str_starts(host, STR(".")))
        host = str_skip(host, 1);
    arena_init(&a, ENTRY_ARENA);
    if (!bracketed && target_set(&t, &a, host, false, 1))
        add_name(n, t.host);
    else
        good = err_set(e, "is no \"*\", host name (in ASCII), address or range");
    arena_done(&a);
    return good;
}

bool no_proxy_add(struct no_proxy *n, struct str entry, char note[NO_PROXY_NOTE_MAX],
                  struct err *e)
{
    bool bracketed = false, had_port = false;
    struct ip_range range;
    struct str host;

    note[0] = '\0';
    if (entry.n == 0)
        return err_set(e, "is empty");
    if (str_equal(entry, STR("*"))) {
        n->all = true;
        return true;
    }
    if (memchr(entry.p, '/', entry.n) != NULL) {
        if (!range_parse(entry, &range, note, e))
            return false;
        add_range(n, &range);
        return true;
    }
    host = cut_port(entry, &bracketed, &had_port);
    if (had_port)
        snprintf(note, NO_PROXY_NOTE_MAX,
                 "the port counts for nothing: the host is reached directly on each");
    return add_host(n, host, bracketed, e);
}

void no_proxy_seal(struct no_proxy *n)
{
    host_set_seal(n->names);
}

bool no_proxy_has(const struct no_proxy *n, const struct target *t)
{
    uint32_t entry;

    if (n->all || t->kind == HOST_NONE)
        return n->all;
    return t->kind == HOST_ADDR ? radix_find(n->ranges, &t->ip, &entry)
                                : host_set_has(n->names, t);
}
