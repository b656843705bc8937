/* The head is judged twice: our own look at bytes and lines, which knows exactly where
 * the head ends and can say what is wrong, and llhttp, which knows the grammar of the
 * fields. Both must agree, and both must agree on the last byte. Nothing is allocated
 * before the head is whole and sound. */
#include "proxy/base/http.h"

#include <llhttp.h>
#include <stdint.h>

enum { EMPTY_LINES_MAX = 2, LENGTH_DIGITS_MAX = 18, ALWAYS_LOOKED_AT = 512 };

struct span {
    size_t at, len; /* relative to the first byte of the head */
};

struct scan {
    const char *start;
    struct span names[HTTP_FIELDS_MAX], values[HTTP_FIELDS_MAX];
    size_t count;
    bool too_many;
};

static enum http_parse bad(const char **why, const char *text)
{
    if (why != NULL)
        *why = text;
    return HTTP_BAD;
}

/* What other protocols begin with, for the sake of a telling answer. */
static const char *foreign(struct str in)
{
    switch ((unsigned char)in.p[0]) {
    case 0x16:
        return "this is a TLS hello: the proxy is to be reached by http://, not "
               "https://";
    case 0x04:
    case 0x05:
        return "this is SOCKS, which is not spoken here";
    case '\r':
    case '\n':
        return "too many empty lines, or a line end that is not CR LF, before the "
               "request";
    default:
        return in.p[0] >= 'A' && in.p[0] <= 'Z' ? NULL : "this is not HTTP";
    }
}

/* NULL when each CR and LF stands in a pair, no line is folded, and no other control
 * byte but a tab is there. A CR at the very end may still get its LF. */
static const char *wrong_byte(struct str head)
{
    for (size_t i = 0; i < head.n; i++) {
        unsigned char c = (unsigned char)head.p[i];

        if (c == '\r' && i + 1 < head.n && head.p[i + 1] != '\n')
            return "a CR without a LF";
        if (c == '\n' && (i == 0 || head.p[i - 1] != '\r'))
            return "a LF without a CR";
        if ((c == ' ' || c == '\t') && (i == 0 || head.p[i - 1] == '\n'))
            return "a line that begins with a blank (folded lines are obsolete)";
        if ((c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7f)
            return "a control character";
    }
    return NULL;
}

static const char *wrong_version(struct str version)
{
    if (version.n == 0)
        return "no HTTP version in the request line (HTTP/0.9 is not spoken here)";
    if (str_starts(version, STR("HTTP/2")))
        return "HTTP/2 is not spoken here";
    if (str_starts(version, STR("HTTP/")))
        return "only HTTP/1.0 and HTTP/1.1 are spoken here";
    return "the request line is not METHOD TARGET VERSION, with one blank between";
}

/* Views into `line`, for now. NULL when the line is sound. */
static const char *split_request_line(struct str line, struct http_head *head)
{
    struct str rest = line;

    head->method = str_cut(&rest, ' ');
    head->target = str_cut(&rest, ' ');
    head->minor = str_equal(rest, STR("HTTP/1.1")) ? 1 : 0;
    if (head->minor == 0 && !str_equal(rest, STR("HTTP/1.0")))
        return wrong_version(rest);
    if (head->target.n == 0)
        return "no target in the request line";
    for (size_t i = 0; i < head->target.n; i++)
        if (head->target.p[i] == '\t')
            return "a tab in the target";
    return NULL;
}

static int on_field_name(llhttp_t *parser, const char *at, size_t len)
{
    struct scan *s = parser->data;

    if (s->count == HTTP_FIELDS_MAX) {
        s->too_many = true;
        return HPE_USER;
    }
    s->names[s->count] = (struct span){(size_t)(at - s->start), len};
    s->values[s->count] = (struct span){0, 0};
    return 0;
}

static int on_field_value(llhttp_t *parser, const char *at, size_t len)
{
    struct scan *s = parser->data;

    s->values[s->count] = (struct span){(size_t)(at - s->start), len};
    return 0;
}

static int on_field_end(llhttp_t *parser)
{
    struct scan *s = parser->data;

    s->count++;
    return 0;
}

/* 2 makes llhttp stop right behind the head, whatever the method and the framing say.
 */
static int on_head_end(llhttp_t *parser)
{
    (void)parser;
    return 2;
}

static const llhttp_settings_t callbacks = {
    .on_header_field = on_field_name,
    .on_header_value = on_field_value,
    .on_header_value_complete = on_field_end,
    .on_headers_complete = on_head_end,
};

static const char *grammar_error(llhttp_errno_t error)
{
    switch (error) {
    case HPE_INVALID_METHOD:
        return "an unknown method, or no HTTP at all";
    case HPE_INVALID_URL:
        return "a target that is no URL";
    case HPE_UNEXPECTED_CONTENT_LENGTH:
        return "Content-Length twice, or beside Transfer-Encoding";
    case HPE_INVALID_CONTENT_LENGTH:
        return "a Content-Length that is no number, or beside Transfer-Encoding";
    case HPE_INVALID_TRANSFER_ENCODING:
        return "a Transfer-Encoding other than chunked, or beside Content-Length";
    case HPE_INVALID_HEADER_TOKEN:
        return "a malformed header field";
    default:
        return "a malformed request head";
    }
}

/* Runs llhttp over what is there of the head; `whole` when that is all of it. */
static enum http_parse scan_fields(struct str head, bool whole, struct scan *s,
                                   const char **why)
{
    llhttp_t parser;
    llhttp_errno_t error;

    s->start = head.p;
    s->count = 0;
    s->too_many = false;
    llhttp_init(&parser, HTTP_REQUEST, &callbacks);
    parser.data = s;
    error = llhttp_execute(&parser, head.p, head.n);
    if (s->too_many)
        return HTTP_TOO_LARGE;
    if (!whole && error == HPE_OK)
        return HTTP_MORE;
    if (whole && error == HPE_PAUSED_UPGRADE &&
        llhttp_get_error_pos(&parser) == head.p + head.n)
        return HTTP_DONE;
    return bad(why, grammar_error(error));
}

static bool keep(struct str text, const struct scan *s, struct arena *a,
                 struct http_head *head)
{
    struct str copy = arena_dup(a, text);

    head->fields = arena_alloc(a, s->count * sizeof *head->fields);
    if (copy.p == NULL || head->fields == NULL)
        return false;
    head->method.p = copy.p + (head->method.p - text.p);
    head->target.p = copy.p + (head->target.p - text.p);
    head->field_count = s->count;
    for (size_t i = 0; i < s->count; i++) {
        struct str value = {copy.p + s->values[i].at, s->values[i].len};

        head->fields[i].name = (struct str){copy.p + s->names[i].at, s->names[i].len};
        head->fields[i].value = str_trim(value);
    }
    return true;
}

/* Exactly one decimal number. llhttp is of the same mind; this holds without it. */
static const char *wrong_length(struct str value, bool *above_zero)
{
    if (value.n == 0 || value.n > LENGTH_DIGITS_MAX)
        return "a Content-Length that is empty or too long";
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return "a Content-Length that is no number";
        if (value.p[i] != '0')
            *above_zero = true;
    }
    return NULL;
}

