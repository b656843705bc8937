/* Lines are counted as they are passed; columns only when a message needs one. */
#include "proxy/base/json_cursor.h"

#include <stdarg.h>
#include <stdio.h>

#include "proxy/base/json_scan.h"
#include "proxy/base/utf8.h"

enum { PATH_MAX_LEN = 160, KEY_SHOWN_MAX = 40 };

/* "network.allowedDomains[2]", as far as it fits. */
static void path_text(const struct json_cursor *c, char path[PATH_MAX_LEN])
{
    size_t n = 0;

    path[0] = '\0';
    for (size_t i = 0; i < c->depth && n + KEY_SHOWN_MAX + 2 < PATH_MAX_LEN; i++) {
        const struct json_level *l = &c->levels[i];
        struct str key = utf8_head(l->key, KEY_SHOWN_MAX);

        if (!l->object)
            n += (size_t)snprintf(path + n, PATH_MAX_LEN - n, "[%zu]", l->index);
        else if (key.n > 0)
            n += (size_t)snprintf(path + n, PATH_MAX_LEN - n, "%s" STR_FMT,
                                  n > 0 ? "." : "", STR_ARG(key));
    }
}

bool json_scan_wrap(struct str text, size_t offset, struct err *e)
{
    size_t line = 1, start = str_starts(text, UTF8_BOM) && offset > 0 ? UTF8_BOM.n : 0;

    for (size_t i = 0; i < offset; i++)
        if (text.p[i] == '\n') {
            line++;
            start = i + 1;
        }
    return err_wrap(e, "line %zu, column %zu", line,
                    utf8_count((struct str){text.p + start, offset - start}) + 1);
}

bool json_fail(struct json_cursor *c, size_t at, const char *fmt, ...)
{
    char path[PATH_MAX_LEN], what[sizeof c->e->text];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    err_set(c->e, "%s", what);
    path_text(c, path);
    if (path[0] != '\0')
        err_wrap(c->e, "%s", path);
    return json_scan_wrap(c->text, at, c->e);
}

bool json_expected(struct json_cursor *c, const char *what)
{
    struct str found = str_head(json_rest(c), utf8_first(json_rest(c)));
    unsigned char byte = (unsigned char)json_peek(c);

    if (json_at_end(c))
        return json_fail(c, c->at, "the text ends here, expected %s", what);
    if (found.n == 0 || byte < 0x20 || byte == 0x7f)
        return json_fail(c, c->at, "expected %s, found the byte 0x%02x", what, byte);
    return json_fail(c, c->at, "expected %s, found '" STR_FMT "'", what,
                     STR_ARG(found));
}

bool json_skip_char(struct json_cursor *c)
{
    size_t n = utf8_first(json_rest(c));
    unsigned char byte = (unsigned char)json_peek(c);

    if (n == 0)
        return json_fail(c, c->at, "the byte 0x%02x is not UTF-8", byte);
    if (byte < 0x20)
        return json_fail(c, c->at, "a control character (0x%02x)", byte);
    c->at += n;
    return true;
}

void json_blank(struct json_cursor *c, size_t from, size_t to)
{
    memset(c->clean + from, ' ', to - from);
}

static bool skip_line_comment(struct json_cursor *c)
{
    while (!json_at_end(c) && json_peek(c) != '\n' && json_peek(c) != '\r') {
        if (json_peek(c) == '\t')
            c->at++;
        else if (!json_skip_char(c))
            return false;
    }
    return true;
}

static bool skip_block_comment(struct json_cursor *c)
{
    size_t start = c->at;

    c->at += 2;
    while (!str_starts(json_rest(c), STR("*/"))) {
        char byte = json_peek(c);

        if (json_at_end(c))
            return json_fail(c, start, "a comment that does not end");
        if (byte == '\n')
            c->line++;
        if (byte == '\n' || byte == '\r' || byte == '\t')
            c->at++;
        else if (!json_skip_char(c))
            return false;
    }
    c->at += 2;
    return true;
}

static bool skip_comment(struct json_cursor *c)
{
    size_t start = c->at;
    bool ok;

    if (c->style != JSON_SETTINGS)
        return json_expected(c, "plain JSON");
    if (str_starts(json_rest(c), STR("//")))
        ok = skip_line_comment(c);
    else if (str_starts(json_rest(c), STR("/*")))
        ok = skip_block_comment(c);
    else
        return json_expected(c, "a value or a comment");
    json_blank(c, start, c->at);
    return ok;
}

bool json_skip_blanks(struct json_cursor *c)
{
    for (;;) {
        char byte = json_peek(c);

        if (byte == '\n')
            c->line++;
        if (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r')
            c->at++;
        else if (byte != '/')
            return true;
        else if (!skip_comment(c))
            return false;
    }
}
