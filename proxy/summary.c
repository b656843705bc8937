#include "proxy/summary.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/base/shown.h"
#include "proxy/policy/pattern.h"

/* Kinds that are told apart, and how many of them are named; the others are counted. */
enum { KINDS_MAX = 256, KINDS_SHOWN = 8, WHAT_MAX = HOST_NAME_MAX_LEN + 16 };

struct kind {
    char what[WHAT_MAX]; /* "host:port" */
    enum reason reason;
    const char *why;     /* of that reason, in words that never go */
    bool can_be_allowed; /* by an entry of the allow list */
    unsigned long count;
};

struct summary {
    struct kind kinds[KINDS_MAX];
    size_t kind_count;
    unsigned long total;
};

struct summary *summary_new(void)
{
    struct summary *s = calloc(1, sizeof *s);

    if (s == NULL)
        abort();
    return s;
}

void summary_free(struct summary **s)
{
    free(*s);
    *s = NULL;
}

static bool is_refusal(const struct verdict *v)
{
    switch (v->reason) {
    case REASON_BAD_RESPONSE:
    case REASON_CLIENT_LEFT:
    case REASON_CONNECT_FAILURE:
    case REASON_DNS_FAILURE:
    case REASON_PARENT_FAILURE:
    case REASON_PARENT_REFUSED:
    case REASON_TIMEOUT:
        return false;
    default:
        return !v->allow;
    }
}

/* Only targets are shown, whose characters are few and harmless; what was no target is
 * called by its reason alone. */
static void name_event(const struct audit_event *event, char out[WHAT_MAX])
{
    const struct target *t = event->target;
    bool colons = t != NULL && t->kind == HOST_ADDR && t->ip.family == 6;

    if (t == NULL)
        snprintf(out, WHAT_MAX, "a request:");
    else
        snprintf(out, WHAT_MAX, "%s" STR_FMT "%s:%u", colons ? "[" : "",
                 STR_ARG(t->host), colons ? "]" : "", t->port);
}

/* "evil.test:443 is not on the allow list": the host stands there already. */
static const char *why_of(const struct audit_event *event)
{
    static const char host[] = "host ";
    const char *why = reason_text_of(event->verdict.reason, event->target);

    return strncmp(why, host, sizeof host - 1) == 0 ? why + sizeof host - 1 : why;
}

void summary_add(struct summary *s, const struct audit_event *event)
{
    char what[WHAT_MAX];
    struct kind *kind = s->kinds, *end = s->kinds + s->kind_count;

    if (!is_refusal(&event->verdict))
        return;
    s->total++;
    name_event(event, what);
    while (kind < end &&
           (kind->reason != event->verdict.reason || strcmp(kind->what, what) != 0))
        kind++;
    if (kind == s->kinds + KINDS_MAX)
        return;
    if (kind == end) {
        s->kind_count++;
        kind->reason = event->verdict.reason;
        kind->why = why_of(event);
        kind->can_be_allowed = event->verdict.reason == REASON_NOT_ON_ALLOW_LIST &&
                               event->target != NULL && pattern_can_name(event->target);
        memcpy(kind->what, what, sizeof what);
    }
    kind->count++;
}

static void print_kinds(const struct summary *s, FILE *out)
{
    unsigned long shown = 0;

    for (size_t i = 0; i < s->kind_count && i < KINDS_SHOWN; i++) {
        const struct kind *k = &s->kinds[i];

        fprintf(out, "%s %s %s", i > 0 ? "," : "", k->what, k->why);
        if (k->count > 1)
            fprintf(out, " (%lu)", k->count);
        shown += k->count;
    }
    if (shown < s->total)
        fprintf(out, ", and %lu others", s->total - shown);
}

void summary_print(const struct summary *s, const char *settings, FILE *out)
{
    const struct kind *first = NULL;

    if (s->total == 0)
        return;
    fprintf(out, "weir: denied %lu connection%s:", s->total, s->total > 1 ? "s" : "");
    print_kinds(s, out);
    fputc('\n', out);
    for (size_t i = 0; i < s->kind_count && first == NULL; i++)
        if (s->kinds[i].can_be_allowed)
            first = &s->kinds[i];
    if (first == NULL)
        return;
    fprintf(out, "weir: to allow it: --allow %s, or \"%s\" in network.allowedDomains",
            first->what, first->what);
    if (settings != NULL)
        shown_printf(out, " of %s", settings);
    fputc('\n', out);
}
