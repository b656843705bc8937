/* The files of which a configuration was made, so that a change of any is seen: the
 * gateway file itself, and what it names. */
#ifndef PROXY_GATEWAY_FILES_H
#define PROXY_GATEWAY_FILES_H

#include "proxy/gateway_config.h"

/* Paths, NULL behind the last, for gateway_files_free(). */
char **gateway_files(const struct config *config);
void gateway_files_free(char ***paths);

#endif
