/* What was asked for: a name or an address, and a port. It is made in one place, from
 * the client's bytes, and from then on judging, resolving, dialling, logging and
 * comparing all use this struct and never those bytes again. */
#ifndef BASE_TARGET_H
#define BASE_TARGET_H

#include "proxy/base/addr.h"
#include "proxy/base/arena.h"

enum {
    HOST_NAME_MAX_LEN = 253, /* RFC 1035 2.3.4, without the trailing dot */
    HOST_LABEL_MAX = 63,
};

enum host_kind { HOST_NONE = 0, HOST_NAME, HOST_ADDR };

struct target {
    enum host_kind kind;
    struct str host; /* canonical: lower case [a-z0-9._-], no trailing dot; an address
                      * as ip_text() writes it, without brackets. In the arena, with a
                      * NUL behind it */
    struct ip ip;    /* of HOST_ADDR; IPv4-mapped is IPv4 here */
    unsigned port;   /* 1 to 65535 */
};

/* The only way to make a target. `host` is what stands before the port, IPv6 in
 * brackets or not as `bracketed` says. Copies and normalises; false, with nothing
 * written to *t, when it holds anything else than a name of labels of [A-Za-z0-9_-]
 * (one trailing dot is dropped), a dotted quad, or IPv6 where brackets were; when a
 * name ends in a label that resolvers would read as a number (RFC 1123 2.1: "1.2.3",
 * "0x7f.1"); when it is too long; or when `port` is not from 1 to 65535. */
bool target_set(struct target *t, struct arena *a, struct str host, bool bracketed,
                unsigned port);

/* "host:port" or "[v6]:port", the authority of RFC 9110 7.2 as CONNECT has it: both
 * parts are required, the port is one to five digits without sign or leading zero. */
bool target_parse(struct target *t, struct arena *a, struct str authority);

/* Both ask for the same host; the ports are not compared. */
bool target_same_host(const struct target *a, const struct target *b);

#endif
