/* Strings on their way out. */
#include "proxy/base/json.h"

#include <stdio.h>

#include "proxy/base/shown.h"
#include "proxy/base/utf8.h"

/* \uXXXX, or a character of four bytes. */
enum { PIECE_MAX = 8 };

/* The escape that has a letter of its own; '\0' when there is none. */
static char short_escape(char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *at = c != '\0' ? strchr(plain, c) : NULL;

    return at != NULL ? letters[at - plain] : '\0';
}

/* One character of `s` as it stands between quotes; *used bytes of `s` make it up. */
static size_t write_piece(struct str s, char piece[PIECE_MAX], size_t *used)
{
    *used = utf8_first(s);
    if (*used == 0) {
        *used = 1;
        return (size_t)snprintf(piece, PIECE_MAX, "\xef\xbf\xbd");
    }
    if (short_escape(s.p[0]) != '\0')
        return (size_t)snprintf(piece, PIECE_MAX, "\\%c", short_escape(s.p[0]));
    if (!shown_is_harmless(str_head(s, *used)))
        return (size_t)snprintf(piece, PIECE_MAX, "\\u%04x",
                                utf8_decode(str_head(s, *used)));
    memcpy(piece, s.p, *used);
    return *used;
}

/* How many bytes from the front on stand for themselves: nearly always all. */
static size_t plain_bytes(struct str s)
{
    size_t n = 0;

    while (n < s.n && s.p[n] >= ' ' && s.p[n] <= '~' && s.p[n] != '"' && s.p[n] != '\\')
        n++;
    return n;
}

size_t json_quote(struct str s, char *out, size_t size)
{
    size_t n = 0;

    if (size < 2)
        return 0;
    out[n++] = '"';
    while (s.n > 0) {
        char escaped[PIECE_MAX];
        struct str piece = str_head(s, plain_bytes(s));
        size_t used = piece.n;

        if (used == 0)
            piece = (struct str){escaped, write_piece(s, escaped, &used)};
        if (n + piece.n + 1 > size)
            return 0;
        memcpy(out + n, piece.p, piece.n);
        n += piece.n;
        s = str_skip(s, used);
    }
    out[n++] = '"';
    return n;
}
