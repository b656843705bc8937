#include "proxy/policy/range.h"

#include <stdio.h>

enum { SHOWN_MAX = 64, PREFIX_DIGITS_MAX = 3, MAPPED_BITS = 96 };

static bool has(struct str s, char c)
{
    return s.n > 0 && memchr(s.p, c, s.n) != NULL;
}

static bool refuse_address(struct str text, struct err *e)
{
    struct str inside = str_head(str_skip(text, 1), text.n > 2 ? text.n - 2 : 0);
    struct ip ip;

    if (has(text, '[') && ip_parse(inside, &ip))
        return err_set(e, "no brackets here: write \"%.*s\"", STR_ARG(inside));
    if (text.n == 0)
        return err_set(e, "has no address");
    return err_set(e, "is no address or range, as in \"192.0.2.1\", \"10.0.0.0/8\" or "
                      "\"2001:db8::/32\"; a host name goes to deniedDomains");
}

/* One to three digits; leading zeros count for nothing. */
static bool parse_prefix(struct str text, unsigned max, unsigned *out, struct err *e)
{
    struct str digits = text;

    while (digits.n > 1 && digits.p[0] == '0')
        digits = str_skip(digits, 1);
    if (text.n > PREFIX_DIGITS_MAX || !str_to_uint(digits, max, out))
        return err_set(e, "the prefix length is a number from 0 to %u", max);
    return true;
}

static void clear_bits(struct ip_range *r, char note[RANGE_NOTE_MAX])
{
    struct ip_range cleared = *r;
    char text[IP_TEXT_MAX + 4];

    for (unsigned i = r->bits; i < 128; i++)
        cleared.ip.bytes[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
    if (!ip_equal(&cleared.ip, &r->ip))
        snprintf(note, RANGE_NOTE_MAX, "has bits beyond its prefix; it is read as %s",
                 range_text(&cleared, text));
    *r = cleared;
}

/* ::ffff:10.0.0.0/104 is 10.0.0.0/8: addresses are compared after unmapping. */
static bool unmap(struct ip_range *r, struct err *e)
{
    struct ip v4 = r->ip;

    ip_unmap(&v4);
    if (r->ip.family == 4 || v4.family == 6)
        return true;
    if (r->bits < MAPPED_BITS)
        return err_set(e,
                       "a range of IPv4-mapped addresses has a prefix of %d or more: "
                       "write the IPv4 range",
                       MAPPED_BITS);
    *r = (struct ip_range){v4, r->bits - MAPPED_BITS};
    return true;
}

bool range_parse(struct str entry, struct ip_range *out, char note[RANGE_NOTE_MAX],
                 struct err *e)
{
    struct ip_range r = {0};
    struct str rest = entry, address = str_cut(&rest, '/'), zone = address;
    bool has_prefix = address.n < entry.n, has_zone = has(address, '%');
    unsigned max;

    note[0] = '\0';
    if (!ip_parse(str_cut(&zone, '%'), &r.ip) || (has_zone && r.ip.family == 4))
        return refuse_address(entry, e);
    max = r.ip.family == 4 ? 32 : 128;
    r.bits = max;
    if (has_prefix && !parse_prefix(rest, max, &r.bits, e))
        return false;
    if (!unmap(&r, e))
        return false;
    clear_bits(&r, note);
    if (has_zone && note[0] == '\0')
        snprintf(note, RANGE_NOTE_MAX,
                 "is read without its zone: addresses that a name "
                 "resolves to have none");
    *out = r;
    return true;
}

bool range_holds_mapped(const struct ip_range *r)
{
    static const struct ip first = {6, {[10] = 0xff, [11] = 0xff}};

    return r->bits <= MAPPED_BITS && ip_range_has(r, &first);
}

bool range_parse_nat64(struct str entry, struct ip_range *out,
                       char note[RANGE_NOTE_MAX], struct err *e)
{
    struct ip_range r;

    if (!range_parse(entry, &r, note, e))
        return false;
    if (r.ip.family != 6)
        return err_set(e, "a NAT64 prefix is an IPv6 range, as in \"64:ff9b::/96\"");
    if (r.bits != 96 && (r.bits < 32 || r.bits > 64 || r.bits % 8 != 0))
        return err_set(e,
                       "a NAT64 prefix has 32, 40, 48, 56, 64 or 96 bits (RFC 6052 "
                       "2.2), not %u",
                       r.bits);
    *out = r;
    return true;
}

const char *range_text(const struct ip_range *r, char buf[IP_TEXT_MAX + 4])
{
    char ip[IP_TEXT_MAX];

    snprintf(buf, IP_TEXT_MAX + 4, "%s/%u", ip_text(&r->ip, ip), r->bits);
    return buf;
}
