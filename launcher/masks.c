#include "launcher/masks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/mount.h"
#include "proxy/base/fd.h"

#define FLAGS (MOUNT_NOSUID | MOUNT_NODEV | MOUNT_NOEXEC)

static const char *const small[] = {"mode", "0755", "size", "1m", NULL};

void masks_init(struct masks *m)
{
    *m = (struct masks){-1, -1, -1};
}

void masks_done(struct masks *m)
{
    fd_close(&m->folder);
    fd_close(&m->file);
    fd_close(&m->empty);
}

static bool make_file(int folder, const char *name)
{
    autofd int fd = openat(folder, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0);

    return fd >= 0;
}

bool masks_make(struct masks *m, int cover, struct err *e)
{
    autofd int store = mount_tmpfs(small, FLAGS);

    if (store < 0 || mkdirat(store, "folder", 0) != 0 || !make_file(store, "file") ||
        mkdirat(store, "empty", 0555) != 0 || fchmodat(store, "empty", 0555, 0) != 0 ||
        !mount_flags(store, MOUNT_RDONLY, false) || !mount_attach(store, cover))
        return err_sys(e, "cannot make what stands for hidden files");
    m->folder = mount_open(store, "folder");
    m->file = mount_open(store, "file");
    m->empty = mount_open(store, "empty");
    if (m->folder < 0 || m->file < 0 || m->empty < 0)
        return err_sys(e, "cannot open what stands for hidden files");
    return true;
}

/* Folders on the way can be passed through, not listed. */
static bool make_point(int root, const char *path, bool folder)
{
    char part[PATH_MAX];

    for (const char *slash = strchr(path, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        memcpy(part, path, (size_t)(slash - path));
        part[slash - path] = '\0';
        if (mkdirat(root, part, 0111) != 0 && errno != EEXIST)
            return false;
    }
    if (folder)
        return mkdirat(root, path, 0) == 0 || errno == EEXIST;
    return make_file(root, path);
}

static int make_passage(const struct access_list *list, size_t at)
{
    const struct access_mount *m = &list->mounts[at];
    const char *const options[] = {"mode", m->empty ? "0555" : "0111", NULL};
    autofd int fd = mount_tmpfs(options, FLAGS);
    size_t len = strlen(m->path);

    if (fd < 0)
        return -1;
    for (size_t i = at + 1; i < list->mount_count; i++) {
        const struct access_mount *below = &list->mounts[i];

        if (!path_within(below->path, m->path))
            break;
        if (below->parent == (long)at &&
            !make_point(fd, below->path + len + 1, below->kind == PATH_FOLDER))
            return -1;
    }
    return mount_flags(fd, MOUNT_RDONLY, false) ? fd_steal(&fd) : -1;
}

int masks_for(const struct masks *m, const struct access_list *list, size_t at,
              enum path_kind kind)
{
    const struct access_mount *mount = &list->mounts[at];

    if (mount->passage)
        return make_passage(list, at);
    if (mount->empty)
        return mount_copy(m->empty, false);
    return mount_copy(kind == PATH_FOLDER ? m->folder : m->file, false);
}

bool masks_hide(const struct masks *m, const char *path, struct err *e)
{
    autofd int fd = mount_open(AT_FDCWD, path);
    autofd int copy = -1;
    struct stat st;

    if (fd < 0 && (errno == ENOENT || errno == EACCES))
        return true;
    if (fd < 0 || fstat(fd, &st) != 0 ||
        (copy = mount_copy(S_ISDIR(st.st_mode) ? m->folder : m->file, false)) < 0 ||
        !mount_attach(copy, fd))
        return err_sys(e, "cannot hide \"%s\"", path);
    return true;
}
