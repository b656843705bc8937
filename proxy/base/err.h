/* What went wrong, as a sentence for the operator. Filled in by the function that
 * failed, extended by its callers, printed once, by a command or by the log. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

struct err {
    char text[512];
};

/* All three return false, so that a failure is one statement: return err_set(...). */
bool err_set(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As err_set(), and adds what errno means. */
bool err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts a place in front of what is there: "place: what was there". */
bool err_wrap(struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
