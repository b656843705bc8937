#include "proxy/base/addr.h"

#include <arpa/inet.h>
#include <stdio.h>

bool ip_equal(const struct ip *a, const struct ip *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

const char *ip_text(const struct ip *ip, char buf[IP_TEXT_MAX])
{
    buf[0] = '\0';
    if (ip->family != 0)
        inet_ntop(ip->family == 4 ? AF_INET : AF_INET6, ip->bytes, buf, IP_TEXT_MAX);
    return buf;
}

static bool parse_quad(struct str text, uint8_t out[4])
{
    struct str rest = text;

    for (int i = 0; i < 4; i++) {
        unsigned part;
        bool last = memchr(rest.p, '.', rest.n) == NULL;

        if (last != (i == 3) || !str_to_uint(str_cut(&rest, '.'), 255, &part))
            return false;
        out[i] = (uint8_t)part;
    }
    return true;
}

bool ip_parse(struct str text, struct ip *out)
{
    struct ip ip = {0};
    char z[IP_TEXT_MAX];

    if (text.n == 0 || text.n >= sizeof z || memchr(text.p, '\0', text.n) != NULL)
        return false;
    if (memchr(text.p, ':', text.n) == NULL) {
        if (!parse_quad(text, ip.bytes))
            return false;
        ip.family = 4;
    } else {
        memcpy(z, text.p, text.n);
        z[text.n] = '\0';
        if (inet_pton(AF_INET6, z, ip.bytes) != 1)
            return false;
        ip.family = 6;
    }
    *out = ip;
    return true;
}

void ip_unmap(struct ip *ip)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct ip v4 = {.family = 4};

    if (ip->family != 6 || memcmp(ip->bytes, mapped, sizeof mapped) != 0)
        return;
    memcpy(v4.bytes, ip->bytes + 12, 4);
    *ip = v4;
}

static bool is_zero_beyond(const struct ip *ip, unsigned bits)
{
    for (unsigned i = bits; i < 128; i++)
        if ((ip->bytes[i / 8] & (0x80 >> i % 8)) != 0)
            return false;
    return true;
}

bool ip_range_parse(struct str text, bool loose, struct ip_range *out)
{
    struct ip_range r = {0};
    struct str rest = text;
    bool has_prefix = text.n > 0 && memchr(text.p, '/', text.n) != NULL;
    unsigned max;

    if (!ip_parse(str_cut(&rest, '/'), &r.ip))
        return false;
    max = r.ip.family == 4 ? 32 : 128;
    r.bits = max;
    if (has_prefix && !str_to_uint(rest, max, &r.bits))
        return false;
    if (!loose && !is_zero_beyond(&r.ip, r.bits))
        return false;
    for (unsigned i = r.bits; i < 128; i++)
        r.ip.bytes[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
    *out = r;
    return true;
}

bool ip_range_has(const struct ip_range *r, const struct ip *ip)
{
    unsigned whole = r->bits / 8, left = r->bits % 8;

    if (r->ip.family != ip->family || memcmp(r->ip.bytes, ip->bytes, whole) != 0)
        return false;
    return left == 0 ||
           ((r->ip.bytes[whole] ^ ip->bytes[whole]) & (0xff00 >> left) & 0xff) == 0;
}

struct addr addr_from_ip(const struct ip *ip, unsigned port)
{
    struct addr a = {0};

    if (ip->family == 4) {
        a.v4.sin_family = AF_INET;
        a.v4.sin_port = htons((uint16_t)port);
        memcpy(&a.v4.sin_addr, ip->bytes, 4);
        a.len = sizeof a.v4;
    } else if (ip->family == 6) {
        a.v6.sin6_family = AF_INET6;
        a.v6.sin6_port = htons((uint16_t)port);
        memcpy(&a.v6.sin6_addr, ip->bytes, 16);
        a.len = sizeof a.v6;
    }
    return a;
}

bool addr_parse(struct str text, struct addr *out)
{
    struct str host, rest = text;
    bool bracketed = text.n > 0 && text.p[0] == '[';
    struct ip ip;
    unsigned port;

    if (bracketed) {
        rest = str_skip(rest, 1);
        host = str_cut(&rest, ']');
        if (rest.n == 0 || rest.p[0] != ':')
            return false;
        rest = str_skip(rest, 1);
    } else {
        host = str_cut(&rest, ':');
    }
    if (!ip_parse(host, &ip) || bracketed != (ip.family == 6) ||
        !str_to_uint(rest, 65535, &port))
        return false;
    *out = addr_from_ip(&ip, port);
    return true;
}

struct ip addr_ip(const struct addr *a)
{
    struct ip ip = {0};

    if (a->len == 0)
        return ip;
    if (a->sa.sa_family == AF_INET) {
        ip.family = 4;
        memcpy(ip.bytes, &a->v4.sin_addr, 4);
    } else if (a->sa.sa_family == AF_INET6) {
        ip.family = 6;
        memcpy(ip.bytes, &a->v6.sin6_addr, 16);
    }
    return ip;
}

unsigned addr_port(const struct addr *a)
{
    if (a->len == 0)
        return 0;
    return ntohs(a->sa.sa_family == AF_INET6 ? a->v6.sin6_port : a->v4.sin_port);
}

const char *addr_text(const struct addr *a, char buf[ADDR_TEXT_MAX])
{
    struct ip ip = addr_ip(a);
    char text[IP_TEXT_MAX];

    buf[0] = '\0';
    if (ip.family != 0)
        snprintf(buf, ADDR_TEXT_MAX, ip.family == 4 ? "%s:%u" : "[%s]:%u",
                 ip_text(&ip, text), addr_port(a));
    return buf;
}
