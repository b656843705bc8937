/* A PROXY header, whole and byte by byte: both ways come to the same end, nothing but
 * the header is used, and as long as it asks for more, it has not seen the end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/proxy_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of its own size, so that a read behind it is seen. */
static enum proxy_header_parse parse_copy(const uint8_t *data, size_t size,
                                          struct proxy_header *out, size_t *used)
{
    char *copy = malloc(size > 0 ? size : 1);
    enum proxy_header_parse parsed;

    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    parsed = proxy_header_parse((struct str){copy, size}, out, used);
    free(copy);
    return parsed;
}

static void check_one(enum proxy_header_parse parsed, const struct proxy_header *h,
                      size_t used, size_t size)
{
    struct ip plain = h->from;

    if ((parsed == PROXY_HEADER_REFUSED) != (h->why != NULL) || used > size)
        abort();
    if (parsed == PROXY_HEADER_DONE && used == 0)
        abort();
    if (parsed == PROXY_HEADER_MORE && size >= PROXY_HEADER_V2_MAX)
        abort();
    if (h->from.family != 0 && (parsed != PROXY_HEADER_DONE || h->local))
        abort();
    ip_unmap(&plain);
    if (!ip_equal(&plain, &h->from))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proxy_header whole, part = {.local = false};
    size_t whole_used, used = 0, n = 0;
    enum proxy_header_parse parsed = parse_copy(data, size, &whole, &whole_used), step;

    check_one(parsed, &whole, whole_used, size);
    do {
        step = parse_copy(data, n, &part, &used);
        check_one(step, &part, used, n);
    } while (step == PROXY_HEADER_MORE && n++ < size);
    if (parsed == PROXY_HEADER_MORE ? step != PROXY_HEADER_MORE : step != parsed)
        abort();
    if (parsed == PROXY_HEADER_DONE &&
        (used != whole_used || n != used || !ip_equal(&part.from, &whole.from)))
        abort();
    return 0;
}
