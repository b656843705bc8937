/* Text that others made, a file's or a client's, as it may be shown to people: nothing
 * in it can steer the terminal, turn the text around it, or pretend to be a line of
 * ours. */
#ifndef BASE_SHOWN_H
#define BASE_SHOWN_H

#include <stdio.h>

#include "proxy/base/str.h"

/* Whether `c`, one character of UTF-8, is shown as it is. */
bool shown_is_harmless(struct str c);

/* What is not, or is no UTF-8, becomes \xNN, byte by byte. What does not fit any more
 * is left out. Returns the length; no NUL is added. */
size_t shown_escape(char *out, size_t size, struct str text);

/* As fprintf(), all of it escaped, line ends too: those are the caller's to write. */
void shown_printf(FILE *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
