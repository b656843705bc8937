#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/tls/hello_builder.h"
#include "tests/unit/tls/openssl_hello.h"
#include "tls/hello.h"

static enum hello_parse parse_extensions(struct str extensions, struct hello *hello)
{
    struct bytes *message = make(), *in = make();
    enum hello_parse result;

    put_hello(message, extensions);
    put_records(in, view(message), 16384);
    result = hello_parse(view(in), hello);
    free(message);
    free(in);
    return result;
}

static enum hello_parse parse_name(struct str name, struct hello *hello)
{
    struct bytes *extensions = make();
    enum hello_parse result;

    put_name(extensions, name);
    result = parse_extensions(view(extensions), hello);
    free(extensions);
    return result;
}

static void test_real(void **state)
{
    struct str in = {(const char *)openssl_hello, sizeof openssl_hello};
    struct hello hello = {0};

    (void)state;
    assert_int_equal(hello_parse(in, &hello), HELLO_DONE);
    assert_string_equal(hello.name, "WWW.Real.Example");
    assert_int_equal(hello.name_len, 16);
    assert_string_equal(hello.alpn, "h2,http/1.1");
    assert_false(hello.encrypted);
    for (size_t n = 0; n < in.n; n++)
        assert_int_equal(hello_parse(str_head(in, n), &hello), HELLO_MORE);
}

static void test_names(void **state)
{
    static const struct {
        struct str name;
        enum hello_parse result;
    } rows[] = {
        {STR("a.test"), HELLO_DONE},
        {STR("A.Test"), HELLO_DONE}, /* kept as sent; the policy compares */
        {STR("a.test."),
         HELLO_DONE}, /* not allowed by RFC 6066, so a mismatch at most */
        {STR("192.0.2.1"), HELLO_DONE},
        {STR("::1"), HELLO_DONE},
        {STR("a b\r\n\x1b\xff"), HELLO_DONE},
        {STR(""), HELLO_BAD},
        {STR("a.test\0.evil.test"), HELLO_BAD},
        {STR("\0"), HELLO_BAD},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hello hello = {0};

        assert_int_equal(parse_name(rows[i].name, &hello), rows[i].result);
        if (rows[i].result == HELLO_DONE)
            assert_true(str_equal(str_from(hello.name), rows[i].name));
        else
            assert_int_equal(hello.name_len, 0); /* nothing is written on failure */
    }
}

static void test_name_length(void **state)
{
    char name[HELLO_NAME_MAX + 1];
    struct hello hello = {0};

    (void)state;
    memset(name, 'a', sizeof name);
    assert_int_equal(parse_name((struct str){name, HELLO_NAME_MAX}, &hello),
                     HELLO_DONE);
    assert_int_equal(hello.name_len, HELLO_NAME_MAX);
    assert_int_equal(strlen(hello.name), HELLO_NAME_MAX);
    assert_int_equal(parse_name((struct str){name, HELLO_NAME_MAX + 1}, &hello),
                     HELLO_BAD);
}

static void test_two_names(void **state)
{
    const struct str names[] = {STR("a.test"), STR("evil.test")};
    struct bytes *extensions = make();
    struct hello hello = {0};

    (void)state;
    put_names(extensions, 0, names, 2); /* in one list */
    assert_int_equal(parse_extensions(view(extensions), &hello), HELLO_BAD);
    extensions->n = 0;
    put_name(extensions, names[0]); /* in two extensions */
    put_extension(extensions, 0x2a2a, STR(""));
    put_name(extensions, names[1]);
    assert_int_equal(parse_extensions(view(extensions), &hello), HELLO_BAD);
    extensions->n = 0;
    put_names(extensions, 1, names, 1); /* no host name */
    assert_int_equal(parse_extensions(view(extensions), &hello), HELLO_BAD);
    free(extensions);
}

