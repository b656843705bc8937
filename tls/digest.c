#include "tls/digest.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdlib.h>

_Static_assert((int)DIGEST_SIZE == SHA256_DIGEST_LENGTH, "it is SHA-256");

void digest_of(struct str bytes, uint8_t out[DIGEST_SIZE])
{
    if (SHA256((const unsigned char *)bytes.p, bytes.n, out) == NULL)
        abort();
}

bool digest_equal(const uint8_t a[DIGEST_SIZE], const uint8_t b[DIGEST_SIZE])
{
    return CRYPTO_memcmp(a, b, DIGEST_SIZE) == 0;
}
