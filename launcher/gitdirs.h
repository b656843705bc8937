/* The repository behind a worktree of git: `.git` is a file there that names a folder
 * elsewhere, and a commit writes to that. */
#ifndef LAUNCHER_GITDIRS_H
#define LAUNCHER_GITDIRS_H

#include "launcher/mandatory.h"

/* When `folder` (canonical) is a worktree, adds what git needs to write: the shared
 * repository, but neither hooks nor config of it and of its submodules. The `.git` file
 * itself is not believed: the repository must name this worktree in turn, and lie where
 * git puts it.
 */
void gitdirs_allow(struct mandatory_scan *scan, const char *folder);

#endif
