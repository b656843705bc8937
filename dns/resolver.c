#include "dns/resolver.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

#include "dns/known.h"
#include "dns/question.h"
#include "dns/servers.h"
#include "dns/shares.h"
#include "proxy/base/target.h"

/* What one asker may have of the names that can be asked for at once. */
enum { SHARES = 4 };

static const struct resolver_options defaults = {
    .hosts_file = "/etc/hosts",
    .resolv_conf = "/etc/resolv.conf",
    .deadline = 5,
    .outstanding_max = 1000,
    .waiting_max = 10000,
    .cache_max = 10000,
    .ttl_floor = 1,
    .ttl_ceiling = 300,
    .negative_ttl = 2,
};

TAILQ_HEAD(lookups, lookup);

struct lookup {
    struct resolver *resolver;
    lookup_done_fn *done;
    void *owner;
    double started;
    bool cached;           /* nobody was asked */
    struct shared *shared; /* what it waits for; NULL when `answer` is there */
    struct answer *answer;
    TAILQ_ENTRY(lookup) next; /* in shared->waiting, or in resolver->ready */
};

/* A name that the servers are being asked for, and who wants to know. */
struct shared {
    struct resolver *resolver;
    const char *name; /* stands behind this struct */
    struct share
        *share; /* of who asked first, also when it does not wait any more; NULL */
    struct lookups waiting;
};

struct resolver {
    struct ev_loop *loop;           /* borrowed */
    struct resolver_options limits; /* its texts are not kept */
    struct servers *servers;
    struct known *known;
    struct shares shares;
    void *asking;         /* struct shared by name, of tsearch() */
    unsigned waiting;     /* lookups in all of them */
    struct lookups ready; /* to be delivered, the oldest first */
    unsigned ready_count;
    ev_timer deliver; /* runs when `ready` is not empty */
};

/* Goes on while the machine sleeps: what was cached before that is old then. */
static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct resolver_options with_defaults(const struct resolver_options *o)
{
    struct resolver_options all = *o;

#define FILL(field) all.field = all.field != 0 ? all.field : defaults.field
    FILL(hosts_file);
    FILL(resolv_conf);
    FILL(deadline);
    FILL(outstanding_max);
    if (all.share_max == 0)
        all.share_max = (all.outstanding_max + SHARES - 1) / SHARES;
    FILL(waiting_max);
    FILL(cache_max);
    FILL(ttl_floor);
    FILL(ttl_ceiling);
    FILL(negative_ttl);
#undef FILL
    return all;
}

static void on_deliver(struct ev_loop *loop, ev_timer *w, int revents);

bool resolver_new(struct ev_loop *loop, const struct resolver_options *options,
                  struct resolver **out, struct err *e)
{
    struct resolver_options all = with_defaults(options);
    struct resolver *r = calloc(1, sizeof *r);

    if (r == NULL)
        abort();
    if (!servers_new(loop, &all, &r->servers, e)) {
        free(r);
        return false;
    }
    r->loop = loop;
    r->known = known_new(&all);
    r->limits = all;
    r->limits.servers = NULL;
    r->limits.hosts_file = r->limits.resolv_conf = NULL;
    TAILQ_INIT(&r->ready);
    ev_timer_init(&r->deliver, on_deliver, 0., 0.);
    r->deliver.data = r;
    *out = r;
    return true;
}

void resolver_free(struct resolver **rp)
{
    struct resolver *r = *rp;

    if (r == NULL)
        return;
    assert(r->waiting == 0 && r->ready_count == 0);
    servers_free(&r->servers); /* ends the questions that nobody waits for */
    assert(r->asking == NULL && r->shares.root == NULL);
    ev_timer_stop(r->loop, &r->deliver);
    known_free(&r->known);
    free(r);
    *rp = NULL;
}

/* Answers may be there within resolver_lookup() already (the hosts file, the cache, a
 * send() that fails), and c-ares brings them from deep within its calls. Our callers
 * are promised neither: they are called from a timer, that fires at once. */
static void make_ready(struct lookup *l, struct answer *a)
{
    struct resolver *r = l->resolver;

    l->shared = NULL;
    l->answer = answer_ref(a);
    TAILQ_INSERT_TAIL(&r->ready, l, next);
    r->ready_count++;
    ev_timer_start(r->loop, &r->deliver);
}

static struct lookup *take_ready(struct resolver *r)
{
    struct lookup *l = TAILQ_FIRST(&r->ready);

    if (l != NULL) {
        TAILQ_REMOVE(&r->ready, l, next);
        r->ready_count--;
    }
    return l;
}

static void deliver(struct lookup *l)
{
    struct lookup_result result = {
        .status = l->answer->status,
        .ips = l->answer->ips,
        .count = l->answer->count,
        .why = l->answer->why,
        .seconds = l->cached ? 0 : seconds_now() - l->started,
    };

    l->done(l->owner, &result);
    answer_unref(&l->answer);
    free(l);
}

