#include "proxy/policy/pattern.h"

#include "proxy/base/idn.h"
#include "proxy/policy/spelling.h"

enum { PORT_MAX = 65535 };

static bool has(struct str s, char c)
{
    return s.n > 0 && memchr(s.p, c, s.n) != NULL;
}

/* An entry in its parts, as written. */
struct parts {
    struct str host, port;
    bool bracketed, has_port;
};

static bool split_brackets(struct str entry, struct parts *out, struct err *e)
{
    struct str rest = str_skip(entry, 1);

    if (!has(rest, ']'))
        return err_set(e, "\"[\" without \"]\"");
    out->bracketed = true;
    out->host = str_cut(&rest, ']');
    if (rest.n == 0)
        return true;
    if (rest.p[0] != ':')
        return err_set(e, "only \":port\" may follow \"]\"");
    out->has_port = true;
    out->port = str_skip(rest, 1);
    return true;
}

static bool split(struct str entry, struct parts *out, struct err *e)
{
    struct str rest = entry;

    if (entry.p[0] == '[')
        return split_brackets(entry, out, e);
    out->host = str_cut(&rest, ':');
    out->port = rest;
    out->has_port = out->host.n < entry.n;
    if (has(rest, ':'))
        return spelling_refuse_colons(entry, e);
    if (out->host.n == 0)
        return err_set(e, "has no host in front of the port");
    return true;
}

/* ":443" or ":8000-8099", behind its colon. */
static bool parse_ports(struct str text, struct pattern *p, struct err *e)
{
    struct str rest = text, first = str_cut(&rest, '-');
    bool is_range = first.n < text.n;

    if (str_equal(text, STR("*")))
        return err_set(e, "\":*\" is not needed: without a port every port is meant");
    if (!str_to_uint(first, PORT_MAX, &p->first_port) || p->first_port == 0 ||
        !str_to_uint(is_range ? rest : first, PORT_MAX, &p->last_port) ||
        p->last_port == 0)
        return err_set(e,
                       "a port is a number from 1 to 65535 without leading zeros, or "
                       "two of them as in \":8000-8099\"");
    if (p->first_port > p->last_port)
        return err_set(e, "the first port of a range may not be above the last");
    return true;
}

static bool parse_bracketed(struct str inside, struct pattern *p, struct err *e)
{
    if (!ip_parse(inside, &p->ip) || p->ip.family != 6)
        return spelling_refuse_brackets(inside, e);
    ip_unmap(&p->ip);
    p->kind = PATTERN_ADDR;
    return true;
}

static bool is_ascii(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    return true;
}

static bool is_label(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
    }
    return s.n > 0;
}

