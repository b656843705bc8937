/* What a look-up costs with 10, 1,000 and 100,000 entries, and what it costs to make
 * the policy. Half of the host patterns are exact, half are "*.name"; names are asked
 * for in random order, so that large tables miss the caches as they do in use.
 * usage: weir_bench_policy */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "proxy/policy/policy.h"

enum { QUERIES = 65536, ROUNDS = 3, LOOKUPS = 1000000, NAME_SIZE = 64 };

static const size_t sizes[] = {10, 1000, 100000};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* xorshift: the same names in every run. */
static unsigned next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (unsigned)(*seed >> 11);
}

static void word(uint64_t *seed, unsigned len, char *out)
{
    for (unsigned i = 0; i < len; i++)
        out[i] = (char)('a' + next(seed) % 26);
    out[len] = '\0';
}

/* The domain of entry `i`; others than entries have odd endings. */
static void domain(size_t i, const char *ending, char out[NAME_SIZE])
{
    static const char *const tops[] = {"com", "org", "net", "io", "co.uk", "dev"};
    uint64_t seed = 88172645463325252u + i * 2654435761u;
    char text[16];

    for (int warm = 0; warm < 4; warm++)
        next(&seed);
    word(&seed, 4 + next(&seed) % 10, text);
    snprintf(out, NAME_SIZE, "%s%zu%s.%s", text, i, ending, tops[next(&seed) % 6]);
}

static char *new_text(size_t size, FILE **file)
{
    char *text = calloc(1, size);

    *file = text != NULL ? fmemopen(text, size, "w") : NULL;
    if (*file == NULL)
        abort();
    return text;
}

static char *hosts_text(size_t count)
{
    FILE *file;
    char *text = new_text(64 + count * (NAME_SIZE + 8), &file), name[NAME_SIZE];

    fputs("{\"allowedDomains\": [", file);
    for (size_t i = 0; i < count; i++) {
        domain(i, "", name);
        fprintf(file, "%s\"%s%s\"", i > 0 ? "," : "", i % 2 != 0 ? "*." : "api.", name);
    }
    fputs("]}", file);
    fclose(file);
    return text;
}

/* Ranges of 24 and 48 bits, none of which holds another. */
static char *ranges_text(size_t count)
{
    FILE *file;
    char *text = new_text(128 + count * 32, &file);

    fputs("{\"allowedDomains\": [\"n.test\"], \"deniedResolvedAddresses\": [", file);
    for (size_t i = 0; i < count; i++) {
        size_t n = i / 2 * 7;

        if (i % 2 != 0)
            fprintf(file, ",\"2a00:%zx:%zx::/48\"", n >> 16, n & 0xffff);
        else
            fprintf(file, "%s\"%zu.%zu.%zu.0/24\"", i > 0 ? "," : "",
                    11 + (n >> 16) % 80, n >> 8 & 255, n & 255);
    }
    fputs("]}", file);
    fclose(file);
    return text;
}

static struct policy *load(const char *text, double *ms)
{
    struct policy_layer layer = {.label = ""};
    struct json_doc *doc;
    struct policy *p;
    struct err e;
    double start;

    if (!json_parse(str_from(text), JSON_SETTINGS, &doc, &e)) {
        fprintf(stderr, "weir_bench_policy: %s\n", e.text);
        exit(1);
    }
    layer.network = json_root(doc);
    start = now();
    if (!policy_load(&layer, 1, NULL, NULL, &p, &e)) {
        fprintf(stderr, "weir_bench_policy: %s\n", e.text);
        exit(1);
    }
    *ms = (now() - start) / 1e6;
    json_free(&doc);
    return p;
}

/* The questions of one run: targets, or one target and addresses. */
struct questions {
    struct target targets[QUERIES];
    struct ip ips[QUERIES];
    char names[QUERIES][NAME_SIZE];
    bool by_addr;
};

static void ask_hosts(struct questions *q, size_t count, bool hit)
{
    uint64_t seed = 42;
    char name[NAME_SIZE];

    q->by_addr = false;
    for (size_t i = 0; i < QUERIES; i++) {
        size_t entry = next(&seed) % count;

        domain(entry, hit ? "" : "-x", name);
        snprintf(q->names[i], NAME_SIZE, "api.%.58s", name);
        q->targets[i] = (struct target){HOST_NAME, str_from(q->names[i]), {0}, 443};
    }
}

static void ask_ranges(struct questions *q, size_t count, bool hit)
{
    uint64_t seed = 42;

    q->by_addr = true;
    for (size_t i = 0; i < QUERIES; i++) {
        size_t entry = next(&seed) % count, n = entry / 2 * 7 + (hit ? 0 : 1);

        if (entry % 2 != 0)
            q->ips[i] = (struct ip){6,
                                    {0x2a, 0, (uint8_t)(n >> 24), (uint8_t)(n >> 16),
                                     (uint8_t)(n >> 8), (uint8_t)n, [15] = 1}};
        else
            q->ips[i] = (struct ip){
                4, {(uint8_t)(11 + (n >> 16) % 80), (uint8_t)(n >> 8), (uint8_t)n, 1}};
        q->targets[i] = (struct target){HOST_NAME, STR("n.test"), {0}, 443};
    }
}

static double time_round(const struct policy *p, const struct questions *q,
                         bool expected)
{
    static const struct hostaddrs host;
    size_t wrong = 0;
    double start = now();

    for (size_t i = 0; i < LOOKUPS; i++) {
        size_t n = i % QUERIES;
        struct verdict v = q->by_addr
                               ? policy_check_addr(p, &q->targets[n], &q->ips[n], &host)
                               : policy_check_target(p, &q->targets[n], &host);

        wrong += v.allow != expected;
    }
    if (wrong > 0) {
        fprintf(stderr, "weir_bench_policy: %zu wrong verdicts\n", wrong);
        exit(1);
    }
    return (now() - start) / LOOKUPS;
}

static double best_of(const struct policy *p, const struct questions *q, bool expected)
{
    double best = time_round(p, q, expected);

    for (int i = 1; i < ROUNDS; i++) {
        double ns = time_round(p, q, expected);

        best = ns < best ? ns : best;
    }
    return best;
}

static void run(struct questions *q, size_t count, bool ranges)
{
    char *text = ranges ? ranges_text(count) : hosts_text(count);
    double ms, hit, miss;
    struct policy *p = load(text, &ms);

    /* A range that is hit denies; a host that is hit is allowed. */
    (ranges ? ask_ranges : ask_hosts)(q, count, true);
    hit = best_of(p, q, !ranges);
    (ranges ? ask_ranges : ask_hosts)(q, count, false);
    miss = best_of(p, q, ranges);
    printf("%-9s %8zu %12.1f %10.1f %10.1f\n", ranges ? "ranges" : "hosts", count, hit,
           miss, ms);
    fflush(stdout);
    policy_unref(&p);
    free(text);
}

int main(void)
{
    struct questions *q = calloc(1, sizeof *q);

    if (q == NULL)
        abort();
    printf("%-9s %8s %12s %10s %10s\n", "entries", "count", "hit ns", "miss ns",
           "build ms");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        run(q, sizes[i], false);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        run(q, sizes[i], true);
    free(q);
    return 0;
}