/* How long the body is must be said once and in one way (RFC 9112 6.1, 6.3). */
static const char *wrong_framing(struct http_head *head)
{
    const struct str *length = http_get(head, STR("Content-Length"));
    const struct str *coding = http_get(head, STR("Transfer-Encoding"));

    head->has_body = coding != NULL;
    if (http_count(head, STR("Host")) > 1)
        return "more than one Host";
    if (http_count(head, STR("Content-Length")) > 1)
        return "more than one Content-Length";
    if (http_count(head, STR("Transfer-Encoding")) > 1)
        return "more than one Transfer-Encoding";
    if (coding != NULL && length != NULL)
        return "Content-Length beside Transfer-Encoding";
    if (coding != NULL && head->minor == 0)
        return "Transfer-Encoding in HTTP/1.0";
    if (coding != NULL && !str_equal_nocase(*coding, STR("chunked")))
        return "a Transfer-Encoding other than chunked";
    return length != NULL ? wrong_length(*length, &head->has_body) : NULL;
}

static struct str skip_empty_lines(struct str in)
{
    for (int i = 0; i < EMPTY_LINES_MAX && str_starts(in, STR("\r\n")); i++)
        in = str_skip(in, 2);
    return in;
}

/* What of `in` belongs to the head: all of it as long as no empty line is there. */
static struct str cut_head(struct str in, bool *whole)
{
    const char *end = in.n > 0 ? memmem(in.p, in.n, "\r\n\r\n", 4) : NULL;

    *whole = end != NULL;
    return *whole ? str_head(in, (size_t)(end + 4 - in.p)) : in;
}

/* A long head that drips in is looked at only when one of its lines ends; at every byte
 * the work would grow with the square of the length. */
static bool is_within_line(struct str text)
{
    return text.n > ALWAYS_LOOKED_AT && text.p[text.n - 1] != '\n';
}

static enum http_parse parse(struct str text, bool whole, struct arena *a,
                             struct http_head *out, const char **why)
{
    struct http_head head = {0};
    struct scan scan;
    const char *line_end = memchr(text.p, '\r', text.n), *wrong = wrong_byte(text);
    enum http_parse result;

    if (wrong == NULL && line_end != NULL)
        wrong = split_request_line(str_head(text, (size_t)(line_end - text.p)), &head);
    if (wrong != NULL)
        return bad(why, wrong);
    if (head.target.n > HTTP_TARGET_MAX)
        return HTTP_TOO_LARGE;
    result = scan_fields(text, whole, &scan, why);
    if (result != HTTP_DONE)
        return result;
    if (!keep(text, &scan, a, &head))
        return HTTP_TOO_LARGE;
    wrong = wrong_framing(&head);
    if (wrong != NULL)
        return bad(why, wrong);
    *out = head;
    return HTTP_DONE;
}

enum http_parse http_parse_request(struct str in, size_t max, struct arena *a,
                                   struct http_head *head, size_t *used,
                                   const char **why)
{
    struct str seen = str_head(in, max), text;
    enum http_parse result;
    bool whole;

    text = cut_head(skip_empty_lines(seen), &whole);
    if (text.n == 0 || str_equal(text, STR("\r")))
        return seen.n < max ? HTTP_MORE : HTTP_TOO_LARGE;
    if (foreign(text) != NULL)
        return bad(why, foreign(text));
    result = !whole && seen.n < max && is_within_line(text)
                 ? HTTP_MORE
                 : parse(text, whole, a, head, why);
    if (result == HTTP_MORE && seen.n >= max)
        return HTTP_TOO_LARGE;
    if (result == HTTP_DONE)
        *used = (size_t)(text.p + text.n - in.p);
    return result;
}

const struct str *http_get(const struct http_head *head, struct str name)
{
    for (size_t i = 0; i < head->field_count; i++)
        if (str_equal_nocase(head->fields[i].name, name))
            return &head->fields[i].value;
    return NULL;
}

size_t http_count(const struct http_head *head, struct str name)
{
    size_t count = 0;

    for (size_t i = 0; i < head->field_count; i++)
        count += str_equal_nocase(head->fields[i].name, name);
    return count;
}
