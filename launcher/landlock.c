#include "launcher/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/env.h"
#include "launcher/mount.h"
#include "proxy/base/fd.h"

/* Of <linux/landlock.h>, whose oldest supported edition has not all of it. */
enum {
    CALL_CREATE = 444,
    CALL_ADD_RULE = 445,
    CALL_RESTRICT = 446,
    FLAG_VERSION = 1,
    RULE_BENEATH = 1,
    WRITE_FILE = 1 << 1,
    REMOVE_AND_MAKE = 0x1ff << 4, /* REMOVE_DIR to MAKE_SYM: bits 4 to 12 */
    REFER = 1 << 13,              /* from version 2 */
    TRUNCATE = 1 << 14,           /* from version 3 */
    SCOPE_ABSTRACT = 1 << 0,      /* from version 6 */
    SCOPE_SIGNAL = 1 << 1,
};
struct ruleset {
    uint64_t fs, net, scoped;
};
struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

/* Until version 6 the kernel wants a struct without `scoped`, until 4 without `net`. */
static size_t ruleset_size(long version)
{
    if (version >= 6)
        return sizeof(struct ruleset);
    return version >= 4 ? 16 : 8;
}

static bool allow(int ruleset, int fd, uint64_t rights)
{
    struct beneath rule = {rights, fd};

    return syscall(CALL_ADD_RULE, ruleset, RULE_BENEATH, &rule, 0) == 0;
}

static bool allow_path(int ruleset, const char *path, bool folder, uint64_t rights)
{
    autofd int fd = mount_open(AT_FDCWD, path);

    return fd >= 0 &&
           allow(ruleset, fd, folder ? rights : rights & (WRITE_FILE | TRUNCATE));
}

/* What the command was given to write to may be opened again ("> /dev/stderr"). Pipes
 * and sockets are no concern of Landlock's and not taken by it. */
static bool allow_stdio(int ruleset, uint64_t rights)
{
    for (int fd = 0; fd <= 2; fd++) {
        int flags = fcntl(fd, F_GETFL);
        struct stat st;

        if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st) != 0 ||
            !(S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))
            continue;
        if (!allow(ruleset, fd, rights & (WRITE_FILE | TRUNCATE)) && errno != EBADFD)
            return false;
    }
    return true;
}

static bool allow_all(int ruleset, const struct plan *plan, uint64_t rights)
{
    if (!allow_path(ruleset, "/dev", true, rights) ||
        !allow_path(ruleset, "/proc", true, rights) || !allow_stdio(ruleset, rights))
        return false;
    if (plan->access.root == ACCESS_WRITE && !allow_path(ruleset, "/", true, rights))
        return false;
    for (size_t i = 0; i < plan->access.mount_count; i++) {
        const struct access_mount *m = &plan->access.mounts[i];

        if (m->access == ACCESS_WRITE && !m->pin &&
            !allow_path(ruleset, m->path, m->kind == PATH_FOLDER, rights))
            return false;
    }
    return true;
}

bool landlock_restrict(const struct plan *plan, struct err *e)
{
    long version = syscall(CALL_CREATE, NULL, 0, FLAG_VERSION);
    struct ruleset set = {WRITE_FILE | REMOVE_AND_MAKE | REFER, 0, 0};
    autofd int fd = -1;

    if (version < 2)
        return true;
    if (version >= 3)
        set.fs |= TRUNCATE;
    if (version >= 6)
        set.scoped = SCOPE_ABSTRACT | SCOPE_SIGNAL;
    fd = (int)syscall(CALL_CREATE, &set, ruleset_size(version), 0);
    if (fd < 0)
        return err_sys(e, "cannot make a Landlock ruleset");
    if (!allow_all(fd, plan, set.fs))
        return err_sys(e, "cannot add a Landlock rule");
    if (syscall(CALL_RESTRICT, fd, 0) != 0)
        return err_sys(e, "cannot enter the Landlock ruleset");
    return true;
}
