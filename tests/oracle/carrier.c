#include "tests/oracle/carrier.h"

static struct ip v4_of(const uint8_t bytes[4])
{
    struct ip ip = {.family = 4};

    memcpy(ip.bytes, bytes, 4);
    return ip;
}

/* The bit after the prefix is where the address begins; it leaves out bits 64 to 71. */
static struct ip translated(const struct ip *ip, unsigned bits)
{
    uint8_t rest[16] = {0};
    size_t n = 0;

    for (unsigned at = bits / 8; at < 16; at++)
        if (at != 8)
            rest[n++] = ip->bytes[at];
    return v4_of(rest);
}

static bool in_prefix(const struct ip *ip, const struct entry *e, unsigned *bits)
{
    struct ip_range r;

    if (e->kind != 'p' || !ip_range_parse(e->text, false, &r) || !ip_range_has(&r, ip))
        return false;
    *bits = r.bits;
    return true;
}

/* The universal bit may be set; the group bit should not, and is taken for the same. */
static bool is_isatap(const struct ip *ip)
{
    const uint8_t *id = ip->bytes + 8;

    return (id[0] & 0xfc) == 0 && id[1] == 0 && id[2] == 0x5e && id[3] == 0xfe;
}

size_t carried_by(const struct ip *ip, const struct group *g,
                  struct ip out[CARRIED_MAX])
{
    static const uint8_t teredo[4] = {0x20, 0x01};
    size_t n = 0;
    unsigned bits;

    if (ip->family != 6)
        return 0;
    if (memcmp(ip->bytes, teredo, sizeof teredo) == 0) {
        out[n++] = v4_of(ip->bytes + 4);
        out[n] = v4_of(ip->bytes + 12);
        for (int i = 0; i < 4; i++)
            out[n].bytes[i] ^= 0xff;
        n++;
    }
    if (is_isatap(ip))
        out[n++] = v4_of(ip->bytes + 12);
    for (size_t i = 0; i < g->entry_count && n < CARRIED_MAX; i++)
        if (in_prefix(ip, &g->entries[i], &bits))
            out[n++] = translated(ip, bits);
    return n;
}

bool is_local_nat64(const struct ip *ip, const struct group *g)
{
    static const uint8_t local[6] = {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01};
    unsigned bits;

    if (ip->family != 6 || memcmp(ip->bytes, local, sizeof local) != 0)
        return false;
    for (size_t i = 0; i < g->entry_count; i++)
        if (in_prefix(ip, &g->entries[i], &bits))
            return false;
    return true;
}
