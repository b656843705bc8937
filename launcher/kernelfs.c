#include "launcher/kernelfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[] = {
    "proc",     "sysfs",   "cgroup",      "cgroup2",    "debugfs",    "tracefs",
    "devtmpfs", "devpts",  "securityfs",  "configfs",   "efivarfs",   "pstore",
    "bpf",      "fusectl", "binfmt_misc", "selinuxfs",  "mqueue",     "nsfs",
    "nfsd",     "resctrl", "smackfs",     "rpc_pipefs", "functionfs",
};

static bool is_kernel_type(const char *type, size_t len)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i]) == len && strncmp(types[i], type, len) == 0)
            return true;
    return false;
}

/* "\040" and the like (proc(5)) become the byte that they stand for. */
static bool unescape(const char *from, size_t len, char to[PATH_MAX])
{
    size_t n = 0;

    if (len >= PATH_MAX)
        return false;
    for (size_t i = 0; i < len; i++) {
        char octal[4] = "";

        if (from[i] != '\\') {
            to[n++] = from[i];
            continue;
        }
        if (len - i < 4)
            return false;
        memcpy(octal, from + i + 1, 3);
        to[n++] = (char)strtoul(octal, NULL, 8);
        i += 3;
    }
    to[n] = '\0';
    return true;
}

bool kernelfs_parse(const char *line, char point[PATH_MAX])
{
    const char *type = strstr(line, " - ");

    /* Four fields stand before the mount point: id, parent, device, root. */
    for (int field = 0; field < 4; field++) {
        line = strchr(line, ' ');
        if (line++ == NULL)
            return false;
    }
    if (type == NULL || type < line || !unescape(line, strcspn(line, " "), point))
        return false;
    type += 3;
    return is_kernel_type(type, strcspn(type, " \n"));
}

static void keep(struct access_list *list, const char *point)
{
    if (path_within(point, "/proc") || path_within(point, "/dev") ||
        access_at(list, point) != ACCESS_WRITE)
        return;
    access_add(list, point, PATH_FOLDER, ACCESS_KEEP, "a file system of the kernel");
}

bool kernelfs_keep(struct access_list *list, struct err *e)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char *line = NULL, point[PATH_MAX];
    size_t size = 0;
    bool read_all;

    if (file == NULL)
        return err_sys(e, "/proc/self/mountinfo");
    while (getline(&line, &size, file) > 0)
        if (kernelfs_parse(line, point))
            keep(list, point);
    read_all = feof(file) != 0;
    free(line);
    fclose(file);
    return read_all || err_set(e, "/proc/self/mountinfo: cannot be read to its end");
}
