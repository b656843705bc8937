/* The sandbox's file tree: the host's, read-only, with the plan's mounts on it. */
#ifndef LAUNCHER_TREE_H
#define LAUNCHER_TREE_H

#include "launcher/masks.h"
#include "launcher/plan.h"

/* In a mount namespace of the caller's own, where it may mount. Afterwards "/" is the
 * new tree, with /dev, without /proc. `masks` is for procfs_make();
 * `root` is the root of the host's tree, for tree_add(). */
bool tree_make(const struct plan *plan, struct masks *masks, int *root, struct err *e);

/* Mounts what the plan has at `at` on what is there now, a thing of this kind. */
bool tree_add(const struct plan *plan, int host, const struct masks *masks, size_t at,
              enum path_kind kind, struct err *e);

/* Goes to the plan's folder, which must be the same as outside. */
bool tree_enter(const struct plan *plan, struct err *e);

#endif
