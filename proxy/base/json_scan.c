/* RFC 8259 to the letter, by recursive descent (the depth is bounded), in one pass.
 * What cJSON would accept too generously, cut or fold is refused here: it only ever
 * sees a text that has one meaning. */
#include "proxy/base/json_scan.h"

#include <math.h>
#include <stdlib.h>

#include "proxy/base/json_cursor.h"
#include "proxy/base/utf8.h"

/* cJSON reads numbers through a buffer of 64 bytes. */
enum { NUMBER_MAX = 60 };

static bool note_place(struct json_cursor *c, struct json_place place)
{
    struct json_places *p = c->places;

    if (p->count == JSON_NODES_MAX)
        return json_fail(c, place.offset, "more than %d values", JSON_NODES_MAX);
    if (p->count == p->size) {
        p->size = p->size > 0 ? p->size * 2 : 64;
        p->list = reallocarray(p->list, p->size, sizeof *p->list);
        if (p->list == NULL)
            abort();
    }
    p->list[p->count++] = place;
    return true;
}

/* The four digits behind \u; -1 when they are none. */
static int hex4(struct str s)
{
    int value = 0;

    if (s.n < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = s.p[i], low = (char)(c | 0x20);

        if (c >= '0' && c <= '9')
            value = value * 16 + (c - '0');
        else if (low >= 'a' && low <= 'f')
            value = value * 16 + (low - 'a' + 10);
        else
            return -1;
    }
    return value;
}

static bool is_low_surrogate(int unit)
{
    return unit >= 0xdc00 && unit <= 0xdfff;
}

/* A NUL would cut the string in every C function; half a surrogate pair is no
 * character. */
static bool scan_unicode_escape(struct json_cursor *c)
{
    struct str second = str_skip(json_rest(c), 6);
    int unit = hex4(str_skip(json_rest(c), 2));
    bool pair = unit >= 0xd800 && unit <= 0xdbff;

    if (unit < 0)
        return json_fail(c, c->at, "\\u takes four hexadecimal digits");
    if (unit == 0)
        return json_fail(c, c->at, "\\u0000 is not accepted");
    if (is_low_surrogate(unit) ||
        (pair && !(str_starts(second, STR("\\u")) &&
                   is_low_surrogate(hex4(str_skip(second, 2))))))
        return json_fail(c, c->at, "half of a surrogate pair (\\u%04x) stands alone",
                         (unsigned)unit);
    c->at += pair ? 12 : 6;
    return true;
}

static bool scan_escape(struct json_cursor *c)
{
    struct str next = str_skip(json_rest(c), 1);

    if (next.n > 0 && next.p[0] == 'u')
        return scan_unicode_escape(c);
    if (next.n == 0 || next.p[0] == '\0' || strchr("\"\\/bfnrt", next.p[0]) == NULL)
        return json_fail(c, c->at, "a backslash, and no escape that JSON knows");
    c->at += 2;
    return true;
}

