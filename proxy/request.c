#include "proxy/request.h"

#include <assert.h>
#include <stdlib.h>

/* What an arena takes for one text beside its bytes: a NUL, rounding; and at its end.
 */
enum { ONE_TEXT = 16, ARENA_END = 16 };

void request_init(struct request *r, unsigned long id, ev_tstamp now)
{
    *r = (struct request){
        .started = now,
        .event = {.id = id, .ms_dns = -1, .ms_connect = -1, .ms = -1},
    };
}

void request_done(struct request *r)
{
    dial_cancel(&r->dial);
    arena_done(&r->arena);
}

/* The rule is put into words now: later there may be another policy. */
static bool note(struct request *r, const struct policy *p, struct verdict v)
{
    r->event.verdict = v;
    policy_rule_text(p, &v.rule, r->event.rule, sizeof r->event.rule);
    return v.allow;
}

/* Without this host's addresses any could be one of them: `host` NULL denies. */
static struct verdict check_target(const struct request *r, const struct session *s,
                                   const struct hostaddrs *host)
{
    struct verdict v = {.reason = REASON_ADDRESS_THIS_HOST};

    if (host != NULL)
        v = policy_check_target(s->policy, &r->target, host);
    return v;
}

bool request_judge_target(struct request *r, const struct session *s)
{
    return note(r, s->policy, check_target(r, s, hostaddrs_now(s->core->dialler.host)));
}

/* The texts of a tunnel into an arena that just holds them. A server name that is the
 * target's, as nearly all are, is not kept twice. */
static void repack(struct request *r)
{
    struct arena old = r->arena;
    bool same = str_equal(r->event.sni, r->target.host);
    size_t other = same || r->event.sni.n == 0 ? 0 : r->event.sni.n + ONE_TEXT;

    if (r->event.via != NULL)
        other += strlen(r->event.via) + ONE_TEXT;
    arena_init(&r->arena, r->target.host.n + ONE_TEXT + other + ARENA_END);
    r->target.host = arena_dup(&r->arena, r->target.host);
    if (same)
        r->event.sni = r->target.host;
    else if (r->event.sni.n > 0)
        r->event.sni = arena_dup(&r->arena, r->event.sni);
    if (r->event.via != NULL)
        r->event.via = arena_dup(&r->arena, str_from(r->event.via)).p;
    r->why = NULL;
    arena_done(&old);
}

bool request_judge_hello(struct request *r, const struct session *s,
                         enum hello_kind kind, struct str name)
{
    struct verdict v = policy_check_hello(s->policy, &r->target, kind, name);

    r->hello = kind;
    r->hello_seen = true;
    r->event.sni = name;
    repack(r);
    /* An allowed hello changes nothing: what let the tunnel through is the target. */
    return v.allow || note(r, s->policy, v);
}

static struct verdict judge_all(const struct request *r, const struct session *s)
{
    const struct hostaddrs *host = hostaddrs_now(s->core->dialler.host);
    struct verdict v = check_target(r, s, host), more;
    struct ip ip = addr_ip(&r->event.addr);

    if (!v.allow)
        return v;
    if (r->target.kind == HOST_NAME && ip.family != 0) {
        more = policy_check_addr(s->policy, &r->target, &ip, host);
        if (!more.allow)
            return more;
    } else if (r->event.via != NULL) {
        more = policy_check_unresolved(s->policy, &r->target);
        if (!more.allow)
            return more;
    }
    if (r->hello_seen) {
        more = policy_check_hello(s->policy, &r->target, r->hello, r->event.sni);
        if (!more.allow)
            return more;
    }
    return v;
}

bool request_judge_again(struct request *r, const struct session *s)
{
    if (r->event.verdict.generation == policy_generation(s->policy))
        return r->event.verdict.allow;
    return note(r, s->policy, judge_all(r, s));
}

void request_refuse(struct request *r, enum reason reason)
{
    r->event.verdict = (struct verdict){.reason = reason};
    r->event.rule[0] = '\0';
}

/* Clients that have a session each are told apart by that, wherever they are. */
static struct lookup_asker whose(const struct session *s, const struct ip *from)
{
    return (struct lookup_asker){.known = s->door != NULL ? s : NULL, .ip = *from};
}

void request_dial(struct request *r, const struct session *s, const struct ip *from,
                  enum dial_use use, dial_done_fn *done, void *owner)
{
    struct lookup_asker asker = whose(s, from);
    struct dial_ask ask = {.policy = s->policy,
                           .parents = s->parents,
                           .target = &r->target,
                           .use = use,
                           .asker = &asker};

    assert(r->event.verdict.allow && r->dial == NULL);
    r->dial = dial_start(&s->core->dialler, &ask, done, owner);
}

/* The name of a parent outlives the table that it stands in. That there was one is
 * known also when there is no room for its name: no address was checked then. */
static void note_via(struct request *r, const char *via)
{
    struct str copy = {NULL, 0};

    if (via != NULL)
        copy = arena_dup(&r->arena, str_from(via));
    r->event.via = via != NULL && copy.p == NULL ? "a parent proxy" : copy.p;
}

void request_dialled(struct request *r, const struct dial_result *result)
{
    r->dial = NULL;
    r->event.addr = result->addr;
    r->event.ms_dns = result->ms_dns;
    r->event.ms_connect = result->ms_connect;
    note_via(r, result->via);
    if (result->fd >= 0)
        return;
    note(r, result->policy, result->verdict);
    r->error = result->error;
    if (result->why != NULL)
        r->why = arena_dup(&r->arena, str_from(result->why)).p;
}

struct str request_own_words(const struct request *r, const struct session *s)
{
    const struct verdict *v = &r->event.verdict;

    /* The entries of another policy are others. */
    if (v->reason != REASON_DENY_LIST || v->generation != policy_generation(s->policy))
        return (struct str){NULL, 0};
    return policy_deny_text(s->policy, &v->rule);
}

struct str request_why(const struct request *r, const struct session *s)
{
    struct str own = request_own_words(r, s);

    if (own.n > 0)
        return own;
    return str_from(
        r->why != NULL ? r->why : reason_text_of(r->event.verdict.reason, &r->target));
}

void request_shrink(struct request *r)
{
    repack(r);
}

void request_end(struct request *r, const struct session *s, const struct ip *from)
{
    struct core *core = s->core;
    char client[IP_TEXT_MAX];

    if (!r->begun)
        return;
    r->begun = false;
    r->event.session = str_from(s->name);
    if (from->family != 0)
        r->event.client = str_from(ip_text(from, client));
    r->event.target = r->target.kind != HOST_NONE ? &r->target : NULL;
    r->event.ms = (ev_now(core->loop) - r->started) * 1000;
    counters_request(&core->counters, &r->event);
    if (core->audit != NULL)
        audit_write(core->audit, &r->event);
    if (s->on_event != NULL)
        s->on_event(s->on_event_owner, &r->event);
}
