/* See dial.h. In the order of life: resolve, judge the addresses, let those that
 * survive race, or ask a parent for one; and one deadline over it all. */
#include "proxy/dial.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "proxy/connect_error.h"
#include "proxy/parents.h"
#include "proxy/passage.h"
#include "proxy/race.h"

_Static_assert((int)LOOKUP_MAX <= (int)RACE_MAX, "all addresses of a name can race");

struct dial {
    const struct dialler *dialler;
    struct policy *policy;       /* a reference of its own */
    struct parents *parents;     /* as well; NULL: none */
    const struct parent *parent; /* of these, to go through; NULL: directly */
    const struct target *target; /* borrowed */
    enum dial_use use;
    dial_done_fn *done;
    void *owner;
    struct lookup *lookup; /* while resolving */
    struct race *race;     /* while connecting */
    struct passage *passage;
    struct target through; /* what the parent is asked for instead of the name */
    char through_text[IP_TEXT_MAX];
    bool refused;         /* before anything was started */
    ev_tstamp connecting; /* since when */
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
    passage_cancel(&d->passage);
    ev_timer_stop(d->dialler->loop, &d->deadline);
    policy_unref(&d->policy);
    parents_unref(&d->parents);
    free(d);
}

static void finish(struct dial *d)
{
    struct dial_result result = d->result;
    struct policy *policy = policy_ref(d->policy);
    struct parents *parents = parents_ref(d->parents);
    dial_done_fn *done = d->done;
    void *owner = d->owner;

    result.policy = policy;
    dial_free(d);
    done(owner, &result);
    policy_unref(&policy);
    parents_unref(&parents);
}

static void fail(struct dial *d, enum reason reason, const char *why, const char *error)
{
    d->result.verdict =
        (struct verdict){.reason = reason, .generation = policy_generation(d->policy)};
    d->result.why = why;
    d->result.error = error;
    finish(d);
}

static void on_raced(void *owner, const struct race_result *raced)
{
    struct dial *d = owner;

    d->race = NULL;
    d->result.addr = raced->addr;
    d->result.ms_connect = (ev_now(d->dialler->loop) - d->connecting) * 1000;
    if (raced->fd < 0) {
        struct connect_error c = connect_error(raced->error);

        fail(d, c.reason, c.why, c.error);
        return;
    }
    d->result.fd = raced->fd;
    d->result.verdict.allow = true;
    finish(d);
}

static void on_passed(void *owner, const struct passage_result *passed)
{
    struct dial *d = owner;

    d->passage = NULL;
    d->result.ms_connect = (ev_now(d->dialler->loop) - d->connecting) * 1000;
    if (passed->fd < 0) {
        fail(d, passed->reason, passed->why, passed->error);
        return;
    }
    d->result.fd = passed->fd;
    d->result.layer = passed->layer;
    d->result.authorization = d->parent->authorization;
    d->result.verdict.allow = true;
    finish(d);
}

/* A parent has one try. IPv4 is what nearly all of them have a way to. */
static const struct addr *choose(const struct dial *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->allowed[i].sa.sa_family == AF_INET)
            return &d->allowed[i];
    return &d->allowed[0];
}

/* What the parent connects to: the address that was checked, where there is one. */
static const struct target *ask_for(struct dial *d)
{
    if (d->count == 0)
        return d->target;
    d->result.addr = *choose(d);
    d->through = (struct target){
        .kind = HOST_ADDR, .ip = addr_ip(&d->result.addr), .port = d->target->port};
    d->through.host = str_from(ip_text(&d->through.ip, d->through_text));
    return &d->through;
}

/* A request is given whole to a parent that speaks HTTP. One for a name that was
 * resolved here is not: the parent would resolve it once more. */
static bool is_given_whole(const struct dial *d)
{
    return d->use == DIAL_EXCHANGE && d->parent->kind == PARENT_HTTP &&
           (d->target->kind == HOST_ADDR || !d->parent->resolve_local);
}

static void pass(struct dial *d)
{
    const struct target *to = ask_for(d);

    d->result.absolute = is_given_whole(d);
    d->passage = passage_start(d->dialler, d->parent, d->result.absolute ? NULL : to,
                               on_passed, d);
}

static void connect_all(struct dial *d)
{
    d->connecting = ev_now(d->dialler->loop);
    if (d->parent != NULL)
        pass(d);
    else
        d->race = race_start(d->dialler->loop, d->dialler->spare, d->allowed, d->count,
                             on_raced, d);
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
    if (d->refused) {
        finish(d);
    } else if (d->passage != NULL) {
        struct passage_result late = passage_late(d->passage);
        char why[TALK_WHY_MAX];

        snprintf(why, sizeof why, "%s", late.why);
        fail(d, late.reason, why, late.error);
    } else if (d->race != NULL) {
        d->result.addr = race_last(d->race);
        fail(d, REASON_TIMEOUT, "the server did not answer", NULL);
    } else {
        fail(d, REASON_TIMEOUT, "the name servers did not answer", "dns_timeout");
    }
}

/* False: nobody would check the addresses of the name. */
static bool choose_way(struct dial *d)
{
    struct verdict v;

    d->parent = parents_route(d->parents, d->target, d->use);
    if (d->parent == NULL)
        return true;
    d->result.via = d->parent->name;
    if (d->parent->resolve_local)
        return true;
    v = policy_check_unresolved(d->policy, d->target);
    if (!v.allow)
        d->result.verdict = v;
    return v.allow;
}

static void start(struct dial *d, const struct lookup_asker *asker)
{
    const struct target *t = d->target;

    if (!choose_way(d)) {
        d->refused = true;
        ev_feed_event(d->dialler->loop, &d->deadline, EV_TIMER);
    } else if (t->kind == HOST_ADDR) {
        /* It was judged as an address when it was judged as a target. */
        d->allowed[d->count++] = addr_from_ip(&t->ip, t->port);
        connect_all(d);
    } else if (d->parent != NULL && !d->parent->resolve_local) {
        connect_all(d);
    } else {
        d->lookup =
            resolver_lookup(d->dialler->resolver, t->host, asker, on_resolved, d);
    }
}

struct dial *dial_start(const struct dialler *dialler, const struct dial_ask *ask,
                        dial_done_fn *done, void *owner)
{
    struct dial *d = calloc(1, sizeof *d);

    if (d == NULL)
        abort();
    d->dialler = dialler;
    d->policy = policy_ref(ask->policy);
    d->parents = parents_ref(ask->parents);
    d->target = ask->target;
    d->use = ask->use;
    d->done = done;
    d->owner = owner;
    d->result = (struct dial_result){.fd = -1, .ms_dns = -1, .ms_connect = -1};
    ev_timer_init(&d->deadline, on_deadline, dialler->seconds, 0);
    d->deadline.data = d;
    ev_timer_start(dialler->loop, &d->deadline);
    start(d, ask->asker);
    return d;
}

void dial_cancel(struct dial **d)
{
    if (*d != NULL)
        dial_free(*d);
    *d = NULL;
}
