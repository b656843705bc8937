#include "proxy/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *e, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, args);
    va_end(args);
    return false;
}

bool err_sys(struct err *e, const char *fmt, ...)
{
    int saved = errno;
    char what[sizeof e->text];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return err_set(e, "%.300s: %s", what, strerror(saved));
}

bool err_wrap(struct err *e, const char *fmt, ...)
{
    struct err inner = *e;
    char place[sizeof e->text];
    va_list args;

    va_start(args, fmt);
    vsnprintf(place, sizeof place, fmt, args);
    va_end(args);
    return err_set(e, "%.200s: %.300s", place, inner.text);
}
