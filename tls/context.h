/* What the TLS connections of one role share: certificates and rules, read once and
 * never changed. TLS 1.2 and 1.3 (RFC 5246, RFC 8446); no session outlives its
 * connection, so nobody comes back under a certificate that was not looked at. */
#ifndef TLS_CONTEXT_H
#define TLS_CONTEXT_H

#include <stdbool.h>

#include "proxy/base/err.h"

struct tls_context; /* may be used by several threads */

/* PEM files. */
struct tls_server_options {
    const char *cert;      /* the chain, our own certificate first */
    const char *key;       /* must not want a pass phrase */
    const char *client_ca; /* NULL: clients show no certificate. Else each must show one
                            * that these authorities signed */
};

/* On false *e names the file and what is wrong with it. */
bool tls_server_new(const struct tls_server_options *options, struct tls_context **out,
                    struct err *e);
/* `ca_file`: whom to believe beside the system's authorities; NULL: only those. */
bool tls_client_new(const char *ca_file, struct tls_context **out, struct err *e);

struct tls_context *tls_context_ref(struct tls_context *c);
void tls_context_unref(struct tls_context **c);

#endif
