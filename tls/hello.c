/* Two layers, read one after the other: records are taken apart into a flat run of
 * handshake bytes, and the ClientHello is read from that. Whatever a server might
 * understand in another way than we do is HELLO_BAD: a record of another kind before
 * the hello is whole, a length that does not fit exactly, a name that stands twice. */
#include "tls/hello.h"

#include <stdint.h>

enum {
    RECORD_HEADER = 5,
    RECORD_MAX = 16384,        /* RFC 8446 5.1 */
    RECORD_CHANGE_CIPHER = 20, /* the lowest kind */
    RECORD_ALERT = 21,
    RECORD_HANDSHAKE = 22,
    RECORD_DATA = 23,
    RECORD_KIND_LAST = 24,
    EMPTY_RECORDS_MAX = 4, /* RFC 8446 forbids them, older stacks send some */
    HANDSHAKE_HEADER = 4,
    CLIENT_HELLO = 1,
    SERVER_HELLO = 2,
    RANDOM_LEN = 32,
    SESSION_ID_MAX = 32,
    EXTENSION_SERVER_NAME = 0,
    EXTENSION_ALPN = 16,
    EXTENSION_ECH = 0xfe0d,  /* RFC 9849 */
    EXTENSION_ESNI = 0xffce, /* its draft of 2018 */
    ECH_OUTER = 0,
    ECH_INNER = 1,
    NAME_IS_HOST = 0,
};

/* The fields of RFC 8446 4.1.2 are numbers and vectors with their length in front.
 * Reading beyond the end gives zeros and empty views, and is remembered. */
struct reader {
    struct str rest;
    bool failed;
};

