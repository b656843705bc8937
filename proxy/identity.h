/* Who a connection belongs to. Where several clients share a gateway, their listeners
 * are a door: the session that accepts is not yet the one that a connection belongs to.
 */
#ifndef PROXY_IDENTITY_H
#define PROXY_IDENTITY_H

#include <stdint.h>

#include "proxy/base/addr.h"
#include "proxy/base/str.h"

struct session;

/* What a client said of itself in its own protocol: Basic credentials (RFC 7617), the
 * sub-negotiation of SOCKS5 (RFC 1929). Views into the arena of whoever read them. */
struct login {
    bool given;
    struct str user, password;
};

/* What is known of it without its saying so. */
struct caller {
    struct ip from;  /* family 0 on a Unix socket */
    struct str cert; /* the verified name of its certificate; empty: there is none */
};

enum identity {
    IDENTITY_UNKNOWN = 0, /* nobody, whatever it may say: it is refused (auth) */
    IDENTITY_LOGIN,       /* nobody so far: credentials are missing, or wrong */
    IDENTITY_KNOWN,       /* *session is whose it is */
};

/* `login` is NULL before the client could say anything. *proof stays with the
 * connection: what of its login made it known, in the door's own terms, so that the
 * door can ask again later whether that still holds (conn_revoke()). */
typedef enum identity session_identify_fn(void *owner, const struct caller *who,
                                          const struct login *login,
                                          struct session **session, uint32_t *proof);

#endif
