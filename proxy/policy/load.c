/* From `network` objects to a policy: reads the keys of each layer, fills the tables.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "proxy/policy/deny_reasons.h"
#include "proxy/policy/grow.h"
#include "proxy/policy/network_keys.h"
#include "proxy/policy/range.h"
#include "proxy/policy/review.h"

/* A word of a key that takes one of several; the stricter has the lower value. */
struct word {
    const char *text;
    int value;
};

static const struct word mode_words[] = {
    {"enforce", MODE_ENFORCE}, {"report", MODE_REPORT}, {NULL, 0}};
static const struct word sni_words[] = {
    {"require", SNI_REQUIRE}, {"match", SNI_MATCH}, {"off", SNI_OFF}, {NULL, 0}};
static const struct word private_words[] = {{"deny", 0}, {"allow", 1}, {NULL, 0}};

static const cJSON *get(const struct loading *l, const char *key)
{
    return json_get(l->layers[l->level].network, key);
}

static bool expect_words(const struct word *words, struct err *e)
{
    char text[96] = "";

    for (const struct word *w = words; w->text != NULL; w++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\"%s\"",
                 w == words ? "" : " or ", w->text);
    return err_set(e, "expected %s", text);
}

/* *value is -1 when the key is not there. */
static bool read_word(const struct loading *l, const char *key,
                      const struct word *words, int *value, struct err *e)
{
    const cJSON *node = get(l, key);

    *value = -1;
    if (node == NULL)
        return true;
    for (const struct word *w = words; w->text != NULL && cJSON_IsString(node); w++)
        if (strcmp(node->valuestring, w->text) == 0)
            *value = w->value;
    if (*value >= 0)
        return true;
    expect_words(words, e);
    return loading_refuse(l, node, key, -1, e);
}

/* The stricter of what the layers say: an inner one never loosens what an outer one
 * sets. Of equal ones the outermost is named. */
static bool read_words(struct loading *l, struct err *e)
{
    struct policy *p = l->p;
    int mode, sni, private;

    if (!read_word(l, "mode", mode_words, &mode, e) ||
        !read_word(l, "sni", sni_words, &sni, e) ||
        !read_word(l, "privateAddresses", private_words, &private, e))
        return false;
    if (mode >= 0 && (p->mode_level == POLICY_LAYERS_MAX || mode < (int)p->mode)) {
        p->mode = (enum policy_mode)mode;
        p->mode_level = l->level;
    }
    if (sni >= 0 && (p->sni_level == POLICY_LAYERS_MAX || sni < (int)p->sni)) {
        p->sni = (enum policy_sni)sni;
        p->sni_level = l->level;
    }
    p->denies_private[l->level] = private == 0;
    return true;
}

/* One entry of a list; `number` is its entry in the table. */
typedef bool entry_fn(struct loading *l, const cJSON *node, int index, uint32_t number,
                      struct err *e);

static bool read_entry(struct loading *l, const cJSON *node, enum rule_list list,
                       int index, entry_fn *take, struct err *e)
{
    uint32_t number;

    if (!cJSON_IsString(node))
        return err_set(e, "expected a string");
    number = entries_add(&l->p->entries, list, l->level, str_from(node->valuestring));
    l->nodes = grow(l->nodes, &l->node_room, number + 1, sizeof(cJSON *));
    l->nodes[number] = node;
    return take(l, node, index, number, e);
}

/* A list of strings, each given to `take`. A key that is not there is an empty list. */
static bool read_list(struct loading *l, const char *key, enum rule_list list,
                      entry_fn *take, struct err *e)
{
    const cJSON *nodes = get(l, key), *node;
    int index = 0;

    if (nodes == NULL)
        return true;
    if (!cJSON_IsArray(nodes)) {
        err_set(e, "expected a list of strings in [ ]");
        return loading_refuse(l, nodes, key, -1, e);
    }
    if (list == RULE_ALLOWED_DOMAINS || list == RULE_DENIED_DOMAINS)
        trie_expect(l->p->trie, (size_t)cJSON_GetArraySize(nodes));
    cJSON_ArrayForEach(node, nodes) {
        if (!read_entry(l, node, list, index, take, e))
            return loading_refuse(l, node, key, index, e);
        index++;
    }
    return true;
}

static bool take_allowed(struct loading *l, const cJSON *node, int index,
                         uint32_t number, struct err *e)
{
    struct pattern p;

    if (!pattern_parse(str_from(node->valuestring), PATTERN_ALLOW, &p, e) ||
        !review_allowed(l, &p, node, index, e))
        return false;
    /* A list that an inner layer replaces is checked, and counts for nothing. */
    if (loading_allows(l, l->level))
        trie_add(l->p->trie, &p, PATTERN_ALLOW, number);
    return true;
}

