#include "proxy/policy/trie.h"

#include <assert.h>

#include "proxy/policy/grow.h"

/* Roots, and "none" of a slot or of a node's star. */
enum { ROOT_NAMES = 0, ROOT_ADDRS = 1, NODE_NONE = 0 };

enum { LABELS_MAX = HOST_NAME_MAX_LEN / 2 + 1 };

/* What hangs on a node. A walk shows them in this order. */
enum set { DENY_EXACT = 0, DENY_BELOW, ALLOW_EXACT, ALLOW_BELOW, SET_COUNT };

struct node {
    uint32_t parent;
    uint32_t label_at;         /* in trie.labels */
    uint32_t star;             /* the child for "any one label" */
    uint32_t spans_at;         /* the sets lie there one behind the other */
    uint16_t count[SET_COUNT]; /* settled spans do not overlap, so 65535 is the most */
    uint8_t label_len;
    bool has_children; /* besides the star */
};

/* The tag saves looking at a node that only shares the slot. */
struct slot {
    uint32_t tag;
    uint32_t node; /* NODE_NONE: free */
};

/* A span on its way to its node. */
struct pending {
    uint32_t node;
    enum set set;
    struct span span;
};

struct trie {
    struct hash_key key;
    struct node *nodes;
    size_t node_count, node_room;
    struct slot *slots;
    size_t slot_count; /* a power of two */
    char *labels;
    size_t label_len, label_room;
    struct span *spans;
    struct pending *pending; /* NULL once sealed */
    size_t pending_count, pending_room;
};

static uint32_t add_node(struct trie *t, uint32_t parent, struct str label)
{
    t->nodes = grow(t->nodes, &t->node_room, t->node_count + 1, sizeof *t->nodes);
    t->labels = grow(t->labels, &t->label_room, t->label_len + label.n + 1, 1);
    t->nodes[t->node_count] = (struct node){
        .parent = parent,
        .label_at = (uint32_t)t->label_len,
        .label_len = (uint8_t)label.n,
    };
    if (label.n > 0)
        memcpy(t->labels + t->label_len, label.p, label.n);
    t->label_len += label.n;
    return (uint32_t)t->node_count++;
}

static struct slot *new_slots(size_t count)
{
    struct slot *slots = calloc(count, sizeof *slots);

    if (slots == NULL)
        abort();
    return slots;
}

struct trie *trie_new(const struct hash_key *key)
{
    struct trie *t = calloc(1, sizeof *t);

    if (t == NULL)
        abort();
    t->key = *key;
    t->slot_count = 64;
    t->slots = new_slots(t->slot_count);
    add_node(t, ROOT_NAMES, (struct str){"", 0});
    add_node(t, ROOT_NAMES, (struct str){"", 0});
    return t;
}

void trie_free(struct trie **t)
{
    if (*t == NULL)
        return;
    free((*t)->nodes);
    free((*t)->slots);
    free((*t)->labels);
    free((*t)->spans);
    free((*t)->pending);
    free(*t);
    *t = NULL;
}

static bool is_child(const struct trie *t, uint32_t node, uint32_t parent,
                     struct str label)
{
    const struct node *n = &t->nodes[node];

    return n->parent == parent && n->label_len == label.n &&
           memcmp(t->labels + n->label_at, label.p, label.n) == 0;
}

/* The slot of the child, or the free one where it would go. */
static struct slot *find_slot(const struct trie *t, uint32_t parent, struct str label,
                              uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);

    for (size_t i = hash;; i++) {
        struct slot *s = &t->slots[i & (t->slot_count - 1)];

        if (s->node == NODE_NONE ||
            (s->tag == tag && is_child(t, s->node, parent, label)))
            return s;
    }
}

static uint64_t hash_child(const struct trie *t, uint32_t parent, struct str label)
{
    return hash_bytes(&t->key, parent, label.p, label.n);
}

static void set_slots(struct trie *t, size_t count)
{
    free(t->slots);
    t->slot_count = count;
    t->slots = new_slots(count);
    for (uint32_t i = ROOT_ADDRS + 1; i < t->node_count; i++) {
        const struct node *n = &t->nodes[i];
        struct str label = {t->labels + n->label_at, n->label_len};
        uint64_t hash = hash_child(t, n->parent, label);

        /* Stars are reached through their parents alone. */
        if (t->nodes[n->parent].star != i)
            *find_slot(t, n->parent, label, hash) =
                (struct slot){(uint32_t)(hash >> 32), i};
    }
}

