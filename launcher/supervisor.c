#include "launcher/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/command.h"
#include "launcher/init.h"
#include "launcher/leash.h"
#include "launcher/privileges.h"
#include "proxy/base/fd.h"

/* Both are ours, though another process makes them: see bear(). */
struct children {
    pid_t init, command;
    int lifeline; /* to init */
    bool stopped; /* the command, as far as we know */
    bool ending;  /* the command has ended; init is clearing up */
    int status;   /* then: what the core is told */
};

/* What the bearer tells of its children, in our PID numbers. */
struct born {
    pid_t init, command;
};

static pid_t clone_process(unsigned long flags)
{
    return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
}

/* A process that lives shortly: it makes the PID namespace, so that its children are in
 * it, and hands them to us by CLONE_PARENT. We ourselves could never make a thread
 * again after that call. The numbers it sees for its children are ours, as it is
 * outside too. */
static _Noreturn void bear(const struct supervisor *s, int lifeline, int report,
                           int out)
{
    struct born born = {-1, -1};

    if (unshare(CLONE_NEWPID) != 0)
        _exit(1);
    born.init = clone_process(CLONE_PARENT);
    if (born.init == 0)
        init_run(lifeline);
    if (born.init < 0)
        _exit(1);
    close(lifeline);
    born.command = clone_process(CLONE_PARENT);
    if (born.command == 0)
        command_become(s, report);
    _exit(born.command > 0 && fd_write_all(out, &born, sizeof born) ? 0 : 1);
}

static bool read_all(int fd, void *into, size_t size)
{
    size_t got = 0;

    while (got < size) {
        ssize_t n = read(fd, (char *)into + got, size - got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

/* The command's report, when it could not become the command. */
static bool check_report(int report, int *status, struct err *e)
{
    struct command_report r;

    if (!read_all(report, &r, sizeof r))
        return true;
    r.text[sizeof r.text - 1] = '\0';
    *status = r.status;
    return err_set(e, "%s", r.text);
}

static bool give_birth(const struct supervisor *s, struct children *c, struct err *e)
{
    int line[2], report[2], out[2];
    struct born born;
    pid_t bearer;
    bool good;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0 ||
        pipe2(report, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        return err_sys(e, "cannot make a pipe");
    bearer = clone_process(0);
    if (bearer < 0)
        return err_sys(e, "cannot make a process");
    if (bearer == 0) {
        close(line[0]);
        close(s->leash);
        bear(s, line[1], report[1], out[1]);
    }
    close(line[1]);
    close(report[1]);
    close(out[1]);
    good = read_all(out[0], &born, sizeof born);
    close(out[0]);
    waitpid(bearer, NULL, 0);
    c->lifeline = line[0];
    c->init = good ? born.init : -1;
    c->command = good ? born.command : -1;
    good =
        good || err_set(e, "cannot make the sandbox's processes: no PID namespace, or "
                           "no room for more processes");
    good = good && check_report(report[0], &c->status, e);
    close(report[0]);
    return good;
}

/* The shell, or whoever started the core, sees it stop as it would see the command. A
 * message would be too slow: the core would read it when the command, continued by one
 * of its own, runs again, and nobody would wake the core then. */
static void follow(const struct supervisor *s, struct children *c, bool stopped)
{
    if (c->stopped != stopped)
        kill(s->core, stopped ? SIGSTOP : SIGCONT);
    c->stopped = stopped;
}

static void tell_state(const struct supervisor *s, struct children *c,
                       const siginfo_t *info)
{
    follow(s, c, info->si_code == CLD_STOPPED);
    if (info->si_code != CLD_STOPPED && info->si_code != CLD_CONTINUED) {
        const char word = INIT_END;

        c->ending = true;
        c->command = -1;
        c->status =
            info->si_code == CLD_EXITED ? info->si_status : 128 + info->si_status;
        if (send(c->lifeline, &word, 1, MSG_NOSIGNAL) != 1)
            kill(c->init, SIGKILL);
    }
}

/* False when init has gone, and with it everything inside. */
static bool collect(const struct supervisor *s, struct children *c)
{
    siginfo_t info;

    for (;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG) != 0)
            return errno == EINTR;
        if (info.si_pid == 0)
            return true;
        if (info.si_pid == c->command)
            tell_state(s, c, &info);
        else if (info.si_pid == c->init && info.si_code != CLD_STOPPED &&
                 info.si_code != CLD_CONTINUED)
            c->init = -1;
    }
}

static void pass_signal(struct children *c, int number)
{
    if (c->command > 0 && (number != SIGCONT || c->stopped))
        kill(c->command, number);
}

/* False when the core has gone. */
static bool obey(const struct supervisor *s, struct children *c)
{
    struct leash_message message;
    enum fd_recv got = leash_receive(s->leash, &message);

    if (got == FD_RECV_OK && message.kind == LEASH_SIGNAL)
        pass_signal(c, message.value);
    return got == FD_RECV_OK || got == FD_RECV_AGAIN;
}

/* Takes the one kind of signal that is looked at here off the descriptor. */
static void drain(int signals)
{
    struct signalfd_siginfo info;

    (void)!read(signals, &info, sizeof info);
}

/* False when something that must not lies bare: then all must end. */
static bool keep(const struct supervisor *s)
{
    struct err e;

    if (keeper_renew(s->keeper, s->masks, &e))
        return true;
    leash_send(s->leash, LEASH_FAILED, 125, e.text);
    return false;
}

static void watch(const struct supervisor *s, struct children *c, int signals)
{
    struct pollfd watched[3] = {{.fd = s->leash, .events = POLLIN},
                                {.fd = signals, .events = POLLIN},
                                {.fd = s->keeper->names.fd, .events = POLLIN}};

    while (collect(s, c)) {
        if (poll(watched, 3, -1) < 0 && errno != EINTR)
            return;
        if (watched[2].revents != 0 && !keep(s))
            return;
        if (watched[0].revents != 0 && !obey(s, c))
            return;
        if (watched[1].revents != 0)
            drain(signals);
    }
}

static int open_signals(void)
{
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The core's standard input and output are the command's to close, not ours to hold. */
static void release_stdio(void)
{
    autofd int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        dup2(null, fd);
}

bool supervisor_run(const struct supervisor *s, struct err *e)
{
    struct children c = {.init = -1, .command = -1, .lifeline = -1};
    autofd int signals = open_signals();

    if (signals < 0)
        return err_sys(e, "cannot watch for signals");
    if (!give_birth(s, &c, e)) {
        if (c.init > 0)
            kill(c.init, SIGKILL);
        if (c.status == 0 || c.status == 125)
            return false;
        leash_send(s->leash, LEASH_FAILED, c.status, e->text);
        _exit(c.status);
    }
    release_stdio();
    /* What it had was for making the sandbox. Signals to its children need none. */
    if (s->keeper->names.fd < 0 ? !privileges_drop(e) : !privileges_drop_to_mounts(e)) {
        kill(c.init, SIGKILL);
        return false;
    }
    watch(s, &c, signals);
    if (c.init > 0)
        kill(c.init, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        continue;
    leash_send(s->leash, LEASH_ENDED, c.ending ? c.status : 128 + SIGKILL, NULL);
    _exit(0);
}
