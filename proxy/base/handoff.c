/* Both ends of the hand-off. What the other end says and hands over is hostile until it
 * has been looked at: the message by a strict scan and a list of keys, each descriptor
 * by what the kernel says that it is. */
#include "proxy/base/handoff.h"

#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "proxy/base/addr.h"
#include "proxy/base/buf.h"
#include "proxy/base/json.h"
#include "proxy/base/utf8.h"

enum { ANSWER_MAX = 2048, WHY_MAX = 256 };

static const char *const kind_names[] = {
    [HANDOFF_PROXY] = "proxy",
    [HANDOFF_DNS] = "dns",
    [HANDOFF_TRANSPARENT] = "transparent",
};

static enum handoff_socket kind_from(const char *name)
{
    for (size_t i = HANDOFF_PROXY; i <= HANDOFF_TRANSPARENT; i++)
        if (strcmp(kind_names[i], name) == 0)
            return (enum handoff_socket)i;
    return HANDOFF_NONE;
}

/* A name shows in audit lines and picks a policy: never a path, never hidden. */
static bool is_name(const char *name)
{
    size_t n = strlen(name);

    return n > 0 && n <= HANDOFF_NAME_MAX && name[0] != '.' &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                        "0123456789._-") == n;
}

static bool copy_name(const cJSON *object, const char *key,
                      char out[HANDOFF_NAME_MAX + 1], struct err *e)
{
    const cJSON *node = json_get(object, key);

    if (!cJSON_IsString(node) || !is_name(node->valuestring))
        return err_set(e,
                       "%s: expected 1 to %d of the characters A-Z a-z 0-9 . _ -, "
                       "not beginning with a dot",
                       key, HANDOFF_NAME_MAX);
    memcpy(out, node->valuestring, strlen(node->valuestring) + 1);
    return true;
}

static bool read_sockets(const cJSON *object, struct handoff_attach *out, struct err *e)
{
    const cJSON *list = json_get(object, "sockets"), *node;

    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) < 1)
        return err_set(e, "sockets: expected a list of at least one");
    cJSON_ArrayForEach(node, list) {
        enum handoff_socket kind =
            cJSON_IsString(node) ? kind_from(node->valuestring) : HANDOFF_NONE;

        if (out->count == FD_PASS_MAX)
            return err_set(e, "sockets: more than %d", FD_PASS_MAX);
        if (kind == HANDOFF_NONE)
            return err_set(e,
                           "sockets[%zu]: expected \"proxy\", \"dns\" or "
                           "\"transparent\"",
                           out->count);
        out->kinds[out->count++] = kind;
    }
    return true;
}

static bool read_attach(const cJSON *root, struct handoff_attach *out, struct err *e)
{
    static const char *const verbs[] = {"attach", NULL};
    static const char *const keys[] = {"session", "policy", "sockets", NULL};
    const cJSON *attach = json_get(root, "attach"), *bad;

    if (!cJSON_IsObject(attach))
        return err_set(e, "expected an object with \"attach\"");
    if (!json_only_keys(root, verbs, &bad, e) || !json_only_keys(attach, keys, &bad, e))
        return false;
    return copy_name(attach, "session", out->session, e) &&
           copy_name(attach, "policy", out->policy, e) && read_sockets(attach, out, e);
}

bool handoff_parse_attach(struct str message, struct handoff_attach *out, struct err *e)
{
    struct handoff_attach attach = {.count = 0};
    struct json_doc *doc = NULL;
    bool ok = json_parse(message, JSON_PROTOCOL, &doc, e) &&
              read_attach(json_root(doc), &attach, e);

    json_free(&doc);
    if (!ok)
        return err_wrap(e, "hand-off message");
    memcpy(attach.fds, out->fds, sizeof attach.fds);
    *out = attach;
    return true;
}

static int option(int fd, int name)
{
    int value = -1;
    socklen_t len = sizeof value;

    return getsockopt(fd, SOL_SOCKET, name, &value, &len) == 0 ? value : -1;
}

/* A connected datagram socket hears one peer only, of the sender's choice. */
static bool is_connected(int fd)
{
    struct addr peer = {.len = sizeof peer.v6};

    return getpeername(fd, &peer.sa, &peer.len) == 0;
}

static bool is_bound(int fd)
{
    struct addr own = {.len = sizeof own.v6};

    return getsockname(fd, &own.sa, &own.len) == 0 && addr_port(&own) != 0;
}

/* NULL when `fd` is what `kind` says. Each question is the kernel's to answer; what is
 * no socket at all fails the first. */
static const char *wrong_socket(int fd, enum handoff_socket kind)
{
    int domain = option(fd, SO_DOMAIN), type = option(fd, SO_TYPE);
    int protocol = option(fd, SO_PROTOCOL);
    bool datagram = kind == HANDOFF_DNS && type == SOCK_DGRAM;

    if (domain != AF_INET && domain != AF_INET6)
        return "is not an internet socket";
    if (datagram && protocol != IPPROTO_UDP)
        return "is a datagram socket of another protocol than UDP";
    if (datagram)
        return is_bound(fd) && !is_connected(fd) ? NULL
                                                 : "is not bound, or is connected";
    if (type != SOCK_STREAM || protocol != IPPROTO_TCP)
        return "is not a TCP socket";
    return option(fd, SO_ACCEPTCONN) == 1 ? NULL : "does not listen";
}

