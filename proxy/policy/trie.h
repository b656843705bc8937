/* Every name and address of the allow list and of all deny lists, in one table.
 *
 * Names are a tree of labels from the right: "*.example.com" hangs on com > example.
 * All nodes lie in one hash table keyed by (parent, label), so a step costs the same
 * however many patterns there are, and one walk answers for both lists. Addresses hang
 * on a root of their own: no name ever matches an address, nor the other way round. */
#ifndef POLICY_TRIE_H
#define POLICY_TRIE_H

#include "proxy/policy/hash.h"
#include "proxy/policy/pattern.h"
#include "proxy/policy/span.h"

struct trie;

struct trie *trie_new(const struct hash_key *key);
void trie_free(struct trie **t);

/* A list of so many patterns is about to be added: saves growing step by step. */
void trie_expect(struct trie *t, size_t patterns);
/* Before trie_seal(). The pattern is not kept. */
void trie_add(struct trie *t, const struct pattern *p, enum pattern_use use,
              uint32_t entry);
/* Once, when all is added. `twice` is told of entries that say the same. */
void trie_seal(struct trie *t, span_twice_fn *twice, void *owner);

/* What hangs on one node for one list; `spans` are settled. */
struct trie_match {
    enum pattern_use use;
    const struct span *spans;
    size_t count;    /* at least 1 */
    unsigned weight; /* the more labels it names, the higher; exact is above "*." */
    bool by_star;    /* a star stood for something, in front or inside */
};
/* False ends the visit. */
typedef bool trie_visit_fn(void *owner, const struct trie_match *match);

/* All that matches; what denies is shown before what allows for each node. `name` is
 * canonical and not empty. After trie_seal(). */
void trie_visit_name(const struct trie *t, struct str name, trie_visit_fn *visit,
                     void *owner);
void trie_visit_addr(const struct trie *t, const struct ip *ip, trie_visit_fn *visit,
                     void *owner);
/* All that matches everything that the pattern matches. */
void trie_visit_pattern(const struct trie *t, const struct pattern *p,
                        trie_visit_fn *visit, void *owner);

#endif