void trie_expect(struct trie *t, size_t patterns)
{
    /* Most patterns bring one node or two. */
    size_t wanted = 3 * patterns, count = t->slot_count;

    while (count < wanted)
        count *= 2;
    if (count > t->slot_count)
        set_slots(t, count);
}

static uint32_t get_star(struct trie *t, uint32_t parent)
{
    if (t->nodes[parent].star == NODE_NONE) {
        uint32_t star = add_node(t, parent, STR("*"));

        t->nodes[parent].star = star;
    }
    return t->nodes[parent].star;
}

static uint32_t get_child(struct trie *t, uint32_t parent, struct str label)
{
    uint64_t hash = hash_child(t, parent, label);
    struct slot *s = find_slot(t, parent, label, hash);

    if (s->node != NODE_NONE)
        return s->node;
    /* At most half of the slots are taken, so a search ends soon. */
    if (2 * t->node_count >= t->slot_count) {
        set_slots(t, 2 * t->slot_count);
        s = find_slot(t, parent, label, hash);
    }
    *s = (struct slot){(uint32_t)(hash >> 32), add_node(t, parent, label)};
    t->nodes[parent].has_children = true;
    return s->node;
}

/* Takes the last label off; *left is what stands in front of its dot. */
static struct str last_label(struct str name, size_t *left)
{
    size_t start = name.n;

    while (start > 0 && name.p[start - 1] != '.')
        start--;
    *left = start > 0 ? start - 1 : 0;
    return str_skip(name, start);
}

static uint32_t get_name(struct trie *t, struct str name)
{
    uint32_t node = ROOT_NAMES;

    while (name.n > 0) {
        struct str label = last_label(name, &name.n);

        node =
            str_equal(label, STR("*")) ? get_star(t, node) : get_child(t, node, label);
    }
    return node;
}

static struct str addr_key(const struct ip *ip)
{
    return (struct str){(const char *)ip->bytes, ip->family == 4 ? 4 : 16};
}

void trie_add(struct trie *t, const struct pattern *p, enum pattern_use use,
              uint32_t entry)
{
    bool exact = p->kind == PATTERN_NAME || p->kind == PATTERN_ADDR;
    struct pending *added;

    assert(p->kind != PATTERN_NONE && t->spans == NULL);
    t->pending =
        grow(t->pending, &t->pending_room, t->pending_count + 1, sizeof *t->pending);
    added = &t->pending[t->pending_count++];
    added->node = p->kind == PATTERN_ADDR ? get_child(t, ROOT_ADDRS, addr_key(&p->ip))
                                          : get_name(t, p->name);
    if (use == PATTERN_DENY)
        added->set = exact ? DENY_EXACT : DENY_BELOW;
    else
        added->set = exact ? ALLOW_EXACT : ALLOW_BELOW;
    added->span = (struct span){(uint16_t)p->first_port, (uint16_t)p->last_port, entry};
}

/* Where the spans of each (node, set) begin; one more at the end. For free(). */
static uint32_t *place_spans(const struct trie *t, struct span *spans)
{
    size_t count = t->node_count * SET_COUNT;
    uint32_t *at = calloc(count + 2, sizeof *at);

    if (at == NULL)
        abort();
    /* Counted two places on: after the sums a bucket's start stands one place on, and
     * moves to its end, the next one's start, while the bucket is filled. */
    for (size_t i = 0; i < t->pending_count; i++)
        at[t->pending[i].node * SET_COUNT + t->pending[i].set + 2]++;
    for (size_t i = 2; i < count + 2; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < t->pending_count; i++) {
        const struct pending *p = &t->pending[i];

        spans[at[p->node * SET_COUNT + p->set + 1]++] = p->span;
    }
    return at;
}

void trie_seal(struct trie *t, span_twice_fn *twice, void *owner)
{
    struct span *spans = calloc(t->pending_count + 1, sizeof *spans);
    uint32_t *at, end = 0;

    if (spans == NULL)
        abort();
    at = place_spans(t, spans);
    for (size_t i = 0; i < t->node_count; i++) {
        struct node *n = &t->nodes[i];

        n->spans_at = end;
        for (size_t set = 0; set < SET_COUNT; set++) {
            struct span *from = spans + at[i * SET_COUNT + set];
            size_t had = at[i * SET_COUNT + set + 1] - at[i * SET_COUNT + set];
            size_t kept = spans_settle(from, had, twice, owner);

            /* What is kept moves down over what was cut. */
            memmove(spans + end, from, kept * sizeof *spans);
            n->count[set] = (uint16_t)kept;
            end += (uint32_t)kept;
        }
    }
    free(at);
    free(t->pending);
    t->pending = NULL;
    t->spans = spans;
}

