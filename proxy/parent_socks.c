/* SOCKS5 as a client (RFC 1928), with user and password (RFC 1929). Each message of the
 * parent has a length that its first bytes tell, so no byte too many is ever asked for.
 */
#include "proxy/parent_talk.h"

#include <assert.h>

enum { METHOD = 0, LOGIN, REPLY };

enum { VERSION = 5, LOGIN_VERSION = 1, METHOD_NONE = 0, METHOD_LOGIN = 2, CONNECT = 1 };
enum { TYPE_V4 = 1, TYPE_NAME = 3, TYPE_V6 = 4 };

/* Of a reply: up to the code; up to the first byte of the address; and without it. */
enum { CODE_LEN = 2, KIND_LEN = 5, ADDRESS_AT = 4, PORT_LEN = 2 };

static void add_byte(struct buf *out, unsigned byte)
{
    char c = (char)byte;

    buf_add(out, (struct str){&c, 1});
}

static void expect(struct parent_talk *t, unsigned char stage, size_t want)
{
    t->stage = stage;
    t->want = want;
    t->seen = 0;
}

static void start(struct parent_talk *t, struct buf *out)
{
    bool login = t->parent->user.p != NULL;

    add_byte(out, VERSION);
    add_byte(out, login ? 2 : 1);
    add_byte(out, METHOD_NONE);
    if (login)
        add_byte(out, METHOD_LOGIN);
    expect(t, METHOD, CODE_LEN);
}

static enum talk malformed(struct parent_talk *t)
{
    return talk_fail(t, REASON_PARENT_FAILURE, "proxy_internal_error",
                     "answered what is not SOCKS5");
}

static void send_login(struct parent_talk *t, struct buf *out)
{
    add_byte(out, LOGIN_VERSION);
    add_byte(out, (unsigned)t->parent->user.n);
    buf_add(out, t->parent->user);
    add_byte(out, (unsigned)t->parent->password.n);
    buf_add(out, t->parent->password);
    expect(t, LOGIN, CODE_LEN);
}

static void send_request(struct parent_talk *t, struct buf *out)
{
    const struct target *to = t->to;

    add_byte(out, VERSION);
    add_byte(out, CONNECT);
    add_byte(out, 0);
    if (to->kind == HOST_NAME) {
        add_byte(out, TYPE_NAME);
        add_byte(out, (unsigned)to->host.n);
        buf_add(out, to->host);
    } else {
        size_t n = to->ip.family == 4 ? 4 : 16;

        add_byte(out, to->ip.family == 4 ? TYPE_V4 : TYPE_V6);
        buf_add(out, (struct str){(const char *)to->ip.bytes, n});
    }
    add_byte(out, to->port >> 8);
    add_byte(out, to->port & 0xff);
    expect(t, REPLY, CODE_LEN);
}

static enum talk take_method(struct parent_talk *t, struct buf *out)
{
    bool login = t->parent->user.p != NULL;

    if (t->message[0] != VERSION)
        return malformed(t);
    if (t->message[1] == METHOD_NONE) {
        send_request(t, out);
        return TALK_MORE;
    }
    if (t->message[1] == METHOD_LOGIN && login) {
        send_login(t, out);
        return TALK_MORE;
    }
    return talk_fail(t, REASON_PARENT_REFUSED, "proxy_configuration_error", "%s",
                     login ? "takes neither user and password nor a client without"
                           : "wants credentials, and its URL has none");
}

static enum talk take_login(struct parent_talk *t, struct buf *out)
{
    if (t->message[0] != LOGIN_VERSION)
        return malformed(t);
    if (t->message[1] != 0)
        return talk_fail(t, REASON_PARENT_REFUSED, "proxy_configuration_error",
                         "does not accept the credentials in its URL");
    send_request(t, out);
    return TALK_MORE;
}

/* RFC 1928 6. */
static enum talk refused(struct parent_talk *t, unsigned code)
{
    static const struct {
        const char *what, *error;
    } codes[] = {
        [1] = {"general failure", "destination_unavailable"},
        [2] = {"not allowed by its rules", "destination_unavailable"},
        [3] = {"network unreachable", "destination_ip_unroutable"},
        [4] = {"host unreachable", "destination_ip_unroutable"},
        [5] = {"connection refused", "connection_refused"},
        [6] = {"TTL expired", "destination_ip_unroutable"},
        [7] = {"it does not connect", "destination_unavailable"},
        [8] = {"it does not take this kind of address", "destination_unavailable"},
    };

    if (code >= sizeof codes / sizeof *codes)
        return talk_fail(t, REASON_PARENT_REFUSED, "destination_unavailable",
                         "refused: code %u", code);
    return talk_fail(t, REASON_PARENT_REFUSED, codes[code].error, "refused: %s",
                     codes[code].what);
}

static enum talk take_reply(struct parent_talk *t)
{
    const unsigned char *m = t->message;

    if (m[0] != VERSION)
        return malformed(t);
    if (m[1] != 0)
        return refused(t, m[1]);
    if (t->want == CODE_LEN) {
        t->want = KIND_LEN;
        return TALK_MORE;
    }
    if (t->want > KIND_LEN)
        return TALK_OPEN;
    if (m[3] == TYPE_V4)
        t->want = ADDRESS_AT + 4 + PORT_LEN;
    else if (m[3] == TYPE_V6)
        t->want = ADDRESS_AT + 16 + PORT_LEN;
    else if (m[3] == TYPE_NAME)
        t->want = KIND_LEN + (size_t)m[ADDRESS_AT] + PORT_LEN;
    else
        return malformed(t);
    return TALK_MORE;
}

static size_t need(const struct parent_talk *t)
{
    return t->want - t->seen;
}

static enum talk feed(struct parent_talk *t, struct str in, struct buf *out)
{
    assert(t->seen + in.n <= sizeof t->message);
    memcpy(t->message + t->seen, in.p, in.n);
    t->seen += in.n;
    if (t->seen < t->want)
        return TALK_MORE;
    switch (t->stage) {
    case METHOD:
        return take_method(t, out);
    case LOGIN:
        return take_login(t, out);
    default:
        return take_reply(t);
    }
}

const struct talk_protocol talk_socks = {start, need, feed, "connection_terminated"};
