/* What an errno of connect() means to who asked. */
#ifndef PROXY_CONNECT_ERROR_H
#define PROXY_CONNECT_ERROR_H

#include "proxy/policy/policy.h"

struct connect_error {
    enum reason reason; /* CONNECT_FAILURE, TIMEOUT or LIMIT */
    const char *why;    /* a constant sentence; of the other end it says "server" */
    const char *what;   /* the same without it: "the connection was refused" */
    const char *error;  /* of RFC 9209 2.3; NULL: as the reason says */
};

struct connect_error connect_error(int error);

#endif
