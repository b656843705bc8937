#include "proxy/base/shown.h"

#include <stdarg.h>
#include <stdlib.h>

#include "proxy/base/utf8.h"

enum { PIECE_MAX = 4 }; /* "\xNN", and the longest character */

bool shown_is_harmless(struct str c)
{
    const unsigned char *p = (const unsigned char *)c.p;

    switch (c.n) {
    case 1:
        return p[0] >= 0x20 && p[0] != 0x7f;
    case 2: /* C1, which is U+0080 to U+009F, and U+061C */
        return !(p[0] == 0xc2 && p[1] < 0xa0) && !(p[0] == 0xd8 && p[1] == 0x9c);
    case 3: /* U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F */
        return !(p[0] == 0xe2 && p[1] == 0x80 &&
                 ((p[2] >= 0x8b && p[2] <= 0x8f) || (p[2] >= 0xa8 && p[2] <= 0xae))) &&
               !(p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa0 && p[2] <= 0xaf);
    default:
        return c.n == 4;
    }
}

/* What `text` begins with, as it is shown; *used bytes of it. */
static size_t write_piece(struct str text, char piece[PIECE_MAX + 1], size_t *used)
{
    *used = utf8_first(text);
    if (shown_is_harmless(str_head(text, *used))) {
        memcpy(piece, text.p, *used);
        return *used;
    }
    *used = 1;
    return (size_t)snprintf(piece, PIECE_MAX + 1, "\\x%02x", (unsigned char)text.p[0]);
}

size_t shown_escape(char *out, size_t size, struct str text)
{
    char piece[PIECE_MAX + 1];
    size_t n = 0, used;

    for (; text.n > 0; text = str_skip(text, used)) {
        size_t len = write_piece(text, piece, &used);

        if (n + len > size)
            break;
        memcpy(out + n, piece, len);
        n += len;
    }
    return n;
}

void shown_printf(FILE *out, const char *fmt, ...)
{
    char *text = NULL, piece[PIECE_MAX + 1];
    struct str rest;
    va_list args;
    size_t used;
    int n;

    va_start(args, fmt);
    n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0)
        abort();
    for (rest = (struct str){text, (size_t)n}; rest.n > 0; rest = str_skip(rest, used))
        fwrite(piece, 1, write_piece(rest, piece, &used), out);
    free(text);
}
