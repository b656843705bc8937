/* Lines of any bytes as entries of host lists and of ranges. What loads can match: a
 * host made from the pattern is a target, and the table finds the entry for it. */
#include <stdio.h>
#include <stdlib.h>

#include "proxy/policy/pattern.h"
#include "proxy/policy/radix.h"
#include "proxy/policy/range.h"
#include "proxy/policy/suffix.h"
#include "proxy/policy/trie.h"

enum { ENTRIES_MAX = 64, HOST_SIZE = HOST_NAME_MAX_LEN + 1, ARENA_SIZE = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

struct wanted {
    uint32_t entry;
    enum pattern_use use;
    unsigned port;
    bool found;
};

/* Of entries that overlap one may stand for the others, so that any will do. */
static bool on_match(void *owner, const struct trie_match *match)
{
    struct wanted *w = owner;

    if (match->use == w->use && spans_find(match->spans, match->count, w->port) != NULL)
        w->found = true;
    return true;
}

static void ignore_twice(void *owner, uint32_t first, uint32_t second)
{
    (void)owner;
    require(first < second);
}

/* The shortest host that the pattern matches. */
static void sample(const struct pattern *p, char host[HOST_SIZE])
{
    char ip[IP_TEXT_MAX];

    if (p->kind == PATTERN_ADDR)
        snprintf(host, HOST_SIZE, "%s", ip_text(&p->ip, ip));
    else if (p->kind == PATTERN_ANY)
        snprintf(host, HOST_SIZE, "x");
    else
        snprintf(host, HOST_SIZE, "%s%s", p->kind == PATTERN_BELOW ? "x." : "",
                 p->text);
    for (char *c = host; *c != '\0'; c++)
        if (*c == '*')
            *c = 'x';
}

static void check_found(const struct trie *t, const struct pattern *p,
                        enum pattern_use use)
{
    struct wanted low = {.use = use, .port = p->first_port};
    struct wanted high = {.use = use, .port = p->last_port};
    char host[HOST_SIZE];
    struct target target;
    struct arena a;

    sample(p, host);
    arena_init(&a, ARENA_SIZE);
    require(target_set(&target, &a, str_from(host), p->ip.family == 6, low.port));
    require(str_equal(target.host, str_from(host)));
    require((target.kind == HOST_ADDR) == (p->kind == PATTERN_ADDR));
    if (target.kind == HOST_ADDR) {
        trie_visit_addr(t, &target.ip, on_match, &low);
        trie_visit_addr(t, &target.ip, on_match, &high);
    } else {
        trie_visit_name(t, target.host, on_match, &low);
        trie_visit_name(t, target.host, on_match, &high);
    }
    require(low.found && high.found);
    arena_done(&a);
}

/* What is canonical reads as itself. */
static void check_again(const struct pattern *p, enum pattern_use use)
{
    char entry[HOST_SIZE + 32], ip[IP_TEXT_MAX] = "";
    struct pattern again;
    struct err e;

    if (p->kind == PATTERN_ADDR)
        ip_text(&p->ip, ip);
    snprintf(entry, sizeof entry, "%s%s%s%s:%u-%u", p->ip.family == 6 ? "[" : "",
             p->kind == PATTERN_BELOW ? "*."
             : p->kind == PATTERN_ANY ? "*"
                                      : "",
             p->kind == PATTERN_ADDR ? ip : p->text, p->ip.family == 6 ? "]" : "",
             p->first_port, p->last_port);
    require(pattern_parse(str_from(entry), use, &again, &e));
    require(again.kind == p->kind && str_equal(again.name, p->name) &&
            ip_equal(&again.ip, &p->ip) && again.first_port == p->first_port &&
            again.last_port == p->last_port);
}

static bool parse(struct str entry, enum pattern_use use, struct pattern *p)
{
    struct err e = {""};

    if (!pattern_parse(entry, use, p, &e)) {
        require(e.text[0] != '\0');
        return false;
    }
    require(p->kind != PATTERN_NONE && p->first_port >= 1 &&
            p->first_port <= p->last_port && p->last_port <= 65535);
    require(p->text[p->name.n] == '\0' && strlen(p->text) == p->name.n);
    check_again(p, use);
    suffix_of(pattern_base(p));
    return true;
}

static void check_range(struct str entry)
{
    struct radix *r = radix_new();
    char note[RANGE_NOTE_MAX];
    struct ip_range range;
    uint32_t number = 7;
    struct err e = {""};

    if (range_parse(entry, &range, note, &e)) {
        require(radix_add(r, &range, &number));
        number = 0;
        require(ip_range_has(&range, &range.ip));
        require(radix_find(r, &range.ip, &number) && number == 7);
    } else {
        require(e.text[0] != '\0');
    }
    radix_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hash_key key = {1, 2};
    static struct pattern patterns[2 * ENTRIES_MAX];
    struct str rest = {(const char *)data, size};
    struct trie *t = trie_new(&key);
    enum pattern_use uses[2 * ENTRIES_MAX];
    uint32_t count = 0;

    for (int line = 0; line < ENTRIES_MAX && rest.n > 0; line++) {
        struct str entry = str_cut(&rest, '\n');

        check_range(entry);
        for (enum pattern_use use = PATTERN_ALLOW; use <= PATTERN_DENY; use++) {
            if (!parse(entry, use, &patterns[count]))
                continue;
            trie_add(t, &patterns[count], use, count);
            uses[count++] = use;
        }
    }
    trie_seal(t, ignore_twice, NULL);
    for (uint32_t i = 0; i < count; i++)
        check_found(t, &patterns[i], uses[i]);
    trie_free(&t);
    return 0;
}
