#include "proxy/policy/radix.h"
#include "tests/unit/policy/loaded.h"

enum { RANGES = 3000, QUERIES = 4000 };

static unsigned next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (unsigned)(*seed >> 11);
}

/* Bytes of few values, so that ranges hold each other and many of the addresses. */
static struct ip random_ip(uint64_t *seed)
{
    struct ip ip = {.family = next(seed) % 2 ? 4 : 6};

    for (int i = 0; i < (ip.family == 4 ? 4 : 16); i++)
        ip.bytes[i] = (uint8_t)(next(seed) % 4 * 0x55);
    return ip;
}

static struct ip_range random_range(uint64_t *seed)
{
    char text[IP_TEXT_MAX + 8], ip_buf[IP_TEXT_MAX];
    struct ip ip = random_ip(seed);
    struct ip_range r;

    snprintf(text, sizeof text, "%s/%u", ip_text(&ip, ip_buf),
             next(seed) % (ip.family == 4 ? 33 : 129));
    assert_true(ip_range_parse(str_from(text), true, &r));
    return r;
}

/* The longest range by looking at all of them; -1 when none holds the address. */
static int find_naively(const struct ip_range *ranges, size_t count,
                        const struct ip *ip)
{
    int best = -1;

    for (size_t i = 0; i < count; i++)
        if (ip_range_has(&ranges[i], ip) &&
            (best < 0 || ranges[i].bits > ranges[best].bits))
            best = (int)i;
    return best;
}

static void check_as_naive(size_t count)
{
    static struct ip_range ranges[RANGES];
    uint64_t seed = 42 + count;
    struct radix *r = radix_new();
    unsigned hits = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t entry = (uint32_t)i;

        ranges[i] = random_range(&seed);
        /* The same range twice: the first one's entry stays. */
        if (!radix_add(r, &ranges[i], &entry))
            assert_true(entry < i && ip_equal(&ranges[entry].ip, &ranges[i].ip) &&
                        ranges[entry].bits == ranges[i].bits);
    }
    for (int i = 0; i < QUERIES; i++) {
        struct ip ip = random_ip(&seed);
        int naive = find_naively(ranges, count, &ip);
        uint32_t entry = 0;

        assert_int_equal(radix_find(r, &ip, &entry), naive >= 0);
        if (naive >= 0)
            assert_int_equal(entry, naive);
        hits += naive >= 0;
    }
    assert_true(count < 100 || (hits > QUERIES / 20));
    radix_free(&r);
    assert_null(r);
}

static void test_as_naive(void **state)
{
    (void)state;
    for (size_t count = 0; count < 12; count++)
        check_as_naive(count);
    check_as_naive(100);
    check_as_naive(RANGES);
}

static void test_edges(void **state)
{
    static const char *const texts[] = {"0.0.0.0/0", "255.255.255.255", "::/0",
                                        "::ffff:0:0/96"};
    struct ip v4 = {4, {1, 2, 3, 4}}, last = {4, {255, 255, 255, 255}};
    struct ip v6 = {6, {[10] = 0xff, [11] = 0xff, 1, 2, 3, 4}}, other = {6, {1}};
    struct radix *r = radix_new();
    uint32_t entry;

    (void)state;
    assert_false(radix_find(r, &v4, &entry));
    for (uint32_t i = 0; i < 4; i++) {
        struct ip_range range;

        entry = i;
        assert_true(ip_range_parse(str_from(texts[i]), false, &range));
        assert_true(radix_add(r, &range, &entry));
        assert_false(radix_add(r, &range, &entry));
    }
    assert_true(radix_find(r, &v4, &entry) && entry == 0);
    assert_true(radix_find(r, &last, &entry) && entry == 1);
    assert_true(radix_find(r, &v6, &entry) && entry == 3);
    assert_true(radix_find(r, &other, &entry) && entry == 2);
    radix_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_naive),
        cmocka_unit_test(test_edges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