/* Bodies of extensions, as they stand. */
static const struct extension_row {
    unsigned type;
    struct str body;
    enum hello_parse result;
    bool encrypted;
    const char *alpn;
} extension_rows[] = {
    {0, STR(""), HELLO_BAD, false, ""},         /* what only a server may send */
    {0, STR("\0\0"), HELLO_BAD, false, ""},     /* an empty list */
    {0, STR("\0\x01\0"), HELLO_BAD, false, ""}, /* cut behind the kind */
    {0, STR("\0\x04\0\0\x01"), HELLO_BAD, false, ""},
    {0,
     STR("\0\x04\0\0\x02"
         "a"),
     HELLO_BAD, false, ""},
    {0,
     STR("\0\x04\0\0\x01"
         "ab"),
     HELLO_BAD, false, ""}, /* more than the list */
    {0,
     STR("\0\x05\0\0\x01"
         "ab"),
     HELLO_BAD, false, ""}, /* more than the name */
    {0,
     STR("\0\x04\0\0\x01"
         "a"),
     HELLO_DONE, false, ""},
    {0xfe0d, STR("\0\0\x01\0\x01\x20"), HELLO_DONE, true, ""},
    {0xfe0d, STR("\x01"), HELLO_DONE, false, ""},
    {0xfe0d, STR("\x01x"), HELLO_BAD, false, ""},
    {0xfe0d, STR("\x02"), HELLO_BAD, false, ""},
    {0xfe0d, STR(""), HELLO_BAD, false, ""},
    {0xffce, STR("x"), HELLO_DONE, true, ""},
    {16, STR("\0\x03\x02h2"), HELLO_DONE, false, "h2"},
    {16,
     STR("\0\x0c\x02\x0a\x0a\x02h2\x05"
         "a,b c"),
     HELLO_DONE, false, "?\?,h2,a?b?c"},
    {16, STR("\0\0"), HELLO_BAD, false, ""},
    {16, STR("\0\x01\0"), HELLO_BAD, false, ""},
    {16, STR("\0\x03\x03h2"), HELLO_BAD, false, ""},
    {16, STR("\0\x02\x02h2"), HELLO_BAD, false, ""},
    {16, STR(""), HELLO_BAD, false, ""},
    {0x1a1a, STR("grease"), HELLO_DONE, false, ""},
};

static void test_extensions(void **state)
{
    struct bytes *extensions = make();

    (void)state;
    for (size_t i = 0; i < sizeof extension_rows / sizeof *extension_rows; i++) {
        const struct extension_row *row = &extension_rows[i];
        struct hello hello = {0};
        enum hello_parse result;

        extensions->n = 0;
        put_extension(extensions, row->type, row->body);
        result = parse_extensions(view(extensions), &hello);
        if (result != row->result)
            fail_msg("row %zu: result %d", i, result);
        assert_int_equal(hello.encrypted, row->encrypted);
        assert_string_equal(hello.alpn, row->alpn);
        /* Twice is refused for those that are read. */
        put_extension(extensions, row->type, row->body);
        result = parse_extensions(view(extensions), &hello);
        assert_int_equal(result, row->type == 0x1a1a || row->type == 0xffce
                                     ? HELLO_DONE
                                     : HELLO_BAD);
    }
    free(extensions);
}

static void test_long_alpn(void **state)
{
    struct bytes *extensions = make(), *list = make(), *body = make();
    struct hello hello = {0};
    char protocol[40];

    (void)state;
    memset(protocol, 'p', sizeof protocol);
    put_vector(list, (struct str){protocol, sizeof protocol}, 1);
    put_vector(list, (struct str){protocol, sizeof protocol}, 1); /* does not fit */
    put_vector(list, STR("h2"), 1);
    put_vector(body, view(list), 2);
    put_extension(extensions, 16, view(body));
    assert_int_equal(parse_extensions(view(extensions), &hello), HELLO_DONE);
    assert_int_equal(strlen(hello.alpn), sizeof protocol + 3);
    assert_string_equal(hello.alpn + sizeof protocol, ",h2");
    free(extensions);
    free(list);
    free(body);
}

static void test_no_extensions(void **state)
{
    struct hello hello = {0};

    (void)state;
    assert_int_equal(parse_extensions((struct str){NULL, 0}, &hello), HELLO_DONE);
    assert_string_equal(hello.name, "");
    assert_int_equal(parse_extensions(STR(""), &hello), HELLO_DONE);
    assert_string_equal(hello.name, "");
    assert_int_equal(parse_extensions(STR("\0"), &hello), HELLO_BAD);
    assert_int_equal(parse_extensions(STR("\0\0\0\x05"), &hello), HELLO_BAD);
}

/* Whatever the split, and however little comes at a time. */
static void test_split(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 50, 1000};
    struct bytes *extensions = make(), *message = make(), *in = make();

    (void)state;
    put_extension(extensions, 0x3a3a, STR("padding"));
    put_name(extensions, STR("split.test"));
    put_hello(message, view(extensions));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct hello hello = {0};

        in->n = 0;
        put_records(in, view(message), sizes[i]);
        for (size_t n = 0; n < in->n; n++)
            assert_int_equal(hello_parse(str_head(view(in), n), &hello), HELLO_MORE);
        assert_int_equal(hello_parse(view(in), &hello), HELLO_DONE);
        assert_string_equal(hello.name, "split.test");
        put(in, STR("\x17garbage"));
        assert_int_equal(hello_parse(view(in), &hello), HELLO_DONE);
    }
    free(extensions);
    free(message);
    free(in);
}

/* Behind the hello, in the same record, another message begins, which could be a second
 * hello. */
