#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/hops.h"

static struct hops hops_of(struct http_field *fields, size_t count)
{
    struct http_head head = {.fields = fields, .field_count = count};
    struct hops h;

    assert_true(hops_read(&h, &head));
    return h;
}

static void test_fixed(void **state)
{
    static const char *const gone[] = {
        "Connection", "connection", "Keep-Alive",          "TE",
        "Trailer",    "Upgrade",    "Transfer-Encoding",   "HTTP2-Settings",
        "Proxy-",     "Proxy-Auth", "proxy-authorization", "Proxy-Connection"};
    static const char *const stay[] = {"Host", "Accept", "Via",          "Prox",
                                       "X-Up", "Keep",   "X-Connection", "Proxy"};
    struct hops h = hops_of(NULL, 0);

    (void)state;
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        assert_true(hops_drop(&h, str_from(gone[i])));
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        assert_false(hops_drop(&h, str_from(stay[i])));
}

/* F17: naming a field is no way to take away what says who asks, or how long a body is.
 */
static void test_named(void **state)
{
    struct http_field fields[] = {
        {STR("Connection"), STR("close, X-One,, x-two ,Authorization")},
        {STR("Other"), STR("X-Three")},
        {STR("connection"), STR("Cookie,\tHost, Content-Length, X-Four")},
    };
    struct hops h = hops_of(fields, 3);

    (void)state;
    assert_true(hops_named(&h, STR("Close")));
    assert_false(hops_named(&h, STR("clos")));
    assert_true(hops_drop(&h, STR("x-one")));
    assert_true(hops_drop(&h, STR("X-TWO")));
    assert_true(hops_drop(&h, STR("X-Four")));
    assert_false(hops_drop(&h, STR("X-Three")));
    assert_false(hops_drop(&h, STR("Authorization")));
    assert_false(hops_drop(&h, STR("Cookie")));
    assert_false(hops_drop(&h, STR("Content-Length")));
    assert_false(hops_drop(&h, STR("Host")));
}

static void test_too_many(void **state)
{
    char names[3 * (HOPS_NAMED_MAX + 1) + 1] = "";
    struct http_field field = {STR("Connection"), {names, 0}};
    struct http_head head = {.fields = &field, .field_count = 1};
    struct hops h;

    (void)state;
    for (size_t i = 0; i <= HOPS_NAMED_MAX; i++)
        memcpy(names + 3 * i, "a, ", 3);
    field.value.n = (size_t)3 * HOPS_NAMED_MAX;
    assert_true(hops_read(&h, &head));
    field.value.n += 3;
    assert_false(hops_read(&h, &head));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
