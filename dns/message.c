#include "dns/message.h"

#include <assert.h>

enum {
    NAME_MAX_WIRE = 255, /* RFC 1035 2.3.4 */
    LABEL_MAX = 63,
    POINTERS_MAX = 32, /* in one name */
    TYPE_CNAME = 5,
    CLASS_IN = 1,
};

/* What is left to read. */
struct reader {
    const uint8_t *bytes;
    size_t len, at;
};

/* A name in wire form, lower case, without compression: two of them compare as bytes,
 * whatever characters the labels hold. */
struct name {
    uint8_t bytes[NAME_MAX_WIRE];
    size_t len;
};

struct record {
    struct name owner;
    unsigned type, class, ttl;
    size_t data, data_len; /* offset in the message */
};

static bool read_number(struct reader *r, size_t size, unsigned *out)
{
    unsigned value = 0;

    if (r->len - r->at < size)
        return false;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | r->bytes[r->at + i];
    r->at += size;
    *out = value;
    return true;
}

/* One label with its length byte, or the root label. */
static bool add_label(struct name *n, const uint8_t *label)
{
    size_t size = (size_t)label[0] + 1;

    if (n->len + size > sizeof n->bytes)
        return false;
    for (size_t i = 0; i < size; i++) {
        uint8_t b = label[i];

        n->bytes[n->len + i] = i > 0 && b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b;
    }
    n->len += size;
    return true;
}

/* Follows pointers only backwards and only so many: no message makes it run long. */
static bool read_name(struct reader *r, struct name *out)
{
    size_t at = r->at, end = 0, pointers = 0;

    out->len = 0;
    for (;;) {
        unsigned first;

        if (at >= r->len)
            return false;
        first = r->bytes[at];
        if (first >= 0xc0) {
            size_t to;

            if (r->len - at < 2 || ++pointers > POINTERS_MAX)
                return false;
            to = (first & 0x3f) << 8 | r->bytes[at + 1];
            if (to >= at)
                return false;
            end = end > 0 ? end : at + 2;
            at = to;
            continue;
        }
        if (first > LABEL_MAX || r->len - at <= first || !add_label(out, r->bytes + at))
            return false;
        at += first + 1;
        if (first == 0)
            break;
    }
    r->at = end > 0 ? end : at;
    return true;
}

static bool read_record(struct reader *r, struct record *out)
{
    unsigned data_len, ttl;

    if (!read_name(r, &out->owner) || !read_number(r, 2, &out->type) ||
        !read_number(r, 2, &out->class) || !read_number(r, 4, &ttl) ||
        !read_number(r, 2, &data_len) || r->len - r->at < data_len)
        return false;
    out->ttl = ttl > INT32_MAX ? 0 : ttl; /* RFC 2181 8 */
    out->data = r->at;
    out->data_len = data_len;
    r->at += data_len;
    return true;
}

/* `text` is canonical (target.h): labels of 1 to 63 bytes, 253 bytes at most. */
static void name_from_text(const char *text, struct name *out)
{
    struct str rest = str_from(text);

    out->len = 0;
    while (rest.n > 0) {
        struct str label = str_cut(&rest, '.');
        uint8_t wire[LABEL_MAX + 1];

        assert(label.n > 0 && label.n <= LABEL_MAX);
        wire[0] = (uint8_t)label.n;
        memcpy(wire + 1, label.p, label.n);
        if (!add_label(out, wire))
            assert(!"a name of at most 253 bytes");
    }
    if (!add_label(out, (const uint8_t *)""))
        assert(!"a name of at most 253 bytes");
}

static bool same_name(const struct name *a, const struct name *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* The header and the question: an answer (QR), a plain query (opcode 0), not truncated,
 * no error, and about what was asked. */
static bool read_head(struct reader *r, const struct name *asked, unsigned type,
                      unsigned *answers)
{
    unsigned id, flags, questions, others, got_type, class;
    struct name name;

    return read_number(r, 2, &id) && read_number(r, 2, &flags) &&
           read_number(r, 2, &questions) && read_number(r, 2, answers) &&
           read_number(r, 4, &others) && (flags & 0xfa0f) == 0x8000 && questions == 1 &&
           read_name(r, &name) && read_number(r, 2, &got_type) &&
           read_number(r, 2, &class) && same_name(&name, asked) && got_type == type &&
           class == CLASS_IN;
}

/* One walk over the answer records: takes the addresses of *at and goes on to where its
 * CNAME leads. *steps counts those. */
static bool walk(struct reader r, unsigned answers, unsigned type, struct name *at,
                 struct answer *into, unsigned *steps)
{
    const size_t size = type == MESSAGE_A ? 4 : 16;
    struct record record;

    for (unsigned i = 0; i < answers; i++) {
        if (!read_record(&r, &record))
            return false;
        if (record.class != CLASS_IN || !same_name(&record.owner, at))
            continue;
        if (record.type == TYPE_CNAME) {
            struct reader data = {r.bytes, r.len, record.data};

            if (!read_name(&data, at) || ++*steps > MESSAGE_CNAMES_MAX)
                return false;
        } else if (record.type == type && record.data_len == size) {
            struct ip ip = {.family = type == MESSAGE_A ? 4 : 6};

            memcpy(ip.bytes, r.bytes + record.data, size);
            answer_add(into, &ip);
        } else {
            continue;
        }
        if (record.ttl < into->ttl)
            into->ttl = record.ttl;
    }
    return true;
}

bool message_parse(const uint8_t *bytes, size_t len, const char *name,
                   enum message_type type, struct answer *into)
{
    struct reader r = {bytes, len, 0};
    const size_t count = into->count;
    const unsigned ttl = into->ttl;
    unsigned answers, steps = 0, before;
    struct name at;

    name_from_text(name, &at);
    if (!read_head(&r, &at, type, &answers))
        return false;
    if (answers > MESSAGE_RECORDS_MAX)
        answers = MESSAGE_RECORDS_MAX;
    /* Servers may put records in any order, so the walk is repeated until the end of
     * the chain is known from its start on. */
    do {
        before = steps;
        into->count = count;
        if (!walk(r, answers, type, &at, into, &steps)) {
            into->count = count;
            into->ttl = ttl;
            return false;
        }
    } while (steps > before);
    return true;
}
