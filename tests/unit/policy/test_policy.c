#include "tests/unit/policy/loaded.h"

/* An authority, or a name and what it resolved to, and the verdict. */
struct row {
    const char *authority, *address, *verdict;
};

static void check_rows(const char *network, const struct row *rows, size_t count)
{
    struct policy *p = load_text(network);
    int wrong = 0;

    for (size_t i = 0; i < count; i++) {
        const struct row *r = &rows[i];
        struct verdict v = r->address != NULL ? ask_addr(p, r->authority, r->address)
                                              : ask_target(p, r->authority);
        const char *got = verdict_text(p, v);

        if (strcmp(got, r->verdict) != 0) {
            print_error("%s %s: %s, expected %s\n", r->authority,
                        r->address != NULL ? r->address : "", got, r->verdict);
            wrong++;
        }
        assert_int_equal(v.generation, policy_generation(p));
    }
    policy_unref(&p);
    assert_int_equal(wrong, 0);
}

#define CHECK(network, rows) check_rows(network, rows, sizeof rows / sizeof *rows)

#define ALLOWED(n) "allow-list network.allowedDomains[" #n "]"
#define DENIED(n)  "deny-list network.deniedDomains[" #n "]"
#define UNLISTED   "not-on-allow-list"

/* CFG-01, CFG-02, H5, H11, H12, H16. */
static void test_names(void **state)
{
    static const struct row rows[] = {
        {"npm.example:443", NULL, ALLOWED(0)},
        {"a.npm.example:443", NULL, ALLOWED(1)},
        {"a.b.NPM.Example.:1", NULL, ALLOWED(1)},
        {"registry.npm.example:443", NULL, ALLOWED(2)}, /* the entry that names most */
        {"evilnpm.example:443", NULL, UNLISTED},
        {"npm.example.evil.test:443", NULL, UNLISTED},
        {"ms.test:443", NULL, UNLISTED}, /* the apex is not below itself */
        {"ms.test.:443", NULL, UNLISTED},
        {"a.ms.test:443", NULL, ALLOWED(3)},
        {"a.b.ms.test:443", NULL, ALLOWED(3)},
        {"ms.test.evil.test:443", NULL, UNLISTED},
        {"xms.test:443", NULL, UNLISTED},
        {"only.test:443", NULL, ALLOWED(4)},
        {"only.test:80", NULL, UNLISTED},
        {"range.test:7999", NULL, UNLISTED},
        {"range.test:8000", NULL, ALLOWED(5)},
        {"range.test:8099", NULL, ALLOWED(5)},
        {"range.test:8100", NULL, UNLISTED},
        {"xn--bcher-kva.test:443", NULL, ALLOWED(6)},
        {"cdn.x.star.test:443", NULL, ALLOWED(7)},
        {"cdn.star.test:443", NULL, UNLISTED},
        {"cdn.x.y.star.test:443", NULL, UNLISTED},
        {"a.cdn.x.star.test:443", NULL, UNLISTED},
        {"com:443", NULL, UNLISTED},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"npm.example\", \"*.npm.example\", "
          "\"registry.npm.example\", \"*.ms.test\", \"only.test:443\", "
          "\"range.test:8000-8099\", \"b\xc3\xbc"
          "cher.test\", \"cdn.*.star.test\"]}",
          rows);
}

/* H3, BYP-04, srt.md 28: denied whatever allows. */
static void test_denied(void **state)
{
    static const struct row rows[] = {
        {"denied.test:443", NULL, DENIED(0)},
        {"denied.test.:443", NULL, DENIED(0)},
        {"DENIED.TEST:443", NULL, DENIED(0)},
        {"Denied.Test.:443", NULL, DENIED(0)},
        {"a.denied.test:443", NULL, ALLOWED(1)},
        {"x.tree.denied.test:443", NULL, DENIED(1)},
        {"tree.denied.test:443", NULL, ALLOWED(1)},
        {"xn--exmple-cua.test:443", NULL, DENIED(2)},
        {"a.test:25", NULL, DENIED(3)},
        {"a.test:26", NULL, ALLOWED(2)},
        {"127.0.0.1:25", NULL, DENIED(3)}, /* "*" is addresses too */
        {"[2001:db8::1]:25", NULL, DENIED(3)},
        {"a.test:8080", NULL, DENIED(4)},
        {"a.dark.zone:80", NULL, DENIED(5)},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"denied.test\", \"*.denied.test\", \"a.test\", "
          "\"xn--exmple-cua.test\"], \"deniedDomains\": [\"denied.test\", "
          "\"*.tree.denied.test\", \"ex\xc3\xa4mple.test\", \"*:25\", \"a.test:8080\", "
          "\"*.zone\"]}",
          rows);
}

