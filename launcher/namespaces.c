/* The launcher by namespaces, without any helper program: user, mount, PID, network,
 * IPC and UTS. What each file adds: tree.c and dev.c the files, procfs.c /proc, netns.c
 * the network, supervisor.c the processes, privileges.c, landlock.c and seccomp.c the
 * rights.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/netns.h"
#include "launcher/privileges.h"
#include "launcher/supervisor.h"
#include "launcher/tree.h"
#include "proxy/base/handoff.h"

enum {
    NAMESPACES =
        CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
};

/* The number in a file of /proc/sys; -1 when there is none. */
static long read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    long value = -1;

    if (file == NULL)
        return -1;
    if (fscanf(file, "%ld", &value) != 1)
        value = -1;
    fclose(file);
    return value;
}

/* Ubuntu lets a user namespace be made, but gives no rights in it. */
static bool apparmor_forbids(void)
{
    return geteuid() != 0 &&
           read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") > 0;
}

static void add_apparmor_hint(struct err *e)
{
    struct err before = *e;

    if (apparmor_forbids())
        err_set(
            e,
            "%.250s: AppArmor gives user namespaces no rights here; allow them to Weir "
            "by a profile with \"userns,\", or to all by \"sysctl -w "
            "kernel.apparmor_restrict_unprivileged_userns=0\"",
            before.text);
}

static void explain_unshare(int error, struct err *e)
{
    const char *what = strerror(error);

    if (error == ENOSPC || read_number("/proc/sys/user/max_user_namespaces") == 0)
        err_set(e,
                "cannot make namespaces (%s): the limit user.max_user_namespaces is "
                "reached or 0; raise it (\"sysctl -w user.max_user_namespaces=15000\")",
                what);
    else if (read_number("/proc/sys/kernel/unprivileged_userns_clone") == 0)
        err_set(e,
                "cannot make namespaces (%s): this kernel keeps them from users; allow "
                "them (\"sysctl -w kernel.unprivileged_userns_clone=1\")",
                what);
    else if (error == EPERM)
        err_set(
            e,
            "cannot make namespaces (%s): a container's seccomp profile or a chroot "
            "forbids it; start the container with a profile that allows unshare() "
            "(docker and podman: --security-opt seccomp=unconfined), or run Weir "
            "outside of the chroot",
            what);
    else
        err_set(
            e,
            "cannot make namespaces (%s): this kernel lacks user, mount, network, IPC "
            "or UTS namespaces, or is out of memory",
            what);
}

static bool offer(const struct launcher_ends *ends, int proxy, struct err *e)
{
    struct handoff_attach attach = {
        .policy = "run", .kinds = {HANDOFF_PROXY}, .fds = {proxy}, .count = 1};

    snprintf(attach.session, sizeof attach.session, "%s", ends->session);
    return handoff_offer(ends->control, &attach, e);
}

static bool make_sandbox(const struct plan *plan, const struct launcher_ends *ends,
                         struct masks *masks, struct keeper *keeper, struct err *e)
{
    int proxy;
    bool good;

    if (unshare(NAMESPACES) != 0) {
        explain_unshare(errno, e);
        return false;
    }
    /* The new namespace took away what privileges_die_with() had asked for, on some
     * kernels. */
    if (!privileges_die_with(ends->core))
        return err_set(e, "the core has gone");
    if (!privileges_map(plan->uid, plan->gid, e) || !netns_raise_loopback(e) ||
        !netns_listen(&proxy, e) || !keeper_start(keeper, e) ||
        !tree_make(plan, masks, &keeper->host, e)) {
        add_apparmor_hint(e);
        return false;
    }
    good = privileges_hide(e) && offer(ends, proxy, e);
    close(proxy);
    return good;
}

static void become(const struct plan *plan, const struct launcher_ends *ends,
                   struct err *e)
{
    struct masks masks;
    struct keeper keeper;
    struct supervisor supervisor = {.plan = plan,
                                    .masks = &masks,
                                    .keeper = &keeper,
                                    .leash = ends->leash,
                                    .core = ends->core,
                                    .mask = ends->mask,
                                    .umask = ends->umask};

    masks_init(&masks);
    keeper_init(&keeper, plan);
    if (make_sandbox(plan, ends, &masks, &keeper, e))
        supervisor_run(&supervisor, e);
    keeper_done(&keeper);
    masks_done(&masks);
}

const struct launcher launcher_namespaces = {
    .name = "namespaces",
    .summary = "Linux namespaces, seccomp and Landlock, without a helper program",
    .enforces = PLAN_HIDE | PLAN_READ_ONLY | PLAN_KEEP,
    .become = become,
};
