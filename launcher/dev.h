/* The sandbox's /dev: the harmless devices, terminals of its own, and /dev/shm, which
 * also holds the folder for temporary files. Nothing of the host's is seen. */
#ifndef LAUNCHER_DEV_H
#define LAUNCHER_DEV_H

#include "proxy/base/err.h"

/* `host` is the root of the host's tree. Mounts over /dev of the calling process. */
bool dev_make(int host, struct err *e);

#endif
