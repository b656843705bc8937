#include "proxy/base/utf8.h"

/* The second byte is where overlong forms, surrogates and numbers above U+10FFFF show
 * (RFC 3629 4). */
static bool second_fits(unsigned char first, unsigned char second)
{
    unsigned char low = 0x80, high = 0xbf;

    if (first == 0xe0)
        low = 0xa0;
    else if (first == 0xed)
        high = 0x9f;
    else if (first == 0xf0)
        low = 0x90;
    else if (first == 0xf4)
        high = 0x8f;
    return second >= low && second <= high;
}

static size_t length_by_first(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2)
        return 0;
    if (first < 0xe0)
        return 2;
    if (first < 0xf0)
        return 3;
    return first < 0xf5 ? 4 : 0;
}

size_t utf8_first(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t n = s.n > 0 ? length_by_first(p[0]) : 0;

    if (n > s.n || (n > 1 && !second_fits(p[0], p[1])))
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

uint32_t utf8_decode(struct str c)
{
    uint32_t number = (unsigned char)c.p[0];

    if (c.n > 1)
        number &= 0x7fu >> c.n;
    for (size_t i = 1; i < c.n; i++)
        number = number << 6 | ((unsigned char)c.p[i] & 0x3f);
    return number;
}

struct str utf8_head(struct str s, size_t max)
{
    if (s.n <= max)
        return s;
    while (max > 0 && ((unsigned char)s.p[max] & 0xc0) == 0x80)
        max--;
    return str_head(s, max);
}

size_t utf8_count(struct str s)
{
    size_t count = 0;

    while (s.n > 0) {
        size_t n = utf8_first(s);

        s = str_skip(s, n > 0 ? n : 1);
        count++;
    }
    return count;
}
