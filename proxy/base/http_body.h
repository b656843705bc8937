/* A body that is on its way: where it ends (RFC 9112 6.3), whatever pieces it comes in.
 */
#ifndef BASE_HTTP_BODY_H
#define BASE_HTTP_BODY_H

#include "proxy/base/http.h"
#include "proxy/base/http_chunks.h"

enum http_framing {
    HTTP_FRAMING_NONE = 0, /* there is no body */
    HTTP_FRAMING_LENGTH,
    HTTP_FRAMING_CHUNKED,
    HTTP_FRAMING_CLOSE, /* it ends with the connection: responses alone */
};

struct http_body {
    enum http_framing framing;
    bool done;               /* the last byte of it was taken */
    unsigned long long left; /* HTTP_FRAMING_LENGTH */
    struct http_chunks chunks;
};

struct http_body http_body_of_request(const struct http_head *head);
/* `method` of the request that this answers. A 1xx has none. */
struct http_body http_body_of_response(const struct http_head *head, struct str method);

/* `n` bytes came next. The first *len are then data of the body, in place; *used of
 * them belonged to it, and what follows stays where it was. False: the framing is
 * broken, and nothing can be said about what follows. */
bool http_body_take(struct http_body *b, char *bytes, size_t n, size_t *used,
                    size_t *len);

/* The sender has said its last. True: the body is whole. */
bool http_body_end(struct http_body *b);

#endif
