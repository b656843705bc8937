#include "launcher/launcher.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/leash.h"
#include "launcher/privileges.h"
#include "proxy/base/json.h"

const struct launcher *const launcher_table[] = {&launcher_namespaces, NULL};

/* Of the design, but not built yet: named, so that nobody takes them for typing errors.
 */
static const char *const planned[] = {"auto",    "bwrap",    "landlock",
                                      "microvm", "seatbelt", "none"};

static bool is_planned(const char *name)
{
    for (size_t i = 0; i < sizeof planned / sizeof *planned; i++)
        if (strcmp(planned[i], name) == 0)
            return true;
    return false;
}

bool launcher_find(const char *name, const struct launcher **out, struct err *e)
{
    static const char *const names[] = {"namespaces", NULL};
    const char *near;

    for (size_t i = 0; launcher_table[i] != NULL; i++) {
        if (name == NULL || strcmp(launcher_table[i]->name, name) == 0) {
            *out = launcher_table[i];
            return true;
        }
    }
    if (is_planned(name))
        return err_set(e, "launcher \"%s\" is not supported yet: there is namespaces",
                       name);
    near = json_near(name, names);
    if (near != NULL)
        return err_set(e, "unknown launcher \"%.64s\" (did you mean \"%s\"?)", name,
                       near);
    return err_set(e, "unknown launcher \"%.64s\": there is namespaces", name);
}

static void close_between(int first, int last)
{
    if (first <= last)
        syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0);
}

/* What else the core has open (its audit, the channel of new settings) is not the
 * supervisor's: whoever waits for the core to close it would wait for both. A kernel
 * that lacks the call is refused later, by name. */
static void keep_only(int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;

    close_between(STDERR_FILENO + 1, low - 1);
    close_between(low + 1, high - 1);
    close_between(high + 1, INT_MAX);
}

/* The child. Signals stay blocked: those of the terminal reach the command by
 * themselves, and the others are for the core. */
static _Noreturn void run_child(const struct launcher *l, const struct plan *plan,
                                struct launcher_ends *ends)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    struct err e;

    keep_only(ends->leash, ends->control);
    sigaction(SIGCHLD, &plain, NULL);
    ends->umask = umask(0);
    if (!privileges_die_with(ends->core))
        _exit(1);
    l->become(plan, ends, &e);
    leash_send(ends->leash, LEASH_FAILED, 125, e.text);
    _exit(125);
}

static bool make_pairs(int leash[2], int control[2], struct err *e)
{
    if (!leash_pair(leash, e))
        return false;
    if (leash_pair(control, e))
        return true;
    fd_close(&leash[0]);
    fd_close(&leash[1]);
    return false;
}

bool launcher_start(const struct launcher *l, const struct plan *plan,
                    const char *session, const sigset_t *mask, struct sandbox *out,
                    struct err *e)
{
    struct launcher_ends ends = {.session = session, .core = getpid(), .mask = *mask};
    int leash[2], control[2];
    sigset_t all, before;
    pid_t pid;

    if (!make_pairs(leash, control, e))
        return false;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid = fork();
    if (pid == 0) {
        ends.leash = leash[1];
        ends.control = control[1];
        run_child(l, plan, &ends);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(leash[1]);
    close(control[1]);
    *out = (struct sandbox){
        .pid = pid, .pidfd = -1, .leash = leash[0], .control = control[0]};
    if (pid > 0)
        out->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pid > 0 && out->pidfd >= 0 && privileges_hide(e))
        return true;
    err_sys(e, "cannot make the supervisor process");
    sandbox_done(out);
    return false;
}

void sandbox_done(struct sandbox *s)
{
    fd_close(&s->leash);
    fd_close(&s->control);
    while (s->pid > 0 && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    s->pid = -1;
    fd_close(&s->pidfd);
    /* Nothing is left to hide from, and leak checkers may look. */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}
