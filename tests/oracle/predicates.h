/* The functions of the table in predicates.c: each holds for the differences of one
 * form. The table says what wants them and why. */
#ifndef ORACLE_PREDICATES_H
#define ORACLE_PREDICATES_H

#include "tests/oracle/difference.h"

/* Entries that Weir refuses, and those that only Weir takes (predicates_entry.c). */
bool entry_odd_bytes(const struct difference *d);
bool entry_zone(const struct difference *d);
bool entry_brackets(const struct difference *d);
bool entry_empty_label(const struct difference *d);
bool entry_long(const struct difference *d);
bool entry_number(const struct difference *d);
bool entry_never(const struct difference *d);
bool entry_foreign_dot(const struct difference *d);
bool entry_no_idn(const struct difference *d);
bool entry_public_suffix(const struct difference *d);
bool range_zone(const struct difference *d);
bool more_range(const struct difference *d);
bool more_dot(const struct difference *d);
bool more_star(const struct difference *d);
bool more_case(const struct difference *d);
bool more_top_level(const struct difference *d);

/* What was asked for (predicates_request.c). */
bool target_brackets(const struct difference *d);
bool target_port(const struct difference *d);
bool target_number(const struct difference *d);
bool target_empty_label(const struct difference *d);
bool target_long(const struct difference *d);
bool target_unparsed_dot(const struct difference *d);
bool match_unparsed_dot(const struct difference *d);
bool match_idn(const struct difference *d);
bool match_star(const struct difference *d);
bool match_decoded(const struct difference *d);

/* Resolved addresses (predicates_request.c). */
bool address_decoded(const struct difference *d);
bool address_decoded_class(const struct difference *d);
bool address_local_nat64(const struct difference *d);

#endif
