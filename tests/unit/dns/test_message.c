#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>

#include "dns/message.h"

struct message {
    uint8_t bytes[16384];
    size_t len;
};

static void put(struct message *m, const void *bytes, size_t len)
{
    assert_true(m->len + len <= sizeof m->bytes);
    memcpy(m->bytes + m->len, bytes, len);
    m->len += len;
}

#define PUT(m, literal) put(m, "" literal, sizeof(literal) - 1)

/* "www.example" with this type as the question; flags and the number of answers as
 * bytes. The name stands at offset 12. */
static struct message start(const char flags[2], unsigned answers, char type)
{
    struct message m = {.len = 0};
    const char count[] = {(char)(answers >> 8), (char)answers};

    PUT(&m, "\x12\x34");
    put(&m, flags, 2);
    PUT(&m, "\0\1");
    put(&m, count, 2);
    PUT(&m, "\0\0\0\0\3www\7example\0\0");
    put(&m, &type, 1);
    PUT(&m, "\0\1");
    return m;
}

#define START(answers) start("\x81\x80", answers, 1)
#define OWN            "\xc0\x0c" /* the question's name */
#define IN_A           "\0\1\0\1"
#define TTL(n)         "\0\0\0" n
#define SIZE_4         "\0\4"

static struct answer *parse_as(const struct message *m, const char *name,
                               enum message_type type)
{
    struct answer *a = answer_new(LOOKUP_OK, NULL);
    /* On the heap, of just this size: a byte too far is seen. */
    uint8_t *bytes = malloc(m->len > 0 ? m->len : 1);

    memcpy(bytes, m->bytes, m->len);
    a->ttl = UINT_MAX;
    if (!message_parse(bytes, m->len, name, type, a)) {
        assert_int_equal(a->count, 0);
        assert_true(a->ttl == UINT_MAX);
        answer_unref(&a);
    }
    free(bytes);
    return a;
}

static void expect(const struct message *m, size_t count, unsigned ttl)
{
    struct answer *a = parse_as(m, "www.example", MESSAGE_A);

    assert_non_null(a);
    assert_int_equal(a->count, count);
    assert_int_equal(a->ttl, ttl);
    answer_unref(&a);
}

static void expect_bad(const struct message *m)
{
    struct answer *a = parse_as(m, "www.example", MESSAGE_A);

    assert_null(a);
}

static void test_plain(void **state)
{
    struct message m = START(2);
    struct answer *a;

    (void)state;
    PUT(&m, OWN IN_A TTL("\x3c") SIZE_4 "\300\0\2\1");
    PUT(&m, OWN IN_A TTL("\x1e") SIZE_4 "\300\0\2\2");
    expect(&m, 2, 30);
    a = parse_as(&m, "www.example", MESSAGE_AAAA); /* another question */
    assert_null(a);
    a = parse_as(&m, "www.example.com", MESSAGE_A);
    assert_null(a);
    a = parse_as(&m, "www", MESSAGE_A);
    assert_null(a);
}

static void test_v6(void **state)
{
    struct message m = start("\x85\x80", 2, 28);
    struct answer *a;

    (void)state;
    PUT(&m, OWN "\0\x1c\0\1" TTL("\x3c") "\0\x10"
                                         "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\7");
    PUT(&m, OWN "\0\x1c\0\1" TTL("\x3c") SIZE_4 "\300\0\2\1"); /* of the wrong size */
    a = parse_as(&m, "www.example", MESSAGE_AAAA);
    assert_non_null(a);
    assert_int_equal(a->count, 1);
    assert_int_equal(a->ips[0].family, 6);
    assert_int_equal(a->ips[0].bytes[15], 7);
    answer_unref(&a);
}

/* Cut anywhere, the message is refused and nothing beyond it is read. */
static void test_every_length(void **state)
{
    struct message m = START(1);
    size_t whole;

    (void)state;
    PUT(&m, OWN IN_A TTL("\x3c") SIZE_4 "\300\0\2\1");
    whole = m.len;
    for (m.len = 0; m.len < whole; m.len++)
        expect_bad(&m);
    expect(&m, 1, 60);
    PUT(&m, "rest"); /* additional records are not looked at */
    expect(&m, 1, 60);
}

static void test_flags(void **state)
{
    static const char *const bad[] = {
        "\x01\x80", /* a question */
        "\x91\x80", /* another opcode */
        "\x83\x80", /* truncated */
        "\x81\x82", /* SERVFAIL */
        "\x81\x83", /* NXDOMAIN */
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct message m = start(bad[i], 1, 1);

        PUT(&m, OWN IN_A TTL("\x3c") SIZE_4 "\300\0\2\1");
        expect_bad(&m);
    }
}

/* Case is folded, other differences are not, and a dot within a label is no dot. */
static void test_owners(void **state)
{
    struct message m = START(6);

    (void)state;
    PUT(&m, "\3WwW\7EXAMPLE\0" IN_A TTL("\x3c") SIZE_4 "\300\0\2\1");
    PUT(&m, "\x0bwww.example\0" IN_A TTL("\1") SIZE_4 "\300\0\2\2");
    PUT(&m, "\3www\7example\3com\0" IN_A TTL("\1") SIZE_4 "\300\0\2\3");
    PUT(&m, "\xc0\x10" IN_A TTL("\1") SIZE_4 "\300\0\2\4"); /* "example" */
    PUT(&m, "\0" IN_A TTL("\1") SIZE_4 "\300\0\2\5");
    PUT(&m, OWN "\0\1\0\3" TTL("\1") SIZE_4 "\300\0\2\6"); /* class CHAOS */
    expect(&m, 1, 60);
}

