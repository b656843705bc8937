/* TLS between a socket and the bytes of a stream (base/stream.h). The handshake is done
 * by the first reads and writes; one that fails is IO_ERROR. An end without a
 * close_notify is IO_ERROR too: what was cut must not look complete (RFC 8446 6.1). */
#ifndef TLS_STREAM_H
#define TLS_STREAM_H

#include "proxy/base/str.h"
#include "proxy/base/stream.h"
#include "tls/context.h"

enum { TLS_NAME_MAX = 255, TLS_WHY_MAX = 128 };

/* For a client that has connected to us, and for a server that we have connected to,
 * which must show a certificate for `host`: a name, or an address when `is_addr`. `fd`
 * is non-blocking, and stays the stream's. A reference to `c` is held. Never NULL. */
struct stream_layer *tls_accept(struct tls_context *c, int fd);
struct stream_layer *tls_connect(struct tls_context *c, int fd, struct str host,
                                 bool is_addr);

/* The handshake is done: what can be read or written is the peer's, who is verified as
 * the context wants it. */
bool tls_is_open(const struct stream_layer *l);

/* Who the client is by its verified certificate: the first DNS name of its
 * subjectAltName, else the first URI, else the common name. Empty when it showed none,
 * or none of these, or one with a NUL or longer than TLS_NAME_MAX. Valid with the
 * layer; empty before the handshake is done. */
struct str tls_peer_name(struct stream_layer *l);

/* Whether the handshake failed since the peer showed no certificate that is accepted,
 * or none at all. */
bool tls_is_stranger(const struct stream_layer *l);

/* Why the last call was IO_ERROR, for people: "certificate verify failed: certificate
 * has expired". Empty when the socket failed. */
const char *tls_why(const struct stream_layer *l);

#endif
