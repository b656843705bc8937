#include "launcher/gitdirs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/submodules.h"
#include "proxy/base/fd.h"
#include "proxy/base/str.h"

enum { LINE_MAX_LEN = PATH_MAX + 16 };

/* The one line of a small file, behind `prefix`. */
static bool read_line(const char *path, const char *prefix, char out[PATH_MAX])
{
    struct stat st;
    struct err ignored;
    struct str line;
    char *text;
    size_t len;
    bool fits;

    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        !fd_read_file(path, LINE_MAX_LEN, &text, &len, &ignored))
        return false;
    line = (struct str){text, len};
    line = str_cut(&line, '\n');
    fits = str_starts(line, str_from(prefix));
    line = str_trim(str_skip(line, strlen(prefix)));
    fits =
        fits && line.n > 0 && line.n < PATH_MAX && memchr(line.p, '\0', line.n) == NULL;
    if (fits)
        snprintf(out, PATH_MAX, STR_FMT, STR_ARG(line));
    free(text);
    return fits;
}

/* The folder that `text` names, seen from `folder`. */
static bool find_folder(const char *text, const char *folder, char out[PATH_MAX])
{
    struct place place;
    struct err ignored;
    bool found;

    if (text[0] == '~' || !path_find(text, folder, NULL, &place, &ignored))
        return false;
    found = place.kind == PATH_FOLDER;
    snprintf(out, PATH_MAX, "%s", place.path);
    place_done(&place);
    return found;
}

static bool join(char out[PATH_MAX], const char *folder, const char *name)
{
    return snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* `private` is <common>/worktrees/<name>, and its file "gitdir" names our `.git`. */
static bool names_us(const char *private, const char *common, const char *dot_git)
{
    char path[PATH_MAX], back[PATH_MAX], worktrees[PATH_MAX];
    const char *name = strrchr(private, '/');

    if (!join(worktrees, common, "worktrees") ||
        strlen(worktrees) != (size_t)(name - private) ||
        !path_within(private, worktrees))
        return false;
    if (!join(path, private, "gitdir") || !read_line(path, "", back))
        return false;
    if (back[0] != '/') {
        struct place place;
        struct err ignored;
        bool same;

        if (!path_find(back, private, NULL, &place, &ignored))
            return false;
        same = strcmp(place.path, dot_git) == 0;
        place_done(&place);
        return same;
    }
    return strcmp(back, dot_git) == 0;
}

static bool is_repository(const char *common)
{
    static const char *const parts[] = {"HEAD", "objects", "refs"};
    char path[PATH_MAX];
    struct stat st;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!join(path, common, parts[i]) || lstat(path, &st) != 0)
            return false;
    return true;
}

static void keep(struct mandatory_scan *scan, const char *folder, const char *name)
{
    char path[PATH_MAX];

    if (join(path, folder, name) &&
        !(scan->allow_git_config && mandatory_is_git_config(name)))
        mandatory_keep(scan, path);
}

void gitdirs_allow(struct mandatory_scan *scan, const char *folder)
{
    char dot_git[PATH_MAX], text[PATH_MAX], private[PATH_MAX], common[PATH_MAX];

    if (!join(dot_git, folder, ".git") || !read_line(dot_git, "gitdir:", text) ||
        !find_folder(text, folder, private))
        return;
    if (!join(common, private, "commondir") || !read_line(common, "", text) ||
        !find_folder(text, private, common))
        return;
    if (!names_us(private, common, dot_git) || !is_repository(common))
        return;
    access_add(scan->list, common, PATH_FOLDER, ACCESS_ALLOW_WRITE,
               "the worktree's repository");
    keep(scan, common, "hooks");
    keep(scan, common, "config");
    keep(scan, common, "config.worktree");
    submodules_keep(scan, common);
}
