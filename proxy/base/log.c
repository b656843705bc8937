#include "proxy/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_MAX_LEN = 2048 };

/* The one exception to "no globals": a message has no object to hang on. */
static enum log_level current = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
    current = level;
}

static size_t escape(char *out, size_t size, const char *text)
{
    size_t n = 0;

    for (; *text != '\0' && n + 5 < size; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7f)
            n += (size_t)snprintf(out + n, size - n, "\\x%02x", c);
        else
            out[n++] = (char)c;
    }
    return n;
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
    n += escape(line + n, sizeof line - n - 1, text);
    line[n++] = '\n';
    (void)!write(STDERR_FILENO, line, n);
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
