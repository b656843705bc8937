/* An entry of deniedResolvedAddresses or nat64Prefixes: an address or a range. */
#ifndef POLICY_RANGE_H
#define POLICY_RANGE_H

#include "proxy/base/addr.h"
#include "proxy/base/err.h"

enum { RANGE_NOTE_MAX = 160 };

/* As srt reads it: without brackets; a zone is dropped; the prefix length may have
 * leading zeros; a range of IPv4-mapped addresses is the IPv4 range, and one that only
 * begins there is refused. Bits beyond the prefix are cleared. What was dropped or
 * cleared stands in `note`, which is "" otherwise. On false *e says why. */
bool range_parse(struct str entry, struct ip_range *out, char note[RANGE_NOTE_MAX],
                 struct err *e);

/* Whether every IPv4 address lies in it, as an IPv4-mapped one ("::/0"). */
bool range_holds_mapped(const struct ip_range *r);

/* An IPv6 prefix of one of the lengths of RFC 6052 2.2. */
bool range_parse_nat64(struct str entry, struct ip_range *out,
                       char note[RANGE_NOTE_MAX], struct err *e);

const char *range_text(const struct ip_range *r, char buf[IP_TEXT_MAX + 4]);

#endif
