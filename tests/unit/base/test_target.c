#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/base/target.h"

struct row {
    const char *authority;
    const char *host; /* NULL: refused */
    unsigned port;
};

static const struct row rows[] = {
    {"example.com:443", "example.com", 443},
    {"EXAMPLE.com:80", "example.com", 80},
    {"example.com.:80", "example.com", 80},
    {"a_b.-x.example:1", "a_b.-x.example", 1},
    {"xn--bcher-kva.example:65535", "xn--bcher-kva.example", 65535},
    {"localhost:22", "localhost", 22},
    {"127.0.0.1:80", "127.0.0.1", 80},
    {"[::1]:80", "::1", 80},
    {"[0:0:0:0:0:0:0:1]:80", "::1", 80},
    {"[::ffff:127.0.0.1]:80", "127.0.0.1", 80},
    {"[::ffff:7f00:1]:80", "127.0.0.1", 80},
    {"[64:ff9b::7f00:1]:80", "64:ff9b::7f00:1", 80},
    {"example.com", NULL, 0},
    {"example.com:", NULL, 0},
    {"example.com:0", NULL, 0},
    {"example.com:65536", NULL, 0},
    {"example.com:65979", NULL, 0}, /* 443 modulo 65536 */
    {"example.com:+443", NULL, 0},
    {"example.com:0443", NULL, 0},
    {"example.com: 443", NULL, 0},
    {"example.com:443abc", NULL, 0},
    {"example.com..:443", NULL, 0},
    {"example..com:443", NULL, 0},
    {".example.com:443", NULL, 0},
    {".:443", NULL, 0},
    {":443", NULL, 0},
    {"", NULL, 0},
    {"[example.com]:443", NULL, 0}, /* brackets are for IPv6 only */
    {"[[::1]]:443", NULL, 0},
    {"[127.0.0.1]:443", NULL, 0},
    {"::1:443", NULL, 0},
    {"[::1:443", NULL, 0},
    {"[::1]443", NULL, 0},
    {"[::1]x:443", NULL, 0},
    {"[fe80::1%eth0]:443", NULL, 0}, /* a zone is no part of a destination */
    {"127.1:80", NULL, 0},           /* all other spellings of inet_aton() */
    {"2130706433:80", NULL, 0},
    {"0x7f000001:80", NULL, 0},
    {"0x7f.1:80", NULL, 0},
    {"0177.0.0.1:80", NULL, 0},
    {"017700000001:80", NULL, 0},
    {"127.0.0.1.:80", NULL, 0},
    {"127.0.0.1..:80", NULL, 0},
    {"256.1.1.1:80", NULL, 0},
    {"1.2.3:80", NULL, 0},
    {"example.0x:80", NULL, 0},
    {"allowed.com:443@evil.com:443", NULL, 0},
    {"allowed.com@evil.com:443", NULL, 0},
    {"evil.com\\@allowed.com:443", NULL, 0},
    {"evil.com#allowed.com:443", NULL, 0},
    {"evil.com/allowed.com:443", NULL, 0},
    {"evil.com%00.allowed.com:443", NULL, 0},
    {"allowed%2ecom:443", NULL, 0},
    {"allowed\xe3\x80\x82"
     "com:443",
     NULL, 0}, /* U+3002 */
    {"b\xc3\xbc"
     "cher.example:443",
     NULL, 0},
    {"exa mple.com:443", NULL, 0},
    {"exa\tmple.com:443", NULL, 0},
};

static void test_authorities(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct target t = {0};
        bool ok;

        arena_init(&a, 1024);
        ok = target_parse(&t, &a, str_from(rows[i].authority));
        if (ok != (rows[i].host != NULL))
            fail_msg("\"%s\" was %s", rows[i].authority, ok ? "accepted" : "refused");
        if (ok) {
            assert_string_equal(t.host.p, rows[i].host);
            assert_int_equal(t.port, rows[i].port);
        } else {
            assert_int_equal(t.kind, HOST_NONE);
        }
        arena_done(&a);
    }
}

/* A NUL must end nothing: the whole name is judged (rows H1 and H2 of attacks). */
static void test_nul(void **state)
{
    struct arena a;
    struct target t = {0};

    (void)state;
    arena_init(&a, 1024);
    assert_false(target_set(&t, &a, STR("evil.com\0.allowed.com"), false, 443));
    assert_false(target_set(&t, &a, STR("127.0.0.1\0"), false, 443));
    assert_false(target_set(&t, &a, STR("::1\0"), true, 443));
    arena_done(&a);
}

static void test_lengths(void **state)
{
    char name[400];
    struct arena a;
    struct target t = {0};

    (void)state;
    memset(name, 'a', sizeof name);
    for (size_t i = 63; i < sizeof name; i += 64)
        name[i] = '.';
    arena_init(&a, 4096);
    assert_true(target_set(&t, &a, (struct str){name, 253}, false, 1));
    assert_false(target_set(&t, &a, (struct str){name, 254}, false, 1));
    name[63] = 'a';
    assert_false(target_set(&t, &a, (struct str){name, 64}, false, 1));
    assert_true(target_set(&t, &a, (struct str){name, 63}, false, 1));
    arena_done(&a);
}

static void test_full_arena(void **state)
{
    struct arena a;
    struct target t = {0};

    (void)state;
    arena_init(&a, 16);
    assert_false(target_parse(&t, &a, STR("example.com:443")));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_authorities),
        cmocka_unit_test(test_nul),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_full_arena),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
