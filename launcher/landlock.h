/* A belt over the braces: where the kernel has Landlock, writing is also bounded by it.
 * It holds where mounts do not: a descriptor that was open for reading before, opened
 * again for writing by way of /proc/self/fd, and signals to processes outside. */
#ifndef LAUNCHER_LANDLOCK_H
#define LAUNCHER_LANDLOCK_H

#include "launcher/plan.h"

/* For the calling thread and all that come from it; needs no_new_privs and the finished
 * tree. True also where the kernel has no Landlock, or one that forbids to move files
 * between folders (before version 2): the mounts are the wall. */
bool landlock_restrict(const struct plan *plan, struct err *e);

#endif
