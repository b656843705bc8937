#include "proxy/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "proxy/base/str.h"
#include "proxy/base/utf8.h"

enum { LINE_MAX_LEN = 2048 };

/* The one exception to "no globals": a message has no object to hang on. */
static enum log_level current = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
    current = level;
}

/* Whether a character may be shown: none that steers a terminal (C1 is U+0080 to
 * U+009F) or turns the text around it. `c` is one of UTF-8. */
static bool is_harmless(struct str c)
{
    const unsigned char *p = (const unsigned char *)c.p;

    switch (c.n) {
    case 1:
        return p[0] >= 0x20 && p[0] != 0x7f;
    case 2: /* C1, and U+061C */
        return !(p[0] == 0xc2 && p[1] < 0xa0) && !(p[0] == 0xd8 && p[1] == 0x9c);
    case 3: /* U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F */
        return !(p[0] == 0xe2 && p[1] == 0x80 &&
                 ((p[2] >= 0x8b && p[2] <= 0x8f) || (p[2] >= 0xa8 && p[2] <= 0xae))) &&
               !(p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa0 && p[2] <= 0xaf);
    default:
        return c.n == 4;
    }
}

static size_t escape(char *out, size_t size, struct str text)
{
    size_t n = 0, used;

    for (; text.n > 0 && n + 5 < size; text = str_skip(text, used)) {
        used = utf8_first(text);
        if (is_harmless(str_head(text, used))) {
            memcpy(out + n, text.p, used);
            n += used;
            continue;
        }
        used = 1;
        n += (size_t)snprintf(out + n, size - n, "\\x%02x", (unsigned char)text.p[0]);
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
    n += escape(line + n, sizeof line - n - 1, str_from(text));
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
