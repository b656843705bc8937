#include "tests/unit/policy/loaded.h"

/* Rules for addresses that somebody wrote refuse a name whose addresses nobody here
 * would see; without any, and for an address, there is nothing to miss. */
static void test_unresolved(void **state)
{
    static const struct {
        const char *network, *expected;
    } rows[] = {
        {"{}", "allow-list"},
        {"{\"deniedDomains\": [\"a.test\", \"*.b.test\"]}", "allow-list"},
        {"{\"privateAddresses\": \"allow\"}", "allow-list"},
        {"{\"deniedResolvedAddresses\": [\"10.0.0.0/8\", \"192.0.2.1\"]}",
         "address-unchecked network.deniedResolvedAddresses[0]"},
        {"{\"privateAddresses\": \"deny\"}",
         "address-unchecked network.privateAddresses"},
        {"{\"deniedDomains\": [\"a.test\", \"192.0.2.1\", \"192.0.2.2\"]}",
         "address-unchecked network.deniedDomains[1]"},
        {"{\"deniedDomains\": [\"[2001:db8::1]:443\"]}",
         "address-unchecked network.deniedDomains[0]"},
        {"{\"nat64Prefixes\": [\"2001:db8:64::/96\"]}",
         "address-unchecked network.nat64Prefixes[0]"},
    };
    struct target name = {.kind = HOST_NAME, .host = STR("x.test"), .port = 443};
    struct target addr = {.kind = HOST_ADDR,
                          .host = STR("192.0.2.9"),
                          .ip = {4, {192, 0, 2, 9}},
                          .port = 443};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy *p = load_text(rows[i].network);

        assert_verdict(p, policy_check_unresolved(p, &name), rows[i].expected);
        assert_verdict(p, policy_check_unresolved(p, &addr), "allow-list");
        policy_unref(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unresolved)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
