/* A submodule may be named with slashes ("libs/foo"), may have submodules, and so may a
 * worktree. So a repository is not told from a folder on the way to one: an earlier
 * command could have made either look like the other. Whatever has one of the names is
 * kept. */
#include "launcher/submodules.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "proxy/base/fd.h"

enum { DEPTH_MAX = 32 }; /* folders below one another */

static void walk(struct mandatory_scan *scan, int fd, const char *path, int depth);

static int open_folder(int at, const char *name)
{
    return openat(at, name,
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* Where a repository has its objects there is much to look through and nothing to find.
 */
static bool enters(int folder, const char *name)
{
    struct stat st;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    return strcmp(name, "objects") != 0 ||
           fstatat(folder, "HEAD", &st, AT_SYMLINK_NOFOLLOW) != 0;
}

/* A folder with the name of a file, or the other way round, is part of the name of a
 * submodule. A link is kept, and what it means. */
static bool is_kept(const struct mandatory_scan *scan, int folder, const char *name)
{
    struct stat st;

    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (strcmp(name, "hooks") == 0)
        return S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode);
    return mandatory_is_git_config(name) && !scan->allow_git_config &&
           !S_ISDIR(st.st_mode);
}

static void look_at(struct mandatory_scan *scan, int folder, const char *path,
                    const char *name, int depth)
{
    char below[PATH_MAX];

    if (snprintf(below, sizeof below, "%s/%s", path, name) >= PATH_MAX)
        return;
    if (is_kept(scan, folder, name))
        mandatory_keep(scan, below);
    else if (depth > 0 && enters(folder, name) && mandatory_enter(scan))
        walk(scan, open_folder(folder, name), below, depth - 1);
}

/* Takes over `fd`, which may be -1. */
static void walk(struct mandatory_scan *scan, int fd, const char *path, int depth)
{
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;

    if (folder == NULL) {
        fd_close(&fd);
        return;
    }
    while ((entry = readdir(folder)) != NULL)
        look_at(scan, dirfd(folder), path, entry->d_name, depth);
    closedir(folder);
}

void submodules_keep(struct mandatory_scan *scan, const char *git)
{
    static const char *const places[] = {"modules", "worktrees"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, sizeof path, "%s/%s", git, places[i]) < PATH_MAX)
            walk(scan, open_folder(AT_FDCWD, path), path, DEPTH_MAX);
}
