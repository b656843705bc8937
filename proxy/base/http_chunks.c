#include "proxy/base/http_chunks.h"

#include <stdio.h>

enum { DIGITS_MAX = 15 }; /* of a size: no overflow, and nobody has more */

enum state {
    SIZE = 0, /* the digits of a size */
    EXTENSION,
    SIZE_LF, /* the CR behind a size was there */
    DATA,
    DATA_CR, /* all of the chunk was there */
    DATA_LF,
    TRAILER, /* at the start of a line behind the last chunk */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    END_LF,
    END,
    BAD, /* it stays so */
};

static int hex(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_text(unsigned char c)
{
    return (c >= 0x20 && c != 0x7f) || c == '\t';
}

static bool is_token(unsigned char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static enum state take_size(struct http_chunks *c, unsigned char byte)
{
    int digit = hex(byte);

    if (digit >= 0 && c->digits < DIGITS_MAX) {
        c->left = c->left << 4 | (unsigned)digit;
        c->digits++;
        return SIZE;
    }
    if (digit >= 0 || c->digits == 0)
        return BAD;
    if (byte == '\r')
        return SIZE_LF;
    return byte == ';' ? EXTENSION : BAD;
}

static enum state after_size(struct http_chunks *c, unsigned char byte)
{
    c->digits = 0;
    if (byte != '\n')
        return BAD;
    return c->left > 0 ? DATA : TRAILER;
}

static enum state take_trailer(unsigned char byte)
{
    if (byte == '\r')
        return END_LF;
    return is_token(byte) ? TRAILER_NAME : BAD;
}

static enum state take_trailer_name(unsigned char byte)
{
    if (byte == ':')
        return TRAILER_VALUE;
    return is_token(byte) ? TRAILER_NAME : BAD;
}

/* One line of text up to its CR; what it says is nobody's business. */
static enum state take_text(unsigned char byte, enum state same, enum state end)
{
    if (byte == '\r')
        return end;
    return is_text(byte) ? same : BAD;
}

static enum state expect(unsigned char byte, unsigned char wanted, enum state next)
{
    return byte == wanted ? next : BAD;
}

static enum state take(struct http_chunks *c, unsigned char byte)
{
    switch (c->state) {
    case SIZE:
        return take_size(c, byte);
    case EXTENSION:
        return take_text(byte, EXTENSION, SIZE_LF);
    case SIZE_LF:
        return after_size(c, byte);
    case DATA_CR:
        return expect(byte, '\r', DATA_LF);
    case DATA_LF:
        return expect(byte, '\n', SIZE);
    case TRAILER:
        return take_trailer(byte);
    case TRAILER_NAME:
        return take_trailer_name(byte);
    case TRAILER_VALUE:
        return take_text(byte, TRAILER_VALUE, TRAILER_LF);
    case TRAILER_LF:
        return expect(byte, '\n', TRAILER);
    case END_LF:
        return expect(byte, '\n', END);
    default:
        return BAD;
    }
}

static bool is_extra(unsigned char state)
{
    return state == EXTENSION || (state >= TRAILER && state <= TRAILER_LF);
}

/* Moves data of the current chunk down to `to`; returns how much there was. */
static size_t take_data(struct http_chunks *c, char *to, const char *from, size_t n)
{
    size_t len = c->left < n ? (size_t)c->left : n;

    if (to != from)
        memmove(to, from, len);
    c->left -= len;
    if (c->left == 0)
        c->state = DATA_CR;
    return len;
}

enum http_chunked http_dechunk(struct http_chunks *c, char *bytes, size_t n,
                               size_t *used, size_t *len)
{
    size_t i = 0;

    *len = 0;
    while (i < n && c->state != END && c->state != BAD) {
        if (c->state == DATA) {
            size_t data = take_data(c, bytes + *len, bytes + i, n - i);

            *len += data;
            i += data;
            continue;
        }
        c->state = (unsigned char)take(c, (unsigned char)bytes[i++]);
        if (is_extra(c->state) && ++c->extra > HTTP_CHUNK_EXTRA_MAX)
            c->state = BAD;
    }
    *used = i;
    if (c->state == BAD)
        return HTTP_CHUNKED_BAD;
    return c->state == END ? HTTP_CHUNKED_END : HTTP_CHUNKED_MORE;
}

struct str http_chunk(char *data, size_t len, bool last)
{
    const struct str end = STR("0\r\n\r\n");
    char head[HTTP_CHUNK_BEFORE + 1];
    char *start = data, *stop = data;

    if (len > 0) {
        int n = snprintf(head, sizeof head, "%zx\r\n", len);

        start = data - n;
        memcpy(start, head, (size_t)n);
        stop = data + len;
        memcpy(stop, "\r\n", 2);
        stop += 2;
    }
    if (last) {
        memcpy(stop, end.p, end.n);
        stop += end.n;
    }
    return (struct str){start, (size_t)(stop - start)};
}
