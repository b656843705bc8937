/* What the proxy says about itself, on stderr, one line a message, "weir: " in front.
 * The record of what clients asked for is the audit, not this. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR = 0, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Process-wide, set once at start from the command line; LOG_LEVEL_INFO until then. */
void log_set_level(enum log_level level);

/* Whether a line waits until stderr has room for it: true until set. A loop that others
 * depend on does not wait: a line for which there is no room is dropped, and the next
 * one that finds room, or that may wait again, begins with how many were. */
void log_set_waiting(bool on);

/* What steers a terminal, turns text around or is no UTF-8 is written as \xNN, byte by
 * byte: much of a message may come from files and names that others made. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
