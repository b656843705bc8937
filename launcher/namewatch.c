#include "launcher/namewatch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "proxy/base/fd.h"

enum { SIGNALS_READ = 16, EVENTS_BYTES = 16 * 1024 };
/* That a file loses its name is no concern. */
enum { GIVES_NAME = IN_CREATE | IN_MOVED_TO };
#define SIGNAL_LIMIT "the limit is that of open files (ulimit -n)"

/* dnotify: fcntl(2), "File and directory change notification". The kernel queues at
 * most one signal for a folder, since it forgets the folder after that: signals that
 * wait are taken from what all of the user's processes may have. When there are too
 * many already, SIGIO comes in its stead and does not say for what. */
static bool arm(int fd)
{
    return fcntl(fd, F_SETSIG, SIGRTMIN) == 0 && fcntl(fd, F_NOTIFY, DN_CREATE) == 0;
}

/* False on a kernel that was built without it, or with fs.dir-notify-enable at 0. */
static bool has_dnotify(void)
{
    autofd int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd >= 0 && arm(fd);
}

static int open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGIO);
    sigaddset(&set, SIGRTMIN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool namewatch_open(struct namewatch *w, size_t count, struct err *e)
{
    *w = (struct namewatch){.fd = -1, .watches = malloc(count * sizeof(int))};
    if (w->watches == NULL && count > 0)
        abort();
    for (; w->count < count; w->count++)
        w->watches[w->count] = -1;
    w->by_signal = count <= NAMEWATCH_DESCRIPTORS && has_dnotify();
    if (w->by_signal)
        w->fd = open_signals();
    else
        w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->fd >= 0)
        return true;
    if (w->by_signal)
        return err_sys(e, SIGNAL_LIMIT);
    return err_sys(e, "the limit is fs.inotify.max_user_instances");
}

void namewatch_done(struct namewatch *w)
{
    for (size_t i = 0; i < w->count && w->by_signal; i++)
        fd_close(&w->watches[i]);
    fd_close(&w->fd);
    free(w->watches);
    *w = (struct namewatch){.fd = -1};
}

/* Of arm(), EINVAL: it is not there any more. */
static bool is_limit(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOSPC ||
           error == EINVAL;
}

static bool set_by_signal(int *watch, const char *path)
{
    autofd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 && is_limit(errno))
        return false;
    if (fd < 0)
        return *watch < 0 || arm(*watch);
    if (!arm(fd))
        return !is_limit(errno);
    fd_close(watch);
    *watch = fd_steal(&fd);
    return true;
}

static bool set_by_inotify(const struct namewatch *w, int *watch, const char *path)
{
    int number = inotify_add_watch(w->fd, path, GIVES_NAME | IN_ONLYDIR);

    if (number >= 0)
        *watch = number;
    return number >= 0 || !is_limit(errno);
}

bool namewatch_set(struct namewatch *w, size_t folder, const char *path, struct err *e)
{
    if (w->by_signal)
        return set_by_signal(&w->watches[folder], path) ||
               err_sys(e, errno == EINVAL ? "fs.dir-notify-enable was turned off"
                                          : SIGNAL_LIMIT);
    return set_by_inotify(w, &w->watches[folder], path) ||
           err_sys(e, "the limit is fs.inotify.max_user_watches");
}

static void tell(const struct namewatch *w, int watch, const char *name,
                 namewatch_fn *fn, void *owner)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->watches[i] == watch)
            fn(owner, i, name);
}

static void read_signals(const struct namewatch *w, namewatch_fn *fn, void *owner)
{
    struct signalfd_siginfo infos[SIGNALS_READ];
    ssize_t n = read(w->fd, infos, sizeof infos);

    for (ssize_t i = 0; i < n / (ssize_t)sizeof *infos; i++)
        if (infos[i].ssi_signo == (unsigned)SIGIO)
            fn(owner, NAMEWATCH_ALL, NULL);
        else
            tell(w, infos[i].ssi_fd, NULL, fn, owner);
}

static void read_events(const struct namewatch *w, namewatch_fn *fn, void *owner)
{
    char events[EVENTS_BYTES]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n = read(w->fd, events, sizeof events);
    const struct inotify_event *event;

    for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof *event + event->len)) {
        event = (const struct inotify_event *)(events + at);
        if ((event->mask & IN_Q_OVERFLOW) != 0)
            fn(owner, NAMEWATCH_ALL, NULL);
        else if (event->len > 0)
            tell(w, event->wd, event->name, fn, owner);
    }
}

void namewatch_read(struct namewatch *w, namewatch_fn *fn, void *owner)
{
    if (w->by_signal)
        read_signals(w, fn, owner);
    else
        read_events(w, fn, owner);
}
