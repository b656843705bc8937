#include "launcher/mandatory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/submodules.h"
#include "proxy/base/fd.h"

/* Relative to any folder of a writable tree. The first part alone is what the walk
 * looks for. */
static const char *const names[] = {
    ".gitconfig",     ".gitmodules", ".bashrc",     ".bash_profile",
    ".zshrc",         ".zprofile",   ".profile",    ".ripgreprc",
    ".mcp.json",      ".vscode",     ".idea",       ".claude/commands",
    ".claude/agents", ".git/hooks",  ".git/config", ".git/config.worktree",
};
#define NAME_COUNT (sizeof names / sizeof *names)
_Static_assert(NAME_COUNT <= MANDATORY_NAMES, "the caller's array is too small");

const char *const mandatory_secrets[] = {
    ".ssh",
    ".aws",
    ".gnupg",
    ".config/gh",
    ".config/gcloud",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".npmrc",
    NULL,
};

bool mandatory_is_git_config(const char *name)
{
    return strcmp(name, "config") == 0 || strcmp(name, "config.worktree") == 0;
}

static bool skipped(const char *name, bool allow_git_config)
{
    return allow_git_config && strncmp(name, ".git/", 5) == 0 &&
           mandatory_is_git_config(name + 5);
}

bool mandatory_enter(struct mandatory_scan *scan)
{
    scan->exhausted = scan->exhausted || scan->folders >= MANDATORY_FOLDERS_MAX;
    scan->folders += !scan->exhausted;
    return !scan->exhausted;
}

void mandatory_keep(struct mandatory_scan *scan, const char *path)
{
    struct place place;
    struct err ignored;

    if (!path_find(path, "/", NULL, &place, &ignored))
        return;
    for (size_t i = 0; i < place.link_count; i++)
        access_add(scan->list, place.links[i], PATH_LINK, ACCESS_PIN, "mandatory");
    if (place.kind == PATH_FOLDER || place.kind == PATH_FILE)
        access_add(scan->list, place.path, place.kind, ACCESS_KEEP, "mandatory");
    place_done(&place);
}

/* Everything in the table that begins with `name`, which `folder` has. A `.git` that is
 * a file says where the repository is: it is kept itself. */
static void keep_names(struct mandatory_scan *scan, const char *folder,
                       const char *name, bool is_file)
{
    size_t len = strlen(name);
    char path[PATH_MAX];

    for (size_t i = 0; i < NAME_COUNT; i++) {
        bool whole = strcmp(names[i], name) == 0;
        bool part = strncmp(names[i], name, len) == 0 && names[i][len] == '/';

        if ((!whole && !part) || skipped(names[i], scan->allow_git_config))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, part && is_file ? name : names[i]);
        mandatory_keep(scan, path);
    }
}

static bool enters(const char *name, unsigned type)
{
    return type == DT_DIR && strcmp(name, "node_modules") != 0 &&
           strcmp(name, ".git") != 0;
}

/* `.git` may be a link to the repository. */
static void keep_submodules(struct mandatory_scan *scan, const char *folder)
{
    struct place place;
    struct err ignored;

    if (!path_find(".git", folder, NULL, &place, &ignored))
        return;
    if (place.kind == PATH_FOLDER)
        submodules_keep(scan, place.path);
    place_done(&place);
}

static unsigned entry_type(int folder, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return IFTODT(st.st_mode);
}

static void scan_folder(struct mandatory_scan *scan, int at, const char *path,
                        int depth);

static void scan_entry(struct mandatory_scan *scan, int fd, const char *path,
                       const struct dirent *entry, int depth)
{
    unsigned type = entry_type(fd, entry);
    char below[PATH_MAX];

    if (entry->d_name[0] == '.')
        keep_names(scan, path, entry->d_name, type == DT_REG);
    if (strcmp(entry->d_name, ".git") == 0)
        keep_submodules(scan, path);
    if (depth == 0 || strcmp(entry->d_name, ".") == 0 ||
        strcmp(entry->d_name, "..") == 0 || !enters(entry->d_name, type))
        return;
    if (snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < PATH_MAX &&
        mandatory_enter(scan))
        scan_folder(
            scan,
            openat(fd, entry->d_name,
                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC),
            below, depth - 1);
}

/* Takes over `fd`, which may be -1: what cannot be opened cannot be looked into by the
 * command either. */
static void scan_folder(struct mandatory_scan *scan, int fd, const char *path,
                        int depth)
{
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;

    if (folder == NULL) {
        fd_close(&fd);
        return;
    }
    while ((entry = readdir(folder)) != NULL)
        scan_entry(scan, dirfd(folder), path, entry, depth);
    closedir(folder);
}

void mandatory_scan(struct mandatory_scan *scan, const char *folder)
{
    const char *path = strcmp(folder, "/") == 0 ? "" : folder;

    if (!mandatory_enter(scan))
        return;
    scan_folder(scan, open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                path, MANDATORY_DEPTH);
}

size_t mandatory_absent(const char *folder, bool allow_git_config,
                        const char *absent[MANDATORY_NAMES])
{
    size_t count = 0;
    char path[PATH_MAX];
    struct stat st;

    for (size_t i = 0; i < NAME_COUNT; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (!skipped(names[i], allow_git_config) && lstat(path, &st) != 0)
            absent[count++] = names[i];
    }
    return count;
}
