/* SHA-256 (FIPS 180-4), for what is compared without being kept: tokens. */
#ifndef TLS_DIGEST_H
#define TLS_DIGEST_H

#include <stdint.h>

#include "proxy/base/str.h"

enum { DIGEST_SIZE = 32 };

void digest_of(struct str bytes, uint8_t out[DIGEST_SIZE]);

/* Whether two digests are the same, in a time that does not tell where they differ. */
bool digest_equal(const uint8_t a[DIGEST_SIZE], const uint8_t b[DIGEST_SIZE]);

#endif
