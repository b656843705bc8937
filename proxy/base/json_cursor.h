/* A place in a text that is read as JSON: what comes next, what stands between values,
 * and how a mistake is told, with line, column and the keys on the way there. Private
 * to json_scan.c. */
#ifndef BASE_JSON_CURSOR_H
#define BASE_JSON_CURSOR_H

#include "proxy/base/json.h"

/* One array or object that is being read. */
struct json_level {
    bool object;
    struct str key; /* raw, as it stands in the text; .p NULL before the first */
    size_t index;
};

struct json_cursor {
    struct str text;
    size_t at;   /* bytes passed */
    size_t line; /* from 1 */
    enum json_style style;
    char *clean; /* a copy of the text where comments are blanked; NULL: none are taken
                  */
    struct json_places *places;
    struct json_level levels[JSON_DEPTH_MAX];
    size_t depth;
    struct err *e;
};

static inline bool json_at_end(const struct json_cursor *c)
{
    return c->at == c->text.n;
}

/* The next byte; '\0' at the end (a NUL in the text is an error wherever it stands). */
static inline char json_peek(const struct json_cursor *c)
{
    return json_at_end(c) ? '\0' : c->text.p[c->at];
}

static inline struct str json_rest(const struct json_cursor *c)
{
    return str_skip(c->text, c->at);
}

/* One whole character of a string or comment. */
bool json_skip_char(struct json_cursor *c);

/* White space and, in settings, comments. */
bool json_skip_blanks(struct json_cursor *c);

/* Blanks a part of c->clean. */
void json_blank(struct json_cursor *c, size_t from, size_t to);

/* Both are always false. A sentence that belongs to the offset `at`; and "expected
 * this, found that" for what comes next. */
bool json_fail(struct json_cursor *c, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool json_expected(struct json_cursor *c, const char *what);

#endif
