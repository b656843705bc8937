/* The `limits` of the gateway file. */
#ifndef PROXY_LIMITS_H
#define PROXY_LIMITS_H

#include "proxy/keys.h"
#include "proxy/settings.h"

/* Overwrites those of *out that `object` (NULL: none) names. */
bool limits_read(const struct keys_file *file, const cJSON *object, struct limits *out,
                 struct err *e);

#endif
