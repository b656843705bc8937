/* HTTP/1 as the way to ask: CONNECT (RFC 9110 9.3.6), and plain requests in absolute
 * form (RFC 9112 3.2.2). The authority alone says where to go; a Host that says
 * something else is no second vote, since Java, node and others send one that differs.
 */
#include "proxy/base/http.h"
#include "proxy/basic_login.h"
#include "proxy/front.h"
#include "proxy/front_http_answer.h"
#include "proxy/front_raw.h"

enum { PLAIN_PORT = 80 };

static enum front_parse refuse(struct front_asked *asked, unsigned status,
                               enum reason reason, const char *why)
{
    asked->status = status;
    asked->reason = reason;
    asked->why = why;
    return FRONT_REFUSED;
}

static enum front_parse refuse_host(struct front_asked *asked, struct arena *a,
                                    struct str authority, const char *why)
{
    asked->raw = front_raw(a, authority);
    return refuse(asked, 400, REASON_MALFORMED_HOST, why);
}

/* The head could not be read. What was asked for may still show. */
static enum front_parse refuse_head(struct front_asked *asked, struct arena *a,
                                    struct str in, const char *why)
{
    struct str rest = str_skip(in, STR("CONNECT ").n), line, authority;

    if (!str_starts(in, STR("CONNECT ")))
        return refuse(asked, 400, REASON_MALFORMED_REQUEST, why);
    asked->form = "connect";
    line = str_cut(&rest, '\r');
    line = str_cut(&line, '\n');
    authority = str_cut(&line, ' ');
    asked->raw = front_raw(a, authority);
    return refuse(asked, 400, REASON_MALFORMED_REQUEST, why);
}

static enum front_parse parse_connect(const struct http_head *head, struct arena *a,
                                      struct front_asked *asked)
{
    asked->form = "connect";
    if (!target_parse(&asked->target, a, head->target))
        return refuse_host(asked, a, head->target,
                           "the target of CONNECT is not HOST:PORT with a host name, "
                           "an IPv4 address or an IPv6 address in brackets");
    if (head->has_body)
        return refuse(asked, 400, REASON_MALFORMED_REQUEST, "a CONNECT has no body");
    return FRONT_DONE;
}

/* The authority of "http://AUTHORITY/...": the port may be missing here. */
static bool parse_authority(struct target *t, struct arena *a, struct str authority)
{
    if (str_starts(authority, STR("[")) && str_ends(authority, STR("]")))
        return target_set(t, a, str_skip(str_head(authority, authority.n - 1), 1), true,
                          PLAIN_PORT);
    if (authority.n > 0 && memchr(authority.p, ':', authority.n) != NULL)
        return target_parse(t, a, authority);
    return target_set(t, a, authority, false, PLAIN_PORT);
}

/* RFC 9112 3.2: of a plain request it must be there, and could be a host; what it says
 * does not matter, since the server gets one made from the target. */
static const char *wrong_host(const struct http_head *head)
{
    const struct str *host = http_get(head, STR("Host"));

    if (host == NULL)
        return head->minor == 0 ? NULL : "no Host in a request of HTTP/1.1";
    for (size_t i = 0; i < host->n; i++)
        if ((unsigned char)host->p[i] >= 0x80 ||
            strchr("@/\\#?,\" \t<>", host->p[i]) != NULL)
            return "a Host that is none";
    return NULL;
}

/* What stands before the path. A query without a path is refused with what it stands
 * in: others read "http://a?@b/" as b. */
static struct str cut_authority(struct str *rest)
{
    const char *slash = rest->n > 0 ? memchr(rest->p, '/', rest->n) : NULL;
    struct str whole = *rest;

    *rest = str_skip(whole, slash != NULL ? (size_t)(slash - whole.p) : whole.n);
    return str_head(whole, whole.n - rest->n);
}

/* The target as a server wants it (RFC 9112 3.2.1, 3.2.4). */
static struct str origin_form(const struct http_head *head, struct str path)
{
    if (path.n > 0)
        return path;
    return str_equal(head->method, STR("OPTIONS")) ? STR("*") : STR("/");
}

static enum front_parse accept_plain(const struct http_head *head, struct arena *a,
                                     struct front_asked *asked, struct str path)
{
    struct http_head *copy = arena_alloc(a, sizeof *copy);

    if (copy == NULL)
        return refuse(asked, 431, REASON_LIMIT, "the request head is too large");
    *copy = *head;
    copy->target = origin_form(head, path);
    asked->head = copy;
    return FRONT_DONE;
}

static enum front_parse parse_plain(const struct http_head *head, struct arena *a,
                                    struct front_asked *asked)
{
    struct str rest = head->target, scheme = str_head(rest, STR("http://").n), host;

    asked->form = "http";
    if (str_starts(rest, STR("/")) || str_equal(rest, STR("*")))
        return refuse(asked, 400, REASON_NOT_SUPPORTED,
                      "this is a proxy, no web server: it takes CONNECT, and requests "
                      "with a full http:// URL");
    if (!str_equal_nocase(scheme, STR("http://")))
        return refuse(asked, 400, REASON_MALFORMED_REQUEST,
                      "the target is no http:// URL (https:// goes by CONNECT)");
    rest = str_skip(rest, scheme.n);
    host = cut_authority(&rest);
    if (!parse_authority(&asked->target, a, host))
        return refuse_host(asked, a, host,
                           "the host of the URL is not a host name or an address, "
                           "followed by a slash");
    if (rest.n > 0 && (memchr(rest.p, '#', rest.n) || memchr(rest.p, '\\', rest.n)))
        return refuse(asked, 400, REASON_MALFORMED_REQUEST,
                      "a # or a backslash in the URL");
    if (wrong_host(head) != NULL)
        return refuse(asked, 400, REASON_MALFORMED_REQUEST, wrong_host(head));
    if (str_equal(head->method, STR("TRACE")))
        return refuse(asked, 501, REASON_NOT_SUPPORTED,
                      "TRACE is not proxied: it shows what others added to a request");
    return accept_plain(head, a, asked, rest);
}

/* Of several credentials none is the one. */
static struct login read_login(const struct http_head *head, struct arena *a)
{
    static const struct str name = {"Proxy-Authorization", 19};
    const struct str *value = http_get(head, name);

    if (value == NULL)
        return (struct login){.given = false};
    return http_count(head, name) > 1 ? (struct login){.given = true}
                                      : basic_login_parse(*value, a);
}

static enum front_parse parse(const struct front_call *call, struct front_asked *asked,
                              size_t *used)
{
    struct arena *a = call->arena;
    struct http_head head;
    enum front_parse result;
    const char *why = "";
    size_t head_len;

    *asked = (struct front_asked){.form = "http"};
    switch (http_parse_request(call->in, call->head_max, a, &head, &head_len, &why)) {
    case HTTP_MORE:
        return FRONT_MORE;
    case HTTP_BAD:
        return refuse_head(asked, a, call->in, why);
    case HTTP_TOO_LARGE:
        return refuse(asked, 431, REASON_LIMIT, "the request head is too large");
    case HTTP_DONE:
        break;
    }
    result = str_equal(head.method, STR("CONNECT")) ? parse_connect(&head, a, asked)
                                                    : parse_plain(&head, a, asked);
    if (result == FRONT_DONE) {
        *used = head_len;
        asked->login = read_login(&head, a);
    }
    return result;
}

const struct front front_http = {"http", parse, front_http_answer, NULL, STR("")};
