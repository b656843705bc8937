/* Address ranges in a tree by their bits, with runs of bits that nothing parts from
 * folded into one node: a search looks at 33 or 129 nodes at most, however many ranges
 * there are. */
#ifndef POLICY_RADIX_H
#define POLICY_RADIX_H

#include "proxy/base/addr.h"

struct radix;

struct radix *radix_new(void);
void radix_free(struct radix **r);

/* False when the very same range is there already; *entry is then the first one's. */
bool radix_add(struct radix *r, const struct ip_range *range, uint32_t *entry);

/* The entry of the longest range that holds the address. */
bool radix_find(const struct radix *r, const struct ip *ip, uint32_t *entry);

#endif
