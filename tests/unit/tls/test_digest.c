#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tls/digest.h"

static void check(struct str bytes, const char *expected)
{
    uint8_t digest[DIGEST_SIZE];
    char text[2 * DIGEST_SIZE + 1];

    digest_of(bytes, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, expected);
}

/* The examples that the standard's authors publish. */
static void test_examples(void **state)
{
    (void)state;
    check((struct str){NULL, 0},
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check(STR("abc"),
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check(STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check(STR("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
              "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

static void test_long(void **state)
{
    enum { COUNT = 1000000 };
    char *text = malloc(COUNT);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', COUNT);
    check((struct str){text, COUNT},
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(text);
}

/* Each length at which the end of the text meets the length, or the end of a block. */
static void test_edges(void **state)
{
    static const struct {
        size_t n;
        const char *digest;
    } rows[] = {
        {1, "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"},
        {55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
        {56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
        {63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
        {64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
        {65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
        {119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
        {120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"},
        {127, "70156a14adbabf98cff3a71c7084b417abf057a8efd27329ca36b7202c87d81f"},
        {128, "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464"},
    };
    char text[128];

    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check((struct str){text, rows[i].n}, rows[i].digest);
}

static void test_equal(void **state)
{
    uint8_t a[DIGEST_SIZE], b[DIGEST_SIZE];

    (void)state;
    digest_of(STR("one"), a);
    memcpy(b, a, sizeof b);
    assert_true(digest_equal(a, b));
    for (size_t i = 0; i < sizeof b; i++) {
        b[i] ^= 0x80;
        assert_false(digest_equal(a, b));
        b[i] ^= 0x80;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_equal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
