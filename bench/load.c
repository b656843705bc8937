/* The load generator: opens connections through a proxy, or directly, does one thing
 * with them over and over (load_plan.h), and says how often, how fast and with what
 * errors. One thread. Rounds are short; who runs us measures the proxy meanwhile.
 *
 * With --rate operations are started when they are due, not when the last has ended,
 * and take from then on: a proxy that stalls is not given the time to catch its breath.
 * usage: weir_bench_load --help */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "bench/load_client.h"
#include "bench/net.h"

enum {
    EVENTS = 256,
    OPENING_MAX = 128, /* at once, so that no queue of a listener runs over */
    ERRORS_MAX = 1000, /* more of them tell nothing new */
};

static const uint64_t second = 1000000000u, tick = 100000000u;

/* One run: the clients and the clock. */
struct run {
    struct load load;
    struct load_client **clients;
    uint64_t start, end, next_tick;
    uint64_t started; /* operations */
};

static bool is_over(const struct run *r, uint64_t now)
{
    const struct load_plan *plan = r->load.plan;

    if (load_totals_errors(&r->load.totals) >= ERRORS_MAX)
        return true;
    if (plan->mode == LOAD_IDLE)
        return r->started == plan->connections;
    return now >= r->end || (plan->operations > 0 && r->started >= plan->operations);
}

/* When the next operation is due: at once unless there is a rate. */
static uint64_t due(const struct run *r, uint64_t now)
{
    uint64_t rate = r->load.plan->rate;

    return rate == 0 ? now
                     : r->start + (uint64_t)((double)r->started * 1e9 / (double)rate);
}

static void start_operations(struct run *r, uint64_t now)
{
    struct load *load = &r->load;

    while (load->free != NULL && !is_over(r, now) && due(r, now) <= now) {
        if (load_client_opens(load) && load->opening >= OPENING_MAX)
            return;
        load_client_start(load, due(r, now));
        r->started++;
    }
}

/* Until the next operation or the next tick, whichever comes first. */
static void wait_events(struct run *r, uint64_t now)
{
    struct epoll_event events[EVENTS];
    uint64_t until = r->next_tick, next = due(r, now);
    struct timespec timeout = {0, 0};
    int count;

    if (r->load.plan->rate > 0 && r->load.free != NULL && next < until)
        until = next;
    if (until > now)
        timeout = (struct timespec){(time_t)((until - now) / second),
                                    (long)((until - now) % second)};
    count = epoll_pwait2(r->load.epoll, events, EVENTS, &timeout, NULL);
    for (int i = 0; i < count; i++)
        load_client_event(events[i].data.ptr, events[i].events);
}

static void run_tick(struct run *r, uint64_t now)
{
    if (now < r->next_tick)
        return;
    r->next_tick = now + tick;
    for (uint64_t i = 0; i < r->load.plan->connections; i++)
        load_client_tick(r->clients[i], now);
}

/* A transfer is cut when the time is over, everything else is waited for: all of the
 * proxy's work is then work that was counted. */
static bool has_ended(const struct run *r, uint64_t now)
{
    enum load_mode mode = r->load.plan->mode;
    bool cut = mode == LOAD_DOWN || mode == LOAD_UP;

    return is_over(r, now) && (r->load.busy == 0 || (cut && now >= r->end));
}

static void run_operations(struct run *r)
{
    uint64_t now = net_now();

    r->start = now;
    r->next_tick = now + tick;
    r->end = now + r->load.plan->seconds * second;
    while (!has_ended(r, now)) {
        start_operations(r, now);
        wait_events(r, now);
        now = net_now();
        run_tick(r, now);
    }
}

/* Until nobody holds the other end of standard input any more. */
static void hold(struct run *r)
{
    struct pollfd polled[] = {{STDIN_FILENO, POLLIN, 0}, {r->load.epoll, POLLIN, 0}};

    while (r->load.totals.held > 0 && poll(polled, 2, -1) > 0) {
        char byte;

        if (polled[0].revents != 0 && read(STDIN_FILENO, &byte, 1) <= 0)
            return;
        if (polled[1].revents != 0)
            wait_events(r, r->next_tick);
    }
}

static void make_clients(struct run *r)
{
    uint64_t count = r->load.plan->connections;

    r->clients = calloc(count, sizeof(struct load_client *));
    if (r->clients == NULL)
        abort();
    for (uint64_t i = 0; i < count; i++)
        r->clients[i] = load_client_new(&r->load);
}

int main(int argc, char **argv)
{
    static struct run run;
    struct load_plan plan;

    if (!load_plan_parse(&plan, argc, argv))
        return 2;
    signal(SIGPIPE, SIG_IGN);
    net_raise_limits();
    run.load.plan = &plan;
    run.load.next_number = plan.first;
    run.load.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (run.load.epoll < 0)
        abort();
    make_clients(&run);
    run_operations(&run);
    load_totals_print(&run.load.totals, &plan, (double)(net_now() - run.start) / 1e9);
    if (plan.mode == LOAD_IDLE)
        hold(&run);
    return load_totals_errors(&run.load.totals) == 0 ? 0 : 1;
}
