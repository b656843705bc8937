/* What kind of place an address is, whoever asks and whatever the settings say. */
#ifndef POLICY_ADDRCLASS_H
#define POLICY_ADDRCLASS_H

#include "proxy/base/addr.h"

/* In the order of srt: of several that apply the first one is the reason. */
enum addr_class {
    ADDR_CLASS_NONE_AT_ALL = 0, /* no address: refused like an unspecified one */
    ADDR_CLASS_LOOPBACK,        /* 127.0.0.0/8, ::1 */
    ADDR_CLASS_UNSPECIFIED,     /* 0.0.0.0/8, :: */
    ADDR_CLASS_LINK_LOCAL,      /* 169.254.0.0/16, fe80::/10 */
    ADDR_CLASS_MULTICAST,       /* 224.0.0.0/4, ff00::/8 */
    ADDR_CLASS_BROADCAST,       /* 255.255.255.255 */
    ADDR_CLASS_METADATA,        /* where clouds keep credentials, beside link-local */
    ADDR_CLASS_OTHER,           /* nothing of the above */
};

enum addr_class addr_class_of(const struct ip *ip);

/* Not for the public internet (IANA's special-purpose registries and the assignments
 * before them): RFC 1918, unique local, shared (CGNAT), site-local, IETF protocol
 * assignments with Teredo, ORCHID and benchmarking, documentation, discard-only, SRv6
 * identifiers, 6to4 relays, and the reserved 240.0.0.0/4. Not 2002::/16 and the NAT64
 * prefixes: what is inside decides. */
bool addr_is_private(const struct ip *ip);

#endif