static void test_deny_everything(void **state)
{
    static const struct row rows[] = {
        {"a.test:443", NULL, DENIED(0)},
        {"192.0.2.1:443", NULL, DENIED(0)},
        {"localhost:443", NULL, DENIED(0)},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"a.test\", \"192.0.2.1\"], \"deniedDomains\": "
          "[\"*\"]}",
          rows);
}

/* BYP-09: addresses match address entries, names match names. */
static void test_literals(void **state)
{
    static const struct row rows[] = {
        {"127.0.0.2:80", NULL, ALLOWED(0)},
        {"[::ffff:127.0.0.2]:80", NULL, ALLOWED(0)},
        {"[64:ff9b::7f00:2]:80", NULL, "address-loopback"}, /* no exemption */
        {"127.0.0.3:80", NULL, "address-loopback"},
        {"127.0.0.1:18080", NULL, ALLOWED(1)},
        {"127.0.0.1:18081", NULL, "address-loopback"},
        {"[::1]:443", NULL, ALLOWED(2)},
        {"[0:0:0:0:0:0:0:1]:443", NULL, ALLOWED(2)},
        {"[::1]:80", NULL, "address-loopback"},
        {"169.254.169.254:80", NULL, ALLOWED(3)},
        {"[fd00:ec2::254]:80", NULL, "address-metadata"},
        {"0.0.0.1:80", NULL, ALLOWED(4)},
        {"192.0.2.78:80", NULL, UNLISTED},
        {"192.0.2.77:80", NULL, "address-this-host"},
        {"198.51.100.7:80", NULL, DENIED(0)},
        {"[64:ff9b::c633:6407]:80", NULL, DENIED(0)}, /* the same, translated */
        {"198.51.100.8:80", NULL, UNLISTED},
        {"198.51.100.8:81", NULL, DENIED(1)},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"127.0.0.2\", \"127.0.0.1:18080\", "
          "\"[0:0:0:0:0:0:0:1]:443\", \"169.254.169.254\", \"0.0.0.1\", "
          "\"198.51.100.7\", \"api.a.test\"], \"deniedDomains\": [\"198.51.100.7\", "
          "\"198.51.100.8:81\"]}",
          rows);
}

/* A15: before any entry, in every form. */
static void test_own(void **state)
{
    static const struct row rows[] = {
        {"127.0.0.1:3128", NULL, "address-own"},
        {"[::ffff:127.0.0.1]:3128", NULL, "address-own"},
        {"[64:ff9b::7f00:1]:3128", NULL, "address-own"},
        {"0.0.0.0:3128", NULL, "address-own"}, /* the kernel takes it for loopback */
        {"[::]:3128", NULL, "address-own"},
        {"[::1]:9128", NULL, "address-own"},
        {"127.0.0.1:3129", NULL, ALLOWED(0)},
        {"localhost:3128", "127.0.0.1", "address-own"},
        {"a.test:3128", "127.0.0.1", "address-own"},
        {"a.test:3128", "::ffff:127.0.0.1", "address-own"},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"127.0.0.1\", \"localhost\", \"a.test\", \"[::1]\", "
          "\"0.0.0.0\", \"[::]\"]}",
          rows);
}

