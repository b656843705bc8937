/* The chunked transfer coding (RFC 9112 7.1): taken off strictly, and put on anew. So
 * nothing of how the sender framed its body, no extension and no trailer reaches the
 * other side, and both sides read the same body. */
#ifndef BASE_HTTP_CHUNKS_H
#define BASE_HTTP_CHUNKS_H

#include <stdbool.h>

#include "proxy/base/str.h"

enum {
    HTTP_CHUNK_EXTRA_MAX = 16384, /* bytes of extensions and trailers of one body */
    /* What http_chunk() needs before and behind the data. */
    HTTP_CHUNK_BEFORE = 18,
    HTTP_CHUNK_BEHIND = 7,
};

struct http_chunks {
    unsigned char state;     /* 0 at first */
    unsigned char digits;    /* of a size */
    unsigned extra;          /* bytes of extensions and trailers so far */
    unsigned long long left; /* of the chunk that is being read */
};

enum http_chunked {
    HTTP_CHUNKED_BAD = 0,
    HTTP_CHUNKED_MORE,
    HTTP_CHUNKED_END, /* the body is complete, with its trailers */
};

/* Takes the coding off `n` bytes that came next, in place: the first *len of them are
 * then data. *used of them belonged to the body; what follows stays where it was. */
enum http_chunked http_dechunk(struct http_chunks *c, char *bytes, size_t n,
                               size_t *used, size_t *len);

/* Makes one chunk of `len` bytes, in place, and with `last` the end of the body behind
 * it. There is room for HTTP_CHUNK_BEFORE bytes before `data` and HTTP_CHUNK_BEHIND
 * behind. Without data and `last` it is empty. */
struct str http_chunk(char *data, size_t len, bool last);

#endif
