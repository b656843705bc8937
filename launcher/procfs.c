#include "launcher/procfs.h"

#include <errno.h>
#include <sys/mount.h>

#include "launcher/mount.h"

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

bool procfs_make(const struct masks *masks, struct err *e)
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
    for (size_t i = 0; i < sizeof read_only / sizeof *read_only; i++)
        if (!mount_read_only(read_only[i], e))
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