/* srt.md 28, attacks A2, A4 to A7, A10. */
static void test_classes(void **state)
{
    static const struct row rows[] = {
        {"n.test:80", "127.0.0.1", "address-loopback"},
        {"n.test:80", "127.255.255.254", "address-loopback"},
        {"n.test:80", "::1", "address-loopback"},
        {"n.test:80", "0.0.0.0", "address-unspecified"},
        {"n.test:80", "0.1.2.3", "address-unspecified"},
        {"n.test:80", "::", "address-unspecified"},
        {"n.test:80", "169.254.169.254", "address-link-local"},
        {"n.test:80", "169.254.170.2", "address-link-local"},
        {"n.test:80", "fe80::1", "address-link-local"},
        {"n.test:80", "febf::1", "address-link-local"},
        {"n.test:80", "224.0.0.1", "address-multicast"},
        {"n.test:80", "239.255.255.250", "address-multicast"},
        {"n.test:80", "ff02::1", "address-multicast"},
        {"n.test:80", "255.255.255.255", "address-multicast"},
        {"n.test:80", "100.100.100.200", "address-metadata"},
        {"n.test:80", "168.63.129.16", "address-metadata"},
        {"n.test:80", "192.0.0.192", "address-metadata"},
        {"n.test:80", "fd00:ec2::254", "address-metadata"},
        {"n.test:80", "fd00:ec2:ffff::1", "address-metadata"},
        {"n.test:80", "fd20:ce::254", "address-metadata"},
        {"n.test:80", "fd00:c1::a9fe:a9fe", "address-metadata"},
        {"n.test:80", "fd00:42::42", "address-metadata"},
        {"n.test:80", "fd00:a9fe:a9fe::1", "address-metadata"},
        {"n.test:80", "fd00:100::100:200", "address-metadata"},
        {"n.test:80", "192.0.2.77", "address-this-host"},
        {"n.test:80", "2001:db8::77", "address-this-host"},
        {"n.test:80", "64:ff9b::c000:24d", "address-this-host"},
        {"n.test:80", "::ffff:127.0.0.1", "address-loopback"},
        {"n.test:80", "::ffff:169.254.169.254", "address-link-local"},
        {"n.test:80", "::127.0.0.1", "address-loopback"},
        {"n.test:80", "::ffff:0:127.0.0.1", "address-loopback"},
        {"n.test:80", "64:ff9b::7f00:1", "address-loopback"},
        {"n.test:80", "64:ff9b::6464:64c8", "address-metadata"},
        {"n.test:80", "64:ff9b:1::a9fe:a9fe", "address-link-local"},
        {"n.test:80", "64:ff9b:1::808:808", "address-private"},
        {"n.test:80", "2002:7f00:1::1", "address-loopback"},
        {"n.test:80", "2002:a9fe:a9fe::", "address-link-local"},
        {"n.test:80", "2001:0:4136:e378:8000:63bf:80ff:fffe", "address-loopback"},
        {"n.test:80", "2001:0:7f00:1:8000:63bf:3fff:fdd2", "address-loopback"},
        {"n.test:80", "2001:db8::5efe:7f00:1", "address-loopback"},
        {"n.test:80", "2001:db8::200:5efe:7f00:1", "address-loopback"},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"n.test\"]}", rows);
}

/* As in srt. */
static void test_open_by_default(void **state)
{
    static const struct row rows[] = {
        {"n.test:80", "10.0.0.1", "allow-list"},
        {"n.test:80", "192.168.1.1", "allow-list"},
        {"n.test:80", "100.64.0.1", "allow-list"},
        {"n.test:80", "240.0.0.1", "allow-list"},
        {"n.test:80", "fc00::1", "allow-list"},
        {"n.test:80", "fec0::1", "allow-list"},
        {"n.test:80", "2001:db8:1::1", "allow-list"},
        {"n.test:80", "64:ff9b::808:808", "allow-list"},
        {"n.test:80", "2002:808:808::1", "allow-list"},
        {"n.test:80", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "allow-list"},
        {"n.test:80", "93.184.216.34", "allow-list"},
        {"n.test:80", "2606:4700:4700::1111", "allow-list"},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"n.test\"]}", rows);
}