/* Puts one label behind the name, folded. */
static bool put_label(struct pattern *p, struct str label, struct err *e)
{
    size_t dot = p->name.n > 0;
    size_t max = HOST_NAME_MAX_LEN - (p->kind == PATTERN_BELOW ? strlen("*.") : 0);

    if (label.n > HOST_LABEL_MAX)
        return err_set(e, "has a label of %zu bytes; at most %d are possible", label.n,
                       HOST_LABEL_MAX);
    if (p->name.n + dot + label.n > max)
        return err_set(e, "is longer than a name can be (%d bytes)", HOST_NAME_MAX_LEN);
    if (dot != 0)
        p->text[p->name.n++] = '.';
    for (size_t i = 0; i < label.n; i++) {
        char c = label.p[i];

        p->text[p->name.n++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    p->text[p->name.n] = '\0';
    return true;
}

static bool put_star(struct pattern *p, struct err *e)
{
    if (p->has_inner_star)
        return err_set(e, "has more than one \"*\" inside; one is the most");
    if (p->name.n == 0 && p->kind != PATTERN_BELOW)
        return err_set(e, "\"*\" alone in front is written \"*.name\"");
    p->has_inner_star = true;
    return put_label(p, STR("*"), e);
}

static bool add_label(struct pattern *p, struct str label, struct err *e)
{
    char ascii[IDN_LABEL_SIZE];

    if (label.n == 0)
        return err_set(e, "has an empty label: two dots with nothing between them, or "
                          "one in front");
    if (str_equal(label, STR("*")))
        return put_star(p, e);
    if (has(label, '*'))
        return err_set(e, "\"*\" stands for whole labels, as in \"*.example.com\"");
    if (!is_ascii(label)) {
        if (!idn_to_ascii(label, ascii))
            return err_set(e, "has a label that is no valid international name");
        label = str_from(ascii);
    }
    if (!is_label(label))
        return err_set(e,
                       "has a label with other bytes than letters, digits, \"-\" and "
                       "\"_\"");
    return put_label(p, label, e);
}

static struct str last_label(struct str name)
{
    size_t start = name.n;

    while (start > 0 && name.p[start - 1] != '.')
        start--;
    return str_skip(name, start);
}

static bool ends_in_number(struct str name)
{
    struct str last = last_label(name);
    struct target t;
    struct arena a;
    bool is_name;

    if (last.p[0] < '0' || last.p[0] > '9')
        return false;
    /* target.c knows what resolvers read as a number. */
    arena_init(&a, 2 * IDN_LABEL_SIZE);
    is_name = target_set(&t, &a, last, false, 1) && t.kind == HOST_NAME;
    arena_done(&a);
    return !is_name;
}

static bool check_labels(const struct pattern *p, enum pattern_use use, struct err *e)
{
    if (str_ends(p->name, STR(".*")) || str_equal(p->name, STR("*")))
        return err_set(e,
                       "\"*\" at the end would match names of anybody: the labels on "
                       "the right must be named");
    if (ends_in_number(p->name))
        return spelling_refuse_number(p, e);
    if (has(p->name, '.') || (p->kind == PATTERN_BELOW && use == PATTERN_DENY))
        return true;
    if (p->kind == PATTERN_BELOW)
        return err_set(e,
                       "\"*.%s\" would match everything below a top-level domain: name "
                       "the domain, as in \"*.example.%s\"",
                       p->text, p->text);
    if (!str_equal(p->name, STR("localhost")))
        return err_set(
            e, "a name without a dot cannot be listed (only \"localhost\" can): "
               "write it with its domain, or write its address");
    return true;
}

static bool parse_name(struct str host, enum pattern_use use, struct pattern *p,
                       struct err *e)
{
    struct str rest = host;

    p->kind = PATTERN_NAME;
    p->name = (struct str){p->text, 0};
    if (str_starts(rest, STR("*."))) {
        p->kind = PATTERN_BELOW;
        rest = str_skip(rest, 2);
        if (rest.n == 0)
            return err_set(e, "\"*.\" needs a name behind it");
    }
    if (rest.n > 1 && rest.p[rest.n - 1] == '.')
        rest.n--;
    if (rest.p[rest.n - 1] == '.')
        return err_set(e, "ends in an empty label: one trailing dot is taken, no more");
    if (rest.p[0] == '.')
        return err_set(e,
                       "starts with a dot: write \"%.*s\" for the name itself, "
                       "\"*%.*s\" for what is below it",
                       STR_ARG(str_skip(str_head(rest, 80), 1)),
                       STR_ARG(str_head(rest, 80)));
    while (rest.n > 0)
        if (!add_label(p, str_cut(&rest, '.'), e))
            return false;
    return check_labels(p, use, e);
}

static bool parse_any(enum pattern_use use, struct pattern *p, struct err *e)
{
    if (use == PATTERN_ALLOW)
        return err_set(e,
                       "\"*\" cannot be allowed: name the hosts (mode \"report\" lets "
                       "all through and records it)");
    p->kind = PATTERN_ANY;
    return true;
}

static bool parse_host(const struct parts *parts, enum pattern_use use,
                       struct pattern *p, struct err *e)
{
    if (parts->bracketed)
        return parse_bracketed(parts->host, p, e);
    if (str_equal(parts->host, STR("*")))
        return parse_any(use, p, e);
    if (!has(parts->host, ':') && ip_parse(parts->host, &p->ip)) {
        p->kind = PATTERN_ADDR;
        return true;
    }
    if (has(parts->host, '[') || has(parts->host, ']'))
        return err_set(e, "brackets stand around a whole IPv6 address");
    return parse_name(parts->host, use, p, e);
}

bool pattern_parse(struct str entry, enum pattern_use use, struct pattern *p,
                   struct err *e)
{
    struct parts parts = {0};

    p->kind = PATTERN_NONE;
    p->first_port = 1;
    p->last_port = PORT_MAX;
    p->ip = (struct ip){0};
    p->has_inner_star = false;
    p->name = (struct str){p->text, 0};
    p->text[0] = '\0';
    return spelling_check(entry, use, e) && split(entry, &parts, e) &&
           parse_host(&parts, use, p, e) &&
           (!parts.has_port || parse_ports(parts.port, p, e));
}

const char *pattern_base(const struct pattern *p)
{
    const char *star = p->has_inner_star ? strchr(p->text, '*') : NULL;

    return star != NULL ? star + strlen("*.") : p->text;
}

bool pattern_can_name(const struct target *t)
{
    return t->kind == HOST_ADDR || has(t->host, '.') ||
           str_equal(t->host, STR("localhost"));
}

bool pattern_has_port(const struct pattern *p)
{
    return p->first_port != 1 || p->last_port != PORT_MAX;
}
