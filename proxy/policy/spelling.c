#include "proxy/policy/spelling.h"

#include <arpa/inet.h>

/* So much of what the user wrote is repeated in a message. */
enum { SHOWN_MAX = 80 };

#define SHOW(s) (int)str_head(s, SHOWN_MAX).n, (s).p

static bool has(struct str s, char c)
{
    return s.n > 0 && memchr(s.p, c, s.n) != NULL;
}

/* Up to the first of the bytes in `ends`. */
static struct str until(struct str s, const char *ends)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr(ends, s.p[i]) != NULL)
            return str_head(s, i);
    return s;
}

static struct str after_last(struct str s, char c)
{
    while (has(s, c))
        str_cut(&s, c);
    return s;
}

static bool refuse_url(struct str entry, struct err *e)
{
    struct str rest = entry, scheme = str_cut(&rest, ':');
    struct str host = after_last(until(str_skip(rest, 2), "/?#\\"), '@');
    const char *port = "";

    if (!has(host, ':') && str_equal_nocase(scheme, STR("https")))
        port = ":443";
    if (!has(host, ':') && str_equal_nocase(scheme, STR("http")))
        port = ":80";
    return err_set(e, "an entry is a host, not a URL: write \"%.*s%s\"", SHOW(host),
                   port);
}

static bool refuse_slash(struct str entry, enum pattern_use use, struct err *e)
{
    struct str host = until(entry, "/");
    struct ip_range range;

    if (!ip_range_parse(entry, true, &range))
        return err_set(e, "an entry is a host, without a path: write \"%.*s\"",
                       SHOW(host));
    if (use == PATTERN_ALLOW)
        return err_set(e, "an address range cannot be allowed: list each address; "
                          "ranges to deny go to deniedResolvedAddresses");
    return err_set(e, "address ranges go to deniedResolvedAddresses");
}

static bool refuse_blanks(struct str entry, struct err *e)
{
    struct str trimmed = str_trim(entry);

    if (trimmed.n == 0)
        return err_set(e, "is blank: write a host name");
    if (trimmed.n != entry.n && !has(trimmed, ' '))
        return err_set(e, "has blanks around it: write \"%.*s\"", SHOW(trimmed));
    return err_set(e, "has a blank in it: a host has none");
}

/* The byte as a person can see it. */
static bool refuse_byte(unsigned char c, struct err *e)
{
    if (c < 0x20 || c == 0x7f)
        return err_set(e, "has the control character 0x%02x in it", c);
    return err_set(
        e, "has \"%c\" in it: a host is letters, digits, \"-\", \"_\" and dots", c);
}

static bool is_host_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c >= 0x80 || (c != '\0' && strchr("-_.:*[]", c) != NULL);
}

static bool is_plain(struct str entry)
{
    for (size_t i = 0; i < entry.n; i++)
        if (!is_host_byte((unsigned char)entry.p[i]))
            return false;
    return entry.n > 0;
}

static bool refuse(struct str entry, enum pattern_use use, struct err *e)
{
    struct str rest = entry;

    if (entry.n == 0)
        return err_set(e, "is empty: write a host name (a list without entries is [])");
    if (has(entry, ',') && !has(entry, '\0'))
        return err_set(e,
                       "one host an entry: write \"%.*s\" and the others as entries "
                       "of their own",
                       SHOW(str_trim(str_cut(&rest, ','))));
    if (has(entry, ' ') || has(entry, '\t'))
        return refuse_blanks(entry, e);
    for (size_t i = 0; i + 2 < entry.n; i++)
        if (memcmp(entry.p + i, "://", 3) == 0)
            return refuse_url(entry, e);
    if (has(entry, '/'))
        return refuse_slash(entry, use, e);
    if (has(entry, '@'))
        return err_set(e, "an entry is a host, without a user: write \"%.*s\"",
                       SHOW(after_last(entry, '@')));
    if (has(entry, '%'))
        return err_set(e, "has \"%%\" in it: zones of addresses and percent-encoded "
                          "names are not taken");
    for (size_t i = 0; i < entry.n; i++)
        if (!is_host_byte((unsigned char)entry.p[i]))
            return refuse_byte((unsigned char)entry.p[i], e);
    return err_set(e, "is no host");
}

bool spelling_check(struct str entry, enum pattern_use use, struct err *e)
{
    return is_plain(entry) || refuse(entry, use, e);
}

bool spelling_refuse_colons(struct str entry, struct err *e)
{
    struct str port = after_last(entry, ':');
    struct str front = str_head(entry, entry.n - port.n - 1);
    struct ip ip;
    unsigned number;

    if (!ip_parse(entry, &ip) && !ip_parse(front, &ip))
        return err_set(e, "has more than one \":\": write \"host:port\", or an IPv6 "
                          "address in brackets as in \"[2001:db8::1]:443\"");
    if (str_to_uint(port, 65535, &number) && number != 0 && ip_parse(front, &ip))
        return err_set(e,
                       "an IPv6 address stands in brackets: write \"[%.*s]:%u\" for "
                       "that port, or \"[ADDRESS]\" for every port",
                       SHOW(front), number);
    return err_set(e, "an IPv6 address stands in brackets: write \"[%.*s]\"",
                   SHOW(entry));
}

bool spelling_refuse_brackets(struct str inside, struct err *e)
{
    struct ip ip;

    if (ip_parse(inside, &ip) && ip.family == 4)
        return err_set(e, "brackets are for IPv6 addresses: write \"%.*s\"",
                       SHOW(inside));
    return err_set(e, "brackets are for IPv6 addresses, as in \"[2001:db8::1]:443\"");
}

bool spelling_refuse_number(const struct pattern *p, struct err *e)
{
    struct in_addr read_as;

    if (p->kind == PATTERN_NAME && inet_aton(p->text, &read_as) != 0)
        return err_set(e, "is no canonical spelling of an address: write \"%s\"",
                       inet_ntoa(read_as));
    return err_set(e, "ends in a number, which no name does, and is no address: an "
                      "IPv4 address is four numbers from 0 to 255");
}
