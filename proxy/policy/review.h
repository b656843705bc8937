/* What loads but may not be what was meant: a deny entry that shuts an allow entry
 * wholly, entries of one list that say the same, `localhost` without a port. */
#ifndef POLICY_REVIEW_H
#define POLICY_REVIEW_H

#include "proxy/policy/loading.h"

/* About one allow entry by itself, while it is read: its wildcard, its ports. False
 * when the wildcard is over a public suffix. */
bool review_allowed(const struct loading *l, const struct pattern *p, const cJSON *node,
                    int index, struct err *e);
/* About one deny entry. */
void review_denied(const struct loading *l, const struct pattern *p, const cJSON *node,
                   int index);

/* For trie_seal(); the owner is the struct loading. */
void review_twice(void *owner, uint32_t first, uint32_t second);

/* After trie_seal(): the allow list that counts against the deny lists. */
void review_covered(const struct loading *l);

#endif
