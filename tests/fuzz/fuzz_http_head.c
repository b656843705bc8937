/* Whatever is taken for a head ends with its empty line, has only views into the arena,
 * no byte that could split a line, and one way to say how long the body is. The same
 * bytes in two pieces give the same answer, and what was bad does not become good (it
 * may be asked for more: a long head is judged at its line ends). */
#include <stdint.h>
#include <stdlib.h>

#include "proxy/base/http.h"

enum { HEAD_MAX = 4096, ARENA_SIZE = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void check_view(const struct arena *a, struct str s)
{
    require(s.p >= a->base && s.p + s.n <= a->base + a->used);
    for (size_t i = 0; i < s.n; i++)
        require(((unsigned char)s.p[i] >= 0x20 && s.p[i] != 0x7f) || s.p[i] == '\t');
}

static void check_head(const struct arena *a, const struct http_head *head)
{
    size_t lengths = http_count(head, STR("content-length"));
    size_t codings = http_count(head, STR("transfer-encoding"));

    check_view(a, head->method);
    check_view(a, head->target);
    require(head->method.n > 0 && head->target.n > 0 && head->minor <= 1);
    require(memchr(head->target.p, ' ', head->target.n) == NULL);
    require(head->field_count <= HTTP_FIELDS_MAX);
    for (size_t i = 0; i < head->field_count; i++) {
        require(head->fields[i].name.n > 0);
        check_view(a, head->fields[i].name);
        if (head->fields[i].value.n > 0)
            check_view(a, head->fields[i].value);
    }
    require(lengths + codings <= 1 && http_count(head, STR("HOST")) <= 1);
    require(codings == 0 || (head->has_body && head->minor == 1));
}

static enum http_parse parse(struct str in, size_t *used)
{
    struct arena a;
    struct http_head head = {0};
    const char *why = NULL;
    enum http_parse result;

    *used = 0;
    arena_init(&a, ARENA_SIZE);
    result = http_parse_request(in, HEAD_MAX, &a, &head, used, &why);
    require((result == HTTP_BAD) == (why != NULL));
    if (result == HTTP_DONE) {
        require(*used <= in.n && *used <= HEAD_MAX);
        require(str_ends(str_head(in, *used), STR("\r\n\r\n")));
        check_head(&a, &head);
    }
    require(result != HTTP_MORE || in.n < HEAD_MAX);
    arena_done(&a);
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
