/* Lists of addresses and ranges in the gateway file: "10.1.0.0/16", "2001:db8::1". */
#ifndef PROXY_RANGES_H
#define PROXY_RANGES_H

#include "proxy/base/addr.h"
#include "proxy/keys.h"

enum { RANGES_MAX = 4096 }; /* of one list */

/* A list with at least one entry, none twice, no bits beyond a prefix; *out is for
 * free(). On false *e names place and index. */
bool ranges_read(const struct keys_file *file, const cJSON *list, const char *place,
                 struct ip_range **out, size_t *count, struct err *e);

/* An IPv4-mapped address counts as the IPv4 address; none at all is in no range. */
bool ranges_have(const struct ip_range *ranges, size_t count, const struct ip *ip);

#endif
