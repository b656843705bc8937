/* Builds hellos from the inside out: what is counted is complete before its length is
 * written. To be included behind cmocka.h. */
#ifndef TESTS_HELLO_BUILDER_H
#define TESTS_HELLO_BUILDER_H

#include <stdlib.h>

#include "proxy/base/str.h"

struct bytes {
    unsigned char b[80000];
    size_t n;
};

static void put(struct bytes *out, struct str s)
{
    assert_true(out->n + s.n <= sizeof out->b);
    if (s.n > 0)
        memcpy(out->b + out->n, s.p, s.n);
    out->n += s.n;
}

static void put_number(struct bytes *out, size_t number, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        put(out, (struct str){(const char[]){(char)(number >> 8 * i)}, 1});
}

static void put_vector(struct bytes *out, struct str s, int length_bytes)
{
    put_number(out, s.n, length_bytes);
    put(out, s);
}

static struct str view(const struct bytes *b)
{
    return (struct str){(const char *)b->b, b->n};
}

static struct bytes *make(void)
{
    struct bytes *b = calloc(1, sizeof *b);

    assert_non_null(b);
    return b;
}

static void put_extension(struct bytes *out, unsigned type, struct str body)
{
    put_number(out, type, 2);
    put_vector(out, body, 2);
}

/* A server_name extension with `count` entries of the kind and the name. */
static void put_names(struct bytes *out, unsigned kind, const struct str *names,
                      size_t count)
{
    struct bytes *list = make(), *body = make();

    for (size_t i = 0; i < count; i++) {
        put_number(list, kind, 1);
        put_vector(list, names[i], 2);
    }
    put_vector(body, view(list), 2);
    put_extension(out, 0, view(body));
    free(list);
    free(body);
}

static void put_name(struct bytes *out, struct str name)
{
    put_names(out, 0, &name, 1);
}

/* The handshake message; without `extensions` when .p is NULL. */
static void put_hello(struct bytes *out, struct str extensions)
{
    struct bytes *body = make();
    char random[32] = {0};

    put_number(body, 0x0303, 2);
    put(body, (struct str){random, sizeof random});
    put_vector(body, STR("session"), 1);
    put_vector(body, STR("\x0a\x0a\x13\x01\x13\x02"), 2); /* GREASE first */
    put_vector(body, STR("\0"), 1);
    if (extensions.p != NULL)
        put_vector(body, extensions, 2);
    put_number(out, 1, 1);
    put_vector(out, view(body), 3);
    free(body);
}

static void put_record(struct bytes *out, unsigned kind, struct str payload)
{
    put_number(out, kind, 1);
    put_number(out, 0x0301, 2);
    put_vector(out, payload, 2);
}

/* `message` in handshake records of at most `size` bytes. */
static void put_records(struct bytes *out, struct str message, size_t size)
{
    for (; message.n > 0; message = str_skip(message, size))
        put_record(out, 22, str_head(message, size));
}

#endif
