/* The head is judged twice: our own look at bytes and lines, which knows exactly where
 * the head ends and can say what is wrong, and llhttp, which knows the grammar of the
 * fields. Both must agree, and both must agree on the last byte. Nothing is allocated
 * before the head is whole and sound. */
#include "proxy/base/http.h"

#include "proxy/base/http_scan.h"

enum { EMPTY_LINES_MAX = 2 };

/* What other protocols begin with, for the sake of a telling answer. */
static const char *foreign(struct str in)
{
    switch ((unsigned char)in.p[0]) {
    case 0x16:
        return "this is a TLS hello: the proxy is to be reached by http://, not "
               "https://";
    case '\r':
    case '\n':
        return "too many empty lines, or a line end that is not CR LF, before the "
               "request";
    case 'P':
        return str_starts(in, STR("PROXY ")) ? "this is a PROXY header, of a peer that "
                                               "proxyProtocol does not name"
                                             : NULL;
    default:
        return in.p[0] >= 'A' && in.p[0] <= 'Z' ? NULL : "this is not HTTP";
    }
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

static bool keep(struct str text, const struct http_scan *s, struct arena *a,
                 struct http_head *head)
{
    struct str copy = arena_dup(a, text);

    head->fields = arena_alloc(a, s->count * sizeof *head->fields);
    if (copy.p == NULL || head->fields == NULL)
        return false;
    head->method.p = copy.p + (head->method.p - text.p);
    head->target.p = copy.p + (head->target.p - text.p);
    head->field_count = s->count;
    http_scan_copy(s, copy, head->fields);
    return true;
}

static struct str skip_empty_lines(struct str in)
{
    for (int i = 0; i < EMPTY_LINES_MAX && str_starts(in, STR("\r\n")); i++)
        in = str_skip(in, 2);
    return in;
}

static enum http_parse parse(struct str text, bool whole, struct arena *a,
                             struct http_head *out, const char **why)
{
    struct http_head head = {0};
    struct http_scan scan;
    const char *line_end = memchr(text.p, '\r', text.n), *wrong = http_wrong_byte(text);
    enum http_parse result;

    if (wrong == NULL && line_end != NULL)
        wrong = split_request_line(str_head(text, (size_t)(line_end - text.p)), &head);
    if (wrong != NULL)
        return http_bad(why, wrong);
    if (head.target.n > HTTP_TARGET_MAX)
        return HTTP_TOO_LARGE;
    result = http_scan_fields(text, whole, HTTP_KIND_REQUEST, &scan, why);
    if (result != HTTP_DONE)
        return result;
    if (!keep(text, &scan, a, &head))
        return HTTP_TOO_LARGE;
    wrong = http_count(&head, STR("Host")) > 1 ? "more than one Host"
                                               : http_wrong_framing(&head);
    if (wrong != NULL)
        return http_bad(why, wrong);
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

    text = http_cut_head(skip_empty_lines(seen), &whole);
    if (text.n == 0 || str_equal(text, STR("\r")))
        return seen.n < max ? HTTP_MORE : HTTP_TOO_LARGE;
    if (foreign(text) != NULL)
        return http_bad(why, foreign(text));
    result = !whole && seen.n < max && http_is_within_line(text)
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

bool http_lists(const struct http_head *head, struct str name, struct str token)
{
    for (size_t i = 0; i < head->field_count; i++) {
        struct str rest = head->fields[i].value;

        if (!str_equal_nocase(head->fields[i].name, name))
            continue;
        while (rest.n > 0)
            if (str_equal_nocase(str_trim(str_cut(&rest, ',')), token))
                return true;
    }
    return false;
}
