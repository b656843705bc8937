/* Which keys a `network` object may have. Every key of srt is known: those that are
 * read, those that are refused while Weir cannot do what they ask for, and those that
 * mean nothing on Linux. */
#ifndef POLICY_NETWORK_KEYS_H
#define POLICY_NETWORK_KEYS_H

#include "proxy/policy/loading.h"

/* The current layer's network is an object, has no unknown key, and no key asks for
 * what cannot be had. Values of the keys that load.c reads are not looked at. */
bool network_keys_check(const struct loading *l, struct err *e);

#endif
