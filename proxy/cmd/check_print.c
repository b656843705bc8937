#include "proxy/cmd/check_print.h"

#include <stdio.h>
#include <stdlib.h>

#include "proxy/base/shown.h"
#include "proxy/policy/pattern.h"

enum {
    PLACE_MAX = HOST_NAME_MAX_LEN + 10, /* a host, brackets, a port */
    RULE_MAX = 128,
    REMEDY_MAX = PLACE_MAX + 128,
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
        shown_printf(stdout, " \"" STR_FMT "\"", STR_ARG(entry));
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
        shown_printf(stdout, ": " STR_FMT, STR_ARG(own));
}

/* What somebody can do who wants it allowed after all: the words before and after the
 * entry of the allow list. */
struct remedy {
    const char *before, *after; /* NULL: nothing helps */
};

static struct remedy remedy_of(enum reason reason)
{
    switch (reason) {
    case REASON_NOT_ON_ALLOW_LIST:
        return (struct remedy){"add \"", "\" to"};
    case REASON_DENY_LIST:
        return (struct remedy){"take that entry out, and have \"", "\" in"};
    case REASON_ADDRESS_LOOPBACK:
    case REASON_ADDRESS_LINK_LOCAL:
    case REASON_ADDRESS_METADATA:
    case REASON_ADDRESS_THIS_HOST:
    case REASON_ADDRESS_UNSPECIFIED:
    case REASON_ADDRESS_MULTICAST:
    case REASON_ADDRESS_PRIVATE:
    case REASON_ADDRESS_LISTED:
    case REASON_ADDRESS_NOT_LOOPBACK:
        return (struct remedy){"add the address itself, \"", "\", to"};
    default:
        return (struct remedy){NULL, NULL};
    }
}

/* The address that a remedy has to name: the target, or the one that was refused. */
static struct target remedy_target(const struct check_answer *a, char ip[IP_TEXT_MAX])
{
    struct target t = *a->target;

    if (a->judged->addr_count > 0) {
        t.kind = HOST_ADDR;
        t.ip = a->judged->addrs[a->judged->told].ip;
        t.host = str_from(ip_text(&t.ip, ip));
    }
    return t;
}

static void write_remedy(const struct judge *j, const struct check_answer *a,
                         char out[REMEDY_MAX])
{
    char ip[IP_TEXT_MAX], place[PLACE_MAX];
    struct target t = remedy_target(a, ip);
    struct remedy remedy = remedy_of(a->judged->verdict.reason);

    out[0] = '\0';
    if (a->judged->verdict.reason == REASON_ADDRESS_UNCHECKED) {
        snprintf(out, REMEDY_MAX, "have \"resolve\": \"local\" in network.%s",
                 a->judged->via->at.kind == HOST_NONE ? "mitmProxy" : "parentProxy");
        return;
    }
    if (a->judged->verdict.allow || remedy.before == NULL || !pattern_can_name(&t))
        return;
    snprintf(out, REMEDY_MAX, "%s%s%s %s", remedy.before, place_text(&t, place),
             remedy.after, judge_allow_list(j));
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

/* Which way it goes, and what is not checked on it. */
static void print_via(const struct check_answer *a)
{
    const struct parent *via = a->judged->via;

    if (via == NULL)
        return;
    printf("%*svia parent %s", INDENT, "", via->name);
    if (a->target->kind == HOST_NAME && via->resolve_local)
        printf(", which gets an address that was checked");
    else if (a->target->kind == HOST_NAME && a->judged->verdict.allow)
        printf(", which resolves the name: its addresses are not checked");
    printf("\n");
}

static void print_denial(struct judge *j, const struct check_answer *a)
{
    const char *file = judge_file(j);
    char remedy[REMEDY_MAX];
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
    write_remedy(j, a, remedy);
    if (remedy[0] != '\0') {
        shown_printf(stdout, "%*sto allow it: %s of %s", INDENT, "", remedy,
                     file != NULL ? file : "a settings file (there is none)");
        printf("\n");
    }
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
    print_via(a);
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
    char remedy[REMEDY_MAX], *line;

    if (judge_client(j) != NULL)
        add_text(object, "client", str_from(judge_client(j)->settings->name));
    add_text(object, "asked", a->asked);
    add_text(object, "host", a->target->host);
    cJSON_AddNumberToObject(object, "port", a->target->port);
    if (a->port_from == PORT_ASSUMED)
        cJSON_AddTrueToObject(object, "portAssumed");
    add_verdict(object, judge_policy(j), &a->judged->verdict);
    if (a->judged->via != NULL) {
        cJSON_AddStringToObject(object, "via", a->judged->via->name);
        cJSON_AddBoolToObject(object, "addressesChecked",
                              a->target->kind == HOST_ADDR ||
                                  a->judged->via->resolve_local);
    }
    if (a->judged->resolved)
        add_addrs(object, judge_policy(j), a->judged);
    write_remedy(j, a, remedy);
    if (remedy[0] != '\0')
        add_text(object, "remedy", str_from(remedy));
    line = cJSON_PrintUnformatted(object);
    if (line == NULL)
        abort();
    printf("%s\n", line);
    free(line);
    cJSON_Delete(object);
}

static void print_count(const char *label, const cJSON *network, const char *key,
                        const char *what)
{
    int count = cJSON_GetArraySize(json_get(network, key));

    printf("  %snetwork.%s: %d %s%s\n", label, key, count, what, count == 1 ? "" : "s");
}

static void print_network(const char *label, const cJSON *network)
{
    const cJSON *mode = json_get(network, "mode");

    print_count(label, network, "allowedDomains", "pattern");
    print_count(label, network, "deniedDomains", "pattern");
    print_count(label, network, "deniedResolvedAddresses", "range");
    shown_printf(stdout, "  %snetwork.mode: %s", label,
                 cJSON_IsString(mode) ? mode->valuestring : "enforce");
    printf("\n");
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_client(const struct client_settings *c, size_t index)
{
    char label[32];

    snprintf(label, sizeof label, "clients[%zu].", index);
    shown_printf(stdout, "  %sname: %s, told by", label, c->name);
    if (c->token_count > 0)
        printf(" %zu token%s", c->token_count, plural(c->token_count));
    if (c->from_count > 0)
        printf("%s %zu address range%s", c->token_count > 0 ? " and" : "",
               c->from_count, plural(c->from_count));
    if (c->cert_name != NULL)
        printf("%s a certificate", c->token_count + c->from_count > 0 ? " and" : "");
    printf("\n");
    if (c->network != NULL)
        print_network(label, c->network);
}

static void print_clients(const struct judge *j)
{
    const struct config *c = judge_config(j);

    for (size_t i = 0; c != NULL && i < c->settings.client_count; i++)
        if (judge_client(j) == NULL || judge_client(j) == &c->clients[i])
            print_client(c->clients[i].settings, i);
}

void check_print_summary(const struct judge *j)
{
    shown_printf(stdout, "%s: loads",
                 judge_file(j) != NULL ? judge_file(j)
                                       : "no settings file, built-in defaults");
    printf("\n");
    print_network("", judge_network(j));
    print_clients(j);
}
