/* An address together with every IPv4 address that is hidden in it: a translator or a
 * tunnel on the way may deliver the packet there. Deny rules look at all of them;
 * nothing is ever allowed for the sake of a hidden one. */
#ifndef POLICY_FORMS_H
#define POLICY_FORMS_H

#include "proxy/base/addr.h"

enum {
    FORMS_NAT64_MAX = 16, /* configured prefixes */
    FORMS_BUILT_IN_MAX = 7,
    FORMS_MAX = 1 + FORMS_BUILT_IN_MAX + FORMS_NAT64_MAX,
};

enum { FORM_NOT_CONFIGURED = -1 };

struct form {
    struct ip ip;
    int prefix; /* which configured NAT64 prefix showed it, or FORM_NOT_CONFIGURED */
};

struct forms {
    struct form form[FORMS_MAX]; /* the first is the address itself, unmapped */
    size_t count;                /* at least 1 */
    /* In 64:ff9b:1::/48 (RFC 8215, for local use) without a configured prefix that
     * says where the IPv4 address lies: it cannot be known where this leads. */
    bool is_unknown_nat64;
};

/* Looks into: ::a.b.c.d (RFC 4291 2.5.5.1), ::ffff:0:a.b.c.d (RFC 2765), 64:ff9b::/96
 * (RFC 6052), 64:ff9b:1::/48, the configured prefixes of every length of RFC 6052,
 * 2002::/16 (6to4, RFC 3056), 2001::/32 (Teredo, RFC 4380: server, and the client,
 * which is inverted), and the interface identifiers of ISATAP (RFC 5214 6.1). */
void forms_of(const struct ip *ip, const struct ip_range *nat64, size_t nat64_count,
              struct forms *out);

#endif
