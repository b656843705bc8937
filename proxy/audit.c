/* Lines go into a queue and one thread writes them out, so that a full disk or a pipe
 * that nobody reads holds up the thread and not the loop. Nothing that was taken is
 * given up while the thread runs: it tries again until it succeeds. What does not fit
 * the queue any more is dropped and counted, and with AUDIT_REFUSE the core stops
 * taking requests before that happens: at half the queue, since each request that is
 * under way still has a line to write. */
#include "proxy/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "proxy/base/fd.h"
#include "proxy/base/log.h"

enum {
    /* Two seconds of a slow disk at ten thousand requests a second. Memory is taken as
     * it fills. */
    QUEUE_DEFAULT = 8 * 1024 * 1024,
    FILLING = 64 * 1024, /* so much waits for nothing more */
    /* A line is never longer than what a pipe takes in one piece, and no write is
     * either: lines of several writers do not mix, and a pipe that polls as writable
     * takes it without blocking. */
    LINE_SIZE_MAX = PIPE_BUF,
    QUEUE_MIN = 4 * LINE_SIZE_MAX,
    RETRY_MS = 200,
    GATHER_MS = 5,   /* lines that come within this are written together */
    GRACE_MS = 1000, /* beyond the deadline, for a thread between two tries */
};

struct audit {
    char *path; /* NULL: cannot be opened again */
    enum audit_on_full on_full;
    size_t max;
    atomic_size_t used; /* bytes in the queue and in the batch */
    atomic_ulong dropped;
    atomic_bool failing; /* the last try was an error */
    pthread_t thread;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    char *queue;
    size_t queued;
    int next_fd; /* takes the place of `fd`; -1: none */
    bool has_thread, stop, abandon, finished;

    /* The thread's own. */
    int fd;
    bool unseen;   /* `fd` is new: how its file ends was not looked at yet */
    bool mid_line; /* the file ends within a line */
    char *batch;   /* lines taken from the queue */
    size_t batch_len, done;
};

