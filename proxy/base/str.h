/* Views of bytes that somebody else owns. A view is passed by value and never freed. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_FMT      "%.*s"
#define STR_ARG(s)   (int)(s).n, (s).p

static inline struct str str_from(const char *z)
{
    return (struct str){z, strlen(z)};
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* ASCII case is folded, whatever the locale. */
bool str_equal_nocase(struct str a, struct str b);

static inline bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && memcmp(s.p, prefix.p, prefix.n) == 0;
}

static inline bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n && memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0;
}

/* Everything from `from` on; empty when there is no such byte. */
static inline struct str str_skip(struct str s, size_t from)
{
    if (from > s.n)
        from = s.n;
    /* An empty view may have no bytes at all, and adding 0 to NULL is undefined. */
    return from == 0 ? s : (struct str){s.p + from, s.n - from};
}

/* The first `n` bytes, or all when there are fewer. */
static inline struct str str_head(struct str s, size_t n)
{
    return (struct str){s.p, n < s.n ? n : s.n};
}

/* Cuts at the first `sep`: the part before it is returned, the part after it stays in
 * *rest. Without a `sep` all of it is returned and *rest is empty. */
struct str str_cut(struct str *rest, char sep);

/* Decimal, no sign, no blanks, no leading zero but "0" itself; false when it is
 * anything else or above `max`. */
bool str_to_uint(struct str s, unsigned max, unsigned *out);

/* The other way round, with zeros in front up to `width` digits: a view of `room`. For
 * what is written for each request, where printf() would be most of the work. */
enum { STR_UINT_MAX = 20 };
struct str str_of_uint(unsigned long long number, unsigned width,
                       char room[STR_UINT_MAX]);

/* Without blanks and tabs at both ends. */
struct str str_trim(struct str s);

#endif
