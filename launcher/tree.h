/* The sandbox's file tree: the host's, read-only, with the plan's mounts on it. */
#ifndef LAUNCHER_TREE_H
#define LAUNCHER_TREE_H

#include "launcher/masks.h"
#include "launcher/plan.h"

/* In a mount namespace of the caller's own, where it may mount. Afterwards "/" is the
 * new tree, with /dev, without /proc. `masks` is for procfs_make(). */
bool tree_make(const struct plan *plan, struct masks *masks, struct err *e);

/* Goes to the plan's folder, which must be the same as outside. */
bool tree_enter(const struct plan *plan, struct err *e);

#endif
