#include "launcher/dev.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "launcher/env.h"
#include "launcher/mount.h"
#include "proxy/base/fd.h"

/* What a sandbox may fill: memory of the machine, so there is a bound. */
#define SHM_BYTES "2g"
#define SHM_FILES "1m"

static const char *const dev_options[] = {"mode", "0755", "size", "64k", NULL};
static const char *const shm_options[] = {"mode",      "1777",    "size", SHM_BYTES,
                                          "nr_inodes", SHM_FILES, NULL};
static const char *const nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
static const struct {
    const char *name, *target;
} links[] = {
    {"fd", "/proc/self/fd"},       {"stdin", "/proc/self/fd/0"},
    {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
    {"ptmx", "pts/ptmx"},
};

/* Of a device node, read-only stops changes to the node itself, its mode for one, which
 * root owns and the host would see; the device is written to all the same. */
#define NODE_FLAGS (MOUNT_RDONLY | MOUNT_NOSUID | MOUNT_NOEXEC)

/* The host's own node over an empty file. A node that the host lacks is left out. */
static bool add_node(int host, int dev, const char *name)
{
    char path[32];
    autofd int node = -1;
    autofd int copy = -1;
    autofd int point = -1;

    snprintf(path, sizeof path, "dev/%s", name);
    node = mount_open(host, path);
    if (node < 0 && errno == ENOENT)
        return true;
    point = openat(dev, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    return node >= 0 && point >= 0 && (copy = mount_copy(node, false)) >= 0 &&
           mount_flags(copy, NODE_FLAGS, false) && mount_attach(copy, point);
}

static bool fill(int dev)
{
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (symlinkat(links[i].target, dev, links[i].name) != 0)
            return false;
    return mkdirat(dev, "shm", 0755) == 0 && mkdirat(dev, "pts", 0755) == 0;
}

static bool add_shm(void)
{
    autofd int shm = mount_tmpfs(shm_options, MOUNT_NOSUID | MOUNT_NODEV);
    autofd int point = mount_open(AT_FDCWD, "/dev/shm");

    return shm >= 0 && point >= 0 && mount_attach(shm, point) &&
           mkdir(SANDBOX_TMPDIR, 0700) == 0;
}

bool dev_make(int host, struct err *e)
{
    autofd int dev = mount_tmpfs(dev_options, MOUNT_NOSUID | MOUNT_NOEXEC);
    autofd int point = mount_open(AT_FDCWD, "/dev");

    if (dev < 0 || point < 0 || !fill(dev) || !mount_attach(dev, point))
        return err_sys(e, "cannot make the sandbox's /dev");
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        if (!add_node(host, dev, nodes[i]))
            return err_sys(e, "cannot give the sandbox /dev/%s", nodes[i]);
    if (!add_shm())
        return err_sys(e, "cannot make the sandbox's folder for temporary files");
    if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=620") != 0)
        return err_sys(e, "cannot make the sandbox's /dev/pts");
    if (!mount_flags(dev, MOUNT_RDONLY, false))
        return err_sys(e, "cannot make the sandbox's /dev read-only");
    return true;
}