/* Callbacks may start lookups, whose turn is the next one, and cancel others. */
static void on_deliver(struct ev_loop *loop, ev_timer *w, int revents)
{
    struct resolver *r = w->data;
    struct lookup *l;

    (void)revents;
    for (unsigned n = r->ready_count; n > 0 && (l = take_ready(r)) != NULL; n--)
        deliver(l);
    if (r->ready_count > 0)
        ev_timer_start(loop, &r->deliver);
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct shared *)a)->name, ((const struct shared *)b)->name);
}

static void on_settled(void *owner, struct answer *a)
{
    struct shared *s = owner;
    struct resolver *r = s->resolver;
    struct lookup *l;

    known_learn(r->known, s->name, a, seconds_now());
    tdelete(s, &r->asking, compare);
    share_give(&r->shares, s->share);
    while ((l = TAILQ_FIRST(&s->waiting)) != NULL) {
        TAILQ_REMOVE(&s->waiting, l, next);
        r->waiting--;
        make_ready(l, a);
    }
    free(s);
}

static struct shared *shared_new(struct resolver *r, const char *name)
{
    size_t size = strlen(name) + 1;
    struct shared *s = calloc(1, sizeof *s + size);

    if (s == NULL)
        abort();
    s->resolver = r;
    s->name = memcpy(s + 1, name, size);
    TAILQ_INIT(&s->waiting);
    if (tsearch(s, &r->asking, compare) == NULL)
        abort();
    return s;
}

static void wait_for(struct lookup *l, struct shared *s)
{
    l->shared = s;
    TAILQ_INSERT_TAIL(&s->waiting, l, next);
    l->resolver->waiting++;
}

static void refuse(struct lookup *l, enum lookup_status status, const char *why)
{
    struct answer *a = answer_finish(answer_new(status, why));

    make_ready(l, a);
    answer_unref(&a);
}

/* Room for one more name; *share is NULL when nobody is counted. */
static bool find_room(struct resolver *r, const struct lookup_asker *asker,
                      struct share **share, const char **why)
{
    *share = NULL;
    /* A name is two questions, one a family. */
    if (servers_pending(r->servers) / 2 >= r->limits.outstanding_max) {
        *why = "too many names are being looked up";
        return false;
    }
    if (asker != NULL)
        *share = share_take(&r->shares, asker, r->limits.share_max);
    if (asker != NULL && *share == NULL)
        *why = "too many names are being looked up for this client";
    return asker == NULL || *share != NULL;
}

/* Joins those who asked for the same name, or asks the servers. */
static void ask(struct lookup *l, const char *name, const struct lookup_asker *asker)
{
    struct resolver *r = l->resolver;
    const struct shared key = {.name = name};
    void *node = tfind(&key, &r->asking, compare);
    struct channel *channel;
    struct share *share;
    struct shared *s;
    const char *why;

    if (r->waiting >= r->limits.waiting_max) {
        refuse(l, LOOKUP_BUSY, "too many lookups are waiting");
        return;
    }
    if (node != NULL) {
        wait_for(l, *(struct shared **)node);
        return;
    }
    channel = servers_channel(r->servers);
    if (channel == NULL) {
        refuse(l, LOOKUP_FAILED, "the resolver cannot be set up");
        return;
    }
    if (!find_room(r, asker, &share, &why)) {
        refuse(l, LOOKUP_BUSY, why);
        return;
    }
    s = shared_new(r, name);
    s->share = share;
    wait_for(l, s); /* first: the answer may come from within the call */
    question_ask(r->loop, channel, s->name, r->limits.deadline, on_settled, s);
}

struct lookup *resolver_lookup(struct resolver *r, struct str name,
                               const struct lookup_asker *asker, lookup_done_fn *done,
                               void *owner)
{
    char text[HOST_NAME_MAX_LEN + 1];
    struct lookup *l = calloc(1, sizeof *l);
    struct answer *known;

    assert(name.n > 0 && name.n < sizeof text);
    if (l == NULL)
        abort();
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    l->resolver = r;
    l->done = done;
    l->owner = owner;
    l->started = seconds_now();
    if (servers_refresh(r->servers, l->started))
        known_forget(r->known);
    known = known_get(r->known, text, l->started);
    if (known == NULL) {
        ask(l, text, asker);
        return l;
    }
    l->cached = true;
    make_ready(l, known);
    answer_unref(&known);
    return l;
}

void lookup_cancel(struct lookup **lp)
{
    struct lookup *l = *lp;

    *lp = NULL;
    if (l == NULL)
        return;
    if (l->shared != NULL) {
        TAILQ_REMOVE(&l->shared->waiting, l, next);
        l->resolver->waiting--;
    } else {
        TAILQ_REMOVE(&l->resolver->ready, l, next);
        l->resolver->ready_count--;
        answer_unref(&l->answer);
    }
    free(l);
}

void resolver_flush(struct resolver *r)
{
    known_forget(r->known);
}
