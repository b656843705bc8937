#include "proxy/proxy_header.h"

#include <stdint.h>

enum {
    V2_FIXED = 16,     /* signature, version and command, family, length */
    V2_VERSION = 0x20, /* in the upper half of its byte; the lower is the command */
    V2_LOCAL = 0,
    V2_PROXY = 1,
    V2_UNSPEC = 0x00, /* family and protocol; the others are not for streams */
    V2_TCP4 = 0x11,
    V2_TCP6 = 0x21,
    V2_UNIX = 0x31,
    TLV_FIXED = 3, /* type and length */
    TLV_CRC32C = 0x03,
    CRC_SIZE = 4,
};

static const struct str v1_begin = {"PROXY ", 6};
static const struct str v2_begin = {"\r\n\r\n\0\r\nQUIT\n", 12};

static enum proxy_header_parse refuse(struct proxy_header *out, const char *why)
{
    *out = (struct proxy_header){.why = why};
    return PROXY_HEADER_REFUSED;
}

static bool is_port(struct str s)
{
    unsigned port;

    return str_to_uint(s, UINT16_MAX, &port);
}

/* "TCP4 192.0.2.1 192.0.2.2 56324 443": single blanks, nothing else. */
static enum proxy_header_parse read_v1(struct str line, struct proxy_header *out)
{
    struct str family = str_cut(&line, ' '), from = str_cut(&line, ' ');
    struct str to = str_cut(&line, ' '), from_port = str_cut(&line, ' ');
    bool v4 = str_equal(family, STR("TCP4")), v6 = str_equal(family, STR("TCP6"));
    struct ip other;

    if (str_equal(family, STR("UNKNOWN")))
        return PROXY_HEADER_DONE;
    if (!v4 && !v6)
        return refuse(out, "the PROXY header is of another protocol than TCP");
    if (!ip_parse(from, &out->from) || !ip_parse(to, &other) || !is_port(from_port) ||
        !is_port(line) || out->from.family != (v4 ? 4 : 6) ||
        other.family != out->from.family)
        return refuse(out, "the addresses of the PROXY header cannot be read");
    ip_unmap(&out->from);
    return PROXY_HEADER_DONE;
}

static enum proxy_header_parse parse_v1(struct str in, struct proxy_header *out,
                                        size_t *used)
{
    struct str line = str_head(in, PROXY_HEADER_V1_MAX);
    const char *end = memchr(line.p, '\n', line.n);

    if (end == NULL && in.n < PROXY_HEADER_V1_MAX)
        return PROXY_HEADER_MORE;
    if (end == NULL)
        return refuse(out, "the PROXY header is longer than 107 bytes");
    line.n = (size_t)(end - line.p) + 1;
    *used = line.n;
    if (!str_ends(line, STR("\r\n")))
        return refuse(out, "the PROXY header does not end in CR LF");
    line.n -= 2;
    return read_v1(str_skip(line, v1_begin.n), out);
}

static unsigned byte_at(struct str s, size_t i)
{
    return (unsigned char)s.p[i];
}

static size_t u16_at(struct str s, size_t i)
{
    return (size_t)byte_at(s, i) << 8 | byte_at(s, i + 1);
}

static uint32_t u32_at(struct str s, size_t i)
{
    return (uint32_t)u16_at(s, i) << 16 | (uint32_t)u16_at(s, i + 2);
}

/* RFC 4960, appendix B: over the whole header, its own four bytes taken for zeros. */
static uint32_t crc32c(struct str s, size_t own)
{
    enum { POLYNOMIAL = 0x82f63b78 }; /* reflected */
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < s.n; i++) {
        crc ^= i >= own && i < own + CRC_SIZE ? 0 : byte_at(s, i);
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? (uint32_t)POLYNOMIAL : 0);
    }
    return ~crc;
}

