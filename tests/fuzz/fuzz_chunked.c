/* A chunked body gives the same data, end and verdict in one piece and in pieces of a
 * size that the first byte chooses; what follows it is not touched; and what was taken
 * off and put on anew is read again as the same data. */
#include <stdint.h>
#include <stdlib.h>

#include "proxy/base/http_chunks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    enum http_chunked result;
    size_t used, len;
    char *data;
};

static void require(bool ok)
{
    if (!ok)
        abort();
}

static char *room_for(size_t size)
{
    char *room = calloc(1, HTTP_CHUNK_BEFORE + size + HTTP_CHUNK_BEHIND);

    require(room != NULL);
    return room;
}

static struct outcome dechunk(struct str in, size_t piece)
{
    struct http_chunks c = {0};
    struct outcome o = {HTTP_CHUNKED_MORE, 0, 0, NULL};

    o.data = room_for(in.n);
    while (o.used < in.n && o.result == HTTP_CHUNKED_MORE) {
        struct str part = str_head(str_skip(in, o.used), piece);
        char *bytes = room_for(part.n);
        size_t used, len;

        memcpy(bytes, part.p, part.n);
        o.result = http_dechunk(&c, bytes, part.n, &used, &len);
        require(used <= part.n && len <= used);
        require(memcmp(bytes + used, part.p + used, part.n - used) == 0);
        memcpy(o.data + o.len, bytes, len);
        o.len += len;
        o.used += used;
        free(bytes);
    }
    return o;
}

static void check_again(const struct outcome *o)
{
    char *room = room_for(o->len);
    struct outcome again;

    memcpy(room + HTTP_CHUNK_BEFORE, o->data, o->len);
    again = dechunk(http_chunk(room + HTTP_CHUNK_BEFORE, o->len, true), SIZE_MAX);
    require(again.result == HTTP_CHUNKED_END && again.len == o->len);
    require(memcmp(again.data, o->data, o->len) == 0);
    free(again.data);
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = str_skip((struct str){(const char *)data, size}, 1);
    struct outcome whole, parts;

    if (in.n == 0)
        return 0;
    whole = dechunk(in, in.n);
    parts = dechunk(in, 1 + data[0] % 16);
    require(whole.result == parts.result);
    require(whole.len == parts.len && memcmp(whole.data, parts.data, whole.len) == 0);
    require(whole.result == HTTP_CHUNKED_BAD || whole.used == parts.used);
    check_again(&whole);
    free(whole.data);
    free(parts.data);
    return 0;
}