static struct timespec in_ms(long ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

/* A FIFO without a reader is an error here, not a wait. */
static int open_path(const char *path, struct err *e)
{
    int fd =
        strcmp(path, "-") == 0
            ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
            : open(path,
                   O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                   0600);

    if (fd < 0)
        err_sys(e, "audit file %s", path);
    return fd;
}

/* A line that was begun is begun anew in the new file. The lock is held. */
static void adopt_next_fd(struct audit *a)
{
    const char *line_end;

    if (a->next_fd < 0)
        return;
    fd_close(&a->fd);
    a->fd = fd_steal(&a->next_fd);
    a->unseen = true;
    line_end = a->done > 0 ? memrchr(a->batch, '\n', a->done) : NULL;
    a->done = line_end != NULL ? (size_t)(line_end + 1 - a->batch) : 0;
}

/* So full that nothing should wait for more. */
static bool is_filling(const struct audit *a)
{
    return a->queued >= FILLING || a->queued >= a->max / 8;
}

/* Where one line comes others do, mostly, and each one that is written by itself costs
 * its worker a call to wake the thread, and the thread two to write it. */
static void gather(struct audit *a)
{
    struct timespec until = in_ms(GATHER_MS);

    while (!a->stop && !is_filling(a) &&
           pthread_cond_timedwait(&a->changed, &a->lock, &until) == 0)
        ;
}

/* Waits for lines and takes them all; false when there are none and none will come. */
static bool take_batch(struct audit *a)
{
    char *empty = a->batch;

    pthread_mutex_lock(&a->lock);
    a->batch_len = a->done = 0;
    adopt_next_fd(a);
    while (a->queued == 0 && !a->stop) {
        pthread_cond_wait(&a->changed, &a->lock);
        adopt_next_fd(a);
    }
    gather(a);
    adopt_next_fd(a);
    a->batch = a->queue;
    a->batch_len = a->queued;
    a->queue = empty;
    a->queued = 0;
    pthread_mutex_unlock(&a->lock);
    return a->batch_len > 0;
}

/* Until something changes or a little time has passed. */
static void wait_to_retry(struct audit *a)
{
    struct timespec until = in_ms(RETRY_MS);

    pthread_mutex_lock(&a->lock);
    while (!a->abandon && a->next_fd < 0 &&
           pthread_cond_timedwait(&a->changed, &a->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&a->lock);
}

/* Whoever wrote before may have ended for want of room, within a line. A file that may
 * not be read keeps this to itself. */
static bool ends_within_line(int fd)
{
    char path[32], last = '\n';
    struct stat st;
    autofd int reader = -1;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    reader = open(path, O_RDONLY | O_CLOEXEC);
    return reader >= 0 && pread(reader, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

/* As many whole lines as fit one write, or what is left of a line that was begun. What
 * somebody else has begun is ended first. */
static struct str next_piece(const struct audit *a)
{
    struct str left = {a->batch + a->done, a->batch_len - a->done};
    const char *end;

    if (a->mid_line)
        return STR("\n");
    left = str_head(left, LINE_SIZE_MAX);
    end = memrchr(left.p, '\n', left.n);
    return end != NULL ? str_head(left, (size_t)(end + 1 - left.p)) : left;
}

static void note_failure(struct audit *a, int error)
{
    if (!atomic_exchange(&a->failing, true))
        log_error("audit: cannot write to %s: %s; trying again%s",
                  a->path != NULL ? a->path : "the audit file", strerror(error),
                  a->on_full == AUDIT_REFUSE ? ", and requests are refused until then"
                                             : "");
}

static void note_success(struct audit *a)
{
    if (atomic_exchange(&a->failing, false))
        log_info("audit: writing again; %lu lines were lost so far",
                 atomic_load(&a->dropped));
}

/* True when a piece went out, or the reader of a pipe just lets us wait. */
static bool write_piece(struct audit *a)
{
    struct pollfd ready = {.fd = a->fd, .events = POLLOUT};
    struct str piece;
    ssize_t n;

    if (a->unseen)
        a->mid_line = ends_within_line(a->fd);
    a->unseen = false;
    piece = next_piece(a);
    if (poll(&ready, 1, RETRY_MS) != 1)
        return true;
    n = write(a->fd, piece.p, piece.n);
    if (n < 0 && errno != EINTR && errno != EAGAIN)
        note_failure(a, errno);
    if (n <= 0)
        return false;
    note_success(a);
    if (a->mid_line) {
        a->mid_line = false;
        return true;
    }
    a->done += (size_t)n;
    atomic_fetch_sub(&a->used, (size_t)n);
    return true;
}

/* Takes over a new file; false to give up. */
static bool may_go_on(struct audit *a)
{
    size_t done = a->done;
    bool go_on;

    pthread_mutex_lock(&a->lock);
    adopt_next_fd(a);
    atomic_fetch_add(&a->used, done - a->done);
    go_on = !a->abandon;
    pthread_mutex_unlock(&a->lock);
    return go_on;
}

static bool write_batch(struct audit *a)
{
    while (a->done < a->batch_len) {
        if (!may_go_on(a))
            return false;
        if (!write_piece(a))
            wait_to_retry(a);
    }
    return true;
}

static void *run_writer(void *arg)
{
    struct audit *a = arg;

    while (take_batch(a) && write_batch(a))
        ;
    pthread_mutex_lock(&a->lock);
    a->finished = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Signals are the loop's; a SIGPIPE of this thread stays pending and harms nobody. */
static bool start_thread(struct audit *a, struct err *e)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&a->thread, NULL, run_writer, a);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return err_set(e, "audit: cannot start a thread: %s", strerror(error));
    a->has_thread = true;
    return true;
}

static void init_lock(struct audit *a)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&a->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&a->changed, &attr);
    pthread_condattr_destroy(&attr);
}

static void release(struct audit *a)
{
    fd_close(&a->fd);
    fd_close(&a->next_fd);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a->path);
    free(a->queue);
    free(a->batch);
    free(a);
}

static struct audit *make(const struct audit_options *options)
{
    struct audit *a = calloc(1, sizeof *a);

    if (a == NULL)
        abort();
    a->fd = options->fd;
    a->unseen = true;
    a->next_fd = -1;
    a->on_full = options->on_full;
    a->max = options->queue_max > 0 ? options->queue_max : QUEUE_DEFAULT;
    if (a->max < QUEUE_MIN)
        a->max = QUEUE_MIN;
    init_lock(a);
    return a;
}

