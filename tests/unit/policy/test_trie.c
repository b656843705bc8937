#include "proxy/policy/trie.h"
#include "tests/unit/policy/loaded.h"

/* H6: at whatever number of rules, and in whatever case, the table must answer as the
 * simplest matcher does, which is written here once more from the words of the
 * design. */
enum { RULES_MAX = 10000, NAME_SIZE = 96, QUERIES = 4000, MATCHES = 2000000 };

struct rule_text {
    char entry[NAME_SIZE]; /* without a port, lower case */
    unsigned first, last;
    enum pattern_use use;
};

static unsigned next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (unsigned)(*seed >> 11);
}

/* Few labels, so that entries and names meet often. */
static void random_name(uint64_t *seed, unsigned labels, char out[NAME_SIZE])
{
    static const char *const words[] = {"a", "b", "c", "ab", "x-y", "aa", "b_", "z9"};

    out[0] = '\0';
    for (unsigned i = 0; i < labels; i++)
        snprintf(out + strlen(out), NAME_SIZE - strlen(out), "%s.",
                 words[next(seed) % 8]);
    snprintf(out + strlen(out), NAME_SIZE - strlen(out), "%s.test",
             words[next(seed) % 8]);
}

static void random_rule(uint64_t *seed, struct rule_text *r)
{
    char front[NAME_SIZE], back[NAME_SIZE];

    random_name(seed, next(seed) % 4, back);
    switch (next(seed) % 4) {
    case 0:
        snprintf(r->entry, NAME_SIZE, "*.%.90s", back);
        break;
    case 1:
        random_name(seed, 0, front);
        *strchr(front, '.') = '\0';
        snprintf(r->entry, NAME_SIZE, "%s%.8s.*.%.80s", next(seed) % 4 ? "" : "*.",
                 front, back);
        break;
    default:
        snprintf(r->entry, NAME_SIZE, "%s", back);
    }
    r->first = next(seed) % 3 ? 1 : 1 + next(seed) % 10;
    r->last = r->first == 1 ? 65535 : r->first + next(seed) % 5;
    r->use = next(seed) % 3 ? PATTERN_ALLOW : PATTERN_DENY;
}

/* Both from the right: a star inside is one label, one in front is one or more. */
static bool naive_match(struct str entry, struct str name)
{
    bool below = str_starts(entry, STR("*."));
    const char *e, *n;

    if (below)
        entry = str_skip(entry, 2);
    e = entry.p + entry.n;
    n = name.p + name.n;
    while (e > entry.p && n > name.p) {
        const char *e0 = e, *n0 = n;

        while (e0 > entry.p && e0[-1] != '.')
            e0--;
        while (n0 > name.p && n0[-1] != '.')
            n0--;
        if (!(e - e0 == 1 && *e0 == '*') &&
            (e - e0 != n - n0 || strncasecmp(e0, n0, (size_t)(e - e0)) != 0))
            return false;
        e = e0 > entry.p ? e0 - 1 : e0;
        n = n0 > name.p ? n0 - 1 : n0;
        if (e0 == entry.p)
            return below ? n0 > name.p : n0 == name.p;
    }
    return false;
}

struct seen {
    unsigned port;
    bool allow, deny;
};

static bool on_match(void *owner, const struct trie_match *match)
{
    struct seen *s = owner;

    if (spans_find(match->spans, match->count, s->port) == NULL)
        return true;
    if (match->use == PATTERN_DENY)
        s->deny = true;
    else
        s->allow = true;
    return true;
}

static void random_case(uint64_t *seed, char *text)
{
    for (; *text != '\0'; text++)
        if (*text >= 'a' && *text <= 'z' && next(seed) % 2)
            *text = (char)(*text - 'a' + 'A');
}

static void ignore_twice(void *owner, uint32_t first, uint32_t second)
{
    (void)owner;
    assert_true(first < second);
}

static struct trie *build(uint64_t *seed, struct rule_text *rules, size_t count)
{
    struct hash_key key = {next(seed), next(seed)};
    struct trie *t = trie_new(&key);

    if (next(seed) % 2)
        trie_expect(t, count);
    for (size_t i = 0; i < count; i++) {
        char text[NAME_SIZE + 16];
        struct pattern p;
        struct err e;

        random_rule(seed, &rules[i]);
        assert_in_range(snprintf(text, sizeof text, "%s%s:%u-%u", rules[i].entry,
                                 next(seed) % 2 ? "." : "", rules[i].first,
                                 rules[i].last),
                        1, sizeof text - 1);
        random_case(seed, text);
        if (!pattern_parse(str_from(text), rules[i].use, &p, &e))
            fail_msg("%s: %s", text, e.text);
        trie_add(t, &p, rules[i].use, (uint32_t)i);
    }
    trie_seal(t, ignore_twice, NULL);
    return t;
}

