/* One name asked for both families side by side, and the two answers made into one. */
#ifndef DNS_QUESTION_H
#define DNS_QUESTION_H

#include "dns/answer.h"
#include "dns/channel.h"

/* Called once, also when the channel is freed before, and perhaps from within
 * question_ask(). Take a reference to keep the answer. */
typedef void question_done_fn(void *owner, struct answer *a);

/* After `deadline` seconds the answer is what is there by then. When only one family
 * has answered, with addresses, the other gets a short grace. */
void question_ask(struct ev_loop *loop, struct channel *c, const char *name,
                  double deadline, question_done_fn *done, void *owner);

#endif