/* What stands behind the addresses: only the checksum means something here (2.2.3). */
static enum proxy_header_parse read_tlvs(struct str header, size_t at,
                                         struct proxy_header *out)
{
    while (at < header.n) {
        size_t len;

        if (header.n - at < TLV_FIXED)
            return refuse(out, "the PROXY header ends within a field");
        len = u16_at(header, at + 1);
        if (header.n - at - TLV_FIXED < len)
            return refuse(out, "a field of the PROXY header is longer than the header");
        if (byte_at(header, at) == TLV_CRC32C &&
            (len != CRC_SIZE ||
             u32_at(header, at + TLV_FIXED) != crc32c(header, at + TLV_FIXED)))
            return refuse(out, "the checksum of the PROXY header is wrong");
        at += TLV_FIXED + len;
    }
    return PROXY_HEADER_DONE;
}

/* How long the addresses are; SIZE_MAX: it is no family of stream sockets. */
static size_t addresses_size(unsigned family)
{
    switch (family) {
    case V2_UNSPEC:
        return 0;
    case V2_TCP4:
        return 2 * 4 + 2 * 2;
    case V2_TCP6:
        return 2 * 16 + 2 * 2;
    case V2_UNIX:
        return (size_t)2 * 108;
    default:
        return SIZE_MAX;
    }
}

static void read_addresses(struct str header, unsigned family, struct proxy_header *out)
{
    if (family == V2_TCP4)
        out->from.family = 4;
    else if (family == V2_TCP6)
        out->from.family = 6;
    if (out->from.family != 0)
        memcpy(out->from.bytes, header.p + V2_FIXED, out->from.family == 4 ? 4 : 16);
    ip_unmap(&out->from);
}

static enum proxy_header_parse read_v2(struct str header, struct proxy_header *out)
{
    unsigned family = byte_at(header, 13);
    size_t size = addresses_size(family);

    out->local = byte_at(header, 12) == (V2_VERSION | V2_LOCAL);
    /* 2.2: the rest of such a header is to be ignored, whatever it is. */
    if (out->local)
        return PROXY_HEADER_DONE;
    if (size == SIZE_MAX)
        return refuse(out, "the PROXY header is of another protocol than TCP");
    if (header.n - V2_FIXED < size)
        return refuse(out, "the PROXY header is too short for its addresses");
    read_addresses(header, family, out);
    /* Nor is it told how long what has no family is (2.2). */
    return family == V2_UNSPEC ? PROXY_HEADER_DONE
                               : read_tlvs(header, V2_FIXED + size, out);
}

static enum proxy_header_parse parse_v2(struct str in, struct proxy_header *out,
                                        size_t *used)
{
    size_t len;

    if (in.n > 12 && byte_at(in, 12) != (V2_VERSION | V2_LOCAL) &&
        byte_at(in, 12) != (V2_VERSION | V2_PROXY))
        return refuse(out, "the PROXY header is of an unknown version or command");
    if (in.n < V2_FIXED)
        return PROXY_HEADER_MORE;
    len = V2_FIXED + u16_at(in, 14);
    if (len > PROXY_HEADER_V2_MAX)
        return refuse(out, "the PROXY header is longer than 4096 bytes");
    if (in.n < len)
        return PROXY_HEADER_MORE;
    *used = len;
    return read_v2(str_head(in, len), out);
}

static bool may_begin(struct str in, struct str begin)
{
    return str_starts(in.n < begin.n ? begin : in, in.n < begin.n ? in : begin);
}

enum proxy_header_parse proxy_header_parse(struct str in, struct proxy_header *out,
                                           size_t *used)
{
    *out = (struct proxy_header){.local = false};
    *used = 0;
    if (may_begin(in, v1_begin))
        return in.n < v1_begin.n ? PROXY_HEADER_MORE : parse_v1(in, out, used);
    if (may_begin(in, v2_begin))
        return in.n < v2_begin.n ? PROXY_HEADER_MORE : parse_v2(in, out, used);
    return refuse(out, "there is no PROXY header, and this peer must send one");
}
