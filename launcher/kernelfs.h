/* File systems that are doors into the kernel (proc, sysfs, cgroups and the like).
 * Where one is mounted inside a writable tree it stays read-only. */
#ifndef LAUNCHER_KERNELFS_H
#define LAUNCHER_KERNELFS_H

#include "launcher/access.h"

/* Adds a rule for each; to be called when the list is compiled. On false *e says why
 * the mounts of this system cannot be told. */
bool kernelfs_keep(struct access_list *list, struct err *e);

/* One line of mountinfo (proc(5)): the mount point with its escapes undone, and whether
 * its type is one of ours. For tests. */
bool kernelfs_parse(const char *line, char point[PATH_MAX]);

#endif
