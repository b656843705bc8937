#include "proxy/base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "proxy/base/shown.h"

/* Together less than what a pipe takes in one piece. */
enum { LINE_MAX_LEN = 2048, NOTE_MAX_LEN = 128 };

/* The exception to "no globals": a message has no object to hang on. */
static enum log_level current = LOG_LEVEL_INFO;
static atomic_bool waits = true;
static atomic_ulong lost; /* lines, since the last that said so */

void log_set_level(enum log_level level)
{
    current = level;
}

/* What waits for a reader without end is a pipe or a socket; a write to a file ends,
 * and must not be given up because the kernel has to fetch a page first. */
static bool has_reader(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* That there is room does not hold for long: others may write to the same pipe. Where
 * the kernel knows no write that returns at once, the poll has to do. */
static bool write_at_once(const char *text, size_t len)
{
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    struct iovec piece = {(char *)text, len};
    ssize_t n = -1;

    if (poll(&ready, 1, 0) != 1)
        return false;
    errno = EOPNOTSUPP;
    if (has_reader(STDERR_FILENO))
        n = pwritev2(STDERR_FILENO, &piece, 1, -1, RWF_NOWAIT);
    if (n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        n = write(STDERR_FILENO, text, len);
    return n > 0;
}

/* `lines` of them. With what was lost before in front, in the same piece. */
static void write_out(const char *text, size_t len, unsigned long lines)
{
    char whole[NOTE_MAX_LEN + LINE_MAX_LEN];
    unsigned long before = atomic_exchange(&lost, 0);
    size_t n = 0;

    if (before > 0)
        n = (size_t)snprintf(whole, NOTE_MAX_LEN,
                             "weir: warning: lines missing here, as nobody read them: "
                             "%lu\n",
                             before);
    memcpy(whole + n, text, len);
    n += len;
    if (atomic_load(&waits))
        (void)!write(STDERR_FILENO, whole, n);
    else if (!write_at_once(whole, n))
        atomic_fetch_add(&lost, before + lines);
}

void log_set_waiting(bool on)
{
    atomic_store(&waits, on);
    if (on && atomic_load(&lost) > 0)
        write_out("", 0, 0);
}

static void write_line(enum log_level level, const char *fmt, va_list args)
{
    static const char *const marks[] = {"", "warning: ", "", "debug: "};
    char text[LINE_MAX_LEN / 2], line[LINE_MAX_LEN];
    size_t n;

    if (level > current)
        return;
    vsnprintf(text, sizeof text, fmt, args);
    n = (size_t)snprintf(line, sizeof line, "weir: %s", marks[level]);
    n += shown_escape(line + n, sizeof line - n - 1, str_from(text));
    line[n++] = '\n';
    write_out(line, n, 1);
}

#define DEFINE_LEVEL(name, level)     \
    void name(const char *fmt, ...)   \
    {                                 \
        va_list args;                 \
                                      \
        va_start(args, fmt);          \
        write_line(level, fmt, args); \
        va_end(args);                 \
    }

DEFINE_LEVEL(log_error, LOG_LEVEL_ERROR)
DEFINE_LEVEL(log_warn, LOG_LEVEL_WARN)
DEFINE_LEVEL(log_info, LOG_LEVEL_INFO)
DEFINE_LEVEL(log_debug, LOG_LEVEL_DEBUG)
