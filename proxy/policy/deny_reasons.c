#include "proxy/policy/deny_reasons.h"

#include <stdlib.h>

static const char key[] = "deniedDomainReasons";

/* A deny entry. The text is the document's: that of the entries moves as they grow. */
struct denied {
    const char *text;
    uint32_t number;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct denied *)a)->text, ((const struct denied *)b)->text);
}

/* All of the layer, by text, so that each reason finds its own quickly. For free(). */
static struct denied *sort_denied(const struct loading *l, size_t *count)
{
    const cJSON *list = json_get(l->layers[l->level].network, "deniedDomains"), *node;
    uint32_t number = l->p->entries.first[l->level][RULE_DENIED_DOMAINS];
    struct denied *sorted;
    size_t n = 0;

    *count = l->p->entries.counts[l->level][RULE_DENIED_DOMAINS];
    sorted = calloc(*count + 1, sizeof *sorted);
    if (sorted == NULL)
        abort();
    cJSON_ArrayForEach(node, list)
        sorted[n++] = (struct denied){node->valuestring, number++};
    qsort(sorted, n, sizeof *sorted, compare);
    return sorted;
}

/* Entries of one text stand together; all of them get the reason. */
static bool give(const struct loading *l, const struct denied *sorted, size_t count,
                 const cJSON *reason)
{
    struct denied wanted = {.text = reason->string};
    const struct denied *at = bsearch(&wanted, sorted, count, sizeof *sorted, compare);

    if (at == NULL)
        return false;
    while (at > sorted && compare(at - 1, &wanted) == 0)
        at--;
    for (; at < sorted + count && compare(at, &wanted) == 0; at++)
        entries_set_reason(&l->p->entries, at->number, str_from(reason->valuestring));
    return true;
}

bool deny_reasons_read(const struct loading *l, struct err *e)
{
    const cJSON *reasons = json_get(l->layers[l->level].network, key), *reason;
    struct denied *sorted;
    size_t count;

    if (reasons == NULL)
        return true;
    if (!cJSON_IsObject(reasons)) {
        err_set(e, "expected an object of deny entries and reasons in { }");
        return loading_refuse(l, reasons, key, -1, e);
    }
    cJSON_ArrayForEach(reason, reasons) {
        if (!cJSON_IsString(reason) || reason->valuestring[0] == '\0') {
            err_set(e, "\"%.64s\": a reason is a string that is not empty",
                    reason->string);
            return loading_refuse(l, reason, key, -1, e);
        }
    }
    sorted = sort_denied(l, &count);
    cJSON_ArrayForEach(reason, reasons)
        if (!give(l, sorted, count, reason))
            loading_warn(l, l->level, reason, key, -1,
                         "\"%.64s\" is no entry of deniedDomains", reason->string);
    free(sorted);
    return true;
}
