#include "proxy/policy/suffix.h"
#include "tests/unit/policy/loaded.h"

static const struct {
    const char *name;
    enum suffix suffix;
} rows[] = {
    {"com", SUFFIX_PUBLIC},
    {"co.uk", SUFFIX_PUBLIC},
    {"test", SUFFIX_PUBLIC}, /* a top-level domain that nobody listed */
    {"internal", SUFFIX_PUBLIC},
    {"xn--p1ai", SUFFIX_PUBLIC},
    {"xn--55qx5d.cn", SUFFIX_PUBLIC},
    {"kawasaki.jp", SUFFIX_PUBLIC},    /* under a wildcard rule */
    {"a.kawasaki.jp", SUFFIX_PUBLIC},  /* by that rule */
    {"city.kawasaki.jp", SUFFIX_NONE}, /* and its exception */
    {"github.io", SUFFIX_PRIVATE},
    {"s3.amazonaws.com", SUFFIX_PRIVATE},
    {"example.com", SUFFIX_NONE},
    {"a.example.co.uk", SUFFIX_NONE},
    {"someone.github.io", SUFFIX_NONE},
    {"ms.test", SUFFIX_NONE},
};

static void test_suffix(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (suffix_of(rows[i].name) != rows[i].suffix)
            fail_msg("%s: %d", rows[i].name, suffix_of(rows[i].name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_suffix)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
