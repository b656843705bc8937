/* SOCKS 5 as the way to ask: CONNECT (RFC 1928), with a name and a password where they
 * are wanted (RFC 1929). */
#include "proxy/front_socks.h"

enum phase {
    PHASE_METHODS = 0,
    PHASE_LOGIN,
    PHASE_REQUEST,
};

enum { METHOD_NONE = 0, METHOD_LOGIN = 2, LOGIN_VERSION = 1 };
/* RFC 1928 6. */
enum {
    REPLY_OK = 0,
    REPLY_FAILURE = 1,
    REPLY_NOT_ALLOWED = 2,
    REPLY_NETWORK_UNREACHABLE = 3,
    REPLY_HOST_UNREACHABLE = 4,
    REPLY_REFUSED = 5,
    REPLY_TOO_LATE = 6,
};
enum { ADDRESS_IPV4 = 1, ADDRESS_NAME = 3, ADDRESS_IPV6 = 4 };

/* Where the server is reached from is nobody's business: the address in a reply is the
 * unspecified one, as most servers have it. */
#define REPLY(code) STR("\x05" code "\x00\x01\x00\x00\x00\x00\x00\x00")

static bool offers(struct str methods, char method)
{
    return memchr(methods.p, method, methods.n) != NULL;
}

/* Who must log in and does not offer to is let ask, so that the refusal has a place,
 * and over ssh a reason. Who need not, and offers to, is heard where that means
 * something, as it is over HTTP. */
static enum front_parse parse_methods(const struct front_call *call,
                                      struct front_asked *asked, size_t *used)
{
    struct str in = call->in, methods;
    bool none, login;

    if (in.n < 2)
        return FRONT_MORE;
    if (in.p[1] == 0)
        return socks_refuse(asked, REASON_MALFORMED_REQUEST, "SOCKS without a method",
                            STR("\x05\xff"));
    methods = str_head(str_skip(in, 2), (unsigned char)in.p[1]);
    if (methods.n < (unsigned char)in.p[1])
        return FRONT_MORE;
    none = offers(methods, METHOD_NONE);
    login = offers(methods, METHOD_LOGIN);
    if (!none && !login)
        return socks_refuse(asked, REASON_NOT_SUPPORTED,
                            "SOCKS without a method that is known here: none, or a "
                            "name and a password",
                            STR("\x05\xff"));
    login = login && (call->login_wanted || call->login_heard || !none);
    *call->phase = login ? PHASE_LOGIN : PHASE_REQUEST;
    asked->reply = login ? STR("\x05\x02") : STR("\x05\x00");
    *used = 2 + methods.n;
    return FRONT_REPLY;
}

static enum front_parse parse_login(const struct front_call *call,
                                    struct front_asked *asked, size_t *used)
{
    struct str rest = call->in, user, password;

    if (rest.p[0] != LOGIN_VERSION)
        return socks_refuse(asked, REASON_MALFORMED_REQUEST,
                            "a SOCKS login of another version than 1", STR("\x01\x01"));
    if (rest.n < 2)
        return FRONT_MORE;
    user = str_head(str_skip(rest, 2), (unsigned char)rest.p[1]);
    rest = str_skip(rest, 2 + user.n);
    if (user.n < (unsigned char)call->in.p[1] || rest.n < 1)
        return FRONT_MORE;
    password = str_head(str_skip(rest, 1), (unsigned char)rest.p[0]);
    if (password.n < (unsigned char)rest.p[0])
        return FRONT_MORE;
    asked->login = (struct login){true, arena_dup(call->arena, user),
                                  arena_dup(call->arena, password)};
    *call->phase = PHASE_REQUEST;
    *used = 3 + user.n + password.n;
    return FRONT_LOGIN;
}

static bool is_kind(char kind)
{
    return kind == ADDRESS_IPV4 || kind == ADDRESS_NAME || kind == ADDRESS_IPV6;
}

/* Bytes of the host, its length byte included. */
static size_t host_len(char kind, unsigned char first)
{
    if (kind == ADDRESS_NAME)
        return 1 + (size_t)first;
    return kind == ADDRESS_IPV4 ? 4 : 16;
}

