#include "launcher/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/mount.h"
#include "launcher/tree.h"
#include "proxy/base/fd.h"

enum { TRIES = 100 };
/* Of <linux/stat.h>: what is looked at is the root of a mount. */
#define MOUNT_ROOT 0x00002000u

/* Of a path: how much of it is its folder. */
static size_t folder_length(const char *path)
{
    return (size_t)(strrchr(path, '/') - path);
}

/* Any order does, as long as the mounts of a folder stand together. */
static int by_folder(const void *left, const void *right)
{
    const struct access_mount *a = *(const struct access_mount *const *)left;
    const struct access_mount *b = *(const struct access_mount *const *)right;
    size_t len = folder_length(a->path), other = folder_length(b->path);

    if (len != other)
        return len < other ? -1 : 1;
    return memcmp(a->path, b->path, len);
}

/* Fills in `folders` and `examples`, and returns how many folders there are. */
static size_t find_folders(struct keeper *k)
{
    const struct access_list *list = &k->plan->access;
    const struct access_mount **sorted = malloc(list->mount_count * sizeof *sorted);
    size_t count = 0;

    if (sorted == NULL)
        abort();
    for (size_t i = 0; i < list->mount_count; i++)
        sorted[i] = &list->mounts[i];
    qsort(sorted, list->mount_count, sizeof *sorted, by_folder);
    for (size_t i = 0; i < list->mount_count; i++) {
        size_t mount = (size_t)(sorted[i] - list->mounts);

        if (i == 0 || by_folder(&sorted[i - 1], &sorted[i]) != 0)
            k->examples[count++] = mount;
        k->folders[mount] = count - 1;
    }
    free(sorted);
    return count;
}

void keeper_init(struct keeper *k, const struct plan *plan)
{
    *k = (struct keeper){.names.fd = -1, .host = -1, .plan = plan};
}

static void *room(size_t count, size_t size)
{
    void *made = calloc(count, size);

    if (made == NULL)
        abort();
    return made;
}

/* Names are seen from the root that is the current folder. */
static bool watch(struct keeper *k, size_t folder, struct err *e)
{
    const char *path = k->plan->access.mounts[k->examples[folder]].path;
    size_t len = folder_length(path);
    char name[PATH_MAX];

    if (len == 0)
        snprintf(name, sizeof name, ".");
    else
        snprintf(name, sizeof name, "%.*s", (int)len - 1, path + 1);
    return namewatch_set(&k->names, folder, name, e);
}

static bool watch_all(struct keeper *k, size_t count, struct err *e)
{
    if (!namewatch_open(&k->names, count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!watch(k, i, e))
            return false;
    return true;
}

bool keeper_start(struct keeper *k, struct err *e)
{
    size_t count = k->plan->access.mount_count;

    if (chdir("/") != 0)
        return err_sys(e, "cannot go to \"/\"");
    if (count == 0)
        return true;
    k->folders = room(count, sizeof *k->folders);
    k->examples = room(count, sizeof *k->examples);
    k->due = room(count, sizeof *k->due);
    k->stale = room(count, sizeof *k->stale);
    return watch_all(k, find_folders(k), e) ||
           err_wrap(e, "cannot watch the names of protected files");
}

void keeper_done(struct keeper *k)
{
    namewatch_done(&k->names);
    fd_close(&k->host);
    free(k->folders);
    free(k->examples);
    free(k->due);
    free(k->stale);
    keeper_init(k, k->plan);
}

/* What is there now, which may be of another kind than what was. */
struct sight {
    bool there, is_root; /* a mount lies on it */
    enum path_kind kind;
};

static bool look(const char *path, struct sight *out, struct err *e)
{
    autofd int fd = mount_open(AT_FDCWD, path);
    struct statx st;

    *out = (struct sight){.there = fd >= 0};
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
        return true;
    if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &st) != 0)
        return err_sys(e, "\"%s\"", path);
    out->is_root = (st.stx_attributes & MOUNT_ROOT) != 0;
    out->kind = S_ISDIR(st.stx_mode)   ? PATH_FOLDER
                : S_ISLNK(st.stx_mode) ? PATH_LINK
                                       : PATH_FILE;
    return true;
}

static bool try_put_back(const struct keeper *k, const struct masks *masks, size_t at,
                         struct err *e)
{
    struct sight sight;

    if (!look(k->plan->access.mounts[at].path, &sight, e))
        return false;
    return !sight.there || sight.is_root ||
           tree_add(k->plan, k->host, masks, at, sight.kind, e);
}

/* What is replaced under our hands fails, and is looked at again. */
static bool put_back(const struct keeper *k, const struct masks *masks, size_t at,
                     struct err *e)
{
    for (int i = 0; i < TRIES; i++)
        if (try_put_back(k, masks, at, e))
            return true;
    return false;
}

static void on_name(void *owner, size_t folder, const char *name)
{
    struct keeper *k = owner;
    const struct access_list *list = &k->plan->access;

    for (size_t i = 0; i < list->mount_count; i++)
        if ((folder == NAMEWATCH_ALL || k->folders[i] == folder) &&
            (name == NULL || strcmp(name, strrchr(list->mounts[i].path, '/') + 1) == 0))
            k->due[i] = true;
}

/* With each thing all that lies in it: a folder that is new has no mounts in it, and
 * is not the one that was watched. */
static void spread(struct keeper *k)
{
    const struct access_list *list = &k->plan->access;

    for (size_t i = 0; i < list->mount_count; i++) {
        long parent = list->mounts[i].parent;

        k->due[i] = k->due[i] || (parent >= 0 && k->due[parent]);
        if (k->due[i])
            k->stale[k->folders[i]] = true;
    }
}

/* Watches all before it looks at any, so that what comes after a look is told. */
static bool renew(struct keeper *k, const struct masks *masks, struct err *e)
{
    size_t count = k->plan->access.mount_count;

    for (size_t i = 0; i < k->names.count; i++)
        if (k->stale[i] && !watch(k, i, e))
            return false;
    for (size_t i = 0; i < count; i++)
        if (k->due[i] && !put_back(k, masks, i, e))
            return false;
    return true;
}

bool keeper_renew(struct keeper *k, const struct masks *masks, struct err *e)
{
    size_t count = k->plan->access.mount_count;

    memset(k->due, 0, count * sizeof *k->due);
    memset(k->stale, 0, count * sizeof *k->stale);
    namewatch_read(&k->names, on_name, k);
    spread(k);
    /* Names of folders are seen from the host's root, not through our own mounts. */
    if (fchdir(k->host) != 0)
        return err_sys(e, "cannot go to the host's root");
    return renew(k, masks, e) ||
           err_wrap(e,
                    "what protects a file was lost, since the file was replaced, and "
                    "cannot be put back");
}
