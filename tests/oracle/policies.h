/* Policies of Weir made from the entries of a group. */
#ifndef ORACLE_POLICIES_H
#define ORACLE_POLICIES_H

#include "proxy/policy/policy.h"
#include "tests/oracle/vectors.h"

/* Loads every entry by itself: fills in .ours and .alone. An entry of an address group
 * that is no range ('a', 'd', 'i', 'p') stays without .alone. */
void policies_alone(struct group *g);
void policies_free(struct group *g);

/* All entries that both load, together. NULL, and *e says why, when they do not load
 * together. */
struct policy *policies_together(const struct group *g, struct err *e);

#endif