static void test_message_behind(void **state)
{
    struct bytes *extensions = make(), *message = make(), *in = make();
    struct hello hello = {0};

    (void)state;
    put_name(extensions, STR("a.test"));
    put_hello(message, view(extensions));
    put(message, STR("\x0e\0\0\0"));
    put_records(in, view(message), 16384);
    assert_int_equal(hello_parse(view(in), &hello), HELLO_BAD);
    in->n -= 4; /* it is still to come */
    assert_int_equal(hello_parse(view(in), &hello), HELLO_BAD);
    free(extensions);
    free(message);
    free(in);
}

/* What a server says: the random of RFC 8446 4.1.3 asks for another hello. */
static void test_answers(void **state)
{
    static const char retry[] =
        "\x16\x03\x03\x00\x58\x02\x00\x00\x54\x03\x03"
        "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
        "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";
    char other[HELLO_ANSWER_LEN];

    (void)state;
    assert_int_equal(sizeof retry - 1, HELLO_ANSWER_LEN);
    for (size_t n = 0; n < HELLO_ANSWER_LEN; n++) {
        assert_int_equal(hello_answer((struct str){retry, n}), HELLO_UNANSWERED);
        memcpy(other, retry, sizeof other);
        other[n] ^= 0x40;
        /* Of the versions and of lengths nothing hangs. */
        if (n == 0 || n == 5 || n >= 11)
            assert_int_equal(hello_answer((struct str){other, sizeof other}),
                             HELLO_ANSWERED);
    }
    assert_int_equal(hello_answer((struct str){retry, HELLO_ANSWER_LEN}), HELLO_RETRY);
    assert_int_equal(hello_answer(STR("\x15\x03\x03\0\2\2\x28")), HELLO_ANSWERED);
    assert_int_equal(hello_answer(STR("HTTP/1.1 400")), HELLO_ANSWERED);
    /* Cut into small records: who knows. */
    assert_int_equal(hello_answer(STR("\x16\x03\x03\0\x04\x02\0\0\x54")), HELLO_RETRY);
}

static void test_second_hello(void **state)
{
    struct bytes *extensions = make(), *message = make(), *in = make();
    struct hello hello = {0};

    (void)state;
    put_name(extensions, STR("second.test"));
    put_hello(message, view(extensions));
    for (unsigned kind = 20; kind <= 23; kind++)
        if (kind != 22)
            put_record(in, kind, STR("any"));
    put_records(in, view(message), 100);
    for (size_t n = 0; n < in->n; n++)
        assert_int_equal(hello_parse_second(str_head(view(in), n), &hello), HELLO_MORE);
    assert_int_equal(hello_parse_second(view(in), &hello), HELLO_DONE);
    assert_string_equal(hello.name, "second.test");
    assert_int_equal(hello_parse_second(STR("GET /"), &hello), HELLO_BAD);
    assert_int_equal(hello_parse_second(STR("\x17\x02\0\0\0"), &hello), HELLO_BAD);
    free(extensions);
    free(message);
    free(in);
}

static void test_empty_records(void **state)
{
    struct bytes *message = make(), *in = make();
    struct hello hello = {0};

    (void)state;
    put_hello(message, STR(""));
    for (int empty = 0; empty < 8; empty++) {
        in->n = 0;
        for (int i = 0; i < empty; i++)
            put_record(in, 22, STR(""));
        put_records(in, view(message), 20);
        assert_int_equal(hello_parse(view(in), &hello),
                         empty <= 4 ? HELLO_DONE : HELLO_BAD);
    }
    free(message);
    free(in);
}

/* A record of another kind inside or before the hello. */
static void test_other_records(void **state)
{
    struct bytes *message = make(), *in = make();
    struct hello hello = {0};

    (void)state;
    put_hello(message, STR(""));
    for (unsigned kind = 20; kind <= 24; kind++) {
        if (kind == 22)
            continue;
        in->n = 0;
        put_record(in, kind, STR("\x01\0"));
        put_records(in, view(message), 16384);
        assert_int_equal(hello_parse(view(in), &hello), HELLO_BAD);
        assert_int_equal(hello_parse(str_head(view(in), 1), &hello), HELLO_MORE);
        in->n = 0;
        put_record(in, 22, str_head(view(message), 10));
        put_record(in, kind, STR("\x01\0"));
        put_record(in, 22, str_skip(view(message), 10));
        assert_int_equal(hello_parse(view(in), &hello), HELLO_BAD);
    }
    free(message);
    free(in);
}

