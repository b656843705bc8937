/* The sockets of c-ares, made and used by us. Left to itself c-ares writes to a TCP
 * connection in a way that ends the process (SIGPIPE) when the name server has closed
 * it, unless everybody who uses this layer ignores that signal. */
#ifndef DNS_SOCKETS_H
#define DNS_SOCKETS_H

#include <ares.h>

/* From now on the channel's sockets are ours. Before the first question. *last_error is
 * set to the errno of each failure, of which c-ares does not tell. */
void sockets_take(ares_channel channel, int *last_error);

#endif
