#include "proxy/running.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "launcher/leash.h"
#include "proxy/base/fd.h"
#include "proxy/base/log.h"
#include "proxy/control.h"
#include "proxy/updates.h"

static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGTSTP, SIGCONT, SIGWINCH};
/* Blocked only, so that a terminal that asks background processes to stop when they
 * write does not stop us at the summary. */
static const int held[] = {SIGTTOU};

/* What the launcher calls it in its hand-off; there is one policy here. */
#define RUNNING_POLICY "run"

enum { STATUS_WEIR = 125 };

/* How long a command has to end by itself that is ended for want of its channel. */
static const double kill_seconds = 2;

struct running {
    const struct running_options *options;
    struct policy *policy; /* borrowed, as the parents: what counts now */
    struct parents *parents;
    struct sandbox *sandbox;
    struct ev_loop *loop;
    struct core *core;
    struct control *control; /* NULL when it has closed */
    struct session *session; /* NULL until it is attached, and when it is gone */
    struct updates *updates; /* NULL: none come */
    ev_timer kill;
    ev_io leash, signals, process;
    int signal_fd;
    bool told; /* of the end */
    bool lost; /* the channel, before anything came */
    int status;
    struct err *e; /* what to say when it was no end of the command's */
    bool failed;
};

static void fill(sigset_t *set, const int *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sigaddset(set, numbers[i]);
}

void running_block_signals(sigset_t *before)
{
    sigset_t set;

    sigemptyset(&set);
    fill(&set, passed_on, sizeof passed_on / sizeof *passed_on);
    fill(&set, held, sizeof held / sizeof *held);
    sigprocmask(SIG_BLOCK, &set, before);
}

