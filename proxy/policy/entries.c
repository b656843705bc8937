#include "proxy/policy/entries.h"

#include "proxy/policy/grow.h"

void entries_done(struct entries *es)
{
    free(es->entry);
    free(es->text);
    *es = (struct entries){0};
}

static uint32_t add_text(struct entries *es, struct str text)
{
    uint32_t at = (uint32_t)es->text_len;

    es->text = grow(es->text, &es->text_room, es->text_len + text.n + 1, 1);
    if (text.n > 0)
        memcpy(es->text + es->text_len, text.p, text.n);
    es->text_len += text.n;
    return at;
}

uint32_t entries_add(struct entries *es, enum rule_list list, unsigned level,
                     struct str text)
{
    uint32_t number = (uint32_t)es->count;

    es->entry = grow(es->entry, &es->room, es->count + 1, sizeof *es->entry);
    if (es->counts[level][list] == 0)
        es->first[level][list] = number;
    es->entry[es->count++] = (struct entry){
        .text_at = add_text(es, text),
        .text_len = (uint32_t)text.n,
        .index = es->counts[level][list]++,
        .list = (uint8_t)list,
        .level = (uint8_t)level,
    };
    return number;
}

void entries_set_reason(struct entries *es, uint32_t number, struct str reason)
{
    es->entry[number].reason_at = add_text(es, reason);
    es->entry[number].reason_len = (uint32_t)reason.n;
}

struct str entries_text(const struct entries *es, uint32_t number)
{
    const struct entry *entry = &es->entry[number];

    return (struct str){es->text + entry->text_at, entry->text_len};
}

struct rule entries_rule(const struct entries *es, uint32_t number)
{
    const struct entry *entry = &es->entry[number];

    return (struct rule){entry->list, entry->level, entry->index};
}

const struct entry *entries_find(const struct entries *es, const struct rule *rule)
{
    if (rule->list <= RULE_NONE || rule->list > RULE_NAT64_PREFIXES ||
        rule->level >= POLICY_LAYERS_MAX ||
        rule->index >= es->counts[rule->level][rule->list])
        return NULL;
    return &es->entry[es->first[rule->level][rule->list] + rule->index];
}
