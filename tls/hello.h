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
    HELLO_BAD,     /* TLS, but malformed: also two names, a NUL in one, an empty one,
                    * another message behind it in the same record */
};

struct hello {
    size_t used; /* bytes up to the end of its last record, which ends with it */
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

/* What a server says to a hello. On HELLO_RETRY the client sends a second one, which
 * some servers take the name from (RFC 8446 4.1.4). */
enum hello_answer { HELLO_UNANSWERED = 0, HELLO_RETRY, HELLO_ANSWERED };
enum { HELLO_ANSWER_LEN = 43 }; /* so many bytes of it are always enough */

/* `in` is what the server has said since it got the hello. */
enum hello_answer hello_answer(struct str in);

/* As hello_parse(), for that second hello: early data, alerts and a change of ciphers
 * may stand before it. Never HELLO_NOT_TLS. */
enum hello_parse hello_parse_second(struct str in, struct hello *out);

#endif