static bool check_sockets(const struct handoff_attach *attach, struct err *e)
{
    for (size_t i = 0; i < attach->count; i++) {
        const char *wrong = wrong_socket(attach->fds[i], attach->kinds[i]);

        if (wrong != NULL)
            return err_set(e, "sockets[%zu]: \"%s\": the descriptor %s", i,
                           kind_names[attach->kinds[i]], wrong);
    }
    return true;
}

enum fd_recv handoff_take(int control, struct handoff_attach *out, struct err *e)
{
    char message[HANDOFF_MESSAGE_MAX];
    struct handoff_attach attach = {.count = 0};
    size_t len, count;
    enum fd_recv result =
        fd_recv(control, message, sizeof message, &len, attach.fds, &count, e);
    bool ok;

    if (result != FD_RECV_OK)
        return result;
    ok = handoff_parse_attach((struct str){message, len}, &attach, e) &&
         (attach.count == count ||
          err_set(e, "%zu sockets named, %zu handed over", attach.count, count)) &&
         check_sockets(&attach, e);
    if (ok) {
        *out = attach;
        return FD_RECV_OK;
    }
    for (size_t i = 0; i < count; i++)
        close(attach.fds[i]);
    return FD_RECV_ERROR;
}

bool handoff_accept(int control, const char *session, struct err *e)
{
    char message[ANSWER_MAX];
    int n;

    assert(is_name(session));
    n = snprintf(message, sizeof message, "{\"attached\":{\"session\":\"%s\"}}",
                 session);
    return fd_send(control, message, (size_t)n, NULL, 0, e);
}

bool handoff_refuse(int control, const char *why, struct err *e)
{
    char message[ANSWER_MAX], quoted[ANSWER_MAX - 16];
    size_t quoted_len =
        json_quote(utf8_head(str_from(why), WHY_MAX), quoted, sizeof quoted);
    int n =
        snprintf(message, sizeof message, "{\"error\":%.*s}", (int)quoted_len, quoted);

    assert(quoted_len > 0);
    return fd_send(control, message, (size_t)n, NULL, 0, e);
}

static bool write_attach(const struct handoff_attach *attach, struct buf *out)
{
    bool ok = buf_printf(out, "{\"attach\":{\"session\":\"%s\",\"policy\":\"%s\"",
                         attach->session, attach->policy);

    for (size_t i = 0; i < attach->count; i++)
        ok = ok && buf_printf(out, "%s\"%s\"", i == 0 ? ",\"sockets\":[" : ",",
                              kind_names[attach->kinds[i]]);
    return ok && buf_add(out, STR("]}}"));
}

static bool send_attach(int control, const struct handoff_attach *attach, struct err *e)
{
    struct buf message;
    struct str text;
    bool ok;

    assert(attach->count >= 1 && attach->count <= FD_PASS_MAX);
    if (!is_name(attach->session) || !is_name(attach->policy))
        return err_set(e, "session \"%s\" or policy \"%s\" is not a name",
                       attach->session, attach->policy);
    buf_init(&message, HANDOFF_MESSAGE_MAX);
    ok = write_attach(attach, &message);
    assert(ok);
    text = buf_view(&message);
    ok = fd_send(control, text.p, text.n, attach->fds, attach->count, e);
    buf_done(&message);
    return ok;
}

static bool read_answer(const cJSON *root, const char *session, struct err *e)
{
    const cJSON *why = json_get(root, "error");
    const cJSON *accepted = json_get(json_get(root, "attached"), "session");

    if (cJSON_IsString(why))
        return err_set(e, "the core refused: %.300s", why->valuestring);
    if (!cJSON_IsString(accepted) || strcmp(accepted->valuestring, session) != 0)
        return err_set(e, "the core sent no answer to this session");
    return true;
}

/* The core hands nothing over here; what comes all the same is closed. */
static bool await_answer(int control, const char *session, struct err *e)
{
    char message[HANDOFF_MESSAGE_MAX];
    struct json_doc *doc = NULL;
    int fds[FD_PASS_MAX];
    size_t len, count;
    bool ok;

    switch (fd_recv(control, message, sizeof message, &len, fds, &count, e)) {
    case FD_RECV_OK:
        break;
    case FD_RECV_AGAIN:
    case FD_RECV_GONE:
        return err_set(e, "the core went away without an answer");
    case FD_RECV_ERROR:
        return false;
    }
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
    ok = json_parse((struct str){message, len}, JSON_PROTOCOL, &doc, e) &&
         read_answer(json_root(doc), session, e);
    json_free(&doc);
    return ok;
}

bool handoff_offer(int control, const struct handoff_attach *attach, struct err *e)
{
    if (!send_attach(control, attach, e) || !await_answer(control, attach->session, e))
        return err_wrap(e, "hand-off");
    return true;
}
