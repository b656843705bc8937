#include "proxy/cmd/check_print.h"

#include <stdio.h>
#include <stdlib.h>

#include "proxy/policy/pattern.h"

enum {
    PLACE_MAX = HOST_NAME_MAX_LEN + 10, /* a host, brackets, a port */
    RULE_MAX = 128,
    INDENT = 9,
};

/* "example.com:443", "[::1]:443": also as it stands in an allow list. */
static const char *place_text(const struct target *t, char out[PLACE_MAX])
{
    bool v6 = t->kind == HOST_ADDR && t->ip.family == 6;

    snprintf(out, PLACE_MAX, "%s" STR_FMT "%s:%u", v6 ? "[" : "", STR_ARG(t->host),
             v6 ? "]" : "", t->port);
    return out;
}

static void print_rule(const struct policy *p, const struct rule *r)
{
    char text[RULE_MAX];
    struct str entry = policy_rule_entry(p, r);

    printf("%s", policy_rule_text(p, r, text, sizeof text));
    if (entry.n > 0)
        printf(" \"" STR_FMT "\"", STR_ARG(entry));
}

/* "reason in words (reason-name), rule", with the user's own reason when there is one.
 */
static void print_why(const struct policy *p, const struct verdict *v)
{
    struct str own = policy_deny_text(p, &v->rule);

    if (!v->allow)
        printf("%s (%s)", reason_text(v->reason), reason_name(v->reason));
    else
        printf("%s", reason_name(v->reason));
    if (v->rule.list != RULE_NONE) {
        printf(", ");
        print_rule(p, &v->rule);
    }
    if (own.n > 0)
        printf(": " STR_FMT, STR_ARG(own));
}

/* What somebody can do who wants it allowed after all; NULL when nothing helps. The
 * place in the allow list is put in for %s. */
static const char *remedy_of(enum reason reason)
{
    switch (reason) {
    case REASON_NOT_ON_ALLOW_LIST:
        return "add \"%s\" to network.allowedDomains";
    case REASON_DENY_LIST:
        return "take that entry out, and have \"%s\" in network.allowedDomains";
    case REASON_ADDRESS_LOOPBACK:
    case REASON_ADDRESS_LINK_LOCAL:
    case REASON_ADDRESS_METADATA:
    case REASON_ADDRESS_THIS_HOST:
    case REASON_ADDRESS_UNSPECIFIED:
    case REASON_ADDRESS_MULTICAST:
    case REASON_ADDRESS_PRIVATE:
    case REASON_ADDRESS_LISTED:
    case REASON_ADDRESS_NOT_LOOPBACK:
        return "add the address itself, \"%s\", to network.allowedDomains";
    default:
        return NULL;
    }
}

/* The address that a remedy has to name: the target, or the one that was refused. */
static struct target remedy_target(const struct check_answer *a, char ip[IP_TEXT_MAX])
{
    struct target t = *a->target;

    if (a->judged->addr_count > 0) {
        t.kind = HOST_ADDR;
        t.ip = a->judged->addrs[0].ip;
        t.host = str_from(ip_text(&t.ip, ip));
    }
    return t;
}

static void write_remedy(const struct check_answer *a, char *out, size_t size)
{
    char ip[IP_TEXT_MAX], place[PLACE_MAX];
    struct target t = remedy_target(a, ip);
    const char *format = remedy_of(a->judged->verdict.reason), *mark;

    out[0] = '\0';
    if (a->judged->verdict.allow || format == NULL || !pattern_can_name(&t))
        return;
    mark = strstr(format, "%s");
    snprintf(out, size, "%.*s%s%s", (int)(mark - format), format, place_text(&t, place),
             mark + 2);
}

static void print_addrs(struct judge *j, const struct judged *judged)
{
    for (size_t i = 0; i < judged->addr_count; i++) {
        const struct judged_addr *addr = &judged->addrs[i];
        char ip[IP_TEXT_MAX];

        printf("%*s%s: %s", INDENT, "", ip_text(&addr->ip, ip),
               addr->verdict.allow ? "allowed" : "denied, ");
        if (!addr->verdict.allow)
            print_why(judge_policy(j), &addr->verdict);
        printf("\n");
    }
}

