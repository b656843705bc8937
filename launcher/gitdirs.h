/* The repository behind a worktree of git: `.git` is a file there that names a folder
 * elsewhere, and a commit writes to that. */
#ifndef LAUNCHER_GITDIRS_H
#define LAUNCHER_GITDIRS_H

#include "launcher/access.h"

/* When `folder` (canonical) is a worktree, adds what git needs to write: the shared
 * repository, but neither its hooks nor its config. The `.git` file itself is not
 * believed: the repository must name this worktree in turn, and lie where git puts it.
 */
void gitdirs_allow(struct access_list *list, const char *folder, bool allow_git_config);

#endif
