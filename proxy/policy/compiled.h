/* What a policy is made of: filled by load.c, read by the checks. */
#ifndef POLICY_COMPILED_H
#define POLICY_COMPILED_H

#include <stdatomic.h>

#include "proxy/policy/entries.h"
#include "proxy/policy/forms.h"
#include "proxy/policy/radix.h"
#include "proxy/policy/trie.h"

/* The stricter, the lower. */
enum policy_mode { MODE_ENFORCE = 0, MODE_REPORT };
enum policy_sni { SNI_REQUIRE = 0, SNI_MATCH, SNI_OFF };

struct policy {
    atomic_uint refs;
    unsigned long generation;
    struct entries entries;
    struct trie *trie; /* the allow list that counts, and every deny list */
    struct radix *listed[POLICY_LAYERS_MAX]; /* NULL: nothing listed there */
    bool denies_private[POLICY_LAYERS_MAX];
    bool denies_addr;           /* an entry of a deny list is an address */
    uint32_t denied_addr_entry; /* the first of these */
    struct ip_range nat64[FORMS_NAT64_MAX];
    uint32_t nat64_entry[FORMS_NAT64_MAX];
    size_t nat64_count;
    unsigned allow_level; /* whose allow list counts */
    enum policy_mode mode;
    enum policy_sni sni;
    unsigned mode_level, sni_level; /* which layer said so */
    char *labels[POLICY_LAYERS_MAX];
};

/* One reference, nothing allowed; the trie is empty and not sealed. */
bool policy_new(struct policy **out, struct err *e);

/* What checks answer with. */
struct verdict policy_answer(const struct policy *p, bool allow, enum reason reason,
                             struct rule rule);

#endif
