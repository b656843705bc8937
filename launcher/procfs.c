#include "launcher/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "launcher/mount.h"

/* For those who do not own the files: what others than the owner might write to. */
static const char *const read_only[] = {
    "/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
};
static const char *const hidden[] = {
    "/proc/acpi",       "/proc/asound",        "/proc/kcore",       "/proc/keys",
    "/proc/key-users",  "/proc/kmsg",          "/proc/kpagecgroup", "/proc/kpagecount",
    "/proc/kpageflags", "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi",
    "/proc/timer_list", "/proc/timer_stats",
};
static const char *const hidden_sys[] = {
    "/sys/firmware",        "/sys/kernel/debug", "/sys/kernel/tracing",
    "/sys/kernel/security", "/sys/fs/bpf",       "/sys/fs/pstore",
};

/* It gets a cover, so it needs no other mount. */
static bool is_hidden(const char *path)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (strcmp(hidden[i], path) == 0)
            return true;
    return false;
}

/* Everything but the processes. Mode and owner of these files are kept once for all
 * instances of /proc, and root, who owns them, needs no capability to change a mode:
 * the whole host would see it. */
static bool close_all(struct err *e)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    char path[PATH_MAX];
    bool good = proc != NULL || err_sys(e, "/proc");

    while (good && (entry = readdir(proc)) != NULL) {
        if (entry->d_type == DT_LNK || entry->d_name[0] == '.' ||
            (entry->d_name[0] >= '0' && entry->d_name[0] <= '9'))
            continue;
        snprintf(path, sizeof path, "/proc/%s", entry->d_name);
        good = is_hidden(path) || mount_read_only(path, e);
    }
    if (proc != NULL)
        closedir(proc);
    return good;
}

static bool close_some(struct err *e)
{
    for (size_t i = 0; i < sizeof read_only / sizeof *read_only; i++)
        if (!mount_read_only(read_only[i], e))
            return false;
    return true;
}

bool procfs_make(const struct masks *masks, bool root, struct err *e)
{
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        if (errno != EPERM)
            return err_sys(e, "cannot mount the sandbox's /proc");
        return err_set(
            e, "cannot mount the sandbox's /proc: parts of this system's own /proc are "
               "covered, as containers have it, and the kernel then allows no other; "
               "start the container with its /proc whole (docker: --security-opt "
               "systempaths=unconfined, podman: --security-opt unmask=ALL)");
    }
    if (!(root ? close_all(e) : close_some(e)))
        return false;
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (!masks_hide(masks, hidden[i], e))
            return false;
    return true;
}

bool procfs_harden_sys(const struct masks *masks, struct err *e)
{
    for (size_t i = 0; i < sizeof hidden_sys / sizeof *hidden_sys; i++)
        if (!masks_hide(masks, hidden_sys[i], e))
            return false;
    return true;
}
