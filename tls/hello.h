/* Reads the server name out of a TLS ClientHello, without TLS (RFC 8446 4.1.2, RFC 6066
 * 3, RFC 9849 for ECH). Bytes in, struct out: a hello that is spread over several
 * records or segments is put together by calling again with more bytes. */
#ifndef TLS_HELLO_H
#define TLS_HELLO_H

#include "proxy/base/str.h"

/* A hello that is longer than this, all record headers included, is HELLO_BAD. */
enum { HELLO_MAX = 16384, HELLO_NAME_MAX = 255, HELLO_ALPN_MAX = 64 };

enum hello_parse {
    HELLO_MORE = 0,
    HELLO_DONE,
    HELLO_NOT_TLS, /* something else is spoken here: told from the first bytes */
    HELLO_BAD,     /* TLS, but malformed: also two names, a NUL in one, an empty one */
};

struct hello {
    char name[HELLO_NAME_MAX + 1]; /* as sent, NUL-terminated; "" when absent */
    size_t name_len;
    bool encrypted; /* an ECH extension of type outer: the name is not the real one.
                     * GREASE ECH looks the same and counts the same */
    char
        alpn[HELLO_ALPN_MAX]; /* offered protocols, comma-separated, cut to what fits */
};

/* `in` is everything that the client has sent so far. Deterministic: the same bytes
 * give the same answer, and HELLO_MORE never becomes HELLO_NOT_TLS after six bytes. */
enum hello_parse hello_parse(struct str in, struct hello *out);

#endif
