#include "proxy/base/http_scan.h"

#include <llhttp.h>

enum { LENGTH_DIGITS_MAX = 18, ALWAYS_LOOKED_AT = 512 };

enum http_parse http_bad(const char **why, const char *text)
{
    if (why != NULL)
        *why = text;
    return HTTP_BAD;
}

struct str http_cut_head(struct str in, bool *whole)
{
    const char *end = in.n > 0 ? memmem(in.p, in.n, "\r\n\r\n", 4) : NULL;

    *whole = end != NULL;
    return *whole ? str_head(in, (size_t)(end + 4 - in.p)) : in;
}

bool http_is_within_line(struct str text)
{
    return text.n > ALWAYS_LOOKED_AT && text.p[text.n - 1] != '\n';
}

const char *http_wrong_byte(struct str head)
{
    for (size_t i = 0; i < head.n; i++) {
        unsigned char c = (unsigned char)head.p[i];

        if (c > ' ' && c != 0x7f)
            continue;
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

static int on_field_name(llhttp_t *parser, const char *at, size_t len)
{
    struct http_scan *s = parser->data;

    if (s->count == HTTP_FIELDS_MAX) {
        s->too_many = true;
        return HPE_USER;
    }
    s->names[s->count] = (struct http_span){(size_t)(at - s->start), len};
    s->values[s->count] = (struct http_span){0, 0};
    return 0;
}

static int on_field_value(llhttp_t *parser, const char *at, size_t len)
{
    struct http_scan *s = parser->data;

    s->values[s->count] = (struct http_span){(size_t)(at - s->start), len};
    return 0;
}

static int on_field_end(llhttp_t *parser)
{
    struct http_scan *s = parser->data;

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
    case HPE_INVALID_VERSION:
    case HPE_INVALID_STATUS:
        return "a malformed first line";
    case HPE_UNEXPECTED_CONTENT_LENGTH:
        return "Content-Length twice, or beside Transfer-Encoding";
    case HPE_INVALID_CONTENT_LENGTH:
        return "a Content-Length that is no number, or beside Transfer-Encoding";
    case HPE_INVALID_TRANSFER_ENCODING:
        return "a Transfer-Encoding other than chunked, or beside Content-Length";
    case HPE_INVALID_HEADER_TOKEN:
        return "a malformed header field";
    default:
        return "a malformed head";
    }
}

enum http_parse http_scan_fields(struct str head, bool whole, enum http_kind kind,
                                 struct http_scan *s, const char **why)
{
    llhttp_t parser;
    llhttp_errno_t error;

    s->start = head.p;
    s->count = 0;
    s->too_many = false;
    llhttp_init(&parser, kind == HTTP_KIND_REQUEST ? HTTP_REQUEST : HTTP_RESPONSE,
                &callbacks);
    parser.data = s;
    error = llhttp_execute(&parser, head.p, head.n);
    if (s->too_many)
        return HTTP_TOO_LARGE;
    if (!whole && error == HPE_OK)
        return HTTP_MORE;
    if (whole && error == HPE_PAUSED_UPGRADE &&
        llhttp_get_error_pos(&parser) == head.p + head.n)
        return HTTP_DONE;
    return http_bad(why, grammar_error(error));
}

void http_scan_copy(const struct http_scan *s, struct str text,
                    struct http_field *fields)
{
    for (size_t i = 0; i < s->count; i++) {
        struct str value = {text.p + s->values[i].at, s->values[i].len};

        fields[i].name = (struct str){text.p + s->names[i].at, s->names[i].len};
        fields[i].value = str_trim(value);
    }
}

/* Exactly one decimal number. llhttp is of the same mind; this holds without it. */
static const char *read_length(struct str value, unsigned long long *length)
{
    if (value.n == 0 || value.n > LENGTH_DIGITS_MAX)
        return "a Content-Length that is empty or too long";
    *length = 0;
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return "a Content-Length that is no number";
        *length = *length * 10 + (unsigned)(value.p[i] - '0');
    }
    return NULL;
}

const char *http_wrong_framing(struct http_head *head)
{
    const struct str *length = http_get(head, STR("Content-Length"));
    const struct str *coding = http_get(head, STR("Transfer-Encoding"));
    const char *wrong = NULL;

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
    if (length != NULL)
        wrong = read_length(*length, &head->length);
    head->chunked = coding != NULL;
    head->has_length = length != NULL;
    head->has_body = head->chunked || head->length > 0;
    return wrong;
}
