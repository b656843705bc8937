#include "proxy/basic_login.h"

#include <stdint.h>

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Base64 with its padding (RFC 4648 4), of which each text has one spelling only. False
 * when it is none, or when the arena is full. */
static bool decode(struct str text, struct arena *a, struct str *out)
{
    size_t padding = str_ends(text, STR("==")) ? 2 : str_ends(text, STR("=")) ? 1 : 0;
    size_t digits = text.n - padding, n = 0;
    uint32_t bits = 0;
    char *bytes;

    if (text.n == 0 || text.n % 4 != 0)
        return false;
    bytes = arena_alloc(a, text.n / 4 * 3);
    if (bytes == NULL)
        return false;
    for (size_t i = 0; i < digits; i++) {
        int value = digit(text.p[i]);

        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 != 0)
            bytes[n++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    *out = (struct str){bytes, n};
    /* What is left over of the last digit must be nothing. */
    return (bits & (padding == 2 ? 15 : padding == 1 ? 3 : 0)) == 0;
}

struct login basic_login_parse(struct str value, struct arena *a)
{
    struct login login = {.given = true};
    struct str rest = str_trim(value), scheme = str_cut(&rest, ' '), pair;

    if (!str_equal_nocase(scheme, STR("Basic")) || !decode(str_trim(rest), a, &pair) ||
        memchr(pair.p, ':', pair.n) == NULL)
        return login;
    login.user = str_cut(&pair, ':');
    login.password = pair;
    return login;
}