/* srt.md 6, steps 1 to 3, and its vectors. */
static void test_exemptions(void **state)
{
    static const struct row rows[] = {
        {"n.test:18080", "127.0.0.1", ALLOWED(1)},
        {"n.test:18080", "::ffff:127.0.0.1", ALLOWED(1)},
        {"n.test:18080", "64:ff9b::7f00:1", "address-loopback"},
        {"n.test:18080", "::127.0.0.1", "address-loopback"},
        {"n.test:18081", "127.0.0.1", "address-loopback"},
        {"n.test:80", "::1", "address-loopback"}, /* 0.0.0.1 is no ::1 */
        {"n.test:80", "0.0.0.1", ALLOWED(2)},
        {"n.test:80", "10.0.0.1", "address-listed network.deniedResolvedAddresses[0]"},
        {"n.test:80", "64:ff9b::a00:1",
         "address-listed network.deniedResolvedAddresses[0]"},
        {"n.test:80", "10.9.9.9", "address-listed network.deniedResolvedAddresses[1]"},
        {"n.test:80", "10.1.2.3", ALLOWED(3)}, /* listed by the same hand */
        {"n.test:80", "2001:db8:5::1",
         "address-listed network.deniedResolvedAddresses[2]"},
        {"n.test:80", "203.0.113.9", DENIED(0)},
        {"n.test:80", "2002:cb00:7109::1", DENIED(0)},
        {"n.test:81", "203.0.113.10", DENIED(1)},
        {"n.test:80", "203.0.113.10", "allow-list"},
        {"localhost:5432", "127.0.0.1", ALLOWED(4)},
        {"localhost:5432", "127.0.0.2", ALLOWED(4)},
        {"localhost:5432", "::1", ALLOWED(4)},
        {"localhost:5432", "10.0.0.1", "address-not-loopback"},
        {"localhost:5432", "64:ff9b::7f00:1", "address-not-loopback"},
        {"app.localhost:80", "127.0.0.1", ALLOWED(5)},
        {"app.localhost:80", "93.184.216.34", "address-not-loopback"},
        /* Not allowed as a target, so never asked; closed all the same. */
        {"localhost:80", "127.0.0.1", "address-loopback"},
        {"localhost.n.test:80", "127.0.0.1", "address-loopback"},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"n.test\", \"127.0.0.1:18080\", \"0.0.0.1\", "
          "\"10.1.2.3\", \"localhost:5432\", \"app.localhost\"], \"deniedDomains\": "
          "[\"203.0.113.9\", \"203.0.113.10:81\"], \"deniedResolvedAddresses\": "
          "[\"10.0.0.0/8\", \"10.9.0.0/16\", \"2001:db8:5::/48\"]}",
          rows);
}

/* srt reads a range over all IPv4-mapped addresses as one over all of IPv4, and :: and
 * ::1 as 0.0.0.0 and 0.0.0.1 too. What it denies so is denied here. */
static void test_listed_by_another_form(void **state)
{
#define LISTED "address-listed network.deniedResolvedAddresses[0]"
    static const struct row rows[] = {
        {"n.test:80", "93.184.216.34", LISTED},
        {"n.test:80", "::ffff:93.184.216.34", LISTED},
        {"n.test:80", "64:ff9b::808:808", LISTED},
        {"n.test:80", "2606:4700:4700::1111", "allow-list"},
        {"n.test:80", "10.0.0.1", ALLOWED(1)},
        {"n.test:80", "::1", DENIED(0)},
        {"n.test:80", "::", DENIED(1)},
        {"[::1]:80", NULL, DENIED(0)},
        {"[::1]:3128", NULL, ALLOWED(2)}, /* 0.0.0.1 is not 0.0.0.0 */
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"n.test\", \"10.0.0.1\", \"[::1]\", \"[::]\"], "
          "\"deniedDomains\": [\"0.0.0.1:80\", \"0.0.0.0:80\"], "
          "\"deniedResolvedAddresses\": [\"::fff0:0:0/92\"]}",
          rows);
}

