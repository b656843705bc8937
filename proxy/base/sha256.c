#include "proxy/base/sha256.h"

enum { BLOCK = 64, ROUNDS = 64, LENGTH_AT = 56 };

/* FIPS 180-4, 5.3.3 and 4.2.2: the first 32 bits of the fractional parts of the square
 * roots of the first 8 primes, and of the cube roots of the first 64. */
static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store(uint8_t *p, uint32_t x)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(x >> (24 - 8 * i));
}

/* 6.2.2, step 1. */
static void schedule(uint32_t w[ROUNDS], const uint8_t block[BLOCK])
{
    for (unsigned t = 0; t < 16; t++)
        w[t] = load(block + (size_t)4 * t);
    for (unsigned t = 16; t < ROUNDS; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];

        w[t] = w[t - 16] + w[t - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

/* 6.2.2, steps 2 to 4. v holds a to h. */
static void compress(uint32_t state[8], const uint8_t block[BLOCK])
{
    uint32_t w[ROUNDS], v[8];

    schedule(w, block);
    memcpy(v, state, sizeof v);
    for (unsigned t = 0; t < ROUNDS; t++) {
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t most = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t one = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
                       choice + constants[t] + w[t];
        uint32_t two = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + most;

        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += v[i];
    explicit_bzero(w, sizeof w);
}

void sha256(struct str bytes, uint8_t out[SHA256_SIZE])
{
    const uint64_t bits = (uint64_t)bytes.n * 8;
    uint8_t tail[2 * BLOCK] = {0};
    uint32_t state[8];
    size_t left, end;

    memcpy(state, first, sizeof state);
    for (; bytes.n >= BLOCK; bytes = str_skip(bytes, BLOCK))
        compress(state, (const uint8_t *)bytes.p);
    /* 5.1.1: a one, zeros, and the length at the end of a block. */
    left = bytes.n;
    if (left > 0)
        memcpy(tail, bytes.p, left);
    tail[left] = 0x80;
    end = left < LENGTH_AT ? BLOCK : (size_t)2 * BLOCK;
    store(tail + end - 8, (uint32_t)(bits >> 32));
    store(tail + end - 4, (uint32_t)bits);
    for (size_t at = 0; at < end; at += BLOCK)
        compress(state, tail + at);
    for (size_t i = 0; i < 8; i++)
        store(out + 4 * i, state[i]);
    explicit_bzero(tail, sizeof tail);
}

bool sha256_equal(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE])
{
    volatile uint8_t different = 0;

    for (size_t i = 0; i < SHA256_SIZE; i++)
        different |= a[i] ^ b[i];
    return different == 0;
}
