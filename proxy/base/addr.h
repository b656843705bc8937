/* IP addresses, alone and with a port. */
#ifndef BASE_ADDR_H
#define BASE_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "proxy/base/str.h"

/* An address without a port. `family` 0 is no address. IPv4 uses the first four bytes;
 * the others are 0, so that two of them compare with ip_equal(). */
struct ip {
    uint8_t family; /* 0, 4 or 6 */
    uint8_t bytes[16];
};

enum { IP_TEXT_MAX = 48 };

bool ip_equal(const struct ip *a, const struct ip *b);

/* "192.0.2.1", "2001:db8::1" (RFC 5952). */
const char *ip_text(const struct ip *ip, char buf[IP_TEXT_MAX]);

/* Dotted quad with four decimal numbers without leading zeros, or IPv6 without brackets
 * or zone. Nothing else: inet_aton() spellings (127.1, 0x7f.1, 2130706433) are refused.
 * The IPv4-mapped form is kept as it is written; see ip_unmap(). */
bool ip_parse(struct str text, struct ip *out);

/* ::ffff:a.b.c.d becomes a.b.c.d (RFC 4291 2.5.5.2); others stay. */
void ip_unmap(struct ip *ip);

/* An address range. Bits after `bits` are zero. */
struct ip_range {
    struct ip ip;
    unsigned bits; /* 0 to 32 or 128 */
};

/* "10.0.0.0/8", or an address alone. Bits beyond the prefix must be zero unless
 * `loose`.
 */
bool ip_range_parse(struct str text, bool loose, struct ip_range *out);
bool ip_range_has(const struct ip_range *r, const struct ip *ip);

struct addr {
    union {
        struct sockaddr sa;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
    socklen_t len; /* 0 when there is none */
};

enum { ADDR_TEXT_MAX = 64 };

struct addr addr_from_ip(const struct ip *ip, unsigned port);
/* .family 0 for anything but AF_INET and AF_INET6. Not unmapped. */
struct ip addr_ip(const struct addr *a);
unsigned addr_port(const struct addr *a);

/* "192.0.2.1:443" or "[2001:db8::1]:443": both parts are required; port 0 is for
 * whoever listens and wants any. *out stays as it is on false. */
bool addr_parse(struct str text, struct addr *out);

/* "192.0.2.1:443" or "[2001:db8::1]:443"; "" when there is none. */
const char *addr_text(const struct addr *a, char buf[ADDR_TEXT_MAX]);

#endif
