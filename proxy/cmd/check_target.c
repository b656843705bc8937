#include "proxy/cmd/check_target.h"

#include <stdio.h>

#include "proxy/base/idn.h"

enum { TEXT_SHOWN_MAX = 80, PORT_MAX = 65535 };

static const struct {
    const char *scheme;
    unsigned port;
} schemes[] = {
    {"http", 80},    {"https", 443},       {"ws", 80},         {"wss", 443},
    {"ssh", 22},     {"git+ssh", 22},      {"ssh+git", 22},    {"sftp", 22},
    {"git", 9418},   {"ftp", 21},          {"ftps", 990},      {"svn", 3690},
    {"ldap", 389},   {"ldaps", 636},       {"imap", 143},      {"imaps", 993},
    {"smtp", 25},    {"smtps", 465},       {"mysql", 3306},    {"postgres", 5432},
    {"redis", 6379}, {"postgresql", 5432}, {"mongodb", 27017}, {"amqp", 5672},
};

/* The three parts of what names a server (RFC 3986 3.2.2, 3.2.3). */
struct authority {
    struct str host;
    bool bracketed;
    bool has_port;
    struct str port;
};

static bool refuse(struct str text, struct err *e, const char *why)
{
    return err_set(e, "\"" STR_FMT "\": %s", STR_ARG(str_head(text, TEXT_SHOWN_MAX)),
                   why);
}

/* 0 when it has none that we know. */
static unsigned scheme_port(struct str scheme)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (str_equal_nocase(scheme, str_from(schemes[i].scheme)))
            return schemes[i].port;
    return 0;
}

/* What some programs read one way and others another must not be judged one way. */
static bool has_odd_byte(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c <= 0x20 || c == 0x7f || c == '\\')
            return true;
    }
    return false;
}

static bool has(struct str text, char c)
{
    return text.n > 0 && memchr(text.p, c, text.n) != NULL;
}

/* Cuts "scheme://" off, and the path and the user behind it. *scheme stays empty when
 * there is none. */
static bool cut_url(struct str *text, struct str *scheme, struct err *e)
{
    struct str whole = *text;
    const char *mark = memmem(whole.p, whole.n, "://", 3);
    size_t n = 0;

    if (mark == NULL) {
        if (has(whole, '/') || has(whole, '?') || has(whole, '#') || has(whole, '@'))
            return refuse(whole, e, "no host:port, and no URL without \"scheme://\"");
        return true;
    }
    *scheme = str_head(whole, (size_t)(mark - whole.p));
    *text = str_skip(whole, scheme->n + 3);
    while (n < text->n && strchr("/?#", text->p[n]) == NULL)
        n++;
    *text = str_head(*text, n);
    if (has(*text, '@'))
        str_cut(text, '@');
    return !has(*text, '@') || refuse(whole, e, "more than one \"@\" before the path");
}

static bool split(struct str text, struct authority *out, struct err *e)
{
    struct str rest = text;

    out->bracketed = text.n > 0 && text.p[0] == '[';
    if (out->bracketed) {
        rest = str_skip(rest, 1);
        if (!has(rest, ']'))
            return refuse(text, e, "a \"[\" without \"]\"");
        out->host = str_cut(&rest, ']');
        out->has_port = rest.n > 0;
        if (out->has_port && rest.p[0] != ':')
            return refuse(text, e, "expected \":\" and a port behind \"]\"");
        out->port = str_skip(rest, 1);
        return true;
    }
    out->has_port = has(text, ':');
    out->host = str_cut(&rest, ':');
    out->port = rest;
    return !has(rest, ':') ||
           refuse(text, e, "an IPv6 address stands in brackets, as in \"[::1]:443\"");
}

/* Label by label; *out may be as long as a name can be. */
static bool to_ascii(struct str host, char out[HOST_NAME_MAX_LEN + 2], size_t *len)
{
    *len = 0;
    while (host.n > 0) {
        bool dot = has(host, '.');
        char label[IDN_LABEL_SIZE];
        struct str part = str_cut(&host, '.');
        int n;

        if (!idn_to_ascii(part, label))
            return false;
        n = snprintf(out + *len, HOST_NAME_MAX_LEN + 2 - *len, "%s%s", label,
                     dot ? "." : "");
        *len += (size_t)n;
        if (*len > HOST_NAME_MAX_LEN + 1)
            return false;
    }
    return true;
}

static bool is_ascii(struct str host)
{
    for (size_t i = 0; i < host.n; i++)
        if ((unsigned char)host.p[i] >= 0x80)
            return false;
    return true;
}

static bool set_target(const struct authority *parts, unsigned port, struct arena *a,
                       struct target *t)
{
    char ascii[HOST_NAME_MAX_LEN + 2];
    struct str host = parts->host;

    if (!is_ascii(host)) {
        if (!to_ascii(host, ascii, &host.n))
            return false;
        host.p = ascii;
    }
    return target_set(t, a, host, parts->bracketed, port);
}

bool check_target_parse(struct str text, struct arena *a, struct target *t,
                        enum port_from *from, enum dial_use *use, struct err *e)
{
    struct str scheme = {0}, rest = text;
    struct authority parts = {0};
    unsigned port = CHECK_PORT_ASSUMED;

    if (text.n == 0)
        return err_set(e, "an empty target");
    if (has_odd_byte(text))
        return refuse(text, e, "a blank, a control character or a backslash in it");
    if (!cut_url(&rest, &scheme, e) || !split(rest, &parts, e))
        return false;
    *use = str_equal_nocase(scheme, STR("http")) ? DIAL_EXCHANGE : DIAL_TUNNEL;
    *from = parts.has_port ? PORT_WRITTEN : PORT_ASSUMED;
    if (parts.has_port && (!str_to_uint(parts.port, PORT_MAX, &port) || port == 0))
        return refuse(text, e, "expected a port from 1 to 65535 behind \":\"");
    if (!parts.has_port && scheme.n > 0) {
        *from = PORT_OF_SCHEME;
        port = scheme_port(scheme);
        if (port == 0)
            return refuse(text, e, "no port, and none is known for this scheme");
    }
    return set_target(&parts, port, a, t) ||
           refuse(text, e, "no host name and no IP address that can be asked for");
}
