#include "launcher/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/landlock.h"
#include "launcher/privileges.h"
#include "launcher/procfs.h"
#include "launcher/seccomp.h"
#include "launcher/stdio.h"
#include "launcher/tree.h"
#include "proxy/base/fd.h"
#include "proxy/base/str.h"

enum { STATUS_REFUSED = 125, STATUS_NOT_EXEC = 126, STATUS_NOT_FOUND = 127 };
/* <linux/close_range.h>: the descriptors close at exec, so that a failure can still be
 * reported. */
enum { CLOSE_AT_EXEC = 4 };

static _Noreturn void give_up(int report, int status, const char *text)
{
    struct command_report r = {.status = status};

    snprintf(r.text, sizeof r.text, "%s", text);
    fd_write_all(report, &r, sizeof r);
    _exit(status);
}

static bool confine(const struct supervisor *s, struct err *e)
{
    return procfs_make(s->masks, s->plan->uid == 0, e) && tree_enter(s->plan, e) &&
           stdio_renew(e) && privileges_drop(e) && landlock_restrict(s->plan, e) &&
           seccomp_install(e);
}

/* A folder of PATH that may not be searched makes execvpe() say that permission is
 * denied, whatever the name: only a file that is there can be called not executable. */
static bool is_on_path(const char *name)
{
    const char *path = getenv("PATH");
    struct str rest = str_from(path != NULL ? path : "");
    char file[PATH_MAX];

    if (strchr(name, '/') != NULL)
        return true;
    while (rest.n > 0) {
        struct str folder = str_cut(&rest, ':');

        if (snprintf(file, sizeof file, STR_FMT "/%s", STR_ARG(folder), name) <
                PATH_MAX &&
            access(file, F_OK) == 0)
            return true;
    }
    return false;
}

static int not_run_status(const char *name, int error)
{
    if (error == ENOENT || (error == EACCES && !is_on_path(name)))
        return STATUS_NOT_FOUND;
    return STATUS_NOT_EXEC;
}

void command_become(const struct supervisor *s, int report)
{
    const char *name = s->plan->argv[0];
    struct err e;
    int failed;

    if (!confine(s, &e))
        give_up(report, STATUS_REFUSED, e.text);
    if (syscall(SYS_close_range, 3u, ~0u, CLOSE_AT_EXEC) != 0)
        give_up(report, STATUS_REFUSED,
                "this kernel lacks close_range(): Linux 5.11 or later is needed");
    if (s->plan->own_group && setpgid(0, 0) != 0)
        give_up(report, STATUS_REFUSED, "cannot make a process group");
    umask(s->umask);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    execvpe(name, s->plan->argv, s->plan->env);
    failed = errno;
    if (not_run_status(name, failed) == STATUS_NOT_FOUND)
        failed = errno = ENOENT;
    err_sys(&e, "cannot run \"%.200s\"", name);
    give_up(report, not_run_status(name, failed), e.text);
}
