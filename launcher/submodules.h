/* The repositories of git's submodules, which lie in the one that has them, below
 * `modules`, with hooks and a config each. */
#ifndef LAUNCHER_SUBMODULES_H
#define LAUNCHER_SUBMODULES_H

#include "launcher/mandatory.h"

/* Keeps hooks and config of all of them in `git`, which is canonical and a repository,
 * or a worktree's folder in one. Counts the folders that it looks into with the
 * others. */
void submodules_keep(struct mandatory_scan *scan, const char *git);

#endif
