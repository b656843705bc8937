#include "launcher/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proxy/base/fd.h"

/* Capability numbers are below this in every kernel (two words of bits). */
enum { CAPABILITY_MAX = 64 };

static bool write_file(const char *path, const char *text, struct err *e)
{
    autofd int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || !fd_write_all(fd, text, strlen(text)))
        return err_sys(e, "cannot write \"%s\"", path);
    return true;
}

static bool write_map(const char *path, unsigned id, struct err *e)
{
    char line[64];

    snprintf(line, sizeof line, "%u %u 1\n", id, id);
    return write_file(path, line, e);
}

bool privileges_map(uid_t uid, gid_t gid, struct err *e)
{
    return write_file("/proc/self/setgroups", "deny", e) &&
           write_map("/proc/self/uid_map", uid, e) &&
           write_map("/proc/self/gid_map", gid, e);
}

static bool drop_bounding_set(void)
{
    for (unsigned long i = 0; i < CAPABILITY_MAX; i++)
        if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0)
            return errno == EINVAL && i > CAP_CHECKPOINT_RESTORE;
    return true;
}

static bool drop_to(uint32_t kept, struct err *e)
{
    const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
                               SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
                               SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                               SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct left[2] = {{.effective = kept, .permitted = kept}};

    if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) != 0 || !drop_bounding_set() ||
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 ||
        syscall(SYS_capset, &header, left) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return err_sys(e, "cannot give up capabilities");
    return true;
}

bool privileges_drop(struct err *e)
{
    return drop_to(0, e);
}

bool privileges_drop_to_mounts(struct err *e)
{
    return drop_to(1u << CAP_SYS_ADMIN, e);
}

bool privileges_hide(struct err *e)
{
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return err_sys(e, "cannot hide the process from others");
    return true;
}

bool privileges_die_with(pid_t parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent;
}
