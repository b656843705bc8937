#include "proxy/policy/hash.h"

#include <string.h>
#include <unistd.h>

struct state {
    uint64_t v0, v1, v2, v3;
};

bool hash_key_make(struct hash_key *key, struct err *e)
{
    return getentropy(key, sizeof *key) == 0 || err_sys(e, "no random numbers");
}

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void mix(struct state *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 = rotate(s->v2, 32);
}

static void take_word(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    mix(s);
    s->v0 ^= word;
}

uint64_t hash_bytes(const struct hash_key *key, uint64_t prefix, const void *bytes,
                    size_t len)
{
    struct state s = {
        key->k0 ^ 0x736f6d6570736575u,
        key->k1 ^ 0x646f72616e646f6du,
        key->k0 ^ 0x6c7967656e657261u,
        key->k1 ^ 0x7465646279746573u,
    };
    const size_t total = sizeof prefix + len;
    const uint8_t *p = bytes;
    uint64_t word;

    take_word(&s, prefix);
    for (; len >= sizeof word; len -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        take_word(&s, word);
    }
    /* The last word carries the length of all, so "a" and "a\0" differ. */
    word = (uint64_t)total << 56;
    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)p[i] << (8 * i);
    take_word(&s, word);
    s.v2 ^= 0xff;
    mix(&s);
    mix(&s);
    mix(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