/* *inner is what stands between the quotes. */
static bool scan_string(struct json_cursor *c, struct str *inner)
{
    size_t start = c->at++;

    while (json_peek(c) != '"') {
        bool ok;

        if (json_at_end(c) || json_peek(c) == '\n')
            return json_fail(c, start, "a string that does not end");
        ok = json_peek(c) == '\\' ? scan_escape(c) : json_skip_char(c);
        if (!ok)
            return false;
    }
    *inner = (struct str){c->text.p + start + 1, c->at - start - 1};
    c->at++;
    return true;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool scan_digits(struct json_cursor *c)
{
    if (!is_digit(json_peek(c)))
        return json_expected(c, "a digit");
    while (is_digit(json_peek(c)))
        c->at++;
    return true;
}

/* Nothing that is infinite as a double, and nothing that cJSON would cut. */
static bool check_number(struct json_cursor *c, size_t start)
{
    char copy[NUMBER_MAX + 1];
    size_t n = c->at - start;

    if (n > NUMBER_MAX)
        return json_fail(c, start, "a number of more than %d digits", NUMBER_MAX);
    memcpy(copy, c->text.p + start, n);
    copy[n] = '\0';
    return isfinite(strtod(copy, NULL)) || json_fail(c, start, "a number too large");
}

static bool scan_number(struct json_cursor *c)
{
    size_t start = c->at;

    if (json_peek(c) == '-')
        c->at++;
    if (json_peek(c) == '0' && json_rest(c).n > 1 && is_digit(json_rest(c).p[1]))
        return json_fail(c, start, "a number with a leading zero");
    if (!scan_digits(c))
        return false;
    if (json_peek(c) == '.') {
        c->at++;
        if (!scan_digits(c))
            return false;
    }
    if (json_peek(c) == 'e' || json_peek(c) == 'E') {
        c->at++;
        if (json_peek(c) == '+' || json_peek(c) == '-')
            c->at++;
        if (!scan_digits(c))
            return false;
    }
    return check_number(c, start);
}

static bool scan_word(struct json_cursor *c)
{
    static const struct str words[] = {{"true", 4}, {"false", 5}, {"null", 4}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_starts(json_rest(c), words[i])) {
            c->at += words[i].n;
            return true;
        }
    return json_expected(c, "a value");
}

static bool scan_value(struct json_cursor *c, struct json_place place);

static struct json_place place_here(const struct json_cursor *c)
{
    return (struct json_place){NULL, (uint32_t)c->at, (uint32_t)c->line};
}

/* One element, or one member with its key. */
static bool scan_item(struct json_cursor *c, struct json_level *l)
{
    struct json_place place = place_here(c);

    if (!l->object)
        return scan_value(c, place);
    if (json_peek(c) != '"')
        return json_expected(c, "a key in double quotes");
    if (!scan_string(c, &l->key) || !json_skip_blanks(c))
        return false;
    if (json_peek(c) != ':')
        return json_expected(c, "':' behind the key");
    c->at++;
    return json_skip_blanks(c) && scan_value(c, place);
}

/* Behind an item: *more tells whether another follows. */
static bool scan_comma(struct json_cursor *c, char close, bool *more)
{
    size_t comma = c->at;

    *more = false;
    if (json_peek(c) == close)
        return true;
    if (json_peek(c) != ',')
        return json_expected(c, close == ']' ? "',' or ']'" : "',' or '}'");
    c->at++;
    if (!json_skip_blanks(c))
        return false;
    *more = json_peek(c) != close;
    if (*more)
        return true;
    if (c->style != JSON_SETTINGS)
        return json_fail(c, comma, "a comma before '%c'", close);
    json_blank(c, comma, comma + 1);
    return true;
}

static bool scan_container(struct json_cursor *c, bool object)
{
    char close = object ? '}' : ']';
    struct json_level *l = &c->levels[c->depth];
    bool more;

    if (c->depth == JSON_DEPTH_MAX)
        return json_fail(c, c->at, "nested deeper than %d levels", JSON_DEPTH_MAX);
    c->at++;
    if (!json_skip_blanks(c))
        return false;
    *l = (struct json_level){.object = object};
    c->depth++;
    for (more = json_peek(c) != close; more; l->index++)
        if (!scan_item(c, l) || !json_skip_blanks(c) || !scan_comma(c, close, &more))
            return false;
    c->depth--;
    c->at++;
    return true;
}

static bool scan_value(struct json_cursor *c, struct json_place place)
{
    struct str inner;
    char first = json_peek(c);

    if (!note_place(c, place))
        return false;
    if (first == '{' || first == '[')
        return scan_container(c, first == '{');
    if (first == '"')
        return scan_string(c, &inner);
    if (first == '-' || is_digit(first))
        return scan_number(c);
    return scan_word(c);
}

bool json_scan(struct str text, enum json_style style, char *clean,
               struct json_places *places, struct err *e)
{
    struct json_cursor c = {.text = text,
                            .line = 1,
                            .style = style,
                            .clean = clean,
                            .places = places,
                            .e = e};

    if (style == JSON_SETTINGS && str_starts(text, UTF8_BOM)) {
        c.at = UTF8_BOM.n;
        json_blank(&c, 0, c.at);
    }
    if (!json_skip_blanks(&c) || !scan_value(&c, place_here(&c)) ||
        !json_skip_blanks(&c))
        return false;
    return json_at_end(&c) || json_expected(&c, "nothing behind the value");
}
