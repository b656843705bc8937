#include "launcher/init.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/privileges.h"

static void on_child(int number)
{
    (void)number;
}

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* False when there is no child any more. */
static bool collect(void)
{
    pid_t pid;

    do
        pid = waitpid(-1, NULL, WNOHANG | __WALL);
    while (pid > 0 || (pid < 0 && errno == EINTR));
    return pid == 0;
}

/* Keeps the lifeline alone: standard input and output must not be held open by us when
 * all that used them has gone. It moves to 0, and nothing else stays. */
static bool close_others(int lifeline)
{
    if (dup2(lifeline, 0) != 0)
        return false;
    return syscall(SYS_close_range, 1u, ~0u, 0) == 0;
}

/* Waits for the supervisor's word or a child, at most until `deadline` (0: none). True
 * when the supervisor has said something: INIT_END or, by its death, nothing. */
static bool wait_for_word(double deadline, const sigset_t *mask, char *word)
{
    struct pollfd watched = {.fd = 0, .events = deadline > 0 ? 0 : POLLIN};
    double left = deadline > 0 ? deadline - now_ms() : 0;
    struct timespec timeout = {(time_t)(left / 1e3), (long)(left * 1e6) % 1000000000L};

    *word = 0;
    if (left < 0)
        return false;
    if (ppoll(&watched, 1, deadline > 0 ? &timeout : NULL, mask) <= 0)
        return false;
    if ((watched.revents & POLLIN) == 0 || read(0, word, 1) != 1)
        *word = 0;
    return true;
}

void init_run(int lifeline)
{
    struct sigaction action = {.sa_handler = on_child};
    double deadline = 0;
    sigset_t all, none;
    struct err ignored;
    char word;

    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigaction(SIGCHLD, &action, NULL);
    if (!privileges_die_with(0) || !close_others(lifeline) ||
        !privileges_drop(&ignored))
        _exit(1);
    /* Only SIGCHLD may come through while waiting; the others are none of our business.
     */
    sigfillset(&none);
    sigdelset(&none, SIGCHLD);
    while (collect() || deadline == 0) {
        if (deadline > 0 && now_ms() >= deadline)
            break;
        if (!wait_for_word(deadline, &none, &word))
            continue;
        if (word != INIT_END)
            break;
        kill(-1, SIGTERM);
        kill(-1, SIGCONT);
        deadline = now_ms() + INIT_GRACE_MS;
    }
    _exit(0);
}
