/* What an HTTP client is told. Many clients show nothing but the status line of a
 * refused CONNECT, some the body, none all of it: so the reason stands in the phrase,
 * for programs in Proxy-Status (RFC 9209) and X-Proxy-Error, and with the remedy in the
 * body. Nothing of the request is repeated but the host that was understood. */
#include "proxy/front_http_answer.h"

#include <stdio.h>

#include "proxy/policy/pattern.h"
#include "proxy/wording.h"

enum { AUTHORITY_MAX = HOST_NAME_MAX_LEN + 10, BODY_MAX = 2048 };

static bool is_address_reason(enum reason r)
{
    return r >= REASON_ADDRESS_LOOPBACK && r <= REASON_ADDRESS_OWN;
}

/* The header as the peer has it: programs look for these two words. */
static const char *proxy_error_field(const struct front_answer *answer)
{
    if (answer->status != 403)
        return "";
    switch (answer->reason) {
    case REASON_NOT_ON_ALLOW_LIST:
    case REASON_DENY_LIST:
    case REASON_POLICY_REVOKED:
        return "X-Proxy-Error: blocked-by-allowlist\r\n";
    default:
        return "X-Proxy-Error: blocked-by-sandbox-runtime\r\n";
    }
}

/* RFC 9110 15.5.8: without a challenge no client would log in. */
static const char *challenge_field(const struct front_answer *answer)
{
    return answer->status == 407 ? "Proxy-Authenticate: Basic realm=\"weir\"\r\n" : "";
}

/* The error types of RFC 9209 2.3. */
static const char *error_type(const struct front_answer *answer)
{
    if (answer->error != NULL)
        return answer->error;
    if (answer->status == 403 && is_address_reason(answer->reason))
        return "destination_ip_prohibited";
    if (answer->status == 403 || answer->status == 407)
        return "http_request_denied";
    if (answer->status < 500 || answer->status == 501)
        return "http_request_error";
    switch (answer->reason) {
    case REASON_DNS_FAILURE:
        return answer->status == 504 ? "dns_timeout" : "dns_error";
    case REASON_CONNECT_FAILURE:
    case REASON_PARENT_FAILURE:
    case REASON_PARENT_REFUSED:
        return "destination_unavailable";
    case REASON_TIMEOUT:
        return "connection_timeout";
    case REASON_LIMIT:
        return "connection_limit_reached";
    default:
        return "proxy_internal_error";
    }
}

static void write_authority(const struct target *t, char out[AUTHORITY_MAX])
{
    bool brackets = t->kind == HOST_ADDR && t->ip.family == 6;

    snprintf(out, AUTHORITY_MAX, brackets ? "[" STR_FMT "]:%u" : STR_FMT ":%u",
             STR_ARG(t->host), t->port);
}

/* What the owner of the settings can do; "" when nothing. `authority` is what to add.
 */
static void write_remedy(const struct front_answer *answer, const char *authority,
                         char *out, size_t size)
{
    const char *label = answer->label != NULL ? answer->label : "";
    bool is_name = answer->target->kind == HOST_NAME;

    out[0] = '\0';
    if (answer->status != 403)
        return;
    switch (answer->reason) {
    case REASON_DENY_LIST:
        snprintf(out, size, "To allow it, take it out of %snetwork.deniedDomains.\n",
                 label);
        return;
    case REASON_ADDRESS_UNCHECKED:
        snprintf(out, size,
                 "To allow it, set \"resolve\": \"local\" in network.parentProxy (or "
                 "mitmProxy), or take the rule out.\n");
        return;
    case REASON_ADDRESS_LISTED:
        snprintf(out, size, "The address is in %snetwork.deniedResolvedAddresses.\n",
                 label);
        return;
    case REASON_ADDRESS_LOOPBACK:
    case REASON_ADDRESS_LINK_LOCAL:
    case REASON_ADDRESS_METADATA:
    case REASON_ADDRESS_THIS_HOST:
    case REASON_ADDRESS_PRIVATE:
        if (is_name) {
            snprintf(out, size,
                     "To allow it, add that address with port %u, beside the name, to "
                     "%snetwork.allowedDomains.\n",
                     answer->target->port, label);
            return;
        }
        break;
    case REASON_NOT_ON_ALLOW_LIST:
        break;
    default:
        return;
    }
    if (!pattern_can_name(answer->target)) {
        snprintf(out, size,
                 "It cannot be allowed: names on the allow list have a dot in them.\n");
        return;
    }
    snprintf(out, size, "To allow it, add \"%s\" to %snetwork.allowedDomains.\n",
             authority, label);
}

static void write_body(const struct front_answer *answer, const char *why,
                       char out[BODY_MAX])
{
    const char *outcome = answer->status == 403 ? "blocked" : "failed";
    char authority[AUTHORITY_MAX], remedy[AUTHORITY_MAX + 128];

    if (answer->target == NULL || (answer->status != 403 && answer->status < 502)) {
        snprintf(out, BODY_MAX, "Request refused: %s (%s).\n", why,
                 reason_name(answer->reason));
        return;
    }
    write_authority(answer->target, authority);
    write_remedy(answer, authority, remedy, sizeof remedy);
    snprintf(out, BODY_MAX, "Connection to %s %s: %s (%s).\n%s", authority, outcome,
             why, reason_name(answer->reason), remedy);
}

static void refuse(struct buf *out, const struct front_answer *answer)
{
    char phrase[WORDING_MAX + 1], why[WORDING_MAX + 1], body[BODY_MAX];
    struct str said = answer->why;

    wording_clean(said, WORDING_ASCII, phrase);
    if (phrase[0] == '\0') {
        said = str_from(reason_text_of(answer->reason, answer->target));
        wording_clean(said, WORDING_ASCII, phrase);
    }
    write_body(answer, wording_clean(said, WORDING_UTF8, why), body);
    buf_printf(out,
               "HTTP/1.1 %u %s\r\n"
               "Content-Type: text/plain; charset=utf-8\r\n"
               "%s%s"
               "Proxy-Status: weir; error=%s; details=\"%s\"\r\n"
               "Content-Length: %zu\r\n"
               "Connection: %s\r\n"
               "\r\n"
               "%s",
               answer->status, phrase, challenge_field(answer),
               proxy_error_field(answer), error_type(answer),
               reason_name(answer->reason), strlen(body),
               answer->keep ? "keep-alive" : "close", answer->bodyless ? "" : body);
}

void front_http_answer(struct buf *out, const struct front_answer *answer)
{
    if (answer->ok)
        buf_add(out, STR("HTTP/1.1 200 Connection Established\r\n\r\n"));
    else
        refuse(out, answer);
}
