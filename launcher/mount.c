#include "launcher/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proxy/base/fd.h"

/* Of <linux/mount.h> and <linux/fcntl.h>. */
enum {
    TREE_CLONE = 1,
    TREE_RECURSIVE = 0x8000,
    TREE_EMPTY_PATH = 0x1000,
    MOVE_FROM_EMPTY = 0x4,
    MOVE_TO_EMPTY = 0x40,
    CONFIG_STRING = 1,
    CONFIG_CREATE = 6,
    OPEN_CLOEXEC = 1,
};
struct attributes {
    uint64_t set, clear, propagation, userns;
};

int mount_open(int root, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
                           .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

    if (path[0] == '\0')
        path = ".";
    return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

int mount_copy(int fd, bool recursive)
{
    return (int)syscall(SYS_open_tree, fd, "",
                        TREE_CLONE | O_CLOEXEC | TREE_EMPTY_PATH |
                            (recursive ? TREE_RECURSIVE : 0));
}

bool mount_flags(int fd, uint64_t flags, bool recursive)
{
    struct attributes a = {.set = flags};

    return syscall(SYS_mount_setattr, fd, "",
                   TREE_EMPTY_PATH | (recursive ? TREE_RECURSIVE : 0), &a,
                   sizeof a) == 0;
}

bool mount_attach(int fd, int target)
{
    return syscall(SYS_move_mount, fd, "", target, "",
                   MOVE_FROM_EMPTY | MOVE_TO_EMPTY) == 0;
}

int mount_tmpfs(const char *const *options, uint64_t flags)
{
    autofd int context = (int)syscall(SYS_fsopen, "tmpfs", OPEN_CLOEXEC);

    if (context < 0)
        return -1;
    for (; *options != NULL; options += 2)
        if (syscall(SYS_fsconfig, context, CONFIG_STRING, options[0], options[1], 0) !=
            0)
            return -1;
    if (syscall(SYS_fsconfig, context, CONFIG_CREATE, NULL, NULL, 0) != 0)
        return -1;
    return (int)syscall(SYS_fsmount, context, OPEN_CLOEXEC, flags);
}

bool mount_read_only(const char *path, struct err *e)
{
    const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY;

    if (mount(path, path, NULL, MS_BIND, NULL) != 0)
        return errno == ENOENT || errno == EACCES ||
               err_sys(e, "cannot make \"%s\" read-only", path);
    return mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | flags, NULL) == 0 ||
           err_sys(e, "cannot make \"%s\" read-only", path);
}
