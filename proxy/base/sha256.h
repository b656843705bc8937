/* SHA-256 (FIPS 180-4), for what is compared without being kept: tokens. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stdint.h>

#include "proxy/base/str.h"

enum { SHA256_SIZE = 32 };

void sha256(struct str bytes, uint8_t out[SHA256_SIZE]);

/* Whether two digests are the same, in a time that does not tell where they differ. */
bool sha256_equal(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE]);

#endif