/* A node that was reached, and how much of the name is left in front. */
struct step {
    uint32_t node;
    uint8_t left, depth;
    bool by_star;
};

/* A walk under way: who is told, and what for. */
struct walk {
    const struct trie *t;
    trie_visit_fn *visit;
    void *owner;
};

static bool show(const struct walk *w, const struct step *s, enum set set)
{
    const struct node *n = &w->t->nodes[s->node];
    bool below = set == DENY_BELOW || set == ALLOW_BELOW;
    struct trie_match match = {
        .use = set <= DENY_BELOW ? PATTERN_DENY : PATTERN_ALLOW,
        .spans = w->t->spans + n->spans_at,
        .count = n->count[set],
        .weight = 2 * s->depth + !below,
        .by_star = s->by_star || below,
    };

    if (match.count == 0)
        return true;
    for (enum set before = 0; before < set; before++)
        match.spans += n->count[before];
    return w->visit(w->owner, &match);
}

static bool show_exact(const struct walk *w, const struct step *s)
{
    return show(w, s, DENY_EXACT) && show(w, s, ALLOW_EXACT);
}

static bool show_below(const struct walk *w, const struct step *s)
{
    return show(w, s, DENY_BELOW) && show(w, s, ALLOW_BELOW);
}

static uint32_t find_child(const struct trie *t, uint32_t parent, struct str label)
{
    if (!t->nodes[parent].has_children)
        return NODE_NONE;
    return find_slot(t, parent, label, hash_child(t, parent, label))->node;
}

/* The nodes one label further: the label's own, and the one for any label. */
static size_t take_label(const struct trie *t, const struct step *s, struct str name,
                         struct step next[2])
{
    size_t left, count = 0;
    struct str label = last_label(str_head(name, s->left), &left);
    uint32_t child = find_child(t, s->node, label), star = t->nodes[s->node].star;
    struct step step = {child, (uint8_t)left, (uint8_t)(s->depth + 1), s->by_star};

    if (child != NODE_NONE)
        next[count++] = step;
    step.node = star;
    step.by_star = true;
    if (star != NODE_NONE)
        next[count++] = step;
    return count;
}

/* Each step is taken off the stack and puts at most two on, so there is at most one
 * waiting for each label of the name. A pattern has one star inside at most, which
 * bounds the ways through. `below`: it is asked for all names below `name`. */
static void walk_name(const struct walk *w, struct str name, bool below)
{
    struct step stack[LABELS_MAX + 2];
    size_t count = 1;

    assert(name.n > 0 && name.n <= HOST_NAME_MAX_LEN);
    stack[0] = (struct step){ROOT_NAMES, (uint8_t)name.n, 0, false};
    while (count > 0) {
        struct step s = stack[--count];

        if ((s.left > 0 || below) && !show_below(w, &s))
            return;
        if (s.left == 0 && !below && !show_exact(w, &s))
            return;
        if (s.left > 0) {
            assert(count <= LABELS_MAX);
            count += take_label(w->t, &s, name, stack + count);
        }
    }
}

void trie_visit_name(const struct trie *t, struct str name, trie_visit_fn *visit,
                     void *owner)
{
    struct walk w = {t, visit, owner};

    walk_name(&w, name, false);
}

void trie_visit_addr(const struct trie *t, const struct ip *ip, trie_visit_fn *visit,
                     void *owner)
{
    struct walk w = {t, visit, owner};
    struct step all = {.node = ROOT_NAMES};
    struct step this = {find_child(t, ROOT_ADDRS, addr_key(ip)), 0, 1, false};

    /* What hangs on the root of the names is "*", which is every address too. */
    if (show_below(&w, &all) && this.node != NODE_NONE)
        show_exact(&w, &this);
}

void trie_visit_pattern(const struct trie *t, const struct pattern *p,
                        trie_visit_fn *visit, void *owner)
{
    struct walk w = {t, visit, owner};
    struct step all = {.node = ROOT_NAMES};

    if (p->kind == PATTERN_ADDR)
        trie_visit_addr(t, &p->ip, visit, owner);
    else if (p->kind == PATTERN_ANY)
        show_below(&w, &all);
    else
        walk_name(&w, p->name, p->kind == PATTERN_BELOW);
}
