/* The sandbox's /proc, and what of /proc and /sys stays out of reach. With uid 0
 * mapped, a fresh /proc lets even a command without capabilities write core_pattern. */
#ifndef LAUNCHER_PROCFS_H
#define LAUNCHER_PROCFS_H

#include "launcher/masks.h"

/* In the calling process's PID namespace, over its /proc. `root`: the command runs as
 * uid 0. */
bool procfs_make(const struct masks *masks, bool root, struct err *e);
/* Hides what of /sys only root may read anyway, for a command that runs as root. */
bool procfs_harden_sys(const struct masks *masks, struct err *e);

#endif
