#include "proxy/rewrite.h"

enum { PLAIN_PORT = 80 };

static const struct str upgrade = STR("Connection: Upgrade\r\nUpgrade: websocket\r\n");

bool rewrite_wants_websocket(const struct http_head *head, const struct hops *hops)
{
    const struct str *to = http_get(head, STR("Upgrade"));

    return to != NULL && str_equal_nocase(*to, STR("websocket")) &&
           http_count(head, STR("Upgrade")) == 1 && hops_named(hops, STR("upgrade")) &&
           str_equal(head->method, STR("GET")) && head->minor == 1 && !head->has_body;
}

static bool add_uint(struct buf *out, unsigned long long number)
{
    char room[STR_UINT_MAX];

    return buf_add(out, str_of_uint(number, 1, room));
}

/* RFC 9110 7.2: the port only when it is not that of the scheme. */
static bool add_authority(struct buf *out, const struct target *t)
{
    bool brackets = t->kind == HOST_ADDR && t->ip.family == 6;

    return buf_add(out, brackets ? STR("[") : STR("")) && buf_add(out, t->host) &&
           buf_add(out, brackets ? STR("]") : STR("")) &&
           (t->port == PLAIN_PORT ||
            (buf_add(out, STR(":")) && add_uint(out, t->port)));
}

static bool add_field(struct buf *out, struct str name, struct str value)
{
    return buf_add(out, name) && buf_add(out, STR(": ")) && buf_add(out, value) &&
           buf_add(out, STR("\r\n"));
}

static bool add_length(struct buf *out, unsigned long long length)
{
    return buf_add(out, STR("Content-Length: ")) && add_uint(out, length) &&
           buf_add(out, STR("\r\n"));
}

static bool add_request_line(struct buf *out, const struct http_head *head,
                             const struct rewrite_route *route)
{
    /* The server as a whole: no path says that to a parent (RFC 9112 3.2.4). */
    bool whole = str_equal(head->target, STR("*"));

    if (!buf_add(out, head->method) || !buf_add(out, STR(" ")))
        return false;
    if (route->absolute &&
        (!buf_add(out, STR("http://")) || !add_authority(out, route->target)))
        return false;
    if (!(route->absolute && whole) && !buf_add(out, head->target))
        return false;
    return buf_add(out, STR(" HTTP/1.1\r\nHost: ")) &&
           add_authority(out, route->target) && buf_add(out, STR("\r\n"));
}

/* RFC 9110 7.6.2; 0 has been answered by then. */
static bool add_max_forwards(struct buf *out, const struct http_head *head,
                             struct str value)
{
    unsigned hops;

    if (!str_equal(head->method, STR("OPTIONS")) ||
        !str_to_uint(value, 1000000, &hops) || hops == 0)
        return add_field(out, STR("Max-Forwards"), value);
    return buf_printf(out, "Max-Forwards: %u\r\n", hops - 1);
}

static bool add_request_field(struct buf *out, const struct http_head *head,
                              const struct http_field *field)
{
    if (str_equal_nocase(field->name, STR("Host")) ||
        str_equal_nocase(field->name, STR("Content-Length")))
        return true;
    /* RFC 9110 10.1.1: an expectation of HTTP/1.0 is ignored. */
    if (head->minor == 0 && str_equal_nocase(field->name, STR("Expect")))
        return true;
    if (str_equal_nocase(field->name, STR("Max-Forwards")))
        return add_max_forwards(out, head, field->value);
    return add_field(out, field->name, field->value);
}

bool rewrite_request(struct buf *out, const struct http_head *head,
                     const struct hops *hops, const struct rewrite_route *route)
{
    if (!add_request_line(out, head, route))
        return false;
    for (size_t i = 0; i < head->field_count; i++)
        if (!hops_drop(hops, head->fields[i].name) &&
            !add_request_field(out, head, &head->fields[i]))
            return false;
    if (head->chunked && !buf_add(out, STR("Transfer-Encoding: chunked\r\n")))
        return false;
    if (head->has_length && !add_length(out, head->length))
        return false;
    if (route->absolute && route->authorization.n > 0 &&
        !add_field(out, STR("Proxy-Authorization"), route->authorization))
        return false;
    if (rewrite_wants_websocket(head, hops) && !buf_add(out, upgrade))
        return false;
    return buf_add(out, STR("\r\n"));
}

static bool add_framing(struct buf *out, const struct http_head *head,
                        const struct rewrite_answer *answer)
{
    if (answer->framing == HTTP_FRAMING_CHUNKED)
        return buf_add(out, STR("Transfer-Encoding: chunked\r\n"));
    if (answer->framing == HTTP_FRAMING_LENGTH ||
        (answer->bodiless_length && head->has_length))
        return add_length(out, head->length);
    return true;
}

bool rewrite_response(struct buf *out, const struct http_head *head,
                      const struct hops *hops, const struct rewrite_answer *answer)
{
    if (!buf_add(out, STR("HTTP/1.1 ")) || !add_uint(out, head->status) ||
        !buf_add(out, STR(" ")) || !buf_add(out, head->phrase) ||
        !buf_add(out, STR("\r\n")))
        return false;
    for (size_t i = 0; i < head->field_count; i++) {
        const struct http_field *field = &head->fields[i];

        if (!hops_drop(hops, field->name) &&
            !str_equal_nocase(field->name, STR("Content-Length")) &&
            !add_field(out, field->name, field->value))
            return false;
    }
    if (!add_framing(out, head, answer))
        return false;
    if (answer->websocket && !buf_add(out, upgrade))
        return false;
    if (!answer->keep && !answer->websocket &&
        !buf_add(out, STR("Connection: close\r\n")))
        return false;
    return buf_add(out, STR("\r\n"));
}
