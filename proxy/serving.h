/* A gateway while it runs: the main thread, which serves no client. It has the workers,
 * the signals, the admin server, the service manager's ear, and the end. */
#ifndef PROXY_SERVING_H
#define PROXY_SERVING_H

#include "proxy/gateway_config.h"

/* Serves until a signal ends it. `file` is where `config` was read from, and is read
 * again. Takes over the process: signals, and what was passed on in the environment. On
 * false it did not come to serving, and nothing is left of it. */
bool serving_run(const char *file, struct config *config, struct err *e);

#endif
