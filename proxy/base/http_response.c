/* The head of a response: the status line is ours to judge, the rest as with requests.
 * What a hostile server says must be read by the client as it was read here, or not at
 * all. */
#include "proxy/base/http_scan.h"

enum { VERSION_LEN = 9, CODE_LEN = 3 }; /* "HTTP/1.1 ", "200" */

static bool read_code(struct str code, unsigned *status)
{
    *status = 0;
    for (size_t i = 0; i < code.n; i++) {
        if (code.p[i] < '0' || code.p[i] > '9')
            return false;
        *status = *status * 10 + (unsigned)(code.p[i] - '0');
    }
    return code.n == CODE_LEN && *status >= 100;
}

/* RFC 9112 4, and a status without the blank behind it, which many servers send. */
static const char *split_status_line(struct str line, struct http_head *head)
{
    struct str version = str_head(line, VERSION_LEN);
    struct str rest = str_skip(line, VERSION_LEN);

    head->minor = str_equal(version, STR("HTTP/1.1 ")) ? 1 : 0;
    if (head->minor == 0 && !str_equal(version, STR("HTTP/1.0 ")))
        return "the answer is not HTTP/1.1 or HTTP/1.0";
    if (!read_code(str_head(rest, CODE_LEN), &head->status))
        return "the answer has no status of three digits";
    head->phrase = str_skip(rest, CODE_LEN + 1);
    if (rest.n > CODE_LEN && rest.p[CODE_LEN] != ' ')
        return "the status of the answer has no blank behind it";
    return NULL;
}

static enum http_parse parse(struct str text, bool whole,
                             struct http_field fields[HTTP_FIELDS_MAX],
                             struct http_head *out, const char **why)
{
    struct http_head head = {.fields = fields};
    struct http_scan scan;
    const char *line_end = memchr(text.p, '\r', text.n), *wrong = http_wrong_byte(text);
    enum http_parse result;

    if (wrong == NULL && line_end != NULL)
        wrong = split_status_line(str_head(text, (size_t)(line_end - text.p)), &head);
    if (wrong != NULL)
        return http_bad(why, wrong);
    result = http_scan_fields(text, whole, HTTP_KIND_RESPONSE, &scan, why);
    if (result != HTTP_DONE)
        return result;
    head.field_count = scan.count;
    http_scan_copy(&scan, text, fields);
    wrong = http_wrong_framing(&head);
    if (wrong != NULL)
        return http_bad(why, wrong);
    *out = head;
    return HTTP_DONE;
}

/* Told at the first bytes: a server that speaks something else may never send a line.
 */
static bool can_be_http(struct str in)
{
    const struct str begin = STR("HTTP/1.");

    return in.n < begin.n ? str_starts(begin, in) : str_starts(in, begin);
}

enum http_parse http_parse_response(struct str in, size_t max,
                                    struct http_field fields[HTTP_FIELDS_MAX],
                                    struct http_head *head, size_t *used,
                                    const char **why)
{
    struct str seen = str_head(in, max), text;
    enum http_parse result;
    bool whole;

    if (seen.n == 0)
        return max > 0 ? HTTP_MORE : HTTP_TOO_LARGE;
    if (!can_be_http(seen))
        return http_bad(why, "the answer is not HTTP/1.1 or HTTP/1.0");
    text = http_cut_head(seen, &whole);
    result = !whole && seen.n < max && http_is_within_line(text)
                 ? HTTP_MORE
                 : parse(text, whole, fields, head, why);
    if (result == HTTP_MORE && seen.n >= max)
        return HTTP_TOO_LARGE;
    if (result == HTTP_DONE)
        *used = text.n;
    return result;
}
