#include "bench/load_totals.h"

#include <stdio.h>

static const char *const kinds[LOAD_ERROR_KINDS] = {
    "local", "connect", "refused", "closed", "reset", "answer", "timeout",
};

uint64_t load_totals_errors(const struct load_totals *totals)
{
    uint64_t sum = 0;

    for (int i = 0; i < LOAD_ERROR_KINDS; i++)
        sum += totals->errors[i];
    return sum;
}

static void print_latency(const struct latency *h)
{
    static const struct {
        const char *name;
        double share;
    } points[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};

    printf("\"latency_us\": {");
    for (unsigned i = 0; i < sizeof points / sizeof *points; i++)
        printf("\"%s\": %.1f, ", points[i].name,
               (double)latency_at(h, points[i].share) / 1e3);
    printf("\"max\": %.1f}", (double)h->max / 1e3);
}

void load_totals_print(const struct load_totals *totals, const struct load_plan *plan,
                       double seconds)
{
    printf("{\"connections\": %ju, \"seconds\": %.3f, \"operations\": %ju, "
           "\"per_second\": %.1f, \"bytes\": %ju, \"held\": %ju, ",
           (uintmax_t)plan->connections, seconds, (uintmax_t)totals->operations,
           (double)totals->operations / seconds, (uintmax_t)totals->bytes,
           (uintmax_t)totals->held);
    print_latency(&totals->latency);
    printf(", \"errors\": {\"total\": %ju", (uintmax_t)load_totals_errors(totals));
    for (int i = 0; i < LOAD_ERROR_KINDS; i++)
        if (totals->errors[i] > 0)
            printf(", \"%s\": %ju", kinds[i], (uintmax_t)totals->errors[i]);
    printf("}}\n");
    fflush(stdout);
}
