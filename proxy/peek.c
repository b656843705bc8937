#include "proxy/peek.h"

static enum hello_kind kind_of(enum hello_parse parsed, const struct hello *hello)
{
    if (parsed == HELLO_NOT_TLS)
        return HELLO_KIND_NONE;
    if (parsed != HELLO_DONE)
        return HELLO_KIND_BAD;
    if (hello->encrypted)
        return HELLO_KIND_ENCRYPTED;
    return hello->name_len > 0 ? HELLO_KIND_NAME : HELLO_KIND_NO_NAME;
}

bool peek_parse(struct str in, bool eof, struct peek *out)
{
    enum hello_parse parsed = HELLO_MORE;

    out->kind = HELLO_KIND_NONE;
    out->hello.name_len = 0;
    if (in.n == 0)
        return eof;
    parsed = hello_parse(in, &out->hello);
    if (parsed == HELLO_MORE && !eof)
        return false;
    /* A hello that was cut off is malformed. */
    out->kind = kind_of(parsed, &out->hello);
    return true;
}

bool peek_parse_second(struct str in, bool eof, struct peek *out)
{
    enum hello_parse parsed = hello_parse_second(in, &out->hello);

    if (parsed == HELLO_MORE && !eof)
        return false;
    out->kind = kind_of(parsed, &out->hello);
    return true;
}

struct str peek_name(const struct peek *p)
{
    bool named = p->kind == HELLO_KIND_NAME || p->kind == HELLO_KIND_ENCRYPTED;

    return (struct str){p->hello.name, named ? p->hello.name_len : 0};
}

enum sni_seen peek_seen(const struct peek *p, bool allowed)
{
    static const enum sni_seen seen[] = {
        [HELLO_KIND_NONE] = SNI_NOT_TLS,        [HELLO_KIND_BAD] = SNI_MALFORMED,
        [HELLO_KIND_NO_NAME] = SNI_NONE,        [HELLO_KIND_NAME] = SNI_MATCH,
        [HELLO_KIND_ENCRYPTED] = SNI_ENCRYPTED,
    };

    return p->kind == HELLO_KIND_NAME && !allowed ? SNI_MISMATCH : seen[p->kind];
}

struct str peek_alert(enum hello_kind kind)
{
    enum { ALERT_LEN = 7 };

    /* Content type alert, version, length 2, fatal; unrecognized_name is 112,
     * access_denied 49. */
    return (struct str){kind == HELLO_KIND_NAME ? "\x15\x03\x03\x00\x02\x02\x70"
                                                : "\x15\x03\x03\x00\x02\x02\x31",
                        ALERT_LEN};
}
