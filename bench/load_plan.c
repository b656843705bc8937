#include "bench/load_plan.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "bench/net.h"

enum {
    CONNECTIONS_MAX = 100000,
    SECONDS_MAX = 3600,
    RATE_MAX = 1000000,
    PORT_MAX = 65535,
};

static const char usage[] =
    "usage: weir_bench_load [OPTION]... TARGET:PORT\n"
    "  --mode open|keep|message|down|up|idle   what is done (open)\n"
    "  --way direct|connect|socks5|http        through what (direct)\n"
    "  --proxy ADDRESS:PORT     of every way but direct\n"
    "  --authorization TEXT     as the field Proxy-Authorization of CONNECT\n"
    "  --unique FIRST           a name of its own below TARGET for each connection\n"
    "  --connections N          at once (32)\n"
    "  --bytes N                of a transfer (268435456)\n"
    "  --operations N           end after so many\n"
    "  --seconds N              or after so long (2)\n"
    "  --rate N                 start so many a second, whatever comes of them\n"
    "  --slow                   transfers of 16 KiB at a time, with pauses\n"
    "One JSON object goes to standard output. With --mode idle it is written when all\n"
    "connections are open, and they are held until standard input ends.\n";

static const char *const modes[] = {"open", "keep", "message", "down",
                                    "up",   "idle", NULL};
static const char *const ways[] = {"direct", "connect", "socks5", "http", NULL};

static bool find(const char *const *names, const char *name, unsigned *index)
{
    for (*index = 0; names[*index] != NULL; ++*index)
        if (strcmp(names[*index], name) == 0)
            return true;
    return false;
}

static bool parse_target(struct load_plan *plan, const char *text)
{
    const char *colon = strrchr(text, ':');
    uint64_t port;

    if (colon == NULL || (size_t)(colon - text) >= sizeof plan->host ||
        !net_number_parse(colon + 1, PORT_MAX, &port))
        return false;
    snprintf(plan->host, sizeof plan->host, "%.*s", (int)(colon - text), text);
    plan->target.sin_family = AF_INET;
    plan->target.sin_port = htons((uint16_t)port);
    inet_pton(AF_INET, plan->host, &plan->target.sin_addr);
    return true;
}

enum flag {
    MODE,
    WAY,
    PROXY,
    AUTHORIZATION,
    UNIQUE,
    CONNECTIONS,
    BYTES,
    OPERATIONS,
    SECONDS,
    RATE,
    SLOW
};

static const struct option options[] = {
    {"mode", required_argument, NULL, MODE},
    {"way", required_argument, NULL, WAY},
    {"proxy", required_argument, NULL, PROXY},
    {"authorization", required_argument, NULL, AUTHORIZATION},
    {"unique", required_argument, NULL, UNIQUE},
    {"connections", required_argument, NULL, CONNECTIONS},
    {"bytes", required_argument, NULL, BYTES},
    {"operations", required_argument, NULL, OPERATIONS},
    {"seconds", required_argument, NULL, SECONDS},
    {"rate", required_argument, NULL, RATE},
    {"slow", no_argument, NULL, SLOW},
    {NULL, 0, NULL, 0},
};

static bool take_number(struct load_plan *plan, int option, const char *text)
{
    uint64_t first = 0;
    struct {
        uint64_t max, *number;
    } const of[] = {
        [UNIQUE] = {UINT32_MAX, &first},
        [CONNECTIONS] = {CONNECTIONS_MAX, &plan->connections},
        [BYTES] = {UINT64_MAX, &plan->bytes},
        [OPERATIONS] = {UINT64_MAX, &plan->operations},
        [SECONDS] = {SECONDS_MAX, &plan->seconds},
        [RATE] = {RATE_MAX, &plan->rate},
    };

    if (!net_number_parse(text, of[option].max, of[option].number))
        return false;
    plan->unique |= option == UNIQUE;
    plan->first += first;
    return true;
}

static bool take(struct load_plan *plan, int option, const char *text)
{
    unsigned index;

    switch (option) {
    case MODE:
        if (!find(modes, text, &index))
            return false;
        plan->mode = (enum load_mode)index;
        return true;
    case WAY:
        if (!find(ways, text, &index))
            return false;
        plan->way = (enum load_way)index;
        return true;
    case PROXY:
        return net_addr_parse(text, &plan->proxy);
    case AUTHORIZATION:
        plan->authorization = text;
        return strlen(text) < LOAD_AUTHORIZATION_SIZE;
    case SLOW:
        plan->slow = true;
        return true;
    default:
        return take_number(plan, option, text);
    }
}

static bool is_whole(const struct load_plan *plan)
{
    bool http = plan->mode == LOAD_OPEN || plan->mode == LOAD_KEEP;

    return plan->connections > 0 && plan->bytes > 0 &&
           (plan->way != LOAD_HTTP || http) &&
           (plan->way == LOAD_DIRECT) == (plan->proxy.sin_port == 0) &&
           (plan->way != LOAD_DIRECT || plan->target.sin_addr.s_addr != 0);
}

bool load_plan_parse(struct load_plan *plan, int argc, char **argv)
{
    int option;

    *plan = (struct load_plan){.connections = 32, .bytes = 1 << 28, .seconds = 2};
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == '?') {
            fputs(usage, stderr);
            return false;
        }
        if (!take(plan, option, optarg)) {
            fprintf(stderr, "weir_bench_load: --%s: not \"%s\"\n", options[option].name,
                    optarg);
            return false;
        }
    }
    if (optind + 1 == argc && parse_target(plan, argv[optind]) && is_whole(plan))
        return true;
    fputs(usage, stderr);
    return false;
}
