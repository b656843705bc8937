/* What a client of the reference relay asks for. Bytes in, an address out. */
#ifndef BENCH_REF_REQUEST_H
#define BENCH_REF_REQUEST_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

enum ref_request {
    REF_BAD = 0,
    REF_MORE,    /* not whole yet */
    REF_METHODS, /* the first message of SOCKS5: all of it is to be forgotten */
    REF_CONNECT,
    REF_SOCKS,
    REF_GET,
};

/* `text` is NUL-terminated behind its `len` bytes. `addr` is written for the last
 * three. */
enum ref_request ref_request_parse(const char *text, size_t len, bool methods_done,
                                   struct sockaddr_in *addr);

#endif