void running_restore_signals(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

static struct policy *find_policy(void *owner, const char *name,
                                  struct parents **parents)
{
    const struct running *r = owner;

    *parents = r->parents;
    return strcmp(name, RUNNING_POLICY) == 0 ? r->policy : NULL;
}

static void on_attached(void *owner, struct session *s)
{
    struct running *r = owner;

    r->session = s;
    session_on_event(s, r->options->on_event, r->options->owner);
}

static void on_closed(void *owner)
{
    struct running *r = owner;

    r->control = NULL;
    r->session = NULL;
}

static void on_line(void *owner, unsigned long number, struct str line)
{
    struct running *r = owner;
    struct err e;

    if (!r->options->on_update(r->options->owner, number, line, &r->policy, &r->parents,
                               &e)) {
        log_error("%s; what was in force before it stays", e.text);
        return;
    }
    if (r->session != NULL)
        session_set_policy(r->session, r->policy, r->parents);
    log_debug("settings: message %lu is in force", number);
}

static void on_kill(struct ev_loop *loop, ev_timer *w, int events)
{
    const struct running *r = w->data;

    (void)loop, (void)events;
    leash_send(r->sandbox->leash, LEASH_SIGNAL, SIGKILL, NULL);
}

static void on_lost(void *owner, unsigned long lines, const char *why)
{
    struct running *r = owner;

    if (lines > 0) {
        log_error("no more settings can be read: %s; the last ones stay in force", why);
        return;
    }
    r->lost = true;
    err_set(r->e, "the settings cannot be read: %s; the command was ended", why);
    leash_send(r->sandbox->leash, LEASH_SIGNAL, SIGTERM, NULL);
    ev_timer_start(r->loop, &r->kill);
}

static void fail(struct running *r, int status, const char *text)
{
    r->told = r->failed = true;
    r->status = status;
    err_set(r->e, "%s", text);
    ev_break(r->loop, EVBREAK_ALL);
}

static void on_message(struct running *r, const struct leash_message *m)
{
    switch (m->kind) {
    case LEASH_ENDED:
        r->told = true;
        r->status = m->value;
        ev_break(r->loop, EVBREAK_ALL);
        break;
    case LEASH_FAILED:
        fail(r, m->value, m->text);
        break;
    default:
        fail(r, STATUS_WEIR, "the supervisor says what is not understood");
        break;
    }
}

static void on_leash(struct ev_loop *loop, ev_io *w, int events)
{
    struct running *r = w->data;
    struct leash_message message;
    enum fd_recv got = leash_receive(w->fd, &message);

    (void)events;
    if (got == FD_RECV_OK)
        on_message(r, &message);
    else if (got != FD_RECV_AGAIN)
        ev_io_stop(loop, w);
}

/* The supervisor has ended. What it said before that is still on the leash. */
static void on_process(struct ev_loop *loop, ev_io *w, int events)
{
    struct running *r = w->data;
    struct leash_message message;

    (void)events;
    ev_io_stop(loop, w);
    while (!r->told && leash_receive(r->sandbox->leash, &message) == FD_RECV_OK)
        on_message(r, &message);
    if (!r->told)
        fail(r, STATUS_WEIR, "the sandbox's supervisor was killed, and all with it");
}

/* What the terminal sends (SI_KERNEL) it has sent to the command too, which is in our
 * group: once is enough. When it goes away, only the first process of the session is
 * told, with SIGHUP; that may be us, as under "ssh -t" or "script". From the supervisor
 * comes SIGCONT, when the command goes on already. */
static bool reached_command(const struct running *r,
                            const struct signalfd_siginfo *info)
{
    if (info->ssi_pid == (unsigned)r->sandbox->pid)
        return true;
    if (info->ssi_code != SI_KERNEL || r->options->own_group)
        return false;
    return info->ssi_signo != SIGHUP || getsid(0) != getpid();
}

static void on_signal(struct ev_loop *loop, ev_io *w, int events)
{
    struct running *r = w->data;
    struct signalfd_siginfo info;

    (void)loop, (void)events;
    while (read(w->fd, &info, sizeof info) == (ssize_t)sizeof info)
        if (!reached_command(r, &info))
            leash_send(r->sandbox->leash, LEASH_SIGNAL, (int)info.ssi_signo, NULL);
}

static void watch(struct running *r, ev_io *w, int fd,
                  void (*fn)(struct ev_loop *, ev_io *, int))
{
    ev_io_init(w, fn, fd, EV_READ);
    w->data = r;
    ev_io_start(r->loop, w);
}

static bool start(struct running *r, int *updates_fd, struct err *e)
{
    struct core_options options = {.limits = limits_default,
                                   .audit = r->options->audit};
    struct control_hooks hooks = {find_policy, on_attached, on_closed, r};
    sigset_t set;

    if (!core_new(r->loop, &options, &r->core, e))
        return false;
    r->control = control_new(r->core, fd_steal(&r->sandbox->control), &hooks);
    sigemptyset(&set);
    fill(&set, passed_on, sizeof passed_on / sizeof *passed_on);
    r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (r->signal_fd < 0 || fcntl(r->sandbox->leash, F_SETFL, O_NONBLOCK) != 0)
        return err_sys(e, "cannot watch the sandbox");
    watch(r, &r->signals, r->signal_fd, on_signal);
    watch(r, &r->leash, r->sandbox->leash, on_leash);
    watch(r, &r->process, r->sandbox->pidfd, on_process);
    if (*updates_fd >= 0)
        r->updates = updates_new(
            r->loop, fd_steal(updates_fd),
            &(struct updates_hooks){.line = on_line, .lost = on_lost, .owner = r});
    return true;
}

static void stop(struct running *r)
{
    if (r->signal_fd >= 0) {
        ev_io_stop(r->loop, &r->signals);
        ev_io_stop(r->loop, &r->leash);
        ev_io_stop(r->loop, &r->process);
    }
    ev_timer_stop(r->loop, &r->kill);
    updates_free(&r->updates);
    fd_close(&r->signal_fd);
    control_free(&r->control);
    core_free(&r->core);
    ev_loop_destroy(r->loop);
}

/* A shell inside that had the foreground cannot give it back: it has no name for our
 * group. When its own is gone, we take it, as we had it before. */
static void take_terminal_back(int tty)
{
    pid_t foreground = tcgetpgrp(tty);

    if (foreground > 0 && foreground != getpgrp() && kill(-foreground, 0) != 0 &&
        errno == ESRCH)
        tcsetpgrp(tty, getpgrp());
}

bool running_serve(struct sandbox *sandbox, const struct running_options *options,
                   int *status, struct err *e)
{
    struct running r = {.options = options,
                        .policy = options->policy,
                        .parents = options->parents,
                        .sandbox = sandbox,
                        .signal_fd = -1,
                        .status = STATUS_WEIR,
                        .e = e};
    autofd int updates_fd = options->updates_fd;
    autofd int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    bool foreground = tty >= 0 && tcgetpgrp(tty) == getpgrp();

    ev_timer_init(&r.kill, on_kill, kill_seconds, 0);
    r.kill.data = &r;
    r.loop = ev_loop_new(EVFLAG_AUTO);
    if (r.loop == NULL)
        r.failed = !err_set(e, "cannot make an event loop");
    else if (start(&r, &updates_fd, e))
        ev_run(r.loop, 0);
    else
        r.failed = true;
    if (r.loop != NULL)
        stop(&r);
    sandbox_done(sandbox);
    if (foreground)
        take_terminal_back(tty);
    *status = r.lost ? STATUS_WEIR : r.status;
    return !r.failed && !r.lost;
}
