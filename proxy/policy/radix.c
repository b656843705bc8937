#include "proxy/policy/radix.h"

#include "proxy/policy/grow.h"

/* The bits of an address from the top of `high`; IPv4 takes its first half. */
struct bits {
    uint64_t high, low;
};

enum { NODE_NONE = 0 };

struct node {
    struct bits bits;  /* those beyond `length` are zero */
    uint32_t child[2]; /* by the bit that follows */
    uint32_t entry;
    uint8_t length;
    bool is_range; /* has an entry; otherwise only a fork */
};

struct radix {
    struct node *nodes; /* the first is never used: its number means none */
    size_t count, room;
    uint32_t roots[2]; /* IPv4, IPv6 */
};

struct radix *radix_new(void)
{
    struct radix *r = calloc(1, sizeof *r);

    if (r == NULL)
        abort();
    r->count = 1;
    return r;
}

void radix_free(struct radix **r)
{
    if (*r == NULL)
        return;
    free((*r)->nodes);
    free(*r);
    *r = NULL;
}

static uint64_t read_word(const uint8_t *p)
{
    uint64_t word = 0;

    for (int i = 0; i < 8; i++)
        word = word << 8 | p[i];
    return word;
}

static struct bits bits_of(const struct ip *ip)
{
    return (struct bits){read_word(ip->bytes), read_word(ip->bytes + 8)};
}

static unsigned bit_at(const struct bits *b, unsigned i)
{
    return (i < 64 ? b->high >> (63 - i) : b->low >> (127 - i)) & 1;
}

static unsigned common_length(const struct bits *a, const struct bits *b)
{
    if (a->high != b->high)
        return (unsigned)__builtin_clzll(a->high ^ b->high);
    if (a->low != b->low)
        return 64 + (unsigned)__builtin_clzll(a->low ^ b->low);
    return 128;
}

static struct bits first_bits(const struct bits *b, unsigned length)
{
    if (length == 0)
        return (struct bits){0, 0};
    if (length <= 64)
        return (struct bits){b->high & ~0ull << (64 - length), 0};
    return (struct bits){b->high, b->low & ~0ull << (128 - length)};
}

static uint32_t add_node(struct radix *r, const struct bits *bits, unsigned length)
{
    r->nodes[r->count] = (struct node){
        .bits = first_bits(bits, length),
        .length = (uint8_t)length,
    };
    return (uint32_t)r->count++;
}

/* The node of exactly these bits, made if need be. Room for two nodes is there, so
 * nothing moves meanwhile. */
static uint32_t get_node(struct radix *r, uint32_t *root, const struct bits *bits,
                         unsigned length)
{
    uint32_t *link = root;

    while (*link != NODE_NONE) {
        uint32_t old = *link;
        unsigned common = common_length(&r->nodes[old].bits, bits);

        if (common > length)
            common = length;
        if (common < r->nodes[old].length) {
            *link = add_node(r, bits, common);
            r->nodes[*link].child[bit_at(&r->nodes[old].bits, common)] = old;
        }
        if (r->nodes[*link].length == length)
            return *link;
        link = &r->nodes[*link].child[bit_at(bits, r->nodes[*link].length)];
    }
    *link = add_node(r, bits, length);
    return *link;
}

static bool is_v6(const struct ip *ip)
{
    return ip->family == 6;
}

bool radix_add(struct radix *r, const struct ip_range *range, uint32_t *entry)
{
    struct bits bits = bits_of(&range->ip);
    struct node *n;

    r->nodes = grow(r->nodes, &r->room, r->count + 2, sizeof *r->nodes);
    n = &r->nodes[get_node(r, &r->roots[is_v6(&range->ip)], &bits, range->bits)];
    if (n->is_range) {
        *entry = n->entry;
        return false;
    }
    n->is_range = true;
    n->entry = *entry;
    return true;
}

bool radix_find(const struct radix *r, const struct ip *ip, uint32_t *entry)
{
    struct bits bits = bits_of(ip);
    uint32_t at = r->roots[is_v6(ip)];
    unsigned all = is_v6(ip) ? 128 : 32;
    bool found = false;

    while (at != NODE_NONE) {
        const struct node *n = &r->nodes[at];

        if (common_length(&n->bits, &bits) < n->length)
            break;
        if (n->is_range) {
            *entry = n->entry;
            found = true;
        }
        if (n->length == all)
            break;
        at = n->child[bit_at(&bits, n->length)];
    }
    return found;
}
