#include "proxy/base/str.h"

static int fold(char c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

bool str_equal_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (fold(a.p[i]) != fold(b.p[i]))
            return false;
    return true;
}

struct str str_cut(struct str *rest, char sep)
{
    const char *at = rest->n > 0 ? memchr(rest->p, sep, rest->n) : NULL;
    struct str part = *rest;

    if (at == NULL) {
        *rest = str_skip(*rest, rest->n);
        return part;
    }
    part.n = (size_t)(at - rest->p);
    *rest = str_skip(*rest, part.n + 1);
    return part;
}

bool str_to_uint(struct str s, unsigned max, unsigned *out)
{
    unsigned long value = 0;

    if (s.n == 0 || s.n > 9 || (s.n > 1 && s.p[0] == '0'))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        value = value * 10 + (unsigned long)(s.p[i] - '0');
    }
    if (value > max)
        return false;
    *out = (unsigned)value;
    return true;
}

struct str str_of_uint(unsigned long long number, unsigned width,
                       char room[STR_UINT_MAX])
{
    size_t at = STR_UINT_MAX;

    do
        room[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0 || (at > 0 && STR_UINT_MAX - at < width));
    return (struct str){room + at, STR_UINT_MAX - at};
}

struct str str_trim(struct str s)
{
    while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_skip(s, 1);
    while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}
