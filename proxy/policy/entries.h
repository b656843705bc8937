/* The entries of all lists of a policy as the user wrote them. Compiled tables name an
 * entry by its number here; struct rule names it by list, level and index. */
#ifndef POLICY_ENTRIES_H
#define POLICY_ENTRIES_H

#include "proxy/policy/policy.h"

struct entry {
    uint32_t text_at, text_len;
    uint32_t reason_at, reason_len; /* the user's reason; length 0 when there is none */
    uint32_t index;
    uint8_t list, level; /* enum rule_list; which layer */
};

enum { ENTRIES_LISTS = RULE_NAT64_PREFIXES + 1 };

struct entries {
    struct entry *entry;
    size_t count, room;
    char *text;
    size_t text_len, text_room;
    uint32_t first[POLICY_LAYERS_MAX][ENTRIES_LISTS]; /* a list's entries in one run */
    uint32_t counts[POLICY_LAYERS_MAX][ENTRIES_LISTS];
};

void entries_done(struct entries *es);

/* The entries of one list of one layer come one behind the other. Returns the number.
 */
uint32_t entries_add(struct entries *es, enum rule_list list, unsigned level,
                     struct str text);
void entries_set_reason(struct entries *es, uint32_t number, struct str reason);

struct str entries_text(const struct entries *es, uint32_t number);
struct rule entries_rule(const struct entries *es, uint32_t number);
/* NULL when the rule is none of a list. */
const struct entry *entries_find(const struct entries *es, const struct rule *rule);

#endif
