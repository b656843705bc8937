/* See dial.h. In the order of life: resolve, judge the addresses, let those that
 * survive race; and one deadline over it all. */
#include "proxy/dial.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "proxy/race.h"

_Static_assert((int)LOOKUP_MAX <= (int)RACE_MAX, "all addresses of a name can race");

struct dial {
    const struct dialler *dialler;
    struct policy *policy;       /* a reference of its own */
    const struct target *target; /* borrowed */
    enum dial_use use;
    dial_done_fn *done;
    void *owner;
    struct lookup *lookup; /* while resolving */
    struct race *race;     /* while connecting */
    ev_tstamp connecting;  /* since when */
    ev_timer deadline;
    struct addr allowed[LOOKUP_MAX];
    size_t count;
    struct dial_result result; /* so far */
};

static void dial_free(struct dial *d)
{
    if (d->lookup != NULL)
        lookup_cancel(&d->lookup);
    race_cancel(&d->race);
    ev_timer_stop(d->dialler->loop, &d->deadline);
    policy_unref(&d->policy);
    free(d);
}

static void finish(struct dial *d)
{
    struct dial_result result = d->result;
    struct policy *policy = policy_ref(d->policy);
    dial_done_fn *done = d->done;
    void *owner = d->owner;

    result.policy = policy;
    dial_free(d);
    done(owner, &result);
    policy_unref(&policy);
}

static void fail(struct dial *d, enum reason reason, const char *why, const char *error)
{
    d->result.verdict =
        (struct verdict){.reason = reason, .generation = policy_generation(d->policy)};
    d->result.why = why;
    d->result.error = error;
    finish(d);
}

static void connect_failed(struct dial *d, int error)
{
    static const struct {
        int error;
        enum reason reason;
        const char *why, *type;
    } known[] = {
        {ECONNREFUSED, REASON_CONNECT_FAILURE, "the server refused the connection",
         "connection_refused"},
        {EHOSTUNREACH, REASON_CONNECT_FAILURE, "no route to the host",
         "destination_ip_unroutable"},
        {ENETUNREACH, REASON_CONNECT_FAILURE, "no route to the network",
         "destination_ip_unroutable"},
        {ETIMEDOUT, REASON_TIMEOUT, "the server did not answer", NULL},
        {EMFILE, REASON_LIMIT, "the proxy has no descriptor left", NULL},
        {ENFILE, REASON_LIMIT, "the system has no descriptor left", NULL},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].error == error) {
            fail(d, known[i].reason, known[i].why, known[i].type);
            return;
        }
    }
    fail(d, REASON_CONNECT_FAILURE, strerrordesc_np(error), NULL);
}

static void on_raced(void *owner, const struct race_result *raced)
{
    struct dial *d = owner;

    d->race = NULL;
    d->result.addr = raced->addr;
    d->result.ms_connect = (ev_now(d->dialler->loop) - d->connecting) * 1000;
    if (raced->fd < 0) {
        connect_failed(d, raced->error);
        return;
    }
    d->result.fd = raced->fd;
    d->result.verdict.allow = true;
    finish(d);
}

static void connect_all(struct dial *d)
{
    d->connecting = ev_now(d->dialler->loop);
    d->race = race_start(d->dialler->loop, d->allowed, d->count, on_raced, d);
}

/* The address is judged as it was answered, so that what an IPv6 form hides is seen; an
 * IPv4-mapped one is then dialled as the IPv4 that it is. When none survives the
 * refusal is the first in the order of enum reason: it does not hang on the order of
 * answers. */
static void judge(struct dial *d, const struct ip *answered,
                  const struct hostaddrs *host)
{
    struct verdict v = {.reason = REASON_ADDRESS_THIS_HOST};
    struct ip ip = *answered;
    struct addr addr;

    /* Without this host's addresses any could be one of them. */
    if (host != NULL)
        v = policy_check_addr(d->policy, d->target, answered, host);
    ip_unmap(&ip);
    addr = addr_from_ip(&ip, d->target->port);
    if (v.allow) {
        d->allowed[d->count++] = addr;
    } else if (d->result.addr.len == 0 || v.reason < d->result.verdict.reason) {
        d->result.verdict = v;
        d->result.addr = addr;
    }
}

static void lookup_failed(struct dial *d, const struct lookup_result *found)
{
    static const struct {
        enum reason reason;
        const char *error;
    } failures[] = {
        [LOOKUP_FAILED] = {REASON_DNS_FAILURE, "dns_error"},
        [LOOKUP_NOT_FOUND] = {REASON_DNS_FAILURE, "dns_error"},
        [LOOKUP_TIMED_OUT] = {REASON_TIMEOUT, "dns_timeout"},
        [LOOKUP_BUSY] = {REASON_LIMIT, NULL},
    };

    fail(d, failures[found->status].reason, found->why, failures[found->status].error);
}

static void on_resolved(void *owner, const struct lookup_result *found)
{
    struct dial *d = owner;
    const struct hostaddrs *host = hostaddrs_now(d->dialler->host);

    d->lookup = NULL;
    d->result.ms_dns = found->seconds * 1000;
    if (found->status != LOOKUP_OK) {
        lookup_failed(d, found);
        return;
    }
    assert(found->count <= LOOKUP_MAX);
    for (size_t i = 0; i < found->count; i++)
        judge(d, &found->ips[i], host);
    if (d->count == 0)
        finish(d);
    else
        connect_all(d);
}

static void on_deadline(struct ev_loop *loop, ev_timer *w, int events)
{
    struct dial *d = w->data;

    (void)loop, (void)events;
    if (d->race != NULL) {
        d->result.addr = race_last(d->race);
        fail(d, REASON_TIMEOUT, "the server did not answer", NULL);
    } else {
        fail(d, REASON_TIMEOUT, "the name servers did not answer", "dns_timeout");
    }
}

struct dial *dial_start(const struct dialler *dialler, struct policy *policy,
                        const struct target *target, enum dial_use use,
                        const struct lookup_asker *asker, dial_done_fn *done,
                        void *owner)
{
    struct dial *d = calloc(1, sizeof *d);

    if (d == NULL)
        abort();
    d->dialler = dialler;
    d->policy = policy_ref(policy);
    d->target = target;
    d->use = use;
    d->done = done;
    d->owner = owner;
    d->result = (struct dial_result){.fd = -1, .ms_dns = -1, .ms_connect = -1};
    ev_timer_init(&d->deadline, on_deadline, dialler->seconds, 0);
    d->deadline.data = d;
    ev_timer_start(dialler->loop, &d->deadline);
    if (target->kind == HOST_ADDR) {
        /* It was judged as an address when it was judged as a target. */
        d->allowed[d->count++] = addr_from_ip(&target->ip, target->port);
        connect_all(d);
    } else {
        d->lookup =
            resolver_lookup(dialler->resolver, target->host, asker, on_resolved, d);
    }
    return d;
}

void dial_cancel(struct dial **d)
{
    if (*d != NULL)
        dial_free(*d);
    *d = NULL;
}
