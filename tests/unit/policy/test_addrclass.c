#include "proxy/policy/addrclass.h"
#include "tests/unit/policy/loaded.h"

/* The first and the last of each range, and what lies beside it. */
static const struct {
    const char *address;
    enum addr_class class;
    bool is_private;
} rows[] = {
    {"126.255.255.255", ADDR_CLASS_OTHER, false},
    {"127.0.0.0", ADDR_CLASS_LOOPBACK, false},
    {"127.255.255.255", ADDR_CLASS_LOOPBACK, false},
    {"128.0.0.0", ADDR_CLASS_OTHER, false},
    {"0.0.0.0", ADDR_CLASS_UNSPECIFIED, false},
    {"0.255.255.255", ADDR_CLASS_UNSPECIFIED, false},
    {"1.0.0.0", ADDR_CLASS_OTHER, false},
    {"169.253.255.255", ADDR_CLASS_OTHER, false},
    {"169.254.0.0", ADDR_CLASS_LINK_LOCAL, false},
    {"169.254.169.254", ADDR_CLASS_LINK_LOCAL, false},
    {"169.255.0.0", ADDR_CLASS_OTHER, false},
    {"223.255.255.255", ADDR_CLASS_OTHER, false},
    {"224.0.0.0", ADDR_CLASS_MULTICAST, false},
    {"239.255.255.255", ADDR_CLASS_MULTICAST, false},
    {"240.0.0.0", ADDR_CLASS_OTHER, true},
    {"255.255.255.254", ADDR_CLASS_OTHER, true},
    {"255.255.255.255", ADDR_CLASS_BROADCAST, true},
    {"100.100.100.200", ADDR_CLASS_METADATA, true},
    {"100.100.100.201", ADDR_CLASS_OTHER, true},
    {"168.63.129.16", ADDR_CLASS_METADATA, false},
    {"168.63.129.17", ADDR_CLASS_OTHER, false},
    {"192.0.0.192", ADDR_CLASS_METADATA, true},
    {"9.255.255.255", ADDR_CLASS_OTHER, false},
    {"10.0.0.0", ADDR_CLASS_OTHER, true},
    {"10.255.255.255", ADDR_CLASS_OTHER, true},
    {"11.0.0.0", ADDR_CLASS_OTHER, false},
    {"100.63.255.255", ADDR_CLASS_OTHER, false},
    {"100.64.0.0", ADDR_CLASS_OTHER, true},
    {"100.127.255.255", ADDR_CLASS_OTHER, true},
    {"100.128.0.0", ADDR_CLASS_OTHER, false},
    {"172.15.255.255", ADDR_CLASS_OTHER, false},
    {"172.16.0.0", ADDR_CLASS_OTHER, true},
    {"172.31.255.255", ADDR_CLASS_OTHER, true},
    {"172.32.0.0", ADDR_CLASS_OTHER, false},
    {"192.0.0.0", ADDR_CLASS_OTHER, true},
    {"192.0.1.0", ADDR_CLASS_OTHER, false},
    {"192.0.2.255", ADDR_CLASS_OTHER, true},
    {"192.88.99.1", ADDR_CLASS_OTHER, true},
    {"192.168.0.0", ADDR_CLASS_OTHER, true},
    {"192.169.0.0", ADDR_CLASS_OTHER, false},
    {"198.17.255.255", ADDR_CLASS_OTHER, false},
    {"198.18.0.0", ADDR_CLASS_OTHER, true},
    {"198.19.255.255", ADDR_CLASS_OTHER, true},
    {"198.20.0.0", ADDR_CLASS_OTHER, false},
    {"198.51.100.0", ADDR_CLASS_OTHER, true},
    {"203.0.113.255", ADDR_CLASS_OTHER, true},
    {"203.0.114.0", ADDR_CLASS_OTHER, false},
    {"::", ADDR_CLASS_UNSPECIFIED, false},
    {"::1", ADDR_CLASS_LOOPBACK, false},
    {"::2", ADDR_CLASS_OTHER, false}, /* forms.c sees 0.0.0.2 */
    {"fe7f:ffff::", ADDR_CLASS_OTHER, false},
    {"fe80::", ADDR_CLASS_LINK_LOCAL, false},
    {"febf:ffff::", ADDR_CLASS_LINK_LOCAL, false},
    {"fec0::", ADDR_CLASS_OTHER, true},
    {"feff::", ADDR_CLASS_OTHER, true},
    {"ff00::", ADDR_CLASS_MULTICAST, false},
    {"ffff::", ADDR_CLASS_MULTICAST, false},
    {"fbff::", ADDR_CLASS_OTHER, false},
    {"fc00::", ADDR_CLASS_OTHER, true},
    {"fdff:ffff::", ADDR_CLASS_OTHER, true},
    {"fe00::", ADDR_CLASS_OTHER, false},
    {"fd00:ec1:ffff::", ADDR_CLASS_OTHER, true},
    {"fd00:ec2::254", ADDR_CLASS_METADATA, true},
    {"fd20:ce::254", ADDR_CLASS_METADATA, true},
    {"fd20:ce::255", ADDR_CLASS_OTHER, true},
    {"fd00:c1::a9fe:a9fe", ADDR_CLASS_METADATA, true},
    {"fd00:42::42", ADDR_CLASS_METADATA, true},
    {"fd00:a9fe:a9fe::1", ADDR_CLASS_METADATA, true},
    {"fd00:100::100:200", ADDR_CLASS_METADATA, true},
    {"100::", ADDR_CLASS_OTHER, true},
    {"100:0:0:1::", ADDR_CLASS_OTHER, true},
    {"100:0:0:2::", ADDR_CLASS_OTHER, false},
    {"2001::", ADDR_CLASS_OTHER, true},
    {"2001:1ff:ffff::", ADDR_CLASS_OTHER, true},
    {"2001:200::", ADDR_CLASS_OTHER, false},
    {"2001:db8::", ADDR_CLASS_OTHER, true},
    {"2001:db9::", ADDR_CLASS_OTHER, false},
    {"3fff:fff:ffff::", ADDR_CLASS_OTHER, true},
    {"3fff:1000::", ADDR_CLASS_OTHER, false},
    {"5f00::", ADDR_CLASS_OTHER, true},
    {"5f01::", ADDR_CLASS_OTHER, false},
    {"2002:a00:1::", ADDR_CLASS_OTHER, false},
    {"2606:4700:4700::1111", ADDR_CLASS_OTHER, false},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ip ip;

        assert_true(ip_parse(str_from(rows[i].address), &ip));
        if (addr_class_of(&ip) != rows[i].class ||
            addr_is_private(&ip) != rows[i].is_private)
            fail_msg("%s: %d %d", rows[i].address, addr_class_of(&ip),
                     addr_is_private(&ip));
    }
}

static void test_no_address(void **state)
{
    struct ip none = {0}, odd = {.family = 9};

    (void)state;
    assert_int_equal(addr_class_of(&none), ADDR_CLASS_NONE_AT_ALL);
    assert_int_equal(addr_class_of(&odd), ADDR_CLASS_NONE_AT_ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_no_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