static enum front_parse parse_host(const struct front_call *call, size_t len,
                                   struct front_asked *asked, size_t *used)
{
    struct str host = str_head(str_skip(call->in, 4), len);
    unsigned port = socks_port(call->in.p + 4 + len);
    bool good = call->in.p[3] == ADDRESS_NAME
                    ? socks_set_name(asked, call->arena, str_skip(host, 1), port)
                    : socks_set_address(asked, call->arena, host, port);

    if (!good)
        return socks_refuse(asked, REASON_MALFORMED_HOST,
                            "neither a host name nor an address, or no port",
                            REPLY("\x01"));
    *used = 4 + len + 2;
    return FRONT_DONE;
}

static enum front_parse parse_request(const struct front_call *call,
                                      struct front_asked *asked, size_t *used)
{
    struct str in = call->in;
    size_t len;

    if (in.p[0] != 5)
        return socks_refuse(asked, REASON_MALFORMED_REQUEST,
                            "a SOCKS request of another version than 5", REPLY("\x01"));
    if (in.n >= 2 && in.p[1] != SOCKS_CONNECT)
        return socks_refuse(asked, REASON_NOT_SUPPORTED,
                            "of SOCKS only CONNECT is spoken here, not BIND or UDP",
                            REPLY("\x07"));
    if (in.n >= 3 && in.p[2] != 0)
        return socks_refuse(asked, REASON_MALFORMED_REQUEST,
                            "a SOCKS request whose third byte is not 0", REPLY("\x01"));
    if (in.n >= 4 && !is_kind(in.p[3]))
        return socks_refuse(asked, REASON_MALFORMED_REQUEST,
                            "a SOCKS address of an unknown kind", REPLY("\x08"));
    if (in.n < 5)
        return FRONT_MORE;
    len = host_len(in.p[3], (unsigned char)in.p[4]);
    return in.n < 4 + len + 2 ? FRONT_MORE : parse_host(call, len, asked, used);
}

static enum front_parse parse(const struct front_call *call, struct front_asked *asked,
                              size_t *used)
{
    *asked = (struct front_asked){.form = "socks5"};
    switch (*call->phase) {
    case PHASE_METHODS:
        return parse_methods(call, asked, used);
    case PHASE_LOGIN:
        return parse_login(call, asked, used);
    default:
        return parse_request(call, asked, used);
    }
}

static bool is_error(const struct front_answer *answer, const char *error)
{
    return answer->error != NULL && strcmp(answer->error, error) == 0;
}

static char reply_of(const struct front_answer *answer)
{
    if (answer->ok)
        return REPLY_OK;
    if (answer->status == 403 || answer->status == 407)
        return REPLY_NOT_ALLOWED;
    if (answer->reason == REASON_DNS_FAILURE)
        return REPLY_HOST_UNREACHABLE;
    if (answer->reason == REASON_TIMEOUT)
        return REPLY_TOO_LATE;
    if (answer->reason != REASON_CONNECT_FAILURE &&
        answer->reason != REASON_PARENT_REFUSED)
        return REPLY_FAILURE;
    if (is_error(answer, "connection_refused"))
        return REPLY_REFUSED;
    return is_error(answer, "destination_ip_unroutable") ? REPLY_NETWORK_UNREACHABLE
                                                         : REPLY_HOST_UNREACHABLE;
}

static void answer_socks5(struct buf *out, const struct front_answer *answer)
{
    char reply[] = "\x05?\x00\x01\x00\x00\x00\x00\x00";

    reply[1] = reply_of(answer);
    buf_add(out, (struct str){reply, sizeof reply});
}

static void logged_in(struct buf *out, bool ok)
{
    buf_add(out, ok ? STR("\x01\x00") : STR("\x01\x01"));
}

/* RFC 1928 3: no method will do. */
const struct front front_socks5 = {"socks5", parse, answer_socks5, logged_in,
                                   STR("\x05\xff")};
