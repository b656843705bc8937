/* A keyed hash: who does not know the key cannot make two keys meet in one slot of a
 * table, whatever names are asked for or listed. */
#ifndef POLICY_HASH_H
#define POLICY_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "proxy/base/err.h"

struct hash_key {
    uint64_t k0, k1;
};

/* From the kernel's random source. */
bool hash_key_make(struct hash_key *key, struct err *e);

/* SipHash-1-3 of `prefix` (as eight bytes) and what follows it. */
uint64_t hash_bytes(const struct hash_key *key, uint64_t prefix, const void *bytes,
                    size_t len);

#endif
