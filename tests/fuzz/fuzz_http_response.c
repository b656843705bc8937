/* Whatever is taken for the head of a response ends with its empty line, has only views
 * into the input, no byte that could split a line, and one way to say how long the body
 * is. The same bytes in two pieces give the same answer. */
#include <stdint.h>
#include <stdlib.h>

#include "proxy/base/http_body.h"

enum { HEAD_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void check_view(struct str in, struct str s)
{
    require(s.n == 0 || (s.p >= in.p && s.p + s.n <= in.p + in.n));
    for (size_t i = 0; i < s.n; i++)
        require(((unsigned char)s.p[i] >= 0x20 && s.p[i] != 0x7f) || s.p[i] == '\t');
}

static void check_head(struct str in, const struct http_head *head)
{
    size_t lengths = http_count(head, STR("content-length"));
    size_t codings = http_count(head, STR("transfer-encoding"));
    struct http_body body = http_body_of_response(head, STR("GET"));

    require(head->status >= 100 && head->status <= 999 && head->minor <= 1);
    require(head->field_count <= HTTP_FIELDS_MAX);
    check_view(in, head->phrase);
    for (size_t i = 0; i < head->field_count; i++) {
        require(head->fields[i].name.n > 0);
        check_view(in, head->fields[i].name);
        check_view(in, head->fields[i].value);
    }
    require(lengths + codings <= 1);
    require(head->chunked == (codings == 1) && head->has_length == (lengths == 1));
    require(body.framing != HTTP_FRAMING_CHUNKED || head->minor == 1);
}

static enum http_parse parse(struct str in, size_t *used)
{
    struct http_field fields[HTTP_FIELDS_MAX];
    struct http_head head = {0};
    const char *why = NULL;
    enum http_parse result;

    *used = 0;
    result = http_parse_response(in, HEAD_MAX, fields, &head, used, &why);
    require((result == HTTP_BAD) == (why != NULL));
    if (result == HTTP_DONE) {
        require(*used <= in.n && *used <= HEAD_MAX);
        require(str_ends(str_head(in, *used), STR("\r\n\r\n")));
        check_head(str_head(in, *used), &head);
    }
    require(result != HTTP_MORE || in.n < HEAD_MAX);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = {(const char *)data, size};
    size_t used, used_of_part;
    enum http_parse whole = parse(in, &used), part;

    if (whole == HTTP_DONE) {
        part = parse(str_head(in, used), &used_of_part);
        require(part == HTTP_DONE && used_of_part == used);
        require(parse(str_head(in, used - 1), &used_of_part) == HTTP_MORE);
    }
    part = parse(str_head(in, size / 2), &used_of_part);
    if (part == HTTP_BAD || part == HTTP_TOO_LARGE)
        require(whole != HTTP_DONE);
    if (part == HTTP_DONE)
        require(whole == HTTP_DONE && used == used_of_part);
    return 0;
}
