/* What the server says, inside an exchange: heads to the client, then the body. */
#ifndef PROXY_EXCHANGE_RESPONSE_H
#define PROXY_EXCHANGE_RESPONSE_H

#include "proxy/exchange.h"

enum {
    EXCHANGE_READ_MAX = 64 * 1024, /* one read of a body */
    EXCHANGE_ROOM = HTTP_CHUNK_BEFORE + EXCHANGE_READ_MAX + HTTP_CHUNK_BEHIND,
};

/* Where a read goes: there is room for a chunk's frame around it. */
char *exchange_place(const struct exchange *x);
/* How much of it may be used now. */
size_t exchange_may_read(const struct exchange *x);

/* Sends `bytes` behind what is kept for `to`, and keeps what is not taken. False: the
 * other end is gone. */
bool exchange_send(struct exchange *x, struct stream *to, struct buf *kept,
                   struct str bytes, unsigned long long *count);

enum exchange_status exchange_fail(struct exchange *x, unsigned status,
                                   enum reason reason, const char *error,
                                   const char *why);

/* One read of what the server says. */
enum exchange_status exchange_listen(struct exchange *x);

#endif
