#include "proxy/policy/addrclass.h"

/* A range by its first bytes; those that are not named are zero. */
struct row {
    uint8_t bytes[16];
    uint8_t bits;
    enum addr_class class;
};

static const struct row classes_v4[] = {
    {{127}, 8, ADDR_CLASS_LOOPBACK},
    {{0}, 8, ADDR_CLASS_UNSPECIFIED},
    {{169, 254}, 16, ADDR_CLASS_LINK_LOCAL},
    {{224}, 4, ADDR_CLASS_MULTICAST},
    {{255, 255, 255, 255}, 32, ADDR_CLASS_BROADCAST},
    {{100, 100, 100, 200}, 32, ADDR_CLASS_METADATA}, /* Alibaba */
    {{168, 63, 129, 16}, 32, ADDR_CLASS_METADATA},   /* Azure */
    {{192, 0, 0, 192}, 32, ADDR_CLASS_METADATA},     /* Oracle */
};

static const struct row classes_v6[] = {
    {{[15] = 1}, 128, ADDR_CLASS_LOOPBACK},
    {{0}, 128, ADDR_CLASS_UNSPECIFIED},
    {{0xfe, 0x80}, 10, ADDR_CLASS_LINK_LOCAL},
    {{0xff}, 8, ADDR_CLASS_MULTICAST},
    /* fd00:ec2::/32, Amazon */
    {{0xfd, 0x00, 0x0e, 0xc2}, 32, ADDR_CLASS_METADATA},
    /* fd20:ce::254, Google */
    {{0xfd, 0x20, 0x00, 0xce, [14] = 0x02, 0x54}, 128, ADDR_CLASS_METADATA},
    /* fd00:c1::a9fe:a9fe, Oracle */
    {{0xfd, 0x00, 0x00, 0xc1, [12] = 0xa9, 0xfe, 0xa9, 0xfe}, 128, ADDR_CLASS_METADATA},
    /* fd00:42::42, Scaleway */
    {{0xfd, 0x00, 0x00, 0x42, [15] = 0x42}, 128, ADDR_CLASS_METADATA},
    /* fd00:a9fe:a9fe::1, Linode */
    {{0xfd, 0x00, 0xa9, 0xfe, 0xa9, 0xfe, [15] = 1}, 128, ADDR_CLASS_METADATA},
    /* fd00:100::100:200, Alibaba */
    {{0xfd, 0x00, 0x01, 0x00, [12] = 0x01, 0x00, 0x02, 0x00}, 128, ADDR_CLASS_METADATA},
};

static const struct row private_v4[] = {
    {{10}, 8, 0},
    {{100, 64}, 10, 0}, /* shared address space, RFC 6598 */
    {{172, 16}, 12, 0},
    {{192, 0, 0}, 24, 0},   /* IETF protocol assignments */
    {{192, 0, 2}, 24, 0},   /* documentation */
    {{192, 88, 99}, 24, 0}, /* 6to4 relays, RFC 7526 */
    {{192, 168}, 16, 0},
    {{198, 18}, 15, 0},      /* benchmarking */
    {{198, 51, 100}, 24, 0}, /* documentation */
    {{203, 0, 113}, 24, 0},  /* documentation */
    {{240}, 4, 0},           /* reserved */
};

static const struct row private_v6[] = {
    {{0x01}, 63, 0},                   /* 100::/64 discard, 100:0:0:1::/64 dummy */
    {{0x20, 0x01}, 23, 0},             /* IETF protocol assignments */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, 0}, /* documentation */
    {{0x3f, 0xff}, 20, 0},             /* documentation */
    {{0x5f, 0x00}, 16, 0},             /* SRv6 identifiers */
    {{0xfc}, 7, 0},                    /* unique local */
    {{0xfe, 0xc0}, 10, 0},             /* site-local, RFC 3879 */
};

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static const struct row *find(const struct row *rows, size_t count, const struct ip *ip)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *b = rows[i].bytes;
        unsigned whole = rows[i].bits / 8, left = rows[i].bits % 8;

        if (memcmp(b, ip->bytes, whole) == 0 &&
            (left == 0 || ((b[whole] ^ ip->bytes[whole]) >> (8 - left)) == 0))
            return &rows[i];
    }
    return NULL;
}

enum addr_class addr_class_of(const struct ip *ip)
{
    const struct row *row;

    if (ip->family != 4 && ip->family != 6)
        return ADDR_CLASS_NONE_AT_ALL;
    row = ip->family == 4 ? find(classes_v4, COUNT(classes_v4), ip)
                          : find(classes_v6, COUNT(classes_v6), ip);
    return row != NULL ? row->class : ADDR_CLASS_OTHER;
}

bool addr_is_private(const struct ip *ip)
{
    if (ip->family == 4)
        return find(private_v4, COUNT(private_v4), ip) != NULL;
    return find(private_v6, COUNT(private_v6), ip) != NULL;
}
