#include "launcher/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "launcher/dev.h"
#include "launcher/mount.h"
#include "launcher/procfs.h"
#include "proxy/base/fd.h"

#define FLAGS (MOUNT_NOSUID | MOUNT_NODEV)

/* Nothing that is mounted outside later shows inside: a slave would let it in,
 * writable. */
static bool copy_root(const struct plan *plan, int host, struct err *e)
{
    autofd int root = mount_copy(host, true);
    uint64_t flags = FLAGS | (plan->access.root == ACCESS_WRITE ? 0 : MOUNT_RDONLY);

    if (root < 0 && errno == ENOSYS)
        return err_set(e,
                       "this kernel lacks open_tree(): Linux 5.12 or later is needed");
    if (root < 0)
        return err_sys(e, "cannot copy the file tree");
    if (!mount_flags(root, flags, true)) {
        if (errno == ENOSYS)
            return err_set(
                e, "this kernel lacks mount_setattr(): Linux 5.12 or later is needed");
        return err_sys(e, "cannot make the file tree read-only");
    }
    if (!mount_attach(root, host))
        return err_sys(e, "cannot mount the sandbox's file tree");
    if (fchdir(root) != 0 || chroot(".") != 0)
        return err_sys(e, "cannot enter the sandbox's file tree");
    return true;
}

/* A copy of what the host has there, so that rules do not build on each other. */
static int copy_part(int host, const struct access_mount *m, enum path_kind kind)
{
    autofd int part = mount_open(host, m->path + 1);
    autofd int copy = -1;
    uint64_t flags = FLAGS | (m->access == ACCESS_WRITE ? 0 : MOUNT_RDONLY);
    bool folder = kind == PATH_FOLDER;

    if (part < 0 || (copy = mount_copy(part, folder)) < 0 ||
        !mount_flags(copy, flags, folder))
        return -1;
    return fd_steal(&copy);
}

bool tree_add(const struct plan *plan, int host, const struct masks *masks, size_t at,
              enum path_kind kind, struct err *e)
{
    const struct access_mount *m = &plan->access.mounts[at];
    autofd int target = mount_open(AT_FDCWD, m->path);
    autofd int what = -1;

    if (target < 0 && errno == ELOOP)
        return err_set(e, "%s: \"%s\" has become a link since it was looked at",
                       m->source, m->path);
    if (target < 0)
        return err_sys(e, "%s: \"%s\"", m->source, m->path);
    if (m->access == ACCESS_NONE || m->empty)
        what = masks_for(masks, &plan->access, at, kind);
    else
        what = copy_part(host, m, kind);
    if (what < 0 || !mount_attach(what, target))
        return err_sys(e, "%s: cannot mount at \"%s\"", m->source, m->path);
    return true;
}

bool tree_make(const struct plan *plan, struct masks *masks, int *root, struct err *e)
{
    autofd int host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    autofd int dev = -1;

    if (host < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return err_sys(e, "cannot make the mounts private");
    if (!copy_root(plan, host, e))
        return false;
    dev = mount_open(AT_FDCWD, "/dev");
    if (dev < 0)
        return err_sys(e, "/dev");
    if (!masks_make(masks, dev, e) || !dev_make(host, e))
        return false;
    for (size_t i = 0; i < plan->access.mount_count; i++)
        if (!tree_add(plan, host, masks, i, plan->access.mounts[i].kind, e))
            return false;
    *root = fd_steal(&host);
    return plan->uid != 0 || procfs_harden_sys(masks, e);
}

bool tree_enter(const struct plan *plan, struct err *e)
{
    struct stat st;

    if (chdir(plan->cwd) != 0)
        return err_sys(e, "cannot go to the current folder, \"%s\", inside", plan->cwd);
    if (stat(".", &st) != 0 || st.st_dev != plan->cwd_dev || st.st_ino != plan->cwd_ino)
        return err_set(e, "the current folder, \"%s\", is another one inside",
                       plan->cwd);
    return true;
}
