#include "launcher/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/mount.h"
#include "launcher/tree.h"
#include "proxy/base/fd.h"

/* What gives a name to a file. That one loses its name is no concern. */
enum { GIVES_NAME = IN_CREATE | IN_MOVED_TO };
enum { EVENTS_BYTES = 16 * 1024, TRIES = 100 };
/* Of <linux/stat.h>: what is looked at is the root of a mount. */
#define MOUNT_ROOT 0x00002000u

/* The folder of mount `at`, below the root: "." for that itself. */
static void folder_of(const struct plan *plan, size_t at, char out[PATH_MAX])
{
    const char *path = plan->access.mounts[at].path + 1;
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        snprintf(out, PATH_MAX, ".");
    else
        snprintf(out, PATH_MAX, "%.*s", (int)(slash - path), path);
}

/* A folder that may not be read, or that is gone, is left out. `root` is in front. */
static bool watch(struct keeper *k, size_t at, const char *root)
{
    char folder[PATH_MAX], path[PATH_MAX + 1];

    folder_of(k->plan, at, folder);
    snprintf(path, sizeof path, "%s%s", root, folder);
    k->watches[at] = inotify_add_watch(k->notify, path, GIVES_NAME | IN_ONLYDIR);
    return k->watches[at] >= 0 || (errno != ENOSPC && errno != ENOMEM);
}

bool keeper_open(struct keeper *k, const struct plan *plan, struct err *e)
{
    size_t count = plan->access.mount_count;

    *k = (struct keeper){.notify = -1, .host = -1, .plan = plan};
    if (count == 0)
        return true;
    k->watches = calloc(count, sizeof *k->watches);
    if (k->watches == NULL)
        abort();
    k->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (k->notify < 0)
        return err_sys(e, "cannot watch the names of protected files; the limit is "
                          "fs.inotify.max_user_instances");
    for (size_t i = 0; i < count; i++)
        if (!watch(k, i, "/"))
            return err_sys(e, "cannot watch the names of protected files; the limit is "
                              "fs.inotify.max_user_watches");
    return true;
}

void keeper_done(struct keeper *k)
{
    fd_close(&k->notify);
    fd_close(&k->host);
    free(k->watches);
    k->watches = NULL;
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

/* Its folder may be another one by now, and is watched before the look, so that what
 * comes after that look is an event. What is replaced under our hands fails, and is
 * looked at again. */
static bool put_back(struct keeper *k, const struct masks *masks, size_t at,
                     struct err *e)
{
    if (!watch(k, at, ""))
        return err_sys(e, "cannot watch its name");
    for (int i = 0; i < TRIES; i++)
        if (try_put_back(k, masks, at, e))
            return true;
    return false;
}

/* With all that lies in it: a folder that is new has no mounts in it either. */
static bool put_all_back(struct keeper *k, const struct masks *masks, size_t at,
                         struct err *e)
{
    const struct access_list *list = &k->plan->access;

    for (size_t i = at; i < list->mount_count &&
                        path_within(list->mounts[i].path, list->mounts[at].path);
         i++)
        if (!put_back(k, masks, i, e))
            return false;
    return true;
}

static bool concerns(const struct keeper *k, const struct inotify_event *event,
                     size_t at)
{
    const char *path = k->plan->access.mounts[at].path;

    if ((event->mask & IN_Q_OVERFLOW) != 0)
        return true;
    return event->wd == k->watches[at] && event->len > 0 &&
           strcmp(event->name, strrchr(path, '/') + 1) == 0;
}

static bool take(struct keeper *k, const struct masks *masks,
                 const struct inotify_event *event, struct err *e)
{
    for (size_t i = 0; i < k->plan->access.mount_count; i++)
        if (concerns(k, event, i) && !put_all_back(k, masks, i, e))
            return false;
    return true;
}

bool keeper_renew(struct keeper *k, const struct masks *masks, struct err *e)
{
    char events[EVENTS_BYTES]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n = read(k->notify, events, sizeof events);
    const struct inotify_event *event;

    /* Names of folders are seen from the host's root, not through our own mounts. */
    if (fchdir(k->host) != 0)
        return err_sys(e, "cannot go to the host's root");
    for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof *event + event->len)) {
        event = (const struct inotify_event *)(events + at);
        if (!take(k, masks, event, e))
            return err_wrap(e, "what protects a file was lost, since the file was "
                               "replaced, and cannot be put back");
    }
    return true;
}
