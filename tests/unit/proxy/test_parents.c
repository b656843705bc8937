#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/policy/loaded.h"
#include "tests/unit/proxy/parents_from.h"

static const char both[] =
    "{\"parentProxy\": {\"http\": \"http://plain.test:1\", \"https\": "
    "\"socks5h://tunnel.test:2\", \"noProxy\": [\"direct.test\", \"10.0.0.0/8\"]},"
    " \"mitmProxy\": {\"socketPath\": \"/run/m\", \"domains\": [\"*.mitm.test\", "
    "\"one.test\", \"192.0.2.7\", \"localhost\", \"api.direct.test\"]}}";
static const char only_http[] =
    "{\"parentProxy\": {\"http\": \"http://plain.test:1\"}}";
static const char only_https[] =
    "{\"parentProxy\": {\"https\": \"http://tunnel.test:2\"}}";
static const char star[] = "{\"parentProxy\": {\"http\": \"http://plain.test:1\", "
                           "\"noProxy\": \"*\"}}";

#define PLAIN  "http://plain.test:1"
#define TUNNEL "socks5h://tunnel.test:2"
#define MITM   "unix:/run/m"

/* Whom a tunnel and a plain request go to; NULL: directly. */
static const struct {
    const char *network, *host, *tunnel, *exchange;
} rows[] = {
    {both, "a.test", TUNNEL, PLAIN},
    {both, "203.0.113.1", TUNNEL, PLAIN},
    {both, "2001:db8::1", TUNNEL, PLAIN},
    {both, "direct.test", NULL, NULL},
    {both, "sub.direct.test", NULL, NULL},
    {both, "10.2.3.4", NULL, NULL},
    {both, "a.mitm.test", MITM, MITM},
    {both, "mitm.test", TUNNEL, PLAIN},
    {both, "one.test", MITM, MITM},
    {both, "two.one.test", TUNNEL, PLAIN},
    {both, "192.0.2.7", MITM, MITM},
    {both, "api.direct.test", MITM, MITM}, /* what is listed there comes first */
    {both, "localhost", MITM, MITM},
    {both, "a.localhost", NULL, NULL},
    {both, "127.0.0.1", NULL, NULL},
    {both, "127.200.0.1", NULL, NULL},
    {both, "::1", NULL, NULL},
    {both, "::ffff:127.0.0.1", NULL, NULL},
    {both, "localhost.test", TUNNEL, PLAIN},
    {only_http, "a.test", PLAIN, PLAIN},
    {only_http, "localhost", NULL, NULL},
    {only_https, "a.test", "http://tunnel.test:2", NULL},
    {star, "a.test", NULL, NULL},
    {star, "192.0.2.1", NULL, NULL},
};

static void expect(const struct parents *p, const char *network, const char *host,
                   enum dial_use use, const char *name)
{
    struct arena a;
    struct target t;
    const struct parent *parent;

    arena_init(&a, 1024);
    assert_true(target_set(&t, &a, str_from(host), strchr(host, ':') != NULL, 80));
    parent = parents_route(p, &t, use);
    if (parent == NULL ? name != NULL : name == NULL || strcmp(parent->name, name) != 0)
        fail_msg("%s: %s goes through %s", network, host,
                 parent != NULL ? parent->name : "nothing");
    arena_done(&a);
}

static void test_route(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct parents *p = parents_of(rows[i].network);

        expect(p, rows[i].network, rows[i].host, DIAL_TUNNEL, rows[i].tunnel);
        expect(p, rows[i].network, rows[i].host, DIAL_EXCHANGE, rows[i].exchange);
        parents_unref(&p);
    }
}

static void test_none(void **state)
{
    struct parents *p = NULL;

    (void)state;
    expect(p, "none", "a.test", DIAL_TUNNEL, NULL);
    assert_null(parents_ref(p));
    parents_unref(&p);
    assert_null(parents_get(p, PARENTS_HTTP));
}

static void test_references(void **state)
{
    struct parents *p = parents_of(both), *mine = parents_ref(p);

    (void)state;
    parents_unref(&p);
    assert_null(p);
    assert_string_equal(parents_get(mine, PARENTS_MITM)->name, MITM);
    assert_string_equal(parents_get(mine, PARENTS_HTTP)->name, PLAIN);
    assert_string_equal(parents_get(mine, PARENTS_HTTPS)->name, TUNNEL);
    parents_unref(&mine);
}

/* Only where nothing at all would pass. */
static void test_review(void **state)
{
    static const char rules[] = "{\"privateAddresses\": \"deny\"}";
    struct parents *p = parents_of(both);
    struct parents *local =
        parents_of("{\"parentProxy\": {\"http\": \"http://p.test\", \"resolve\": "
                   "\"local\"}}");
    struct policy *strict = load_text(rules), *plain = load_text("{}");
    struct told told = {.count = 0};

    (void)state;
    parents_review(p, plain, "", on_told, &told);
    parents_review(local, strict, "", on_told, &told);
    parents_review(NULL, strict, "", on_told, &told);
    assert_int_equal(told.count, 0);
    parents_review(p, strict, "clients[0].", on_told, &told);
    assert_int_equal(told.count, 3);
    assert_non_null(strstr(told.text,
                           "clients[0].network: every name that goes through "
                           "the parent proxy " PLAIN " is refused "
                           "(address-unchecked), because of "
                           "network.privateAddresses"));
    policy_unref(&strict);
    policy_unref(&plain);
    parents_unref(&p);
    parents_unref(&local);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_route),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_review),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