/* BYP-02 and A9, with the word that closes private ranges. */
static void test_private(void **state)
{
#define PRIVATE "address-private network.privateAddresses"
    static const struct row rows[] = {
        {"n.test:80", "::1", "address-loopback"},
        {"n.test:80", "::", "address-unspecified"},
        {"n.test:80", "::ffff:127.0.0.1", "address-loopback"},
        {"n.test:80", "::ffff:7f00:1", "address-loopback"},
        {"n.test:80", "::ffff:169.254.169.254", "address-link-local"},
        {"n.test:80", "::ffff:10.0.0.1", PRIVATE},
        {"n.test:80", "::ffff:192.168.1.1", PRIVATE},
        {"n.test:80", "::ffff:0:7f00:1", "address-loopback"},
        {"n.test:80", "::ffff:0:a9fe:a9fe", "address-link-local"},
        {"n.test:80", "::127.0.0.1", "address-loopback"},
        {"n.test:80", "::7f00:1", "address-loopback"},
        {"n.test:80", "64:ff9b::127.0.0.1", "address-loopback"},
        {"n.test:80", "64:ff9b::a9fe:a9fe", "address-link-local"},
        {"n.test:80", "64:ff9b::a00:1", PRIVATE},
        {"n.test:80", "64:ff9b:1::a9fe:a9fe", "address-link-local"},
        {"n.test:80", "2002:7f00:1::", "address-loopback"},
        {"n.test:80", "2002:a9fe:a9fe::1", "address-link-local"},
        {"n.test:80", "2001:0:1:2::80ff:fffe", "address-loopback"},
        {"n.test:80", "2001:db8::5efe:a00:1", PRIVATE},
        {"n.test:80", "fe80::1", "address-link-local"},
        {"n.test:80", "fc00::1", PRIVATE},
        {"n.test:80", "fd12:3456::1", PRIVATE},
        {"n.test:80", "ff02::1", "address-multicast"},
        {"n.test:80", "::ffff:8.8.8.8", "allow-list"},
        {"n.test:80", "64:ff9b::808:808", "allow-list"},
        {"n.test:80", "2002:808:808::1", "allow-list"},
        {"n.test:80", "2606:4700:4700::1111", "allow-list"},
        {"n.test:80", "172.16.0.1", PRIVATE},
        {"n.test:80", "172.32.0.1", "allow-list"},
        {"n.test:80", "100.64.0.1", PRIVATE},
        {"n.test:80", "100.128.0.1", "allow-list"},
        {"n.test:80", "198.19.255.255", PRIVATE},
        {"n.test:80", "203.0.113.1", PRIVATE},
        {"n.test:80", "240.0.0.1", PRIVATE},
        {"n.test:80", "fec0::1", PRIVATE},
        {"n.test:80", "100::1", PRIVATE},
        {"n.test:80", "2001:db8::1", PRIVATE},
        {"n.test:80", "3fff::1", PRIVATE},
        {"n.test:80", "5f00::1", PRIVATE},
        {"n.test:80", "2001:20::1", PRIVATE},
        {"n.test:80", "2001:2::1", PRIVATE},
        {"n.test:80", "fe80::200:5efe:a00:1", "address-link-local"},
        {"n.test:80", "192.168.7.7", ALLOWED(1)},
        {"10.0.0.1:80", NULL, PRIVATE},
        {"192.168.7.7:80", NULL, ALLOWED(1)},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"n.test\", \"192.168.7.7\"], "
          "\"privateAddresses\": \"deny\"}",
          rows);
}