bool audit_new(const struct audit_options *options, struct audit **out, struct err *e)
{
    struct audit *a = make(options);

    if (a->fd < 0 && options->file != NULL) {
        a->fd = open_path(options->file, e);
        a->path = strdup(options->file);
        if (a->fd < 0) {
            release(a);
            return false;
        }
    }
    if (a->fd >= 0) {
        a->queue = malloc(a->max);
        a->batch = malloc(a->max);
        if (a->queue == NULL || a->batch == NULL)
            abort();
        if (!start_thread(a, e)) {
            release(a);
            return false;
        }
    }
    *out = a;
    return true;
}

/* Until the thread has ended or the time is up. The lock is held. */
static bool wait_finished(struct audit *a, long ms)
{
    struct timespec until = in_ms(ms);

    while (!a->finished && pthread_cond_timedwait(&a->changed, &a->lock, &until) == 0)
        ;
    return a->finished;
}

static size_t count_lines(const char *bytes, size_t len)
{
    size_t lines = 0;

    for (size_t i = 0; i < len; i++)
        lines += bytes[i] == '\n';
    return lines;
}

/* The thread has ended, or nobody can say. */
static void tell_lost(const struct audit *a, bool finished)
{
    size_t lines;

    if (!finished) {
        log_error("audit: %zu bytes could not be written in time",
                  atomic_load(&a->used));
        return;
    }
    lines = count_lines(a->batch + a->done, a->batch_len - a->done) +
            count_lines(a->queue, a->queued);
    if (lines > 0)
        log_error("audit: %zu line%s could not be written in time, and %s lost", lines,
                  lines > 1 ? "s" : "", lines > 1 ? "are" : "is");
}

/* A thread that hangs in a write (a dead network disk) cannot be ended: it is left to
 * the end of the process, with what it uses. */
static bool stop_thread(struct audit *a, double seconds)
{
    bool finished;

    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->changed);
    if (!wait_finished(a, (long)(seconds * 1000))) {
        a->abandon = true;
        pthread_cond_broadcast(&a->changed);
    }
    finished = wait_finished(a, GRACE_MS);
    tell_lost(a, finished);
    pthread_mutex_unlock(&a->lock);
    if (finished)
        pthread_join(a->thread, NULL);
    else
        pthread_detach(a->thread);
    return finished;
}

void audit_free(struct audit **a, double seconds)
{
    if (*a == NULL)
        return;
    if (!(*a)->has_thread || stop_thread(*a, seconds))
        release(*a);
    *a = NULL;
}

bool audit_ready(const struct audit *a)
{
    if (a->on_full == AUDIT_COUNT || !a->has_thread)
        return true;
    return !atomic_load(&a->failing) && atomic_load(&a->used) < a->max / 2;
}

bool audit_failing(const struct audit *a)
{
    return atomic_load(&a->failing);
}

unsigned long audit_dropped(const struct audit *a)
{
    return atomic_load(&a->dropped);
}

bool audit_reopen(struct audit *a, struct err *e)
{
    int fd;

    if (a->path == NULL || strcmp(a->path, "-") == 0)
        return true;
    fd = open_path(a->path, e);
    if (fd < 0)
        return false;
    pthread_mutex_lock(&a->lock);
    fd_close(&a->next_fd);
    a->next_fd = fd;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    return true;
}

void audit_write(struct audit *a, const struct audit_event *event)
{
    char line[LINE_SIZE_MAX];
    struct timespec now;
    size_t n;

    if (!a->has_thread)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    n = audit_format(event, (double)now.tv_sec + (double)now.tv_nsec / 1e9, line,
                     sizeof line - 1);
    line[n] = '\n';
    pthread_mutex_lock(&a->lock);
    if (n == 0 || atomic_load(&a->used) + n + 1 > a->max) {
        atomic_fetch_add(&a->dropped, 1);
    } else {
        bool first = a->queued == 0, filling = is_filling(a);

        memcpy(a->queue + a->queued, line, n + 1);
        a->queued += n + 1;
        atomic_fetch_add(&a->used, n + 1);
        if (first || filling != is_filling(a))
            pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
}
