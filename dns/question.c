#include "dns/question.h"

#include <limits.h>
#include <stdlib.h>

#include "dns/message.h"
#include "proxy/base/target.h"

/* Seconds that the slower family has when the faster one found addresses. RFC 8305 3
 * says 50 ms; that loses IPv6 where a resolver has to ask far away. */
static const double GRACE = 0.2;

/* Of LOOKUP_MAX addresses each family may have so many when both have more. */
enum { FAMILY_SHARE = LOOKUP_MAX / 2 };

struct family {
    struct channel_query query;
    struct question *question; /* the one that this is in */
    enum message_type type;
    struct answer *answer; /* NULL: none yet */
};

struct question {
    struct ev_loop *loop; /* borrowed */
    struct family families[2];
    struct family *came[2]; /* in the order in which their answers came */
    unsigned came_count;
    ev_timer due;
    question_done_fn *done; /* NULL once it was called */
    void *owner;
    char name[HOST_NAME_MAX_LEN + 1];
};

static struct answer *parse(struct family *f, const struct channel_answer *reply)
{
    struct answer *a = answer_new(reply->status, reply->why);

    if (a->status != LOOKUP_OK)
        return answer_finish(a);
    a->ttl = UINT_MAX;
    if (!message_parse(reply->bytes, reply->len, f->question->name, f->type, a)) {
        a->status = LOOKUP_FAILED;
        a->why = "the name server sent a malformed answer";
    } else if (a->count == 0) {
        a->status = LOOKUP_NOT_FOUND;
        a->why = "the name has no address";
    }
    return answer_finish(a);
}

static void add_share(struct answer *into, const struct answer *from, size_t other)
{
    size_t room = LOOKUP_MAX - (other < FAMILY_SHARE ? other : FAMILY_SHARE);

    for (size_t i = 0; i < from->count && i < room; i++)
        answer_add(into, &from->ips[i]);
    if (from->count > 0 && from->ttl < into->ttl)
        into->ttl = from->ttl;
}

static const struct answer *worse(const struct answer *a, const struct answer *b)
{
    static const int badness[] = {[LOOKUP_OK] = 0,
                                  [LOOKUP_NOT_FOUND] = 1,
                                  [LOOKUP_FAILED] = 2,
                                  [LOOKUP_TIMED_OUT] = 3,
                                  [LOOKUP_BUSY] = 3};

    return badness[b->status] > badness[a->status] ? b : a;
}

/* Addresses of either family are an answer. Without any, "not found" only when both
 * servers' answers say so. */
static struct answer *combine(const struct question *q)
{
    static const struct answer late = {.status = LOOKUP_TIMED_OUT,
                                       .why = "the name servers do not answer"};
    const struct answer *first = q->came_count > 0 ? q->came[0]->answer : &late;
    const struct answer *second = q->came_count > 1 ? q->came[1]->answer : &late;
    const struct answer *bad = worse(first, second);
    struct answer *a;

    if (first->count + second->count == 0)
        return answer_finish(answer_new(bad->status, bad->why));
    a = answer_new(LOOKUP_OK, NULL);
    a->ttl = UINT_MAX;
    a->partial = bad->status != LOOKUP_OK && bad->status != LOOKUP_NOT_FOUND;
    add_share(a, first, second->count);
    add_share(a, second, first->count);
    return answer_finish(a);
}

static void settle(struct question *q)
{
    question_done_fn *done = q->done;
    struct answer *a;

    ev_timer_stop(q->loop, &q->due);
    if (done == NULL)
        return;
    q->done = NULL;
    a = combine(q);
    done(q->owner, a);
    answer_unref(&a);
}

/* What c-ares still has to say comes later and is not heard. */
static void on_due(struct ev_loop *loop, ev_timer *w, int revents)
{
    (void)loop, (void)revents;
    settle(w->data);
}

static void shorten(struct question *q)
{
    if (q->done == NULL || ev_timer_remaining(q->loop, &q->due) <= GRACE)
        return;
    ev_timer_stop(q->loop, &q->due);
    ev_timer_set(&q->due, GRACE, 0.);
    ev_timer_start(q->loop, &q->due);
}

static void on_reply(void *owner, const struct channel_answer *reply)
{
    struct family *f = owner;
    struct question *q = f->question;

    f->answer = parse(f, reply);
    q->came[q->came_count++] = f;
    if (q->came_count < 2) {
        if (f->answer->count > 0)
            shorten(q);
        return;
    }
    settle(q);
    for (size_t i = 0; i < 2; i++)
        answer_unref(&q->families[i].answer);
    free(q);
}

void question_ask(struct ev_loop *loop, struct channel *c, const char *name,
                  double deadline, question_done_fn *done, void *owner)
{
    static const enum message_type types[] = {MESSAGE_AAAA, MESSAGE_A};
    struct question *q = calloc(1, sizeof *q);
    size_t size = strlen(name) + 1;

    if (q == NULL || size > sizeof q->name)
        abort();
    memcpy(q->name, name, size);
    q->loop = loop;
    q->done = done;
    q->owner = owner;
    ev_timer_init(&q->due, on_due, deadline, 0.);
    q->due.data = q;
    ev_timer_start(loop, &q->due);
    /* The last reply frees q, and may come from within the call. */
    for (size_t i = 0; i < 2; i++) {
        struct family *f = &q->families[i];

        f->question = q;
        f->type = types[i];
        channel_ask(c, &f->query, q->name, (int)f->type, on_reply, f);
    }
}
