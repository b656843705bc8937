/* One proxy that connections are sent through: what its URL says, or its Unix socket.
 * Immutable once made. Nothing here connects; see passage.h. */
#ifndef PROXY_PARENT_H
#define PROXY_PARENT_H

#include <sys/un.h>

#include "proxy/base/err.h"
#include "proxy/base/target.h"
#include "tls/context.h"

enum parent_kind {
    PARENT_NONE = 0,
    PARENT_HTTP,   /* CONNECT, and plain requests in absolute form (RFC 9110 9.3.6) */
    PARENT_SOCKS5, /* RFC 1928 */
};

struct parent {
    enum parent_kind kind;
    bool tls;                    /* HTTP within TLS */
    struct tls_context *context; /* whom to believe then; a reference of its own. Set by
                                  * whoever reads the settings */
    bool resolve_local; /* names are resolved here, and it is given addresses */
    struct target at;   /* HOST_NONE: it listens on a Unix socket */
    struct sockaddr_un path;
    struct str user, password; /* user.p NULL: it wants none */
    struct str authorization;  /* of HTTP: "Basic …" (RFC 7617); else empty */
    const char *name;          /* for people and the audit, without credentials:
                                * "http://proxy.example:3128", "unix:/run/mitm.sock" */
    struct arena texts;
};

/* "http://user:password@proxy.example:3128": the scheme is http, https, socks5 or
 * socks5h, which is the same (who resolves is not the scheme's to say); the port is 80,
 * 443 or 1080 when there is none; user and password are percent-decoded (RFC
 * 3986 3.2.1). On false nothing is made, and *e says why without repeating the URL,
 * which may hold a password. */
bool parent_from_url(struct str url, struct parent *out, struct err *e);

/* An HTTP proxy on a Unix socket, by its absolute path. */
bool parent_from_path(struct str path, struct parent *out, struct err *e);

/* Overwrites the credentials first. */
void parent_done(struct parent *p);

#endif