static bool take_denied(struct loading *l, const cJSON *node, int index,
                        uint32_t number, struct err *e)
{
    struct pattern p;

    if (!pattern_parse(str_from(node->valuestring), PATTERN_DENY, &p, e))
        return false;
    review_denied(l, &p, node, index);
    if (p.kind == PATTERN_ADDR && !l->p->denies_addr) {
        l->p->denies_addr = true;
        l->p->denied_addr_entry = number;
    }
    trie_add(l->p->trie, &p, PATTERN_DENY, number);
    return true;
}

/* Addresses are looked for after unmapping. A range that holds all IPv4-mapped ones, as
 * "::/0" does, therefore counts as 0.0.0.0/0 too: srt reads it so, and what is denied
 * there stays denied here. */
static void list_mapped(struct radix *listed, const struct ip_range *range,
                        uint32_t number)
{
    const struct ip_range all = {.ip.family = 4};

    if (range_holds_mapped(range))
        radix_add(listed, &all, &number);
}

static bool take_listed(struct loading *l, const cJSON *node, int index,
                        uint32_t number, struct err *e)
{
    static const char key[] = "deniedResolvedAddresses";
    struct policy *p = l->p;
    struct ip_range range;
    char note[RANGE_NOTE_MAX];
    uint32_t first = number;

    if (!range_parse(str_from(node->valuestring), &range, note, e))
        return false;
    if (note[0] != '\0')
        loading_warn(l, l->level, node, key, index, "%s", note);
    if (p->listed[l->level] == NULL)
        p->listed[l->level] = radix_new();
    if (!radix_add(p->listed[l->level], &range, &first))
        loading_warn(l, l->level, node, key, index, "is the same as [%u]",
                     entries_rule(&p->entries, first).index);
    list_mapped(p->listed[l->level], &range, number);
    return true;
}

static bool take_nat64(struct loading *l, const cJSON *node, int index, uint32_t number,
                       struct err *e)
{
    struct policy *p = l->p;
    struct ip_range range;
    char note[RANGE_NOTE_MAX];

    if (!range_parse_nat64(str_from(node->valuestring), &range, note, e))
        return false;
    if (p->nat64_count == FORMS_NAT64_MAX)
        return err_set(e, "is one too many: at most %d prefixes can be given",
                       FORMS_NAT64_MAX);
    if (note[0] != '\0')
        loading_warn(l, l->level, node, "nat64Prefixes", index, "%s", note);
    p->nat64_entry[p->nat64_count] = number;
    p->nat64[p->nat64_count++] = range;
    return true;
}

static bool read_layer(struct loading *l, struct err *e)
{
    if (l->layers[l->level].network == NULL)
        return true;
    return network_keys_check(l, e) && read_words(l, e) &&
           read_list(l, "allowedDomains", RULE_ALLOWED_DOMAINS, take_allowed, e) &&
           read_list(l, "deniedDomains", RULE_DENIED_DOMAINS, take_denied, e) &&
           deny_reasons_read(l, e) &&
           read_list(l, "deniedResolvedAddresses", RULE_DENIED_ADDRESSES, take_listed,
                     e) &&
           read_list(l, "nat64Prefixes", RULE_NAT64_PREFIXES, take_nat64, e);
}

static char *copy_label(const char *label)
{
    char *copy = strdup(label != NULL ? label : "");

    if (copy == NULL)
        abort();
    return copy;
}

static bool read_layers(struct loading *l, struct err *e)
{
    struct policy *p = l->p;

    /* Until a layer says so. */
    p->mode_level = p->sni_level = POLICY_LAYERS_MAX;
    for (unsigned level = 0; level < l->layer_count; level++) {
        p->labels[level] = copy_label(l->layers[level].label);
        if (json_get(l->layers[level].network, "allowedDomains") != NULL &&
            !l->layers[level].adds)
            p->allow_level = level;
    }
    for (l->level = 0; l->level < l->layer_count; l->level++)
        if (!read_layer(l, e))
            return false;
    return true;
}

/* Counts up with each policy of the process, in whatever thread it is made. */
static unsigned long next_generation(void)
{
    static atomic_ulong last;

    return atomic_fetch_add(&last, 1) + 1;
}

static void finish(struct loading *l)
{
    trie_seal(l->p->trie, review_twice, l);
    review_covered(l);
    l->p->generation = next_generation();
}

bool policy_load(const struct policy_layer *layers, size_t count, policy_warn_fn *warn,
                 void *warn_owner, struct policy **out, struct err *e)
{
    struct loading l = {
        .layers = layers, .layer_count = count, .warn = warn, .warn_owner = warn_owner};
    bool ok;

    assert(count <= POLICY_LAYERS_MAX);
    if (!policy_new(&l.p, e))
        return false;
    ok = read_layers(&l, e);
    if (ok)
        finish(&l);
    free(l.nodes);
    if (!ok)
        policy_unref(&l.p);
    else
        *out = l.p;
    return ok;
}
