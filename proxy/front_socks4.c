/* SOCKS 4 and 4a as the way to ask: CONNECT. The protocol knows a user's id, but no
 * password: where somebody must log in it opens nothing. A host is an address, or, in
 * 4a, a name behind the id when the address is 0.0.0.x. */
#include "proxy/front_socks.h"

enum {
    ID_AT = 8, /* version, command, port, address */
    ID_MAX = 255,
    HOST_MAX = 255,
    REPLY_OK = 0x5a,
    REPLY_REFUSED = 0x5b,
    REPLY_WHO_ARE_YOU = 0x5d,
};

#define REFUSED STR("\x00\x5b\x00\x00\x00\x00\x00\x00")

static bool names_host(struct str in)
{
    return memcmp(in.p + 4, "\0\0\0", 3) == 0 && in.p[7] != 0;
}

/* The text at `at`, without its NUL. FRONT_MORE when that has not come. Of one that is
 * too long the same is seen, however much has come. */
static enum front_parse read_text(struct str in, size_t at, size_t max, struct str *out)
{
    struct str rest = str_skip(in, at);
    const char *end = rest.n > 0 ? memchr(rest.p, '\0', rest.n) : NULL;

    *out = (struct str){rest.p, end != NULL ? (size_t)(end - rest.p) : rest.n};
    if (out->n > max) {
        *out = str_head(*out, max + 1);
        return FRONT_REFUSED;
    }
    return end != NULL ? FRONT_DONE : FRONT_MORE;
}

static enum front_parse parse_host(const struct front_call *call, size_t at,
                                   struct front_asked *asked, size_t *used)
{
    unsigned port = socks_port(call->in.p + 2);
    struct str host = {NULL, 0};
    enum front_parse got = FRONT_DONE;
    bool good;

    if (names_host(call->in)) {
        got = read_text(call->in, at, HOST_MAX, &host);
        if (got == FRONT_MORE)
            return FRONT_MORE;
        good = socks_set_name(asked, call->arena, host, port) && got == FRONT_DONE;
        at += host.n + 1;
    } else {
        host = str_head(str_skip(call->in, 4), 4);
        good = socks_set_address(asked, call->arena, host, port);
    }
    if (!good) {
        asked->target = (struct target){.kind = HOST_NONE};
        return socks_refuse(asked, REASON_MALFORMED_HOST,
                            "neither a host name nor an address, or no port", REFUSED);
    }
    *used = at;
    return FRONT_DONE;
}

static enum front_parse parse(const struct front_call *call, struct front_asked *asked,
                              size_t *used)
{
    struct str in = call->in, id;

    *asked = (struct front_asked){.form = "socks4"};
    if (in.n >= 2 && in.p[1] != SOCKS_CONNECT)
        return socks_refuse(asked, REASON_NOT_SUPPORTED,
                            "of SOCKS only CONNECT is spoken here, not BIND", REFUSED);
    if (in.n < ID_AT)
        return FRONT_MORE;
    switch (read_text(in, ID_AT, ID_MAX, &id)) {
    case FRONT_MORE:
        return FRONT_MORE;
    case FRONT_DONE:
        return parse_host(call, ID_AT + id.n + 1, asked, used);
    default:
        return socks_refuse(asked, REASON_MALFORMED_REQUEST,
                            "a SOCKS user id that is too long", REFUSED);
    }
}

static void answer_socks4(struct buf *out, const struct front_answer *answer)
{
    char reply[] = "\x00?\x00\x00\x00\x00\x00";

    reply[1] = REPLY_REFUSED;
    if (answer->ok)
        reply[1] = REPLY_OK;
    else if (answer->status == 407)
        reply[1] = REPLY_WHO_ARE_YOU;
    buf_add(out, (struct str){reply, sizeof reply});
}

/* There is no such message; but who speaks this protocol cannot try once more. */
static void logged_in(struct buf *out, bool ok)
{
    (void)out, (void)ok;
}

const struct front front_socks4 = {"socks4", parse, answer_socks4, logged_in, STR("")};
