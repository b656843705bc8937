#include "launcher/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/landlock.h"
#include "launcher/privileges.h"
#include "launcher/procfs.h"
#include "launcher/seccomp.h"
#include "launcher/tree.h"
#include "proxy/base/fd.h"

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
    struct seccomp_program filter;
    bool good;

    if (!procfs_make(s->masks, e) || !tree_enter(s->plan, e) || !privileges_drop(e) ||
        !landlock_restrict(s->plan, e))
        return false;
    if (!seccomp_build(&filter, e))
        return false;
    good = seccomp_install(&filter, e);
    seccomp_done(&filter);
    return good;
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
    err_sys(&e, "cannot run \"%.200s\"", name);
    give_up(report, failed == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXEC, e.text);
}
