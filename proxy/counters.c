#include "proxy/counters.h"

#include <errno.h>

/* In milliseconds, as the audit has them. */
static const double bounds[COUNTERS_BOUNDS] = {1,   2.5, 5,    10,   25,   50,   100,
                                               250, 500, 1000, 2500, 5000, 10000};

/* Others are counted together: a label has a closed set of values. */
static const struct error {
    int number;
    const char *name;
} errors[COUNTERS_ERRORS - 1] = {
    {EMFILE, "EMFILE"},   {ENFILE, "ENFILE"}, {ENOMEM, "ENOMEM"},
    {ENOBUFS, "ENOBUFS"}, {EINVAL, "EINVAL"},
};

/* A negative time is none: nothing was looked up, or connected. */
static void add_ms(struct histogram *h, double ms)
{
    unsigned i = 0;

    if (ms < 0)
        return;
    while (i < COUNTERS_BOUNDS && ms > bounds[i])
        i++;
    count_add(&h->buckets[i], 1);
    count_add(&h->microseconds, (unsigned long long)(ms * 1000));
}

void counters_request(struct counters *c, const struct audit_event *event)
{
    count_add(&c->decisions[event->verdict.allow][event->verdict.reason], 1);
    add_ms(&c->dns, event->ms_dns);
    add_ms(&c->connect, event->ms_connect);
}

void counters_accept_error(struct counters *c, int error)
{
    unsigned kind = 0;

    while (kind < COUNTERS_ERRORS - 1 && errors[kind].number != error)
        kind++;
    count_add(&c->accept_errors[kind], 1);
}

static void add_all(struct count *total, const struct count *one, size_t n)
{
    for (size_t i = 0; i < n; i++)
        count_add(&total[i], count_read(&one[i]));
}

void counters_sum(struct counters *total, const struct counters *one)
{
    _Static_assert(sizeof *total % sizeof(struct count) == 0,
                   "counts and nothing else");

    add_all((struct count *)total, (const struct count *)one,
            sizeof *total / sizeof(struct count));
}

double counters_bound(unsigned bucket)
{
    return bounds[bucket] / 1000;
}

const char *counters_error_name(unsigned kind)
{
    return kind < COUNTERS_ERRORS - 1 ? errors[kind].name : "other";
}