/* A6: each length of RFC 6052, with bits 64 to 71 left out. */
static void test_nat64(void **state)
{
#define PREFIX(n) "address-link-local network.nat64Prefixes[" #n "]"
    static const struct row rows[] = {
        {"n.test:80", "2001:db8:64::a9fe:a9fe", PREFIX(0)},
        {"n.test:80", "2001:db8:64::808:808", "allow-list"},
        {"n.test:80", "2a00:1:a9fe:a9fe::", PREFIX(1)},        /* 32 */
        {"n.test:80", "2a00:1:aa9:fea9:fe::", "allow-list"},   /* not that one */
        {"n.test:80", "2a00:200:a9:fea9:fe::", PREFIX(2)},     /* 40 */
        {"n.test:80", "2a00:3:1:a9fe:a9:fe00::", PREFIX(3)},   /* 48 */
        {"n.test:80", "2a00:4:1:a9:fe:a9fe::", PREFIX(4)},     /* 56 */
        {"n.test:80", "2a00:5:1:1:a9:fea9:fe00:0", PREFIX(5)}, /* 64 */
        {"n.test:80", "2a00:5:1:1:8:808:800:0", "allow-list"},
        /* Configured, so it is known where the address lies. */
        {"n.test:80", "64:ff9b:1::808:808", "allow-list"},
        {"n.test:80", "64:ff9b:1::a9fe:a9fe", PREFIX(6)},
        {"n.test:80", "64:ff9b:1:1::808:808", "address-private"},
        /* Named, though it would be seen without. */
        {"n.test:80", "64:ff9b::a9fe:a9fe", PREFIX(7)},
        /* Only ever a reason to deny. */
        {"[2001:db8:64::7f00:2]:80", NULL, "address-loopback network.nat64Prefixes[0]"},
    };

    (void)state;
    CHECK("{\"allowedDomains\": [\"n.test\", \"127.0.0.2\"], \"nat64Prefixes\": "
          "[\"2001:db8:64::/96\", \"2a00:1::/32\", \"2a00:200::/40\", "
          "\"2a00:3:1::/48\", \"2a00:4:1::/56\", \"2a00:5:1:1::/64\", "
          "\"64:ff9b:1::/96\", \"64:ff9b::/96\"]}",
          rows);
}

static void test_report(void **state)
{
    static const struct row rows[] = {
        {"any.test:443", NULL, "report-mode network.mode"},
        {"any.test:443", "93.184.216.34", "allow-list"},
        {"listed.test:443", NULL, ALLOWED(0)},
        {"denied.test:443", NULL, DENIED(0)},
        {"8.8.8.8:53", NULL, "report-mode network.mode"},
        {"127.0.0.1:80", NULL, "address-loopback"},
        {"169.254.169.254:80", NULL, "address-link-local"},
        {"127.0.0.1:3128", NULL, "address-own"},
        {"any.test:443", "127.0.0.1", "address-loopback"},
        {"localhost:80", NULL, "report-mode network.mode"},
        {"localhost:80", "127.0.0.1", "address-loopback"}, /* nobody listed it */
        {"localhost:80", "8.8.8.8", "address-not-loopback"},
    };

    (void)state;
    CHECK("{\"mode\": \"report\", \"allowedDomains\": [\"listed.test\"], "
          "\"deniedDomains\": [\"denied.test\"]}",
          rows);
}

/* CFG-06: nothing is allowed. */
static void test_empty(void **state)
{
    static const struct row rows[] = {
        {"a.test:443", NULL, UNLISTED},
        {"localhost:443", NULL, UNLISTED},
        {"8.8.8.8:443", NULL, UNLISTED},
    };
    struct policy_layer layer = {.label = ""};
    struct policy *p;
    struct err e;

    (void)state;
    CHECK("{}", rows);
    CHECK("{\"allowedDomains\": []}", rows);
    CHECK("{\"deniedDomains\": []}", rows);
    assert_true(policy_load(&layer, 1, NULL, NULL, &p, &e));
    assert_verdict(p, ask_target(p, "a.test:443"), UNLISTED);
    policy_unref(&p);
    assert_null(p);
    assert_true(policy_load(NULL, 0, NULL, NULL, &p, &e));
    assert_verdict(p, ask_target(p, "a.test:443"), UNLISTED);
    policy_unref(&p);
}

/* What was never made by target_set() is no target. */
static void test_no_target(void **state)
{
    struct policy *p = load_text("{\"mode\": \"report\"}");
    struct target none = {0};
    struct ip no_ip = {0};

    (void)state;
    assert_verdict(p, policy_check_target(p, &none, test_host()), "malformed-host");
    assert_verdict(p, policy_check_addr(p, &none, &no_ip, test_host()),
                   "address-unspecified");
    policy_unref(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_denied),
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_deny_everything),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_open_by_default),
        cmocka_unit_test(test_listed_by_another_form),
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_exemptions),
        cmocka_unit_test(test_nat64),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_no_target),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
