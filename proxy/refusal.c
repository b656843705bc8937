#include "proxy/refusal.h"

static unsigned status_of(enum reason reason)
{
    switch (reason) {
    case REASON_DNS_FAILURE:
    case REASON_CONNECT_FAILURE:
    case REASON_BAD_RESPONSE:
    case REASON_PARENT_FAILURE:
    case REASON_PARENT_REFUSED:
        return 502;
    case REASON_TIMEOUT:
        return 504;
    case REASON_LIMIT:
        return 503;
    default:
        return 403;
    }
}

/* OpenSSH shows no answer of a proxy, but it prints the reason of a disconnect. So the
 * user's own words about a denied host reach it as that, from a server that we play. */
static bool write_ssh(struct buf *out, const struct front *front,
                      const struct request *r, const struct session *s)
{
    struct front_answer answer = {.ok = true, .target = &r->target};
    struct str own = request_own_words(r, s);

    if (r->plain || r->target.port != REFUSAL_SSH_PORT || own.n == 0)
        return false;
    front->answer(out, &answer);
    return front_ssh_refusal(out, own);
}

static void write_answer(struct buf *out, const struct front *front,
                         const struct request *r, unsigned status, struct str why,
                         bool keep, const char *label)
{
    struct front_answer answer = {
        .label = label,
        .status = status,
        .reason = r->event.verdict.reason,
        .why = why,
        .error = r->error,
        .target = r->target.kind != HOST_NONE ? &r->target : NULL,
        .keep = keep,
        .bodyless = r->bodyless,
    };

    if (front == NULL)
        front = &front_http;
    front->answer(out, &answer);
}

void refusal_write_as(struct buf *out, const struct front *front,
                      const struct request *r, unsigned status, struct str why,
                      bool keep)
{
    write_answer(out, front, r, status, why, keep, NULL);
}

void refusal_write(struct buf *out, const struct front *front, const struct request *r,
                   const struct session *s, bool keep)
{
    if (!write_ssh(out, front, r, s))
        write_answer(out, front, r, status_of(r->event.verdict.reason),
                     request_why(r, s), keep,
                     policy_remedy_label(s->policy, &r->event.verdict));
}