static struct seen ask_naively(const struct rule_text *rules, size_t count,
                               const char *name, unsigned port)
{
    struct seen s = {.port = port};

    for (size_t i = 0; i < count; i++) {
        if (port < rules[i].first || port > rules[i].last ||
            !naive_match(str_from(rules[i].entry), str_from(name)))
            continue;
        if (rules[i].use == PATTERN_DENY)
            s.deny = true;
        else
            s.allow = true;
    }
    return s;
}

static void check_as_naive(size_t count)
{
    static struct rule_text rules[RULES_MAX];
    uint64_t seed = 88172645463325252u + count;
    struct trie *t = build(&seed, rules, count);
    /* The simple matcher looks at every rule: fewer questions to longer lists. */
    size_t queries = count * QUERIES > MATCHES ? MATCHES / count : QUERIES;
    unsigned hits = 0;

    for (size_t i = 0; i < queries; i++) {
        char name[NAME_SIZE];
        unsigned port = 1 + next(&seed) % 16;
        struct seen naive, got = {.port = port};

        random_name(&seed, next(&seed) % 6, name);
        naive = ask_naively(rules, count, name, port);
        trie_visit_name(t, str_from(name), on_match, &got);
        if (naive.allow != got.allow || naive.deny != got.deny)
            fail_msg("%zu rules: %s:%u: %d %d, expected %d %d", count, name, port,
                     got.allow, got.deny, naive.allow, naive.deny);
        hits += naive.allow || naive.deny;
    }
    /* The test would show nothing if nothing ever matched. */
    assert_true(count < 100 || hits > queries / 20);
    trie_free(&t);
    assert_null(t);
}

static void test_as_naive(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 4; count++)
        check_as_naive(count);
    check_as_naive(100);
    check_as_naive(101);
    check_as_naive(RULES_MAX);
}

/* The longest name, and a star at each depth: the walk stays in its bounds. */
static void test_deep(void **state)
{
    struct hash_key key = {1, 2};
    struct trie *t = trie_new(&key);
    struct seen s = {.port = 1};
    char name[HOST_NAME_MAX_LEN + 1];
    struct pattern p;
    struct err e;

    (void)state;
    for (size_t i = 0; i < 253; i++)
        name[i] = i % 2 ? '.' : 'a';
    name[253] = '\0';
    for (size_t i = 0; i < 250; i += 2) {
        name[i] = '*';
        assert_true(pattern_parse(str_from(name), PATTERN_DENY, &p, &e));
        trie_add(t, &p, PATTERN_DENY, (uint32_t)i);
        name[i] = 'a';
        assert_true(pattern_parse(str_from(name + i), PATTERN_DENY, &p, &e));
        trie_add(t, &p, PATTERN_ALLOW, (uint32_t)i);
    }
    trie_seal(t, ignore_twice, NULL);
    trie_visit_name(t, str_from(name), on_match, &s);
    assert_true(s.deny && s.allow);
    trie_free(&t);
}

static bool on_any(void *owner, const struct trie_match *match)
{
    (void)match;
    ++*(int *)owner;
    return true;
}

/* The bytes of an address are no label, and a name is no address. */
static void test_addrs_apart(void **state)
{
    static const char *const entries[] = {"1.2.3.4", "abcd.test", "[6162:6364::]",
                                          "[::1]:80"};
    struct ip v4 = {4, {1, 2, 3, 4}}, v6 = {6, {1, 2, 3, 4}},
              abcd = {4, {97, 98, 99, 100}};
    struct hash_key key = {3, 4};
    struct trie *t = trie_new(&key);
    struct pattern p;
    struct err e;
    int seen = 0;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(pattern_parse(str_from(entries[i]), PATTERN_ALLOW, &p, &e));
        trie_add(t, &p, PATTERN_ALLOW, i);
    }
    trie_seal(t, ignore_twice, NULL);
    trie_visit_addr(t, &v6, on_any, &seen);
    trie_visit_addr(t, &abcd, on_any, &seen);
    trie_visit_name(t, STR("test"), on_any, &seen);
    trie_visit_name(t, STR("abcd"), on_any, &seen);
    assert_int_equal(seen, 0);
    trie_visit_addr(t, &v4, on_any, &seen);
    trie_visit_name(t, STR("abcd.test"), on_any, &seen);
    assert_int_equal(seen, 2);
    trie_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_naive),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_addrs_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
