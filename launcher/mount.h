/* The mount calls of Linux 5.2 and later, by descriptors instead of by names: what was
 * opened is what is mounted, whatever becomes of its name. */
#ifndef LAUNCHER_MOUNT_H
#define LAUNCHER_MOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "proxy/base/err.h"

/* Of <linux/mount.h>, which libc's <sys/mount.h> does not go along with everywhere. */
enum {
    MOUNT_RDONLY = 0x1,
    MOUNT_NOSUID = 0x2,
    MOUNT_NODEV = 0x4,
    MOUNT_NOEXEC = 0x8,
};

/* `path` below `root`, without following any link, not even a last one; "" is `root`
 * itself. -1 with errno set. */
int mount_open(int root, const char *path);

/* A detached copy of what `fd` is, with all that is mounted in it when `recursive`. */
int mount_copy(int fd, bool recursive);
/* Adds flags to a mount, and to all in it. */
bool mount_flags(int fd, uint64_t flags, bool recursive);
/* Puts a detached mount over what `target` is. */
bool mount_attach(int fd, int target);
/* A new tmpfs, detached. `options` are pairs: {"mode", "0755", ..., NULL}. */
int mount_tmpfs(const char *const *options, uint64_t flags);

/* A read-only copy of path over itself, when it exists. By name, in half as many calls:
 * for /proc, where nobody can put another thing in its place. */
bool mount_read_only(const char *path, struct err *e);

#endif