static unsigned take_number(struct reader *r, size_t bytes)
{
    unsigned value = 0;

    if (r->rest.n < bytes) {
        r->failed = true;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | (unsigned char)r->rest.p[i];
    r->rest = str_skip(r->rest, bytes);
    return value;
}

static struct str take_bytes(struct reader *r, size_t n)
{
    struct str taken = str_head(r->rest, n);

    if (taken.n < n) {
        r->failed = true;
        return (struct str){"", 0};
    }
    r->rest = str_skip(r->rest, n);
    return taken;
}

/* A vector whose length is a number of `bytes` bytes. */
static struct str take_vector(struct reader *r, size_t bytes)
{
    return take_bytes(r, take_number(r, bytes));
}

/* RFC 6066 3, with what every stack holds to: one entry, and that a host name. */
static bool read_server_name(struct str body, struct hello *out)
{
    struct reader ext = {.rest = body}, list = {0};
    struct str name;

    list.rest = take_vector(&ext, 2);
    if (take_number(&list, 1) != NAME_IS_HOST)
        return false;
    name = take_vector(&list, 2);
    if (ext.failed || ext.rest.n > 0 || list.failed || list.rest.n > 0)
        return false;
    if (name.n == 0 || name.n > HELLO_NAME_MAX || memchr(name.p, '\0', name.n) != NULL)
        return false;
    memcpy(out->name, name.p, name.n);
    out->name_len = name.n;
    return true;
}

/* Whole protocols only; a byte that could be taken for the comma, or that does not
 * print (GREASE), becomes "?". */
static void add_protocol(struct str protocol, struct hello *out)
{
    size_t used = strlen(out->alpn);

    if (used + 1 + protocol.n + 1 > sizeof out->alpn)
        return;
    if (used > 0)
        out->alpn[used++] = ',';
    for (size_t i = 0; i < protocol.n; i++) {
        char c = protocol.p[i];

        out->alpn[used++] = c > 0x20 && c < 0x7f && c != ',' ? c : '?';
    }
}

/* RFC 7301 3.1. */
static bool read_alpn(struct str body, struct hello *out)
{
    struct reader ext = {.rest = body}, list = {0};

    list.rest = take_vector(&ext, 2);
    if (ext.failed || ext.rest.n > 0 || list.rest.n == 0)
        return false;
    while (list.rest.n > 0) {
        struct str protocol = take_vector(&list, 1);

        if (list.failed || protocol.n == 0)
            return false;
        add_protocol(protocol, out);
    }
    return true;
}

/* An inner hello in clear says that whoever sent it has taken off the encryption: its
 * name is the real one. */
static bool read_ech(struct str body, struct hello *out)
{
    struct reader r = {.rest = body};
    unsigned kind = take_number(&r, 1);

    if (r.failed || (kind != ECH_OUTER && kind != ECH_INNER) ||
        (kind == ECH_INNER && r.rest.n > 0))
        return false;
    out->encrypted |= kind == ECH_OUTER;
    return true;
}

/* Which of the extensions that we read have been there: each may stand once only. */
struct seen {
    bool server_name, alpn, ech;
};

static bool is_first(bool *seen)
{
    bool first = !*seen;

    *seen = true;
    return first;
}

static bool read_extension(unsigned type, struct str body, struct seen *seen,
                           struct hello *out)
{
    switch (type) {
    case EXTENSION_SERVER_NAME:
        return is_first(&seen->server_name) && read_server_name(body, out);
    case EXTENSION_ALPN:
        return is_first(&seen->alpn) && read_alpn(body, out);
    case EXTENSION_ECH:
        return is_first(&seen->ech) && read_ech(body, out);
    case EXTENSION_ESNI:
        out->encrypted = true;
        return true;
    default:
        return true;
    }
}

/* A hello may end before the extensions (TLS 1.0 to 1.2); when they are there they
 * fill it to its end. */
static bool read_extensions(struct reader *body, struct hello *out)
{
    struct reader list = {0};
    struct seen seen = {0};

    if (body->failed || body->rest.n == 0)
        return !body->failed;
    list.rest = take_vector(body, 2);
    if (body->failed || body->rest.n > 0)
        return false;
    while (list.rest.n > 0) {
        unsigned type = take_number(&list, 2);
        struct str data = take_vector(&list, 2);

        if (list.failed || !read_extension(type, data, &seen, out))
            return false;
    }
    return true;
}

/* The record ends with the message: what a client has to say next hangs on the server's
 * answer, and may be a second hello. */
static enum hello_parse read_hello(struct str handshake, struct hello *out)
{
    struct reader message = {.rest = str_skip(handshake, 1)};
    struct reader r = {.rest = take_vector(&message, 3)};
    struct hello hello = {0};
    struct str session, ciphers, compressions;
    unsigned version = take_number(&r, 2);

    take_bytes(&r, RANDOM_LEN);
    session = take_vector(&r, 1);
    ciphers = take_vector(&r, 2);
    compressions = take_vector(&r, 1);
    if (message.rest.n > 0 || version >> 8 != 3 || session.n > SESSION_ID_MAX ||
        ciphers.n < 2 || ciphers.n % 2 != 0 || compressions.n == 0)
        return HELLO_BAD;
    if (!read_extensions(&r, &hello))
        return HELLO_BAD;
    *out = hello;
    return HELLO_DONE;
}

/* What has come of the handshake so far, without the record headers. */
struct flat {
    char bytes[HELLO_MAX];
    size_t n;
    bool cut; /* the last record is not there to its end */
};

static bool is_whole(const struct flat *flat)
{
    struct reader r = {.rest = {flat->bytes, flat->n}};

    take_number(&r, 1);
    take_vector(&r, 3);
    return !r.failed;
}

/* Appends what is there of each record, until the hello is whole or `in` ends.
 * HELLO_BAD when a record is none that may come before the end of a hello. *rest is
 * what stands behind the last record. */
static enum hello_parse flatten(struct str in, struct flat *flat, struct str *rest)
{
    unsigned empty = 0;

    while (in.n >= RECORD_HEADER && !is_whole(flat)) {
        struct reader r = {.rest = in};
        unsigned kind = take_number(&r, 1), version = take_number(&r, 2),
                 len = take_number(&r, 2);
        struct str part = str_head(r.rest, len);

        if (kind != RECORD_HANDSHAKE || version >> 8 != 3 || len > RECORD_MAX ||
            (len == 0 && ++empty > EMPTY_RECORDS_MAX))
            return HELLO_BAD;
        memcpy(flat->bytes + flat->n, part.p, part.n);
        flat->n += part.n;
        flat->cut = part.n < len;
        in = str_skip(r.rest, len);
    }
    *rest = in;
    if (in.n > 0 && !is_whole(flat) && in.p[0] != RECORD_HANDSHAKE)
        return HELLO_BAD;
    return is_whole(flat) ? HELLO_DONE : HELLO_MORE;
}

/* The handshake must be a ClientHello that can still fit. */
static bool is_hopeless(const struct flat *flat)
{
    struct reader r = {.rest = {flat->bytes, flat->n}};

    if (flat->n > 0 && take_number(&r, 1) != CLIENT_HELLO)
        return true;
    return flat->n >= HANDSHAKE_HEADER &&
           take_number(&r, 3) > HELLO_MAX - RECORD_HEADER - HANDSHAKE_HEADER;
}

/* A record header begins with the kind and the major version, in all of SSL 3.0 and
 * TLS. Other kinds than a handshake are TLS too, and then HELLO_BAD: servers skip a
 * warning alert before the hello. A hello of SSL 2.0 has no name and is none of ours.
 */
static bool is_tls(struct str in)
{
    return in.p[0] >= RECORD_CHANGE_CIPHER && in.p[0] <= RECORD_KIND_LAST &&
           (in.n < 2 || in.p[1] == 3);
}

enum hello_parse hello_parse(struct str in, struct hello *out)
{
    struct str seen = str_head(in, HELLO_MAX), rest = seen;
    struct flat flat;
    enum hello_parse result;

    if (seen.n == 0)
        return HELLO_MORE;
    if (!is_tls(seen))
        return HELLO_NOT_TLS;
    flat.n = 0;
    flat.cut = false;
    result = seen.n == 1 ? HELLO_MORE : flatten(seen, &flat, &rest);
    if (result == HELLO_BAD || is_hopeless(&flat))
        return HELLO_BAD;
    if (result == HELLO_MORE)
        return seen.n < HELLO_MAX ? HELLO_MORE : HELLO_BAD;
    if (flat.cut || read_hello((struct str){flat.bytes, flat.n}, out) != HELLO_DONE)
        return HELLO_BAD;
    out->used = seen.n - rest.n;
    return HELLO_DONE;
}

/* RFC 8446 4.2.10, D.4: early data that the server will throw away, and the change of
 * ciphers that is sent for the sake of old middle boxes. Behind an alert nothing should
 * come, but some servers overlook some alerts. */
static bool may_stand_before(char kind)
{
    return kind == RECORD_CHANGE_CIPHER || kind == RECORD_ALERT || kind == RECORD_DATA;
}

enum hello_parse hello_parse_second(struct str in, struct hello *out)
{
    enum hello_parse result;

    while (in.n > 0 && may_stand_before(in.p[0])) {
        struct reader r = {.rest = str_skip(in, 1)};
        unsigned version = take_number(&r, 2);

        take_vector(&r, 2);
        if (r.failed)
            return HELLO_MORE;
        if (version >> 8 != 3)
            return HELLO_BAD;
        in = r.rest;
    }
    result = hello_parse(in, out);
    return result == HELLO_NOT_TLS ? HELLO_BAD : result;
}

/* The random of a ServerHello that asks for another hello (RFC 8446 4.1.3). What is no
 * ServerHello answers the hello too, with an alert or in another protocol; a server
 * that cuts its answer into records of a few bytes is taken to ask. */
enum hello_answer hello_answer(struct str in)
{
    static const char random[RANDOM_LEN] =
        "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
        "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";
    struct reader r = {.rest = in};
    unsigned kind = take_number(&r, 1), len;
    struct str said;

    if (!r.failed && kind != RECORD_HANDSHAKE)
        return HELLO_ANSWERED;
    take_number(&r, 2);
    len = take_number(&r, 2);
    if (r.failed)
        return HELLO_UNANSWERED;
    if (len < HELLO_ANSWER_LEN - RECORD_HEADER)
        return HELLO_RETRY;
    kind = take_number(&r, 1);
    take_number(&r, 3);
    take_number(&r, 2);
    if (!r.failed && kind != SERVER_HELLO)
        return HELLO_ANSWERED;
    said = str_head(r.rest, RANDOM_LEN);
    if (!r.failed && memcmp(said.p, random, said.n) != 0)
        return HELLO_ANSWERED;
    return !r.failed && said.n == RANDOM_LEN ? HELLO_RETRY : HELLO_UNANSWERED;
}
