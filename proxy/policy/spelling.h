/* What people type where a host should stand, and what they should write instead: URLs,
 * paths, ranges, blanks, other spellings of addresses. Advice only: pattern.c refuses
 * whatever is not canonical, with or without a word from here. */
#ifndef POLICY_SPELLING_H
#define POLICY_SPELLING_H

#include "proxy/base/err.h"
#include "proxy/base/str.h"
#include "proxy/policy/pattern.h"

/* True when nothing about the entry's bytes is foreign to a host. */
bool spelling_check(struct str entry, enum pattern_use use, struct err *e);

/* Why more than one colon, or brackets around something else, is no entry. */
bool spelling_refuse_colons(struct str entry, struct err *e);
bool spelling_refuse_brackets(struct str inside, struct err *e);

/* A name may not end in a number, since resolvers would take it for an address. */
bool spelling_refuse_number(const struct pattern *p, struct err *e);

#endif