/* First bytes, and what they are. */
static const struct first_row {
    struct str in;
    enum hello_parse result;
} first_rows[] = {
    {STR(""), HELLO_MORE},
    {STR("\x16"), HELLO_MORE},
    {STR("\x16\x03"), HELLO_MORE},
    {STR("\x16\x03\x01"), HELLO_MORE},
    {STR("\x16\x03\x04\x02\x00"), HELLO_MORE},
    {STR("\x16\x03\x01\x02\x00\x01"), HELLO_MORE},
    {STR("\x16\x02"), HELLO_NOT_TLS},
    {STR("GET / HTTP/1.1\r\n"), HELLO_NOT_TLS},
    {STR("SSH-2.0-x\r\n"), HELLO_NOT_TLS},
    {STR("\0"), HELLO_NOT_TLS},
    {STR("\x80\x2e\x01\x03\x01\x00\x15"), HELLO_NOT_TLS}, /* SSL 2.0 */
    {STR("\x13\x03\x01"), HELLO_NOT_TLS},
    {STR("\x19\x03\x01"), HELLO_NOT_TLS},
    {STR("\x16\x03\x01\x02\x00\x02"), HELLO_BAD}, /* a server's hello */
    {STR("\x16\x03\x01\x02\x00\x00"), HELLO_BAD}, /* a HelloRequest */
    {STR("\x16\x03\x01\x40\x01"), HELLO_BAD},     /* a record of 16385 bytes */
    {STR("\x16\x03\x01\x40\x00\x01\x00\x40\x00"), HELLO_BAD}, /* a hello of 16384 */
    {STR("\x16\x03\x01\x00\x04\x01\x01\x00\x00"), HELLO_BAD},
    {STR("\x16\x03\x01\x00\x04\x01\x00\x00\x00"), HELLO_BAD}, /* an empty hello */
};

static void test_first_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof first_rows / sizeof *first_rows; i++) {
        struct hello hello = {0};
        enum hello_parse result = hello_parse(first_rows[i].in, &hello);

        if (result != first_rows[i].result)
            fail_msg("row %zu: result %d", i, result);
    }
}

/* The largest that fits is read, one byte more is refused; 64 kB are refused without
 * looking further than HELLO_MAX. */
static void test_size(void **state)
{
    struct bytes *extensions = make(), *message = make(), *in = make();
    char *padding = calloc(1, 65536);
    struct hello hello = {0};

    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        size_t fixed = 5 + 4 + 2 + 32 + 8 + 8 + 2 + 2 + 4;

        extensions->n = message->n = in->n = 0;
        put_extension(extensions, 21,
                      (struct str){padding, HELLO_MAX - fixed + (size_t)extra});
        put_hello(message, view(extensions));
        put_records(in, view(message), 16384);
        assert_int_equal(in->n, HELLO_MAX + extra);
        assert_int_equal(hello_parse(view(in), &hello),
                         extra == 0 ? HELLO_DONE : HELLO_BAD);
    }
    in->n = message->n = 0;
    put_number(message, 1, 1);
    put_number(message, 60000, 3);
    put(message, (struct str){padding, 60000});
    put_records(in, view(message), 16000);
    assert_int_equal(hello_parse(view(in), &hello), HELLO_BAD);
    /* A hello that fits by itself, but not with so many record headers. */
    in->n = message->n = 0;
    put_number(message, 1, 1);
    put_number(message, 10000, 3);
    put(message, (struct str){padding, 10000});
    put_records(in, view(message), 5);
    assert_true(in->n > HELLO_MAX);
    assert_int_equal(hello_parse(view(in), &hello), HELLO_BAD);
    free(extensions);
    free(message);
    free(in);
    free(padding);
}

/* Each byte of a sound hello set to each of a few values, cut anywhere: never a name
 * that is longer than its room, never NOT_TLS after two bytes. */
static void test_damaged(void **state)
{
    unsigned char in[sizeof openssl_hello];

    (void)state;
    for (size_t i = 0; i < sizeof in; i++)
        for (unsigned value = 0; value < 256; value += 51) {
            struct hello hello = {0};
            enum hello_parse result;

            memcpy(in, openssl_hello, sizeof in);
            in[i] = (unsigned char)value;
            result = hello_parse((struct str){(const char *)in, sizeof in}, &hello);
            assert_true(i < 2 || result != HELLO_NOT_TLS);
            assert_true(hello.name_len <= HELLO_NAME_MAX);
            assert_int_equal(strlen(hello.name), hello.name_len);
            hello_parse((struct str){(const char *)in, i}, &hello);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real),           cmocka_unit_test(test_names),
        cmocka_unit_test(test_name_length),    cmocka_unit_test(test_two_names),
        cmocka_unit_test(test_extensions),     cmocka_unit_test(test_long_alpn),
        cmocka_unit_test(test_no_extensions),  cmocka_unit_test(test_split),
        cmocka_unit_test(test_message_behind), cmocka_unit_test(test_empty_records),
        cmocka_unit_test(test_other_records),  cmocka_unit_test(test_first_bytes),
        cmocka_unit_test(test_size),           cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_answers),        cmocka_unit_test(test_second_hello),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
