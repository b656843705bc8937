/* The sandbox's network: loopback alone, and on it the sockets that are handed over. */
#ifndef LAUNCHER_NETNS_H
#define LAUNCHER_NETNS_H

#include "proxy/base/err.h"

/* Both act on the network namespace of the calling process. */
bool netns_raise_loopback(struct err *e);
/* Listening on SANDBOX_PROXY_HOST, SANDBOX_PROXY_PORT; close-on-exec. */
bool netns_listen(int *out, struct err *e);

#endif
