#include "proxy/base/http_body.h"

static struct http_body body(enum http_framing framing, unsigned long long length)
{
    return (struct http_body){
        .framing = framing,
        .left = length,
        .done = framing == HTTP_FRAMING_NONE ||
                (framing == HTTP_FRAMING_LENGTH && length == 0),
    };
}

struct http_body http_body_of_request(const struct http_head *head)
{
    if (head->chunked)
        return body(HTTP_FRAMING_CHUNKED, 0);
    return body(head->has_length ? HTTP_FRAMING_LENGTH : HTTP_FRAMING_NONE,
                head->length);
}

struct http_body http_body_of_response(const struct http_head *head, struct str method)
{
    if (head->status < 200 || head->status == 204 || head->status == 304 ||
        str_equal(method, STR("HEAD")))
        return body(HTTP_FRAMING_NONE, 0);
    if (head->chunked)
        return body(HTTP_FRAMING_CHUNKED, 0);
    return body(head->has_length ? HTTP_FRAMING_LENGTH : HTTP_FRAMING_CLOSE,
                head->length);
}

bool http_body_take(struct http_body *b, char *bytes, size_t n, size_t *used,
                    size_t *len)
{
    enum http_chunked result;

    if (b->framing == HTTP_FRAMING_CHUNKED && !b->done) {
        result = http_dechunk(&b->chunks, bytes, n, used, len);
        b->done = result == HTTP_CHUNKED_END;
        return result != HTTP_CHUNKED_BAD;
    }
    *len = n;
    if (b->done)
        *len = 0;
    else if (b->framing == HTTP_FRAMING_LENGTH && b->left < n)
        *len = (size_t)b->left;
    if (b->framing == HTTP_FRAMING_LENGTH) {
        b->left -= *len;
        b->done = b->left == 0;
    }
    *used = *len;
    return true;
}

bool http_body_end(struct http_body *b)
{
    if (b->framing == HTTP_FRAMING_CLOSE)
        b->done = true;
    return b->done;
}
