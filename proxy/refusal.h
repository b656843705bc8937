/* How a client is told no. */
#ifndef PROXY_REFUSAL_H
#define PROXY_REFUSAL_H

#include "proxy/front.h"
#include "proxy/request.h"

/* Where a denial is told in words of the user's (front_ssh_refusal()). */
enum { REFUSAL_SSH_PORT = 22 };

/* The verdict of `r` refuses: puts the answer into `out`. `front` NULL is HTTP. `keep`:
 * the client may ask again. */
void refusal_write(struct buf *out, const struct front *front, const struct request *r,
                   const struct session *s, bool keep);

/* The same where the reason does not tell the status, or not why. */
void refusal_write_as(struct buf *out, const struct front *front,
                      const struct request *r, unsigned status, struct str why,
                      bool keep);

#endif
