/* The list of invisible characters is the default-ignorable and the format characters
 * of Unicode, with its separators: what a terminal or a browser shows as nothing, or
 * uses to turn the text around. */
#include "proxy/wording.h"

#include <stdint.h>

#include "proxy/base/utf8.h"

struct range {
    uint32_t first, last;
};

static const struct range invisible[] = {
    {0x00, 0x20},       {0x7f, 0xa0},     {0xad, 0xad},       {0x34f, 0x34f},
    {0x600, 0x605},     {0x61c, 0x61c},   {0x6dd, 0x6dd},     {0x70f, 0x70f},
    {0x115f, 0x1160},   {0x1680, 0x1680}, {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x2000, 0x200f},   {0x2028, 0x202f}, {0x205f, 0x206f},   {0x2800, 0x2800},
    {0x3000, 0x3000},   {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xe0000, 0xe0fff},
};

/* The ranges are in order: most characters stand before the second or third. */
static bool is_invisible(uint32_t c)
{
    for (size_t i = 0; i < sizeof invisible / sizeof *invisible; i++)
        if (c <= invisible[i].last)
            return c >= invisible[i].first;
    return false;
}

/* What stands for the character that `text` begins with: a view of it, of "?", of a
 * blank, or nothing. *taken is its length in `text`. */
static struct str show(struct str text, enum wording kind, size_t *taken)
{
    size_t n = utf8_first(text);
    uint32_t c;

    *taken = n > 0 ? n : 1;
    if (n == 0)
        return STR("?");
    c = utf8_decode(str_head(text, n));
    if (is_invisible(c))
        return STR(" ");
    if (c == '<' || c == '>')
        return STR("");
    return n > 1 && kind == WORDING_ASCII ? STR("?") : str_head(text, n);
}

const char *wording_clean(struct str text, enum wording kind, char out[WORDING_MAX + 1])
{
    size_t used = 0, taken;
    bool blank = false;

    for (; text.n > 0; text = str_skip(text, taken)) {
        struct str shown = show(text, kind, &taken);

        if (str_equal(shown, STR(" "))) {
            blank = used > 0;
            continue;
        }
        if (used + blank + shown.n > WORDING_MAX)
            break;
        if (blank && shown.n > 0)
            out[used++] = ' ';
        blank = blank && shown.n == 0;
        memcpy(out + used, shown.p, shown.n);
        used += shown.n;
    }
    out[used] = '\0';
    return out;
}