static void print_denial(struct judge *j, const struct check_answer *a)
{
    const char *file = judge_file(j);
    char remedy[PLACE_MAX + 80];
    struct rule wildcard;

    if (a->judged->verdict.reason == REASON_NOT_ON_ALLOW_LIST &&
        judge_is_apex(j, a->target, &wildcard)) {
        printf("%*s", INDENT, "");
        print_rule(judge_policy(j), &wildcard);
        printf(" allows only what is below it\n");
    }
    if (a->judged->verdict.reason == REASON_NOT_ON_ALLOW_LIST &&
        !pattern_can_name(a->target))
        printf("%*sit cannot be allowed: names on the list have a dot in them\n",
               INDENT, "");
    write_remedy(a, remedy, sizeof remedy);
    if (remedy[0] != '\0')
        printf("%*sto allow it: %s of %s\n", INDENT, "", remedy,
               file != NULL ? file : "a settings file (there is none)");
}

void check_print_text(struct judge *j, const struct check_answer *a)
{
    char place[PLACE_MAX];
    const struct verdict *v = &a->judged->verdict;

    printf("%-*s%s  ", INDENT, v->allow ? "allowed" : "denied",
           place_text(a->target, place));
    print_why(judge_policy(j), v);
    if (a->port_from == PORT_ASSUMED)
        printf("  (no port was given: %d)", CHECK_PORT_ASSUMED);
    printf("\n");
    print_addrs(j, a->judged);
    if (!v->allow)
        print_denial(j, a);
}

static void add_text(cJSON *object, const char *key, struct str text)
{
    size_t size = text.n * 6 + 3, n;
    char *quoted = malloc(size);

    if (quoted == NULL)
        abort();
    n = json_quote(text, quoted, size - 1);
    quoted[n] = '\0';
    cJSON_AddRawToObject(object, key, quoted);
    free(quoted);
}

static void add_verdict(cJSON *object, const struct policy *p, const struct verdict *v)
{
    char rule[RULE_MAX];
    struct str entry = policy_rule_entry(p, &v->rule);
    struct str own = policy_deny_text(p, &v->rule);

    cJSON_AddStringToObject(object, "verdict", v->allow ? "allow" : "deny");
    cJSON_AddStringToObject(object, "reason", reason_name(v->reason));
    if (v->rule.list != RULE_NONE)
        cJSON_AddStringToObject(object, "rule",
                                policy_rule_text(p, &v->rule, rule, sizeof rule));
    if (entry.n > 0)
        add_text(object, "entry", entry);
    if (own.n > 0)
        add_text(object, "text", own);
}

static void add_addrs(cJSON *object, const struct policy *p,
                      const struct judged *judged)
{
    cJSON *list = cJSON_AddArrayToObject(object, "addresses");

    for (size_t i = 0; i < judged->addr_count; i++) {
        cJSON *one = cJSON_CreateObject();
        char ip[IP_TEXT_MAX];

        cJSON_AddStringToObject(one, "addr", ip_text(&judged->addrs[i].ip, ip));
        add_verdict(one, p, &judged->addrs[i].verdict);
        cJSON_AddItemToArray(list, one);
    }
}

void check_print_json(struct judge *j, const struct check_answer *a)
{
    cJSON *object = cJSON_CreateObject();
    char remedy[PLACE_MAX + 80], *line;

    add_text(object, "asked", a->asked);
    add_text(object, "host", a->target->host);
    cJSON_AddNumberToObject(object, "port", a->target->port);
    if (a->port_from == PORT_ASSUMED)
        cJSON_AddTrueToObject(object, "portAssumed");
    add_verdict(object, judge_policy(j), &a->judged->verdict);
    if (a->judged->resolved)
        add_addrs(object, judge_policy(j), a->judged);
    write_remedy(a, remedy, sizeof remedy);
    if (remedy[0] != '\0')
        cJSON_AddStringToObject(object, "remedy", remedy);
    line = cJSON_PrintUnformatted(object);
    if (line == NULL)
        abort();
    printf("%s\n", line);
    free(line);
    cJSON_Delete(object);
}

static void print_count(const cJSON *network, const char *key, const char *what)
{
    int count = cJSON_GetArraySize(json_get(network, key));

    printf("  network.%s: %d %s%s\n", key, count, what, count == 1 ? "" : "s");
}

void check_print_summary(const struct judge *j)
{
    const cJSON *network = judge_network(j), *mode = json_get(network, "mode");

    printf("%s: loads\n", judge_file(j) != NULL
                              ? judge_file(j)
                              : "no settings file, built-in defaults");
    print_count(network, "allowedDomains", "pattern");
    print_count(network, "deniedDomains", "pattern");
    print_count(network, "deniedResolvedAddresses", "range");
    printf("  network.mode: %s\n",
           cJSON_IsString(mode) ? mode->valuestring : "enforce");
}
