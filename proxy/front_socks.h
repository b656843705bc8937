/* What SOCKS 4 and 5 have in common: a cursor over bytes of fixed places, and the host
 * that was asked for. */
#ifndef PROXY_FRONT_SOCKS_H
#define PROXY_FRONT_SOCKS_H

#include "proxy/front.h"

enum { SOCKS_CONNECT = 1 };

/* Refused with `reply`, which stands for answer(): what went wrong has a code of its
 * own. */
enum front_parse socks_refuse(struct front_asked *asked, enum reason reason,
                              const char *why, struct str reply);

/* A host in the client's own words: a name, or an address as text, since clients that
 * leave names to the proxy send addresses the same way. */
bool socks_set_name(struct front_asked *asked, struct arena *a, struct str host,
                    unsigned port);
/* An address in bytes: 4 of them, or 16. */
bool socks_set_address(struct front_asked *asked, struct arena *a, struct str bytes,
                       unsigned port);

/* A big-endian port. */
static inline unsigned socks_port(const char *p)
{
    return (unsigned)(unsigned char)p[0] << 8 | (unsigned char)p[1];
}

#endif
