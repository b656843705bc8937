/* What a tunnel's first bytes mean to policy: the way from tls/hello.h to
 * policy_check_hello(), and back to the client when it says no. Bytes in, struct out.
 */
#ifndef PROXY_PEEK_H
#define PROXY_PEEK_H

#include "proxy/internal.h"
#include "tls/hello.h"

struct peek {
    enum hello_kind kind;
    struct hello hello;
};

/* `in` is all that the client has sent; `eof`: and will send. False: too little to
 * tell.
 */
bool peek_parse(struct str in, bool eof, struct peek *out);
/* The same for the second hello, of which `in` is all that was sent. */
bool peek_parse_second(struct str in, bool eof, struct peek *out);
/* The server name that was shown; empty when there was none. */
struct str peek_name(const struct peek *p);
enum sni_seen peek_seen(const struct peek *p, bool allowed);

/* A fatal TLS alert in clear (RFC 8446 6): the client has no keys yet. */
struct str peek_alert(enum hello_kind kind);

#endif
