#include "proxy/cmd/run_print.h"

#include <stdio.h>

#include "proxy/base/log.h"
#include "proxy/base/shown.h"

static void print_list(const struct settings *settings, const char *key,
                       const char *word)
{
    const cJSON *node, *list = json_get(settings->network, key);
    size_t i = 0;

    cJSON_ArrayForEach(node, list) {
        shown_printf(stdout, "  %-9s  %s  (network.%s[%zu])", word, node->valuestring,
                     key, i++);
        putchar('\n');
    }
}

static void print_parents(const struct parents *parents)
{
    static const struct {
        enum parents_which which;
        const char *what;
    } rows[] = {
        {PARENTS_MITM, "hosts of mitmProxy"},
        {PARENTS_HTTP, "plain HTTP"},
        {PARENTS_HTTPS, "everything else"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct parent *p = parents_get(parents, rows[i].which);

        if (p == NULL)
            continue;
        shown_printf(stdout, "  %-9s  %s  (%s)", "via", p->name, rows[i].what);
        putchar('\n');
    }
}

static void print_network(const struct settings *settings,
                          const struct option_texts *allow,
                          const struct parents *parents)
{
    const char *mode = cJSON_GetStringValue(json_get(settings->network, "mode"));

    printf("network:\n  proxy      http://127.0.0.1:3128, made inside; no other way "
           "out\n");
    printf("  mode       %s\n", mode != NULL ? mode : "enforce");
    print_parents(parents);
    print_list(settings, "deniedDomains", "denied");
    print_list(settings, "deniedResolvedAddresses", "denied");
    print_list(settings, "allowedDomains", "allowed");
    for (size_t i = 0; i < allow->count; i++) {
        shown_printf(stdout, "  %-9s  %s  (--allow)", "allowed", allow->values[i]);
        putchar('\n');
    }
    printf("  denied     everything else\n\n");
}

void run_print(const struct plan *plan, const struct settings *settings,
               const struct launcher *launcher, const struct option_texts *allow,
               const struct parents *parents)
{
    shown_printf(stdout, "settings: %s",
                 settings->path != NULL ? settings->path : "defaults");
    printf("\nlauncher: %s (%s)\n", launcher->name, launcher->summary);
    plan_print(plan, stdout);
    putchar('\n');
    print_network(settings, allow, parents);
}

void run_print_event(const struct audit_event *event)
{
    const struct target *t = event->target;
    const char *said = event->verdict.allow ? "allowed" : "denied";
    const char *reason = reason_name(event->verdict.reason);
    bool v6 = t != NULL && t->kind == HOST_ADDR && t->ip.family == 6;

    if (t == NULL)
        log_debug("%s a request (%s)", said, reason);
    else
        log_debug("%s %s" STR_FMT "%s:%u (%s%s%s)", said, v6 ? "[" : "",
                  STR_ARG(t->host), v6 ? "]" : "", t->port, reason,
                  event->rule[0] != '\0' ? ": " : "", event->rule);
}
