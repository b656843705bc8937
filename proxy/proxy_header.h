/* The PROXY protocol, versions 1 and 2 (HAProxy, "The PROXY protocol", 2.1 and 2.2):
 * what a proxy in front of the gateway says of the connection that it passes on. Bytes
 * in, an address out. */
#ifndef PROXY_PROXY_HEADER_H
#define PROXY_PROXY_HEADER_H

#include "proxy/base/addr.h"

enum {
    PROXY_HEADER_V1_MAX = 107,  /* 2.1: with its end of line */
    PROXY_HEADER_V2_MAX = 4096, /* with all that may stand behind the addresses */
};

enum proxy_header_parse {
    PROXY_HEADER_REFUSED = 0, /* see `why` */
    PROXY_HEADER_MORE, /* all of `in` belongs to the header, and more will; so it may be
                        * taken off the socket */
    PROXY_HEADER_DONE,
};

struct proxy_header {
    bool
        local; /* the proxy's own doing, a look whether we live: no one was passed on */
    struct ip from;  /* whom it passed on; family 0: it does not say, or by a path */
    const char *why; /* PROXY_HEADER_REFUSED: a constant sentence */
};

/* *used bytes of `in` are the header; what follows is the client's. */
enum proxy_header_parse proxy_header_parse(struct str in, struct proxy_header *out,
                                           size_t *used);

#endif
