/* Forms of IPv6 that carry an IPv4 address and that srt does not decode. Written from
 * the RFCs, not from Weir's code. */
#ifndef ORACLE_CARRIER_H
#define ORACLE_CARRIER_H

#include "tests/oracle/vectors.h"

enum { CARRIED_MAX = 16 };

/* What an address carries: by the entries 'p' of the group (RFC 6052), as Teredo
 * (server and client, RFC 4380), as ISATAP (RFC 5214). */
size_t carried_by(const struct ip *ip, const struct group *g,
                  struct ip out[CARRIED_MAX]);

/* In 64:ff9b:1::/48 (RFC 8215), and in no entry 'p': it carries an address, and only
 * the operator knows where. */
bool is_local_nat64(const struct ip *ip, const struct group *g);

#endif