static void test_pointers(void **state)
{
    struct message m = START(1);
    struct message forward = m, deep = m, reserved = m;

    (void)state;
    PUT(&m, "\xc0\x1d" IN_A TTL("\1") SIZE_4 "\300\0\2\1"); /* to itself */
    expect_bad(&m);
    PUT(&forward, "\xc0\xff" IN_A TTL("\1") SIZE_4 "\300\0\2\1");
    expect_bad(&forward);
    PUT(&reserved, "\x80\x0c" IN_A TTL("\1") SIZE_4 "\300\0\2\1");
    expect_bad(&reserved);
    /* A chain of pointers, each to the one before: some are followed, not any number.
     */
    PUT(&deep, OWN "\0\x10\0\1" TTL("\1") "\0\x80");
    for (size_t i = 0; i < 64; i++) {
        size_t to = i == 0 ? 12 : deep.len - 2;
        const char pointer[] = {(char)(0xc0 | to >> 8), (char)to};

        put(&deep, pointer, 2);
    }
    deep.bytes[7] = 2;
    PUT(&deep, "\xc0\xa7" IN_A TTL("\1") SIZE_4 "\300\0\2\1");
    expect_bad(&deep);
}

static void test_ttl(void **state)
{
    struct message m = START(1), negative = m;

    (void)state;
    PUT(&m, OWN IN_A "\x7f\xff\xff\xff" SIZE_4 "\300\0\2\1");
    expect(&m, 1, 0x7fffffff);
    PUT(&negative, OWN IN_A "\x80\0\0\0" SIZE_4 "\300\0\2\1");
    expect(&negative, 1, 0);
}

#define TO_B   "\0\5\0\1" TTL("\5") "\0\3\1b\0"
#define FROM_B "\1b\0"

static void test_cname(void **state)
{
    struct message m = START(3), late = START(3), none = START(1), other = START(2);

    (void)state;
    PUT(&m, OWN IN_A TTL("\1") SIZE_4 "\300\0\2\1"); /* beside a CNAME: not believed */
    PUT(&m, OWN TO_B);
    PUT(&m, FROM_B IN_A TTL("\x3c") SIZE_4 "\300\0\2\2");
    expect(&m, 1, 1);
    PUT(&late, FROM_B IN_A TTL("\x3c") SIZE_4 "\300\0\2\2");
    PUT(&late, OWN TO_B);
    PUT(&late, FROM_B IN_A TTL("\x3c") SIZE_4 "\300\0\2\3");
    expect(&late, 2, 5);
    PUT(&none, OWN TO_B);
    expect(&none, 0, 5);
    PUT(&other, "\1c\0" TO_B); /* somebody else's */
    PUT(&other, FROM_B IN_A TTL("\x3c") SIZE_4 "\300\0\2\2");
    expect(&other, 0, UINT_MAX);
}

/* Names n0, n1, ... each the alias of the next one. */
static struct message chain(unsigned links)
{
    struct message m = START(links + 1);

    for (unsigned i = 0; i < links; i++) {
        const char from = (char)('a' + i - 1), to = (char)('a' + i);

        if (i == 0) {
            PUT(&m, OWN);
        } else {
            PUT(&m, "\1");
            put(&m, &from, 1);
            PUT(&m, "\0");
        }
        PUT(&m, "\0\5\0\1" TTL("\5") "\0\3\1");
        put(&m, &to, 1);
        PUT(&m, "\0");
    }
    PUT(&m, "\1");
    put(&m, &(char){(char)('a' + links - 1)}, 1);
    PUT(&m, "\0" IN_A TTL("\x3c") SIZE_4 "\300\0\2\2");
    return m;
}

static void test_chain_bound(void **state)
{
    struct message most = chain(MESSAGE_CNAMES_MAX),
                   more = chain(MESSAGE_CNAMES_MAX + 1);
    struct message ring = START(1);

    (void)state;
    expect(&most, 1, 5);
    expect_bad(&more);
    PUT(&ring, OWN "\0\5\0\1" TTL("\5") "\0\2" OWN);
    expect_bad(&ring);
}

static void test_records_bound(void **state)
{
    struct message m = START(MESSAGE_RECORDS_MAX + 10);

    (void)state;
    for (unsigned i = 0; i < MESSAGE_RECORDS_MAX; i++)
        PUT(&m, "\1z\0" IN_A TTL("\1") SIZE_4 "\300\0\2\1");
    for (unsigned i = 0; i < 10; i++)
        PUT(&m, OWN IN_A TTL("\1") SIZE_4 "\300\0\2\1");
    expect(&m, 0, UINT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),        cmocka_unit_test(test_v6),
        cmocka_unit_test(test_every_length), cmocka_unit_test(test_flags),
        cmocka_unit_test(test_owners),       cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_ttl),          cmocka_unit_test(test_cname),
        cmocka_unit_test(test_chain_bound),  cmocka_unit_test(test_records_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
