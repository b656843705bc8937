#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/gateway_identify.h"
#include "tests/unit/proxy/config_file.h"

#define TOKEN_A "token-of-a-0123456789"
#define TOKEN_B "token-of-b-0123456789"

/* Who comes from where with what, and who that is; NULL: nobody. */
struct row {
    const char *from; /* NULL: a Unix socket */
    const char *user, *password;
    const char *name;
};

static const char clients[] =
    "\"clients\": ["
    "{\"name\": \"a\", \"tokenFile\": \"a.token\"},"
    "{\"name\": \"b\", \"tokenFile\": \"b.token\", \"from\": [\"10.0.0.0/8\", "
    "\"fd00::/8\"]},"
    "{\"name\": \"lan\", \"from\": [\"192.0.2.0/24\", \"2001:db8::/32\"]},"
    "{\"name\": \"one\", \"from\": [\"192.0.2.7\", \"2001:db8::7\"]},"
    "{\"name\": \"all6\", \"from\": [\"::/0\"]}]";

static const struct row rows[] = {
    {"198.51.100.1", "a", TOKEN_A, "a"},
    {"198.51.100.1", "", TOKEN_A, "a"},
    {NULL, "a", TOKEN_A, "a"},
    {"10.1.2.3", "b", TOKEN_B, "b"},
    {"::ffff:10.1.2.3", "b", TOKEN_B, "b"},
    {"fd00::1", "", TOKEN_B, "b"},
    {"192.0.2.7", "a", TOKEN_A, "a"},

    {"198.51.100.1", "b", TOKEN_A, NULL},
    {"198.51.100.1", "A", TOKEN_A, NULL},
    {"198.51.100.1", TOKEN_A, "", NULL},
    {"198.51.100.1", "a", "", NULL},
    {"198.51.100.1", "a", TOKEN_A "x", NULL},
    {"198.51.100.1", "b", TOKEN_B, NULL},
    {NULL, "b", TOKEN_B, NULL},
    {"192.0.2.7", "a", "wrong", NULL},
    {"192.0.2.7", "", "", NULL},

    {"192.0.2.7", NULL, NULL, "one"},
    {"192.0.2.8", NULL, NULL, "lan"},
    {"::ffff:192.0.2.7", NULL, NULL, "one"},
    {"2001:db8::7", NULL, NULL, "one"},
    {"2001:db8::8", NULL, NULL, "lan"},
    {"2001:db9::8", NULL, NULL, "all6"},
    {"10.1.2.3", NULL, NULL, NULL},
    {"198.51.100.1", NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

static struct caller caller_from(const char *from)
{
    struct caller who = {.from = {.family = 0}};

    if (from != NULL)
        assert_true(ip_parse(str_from(from), &who.from));
    return who;
}

static const char *ask(const struct config *c, const struct row *row,
                       enum identity nobody)
{
    struct caller who = caller_from(row->from);
    struct login login = {.given = row->user != NULL};
    size_t client = SIZE_MAX;
    uint32_t proof = 7;
    enum identity identity;

    if (login.given) {
        login.user = str_from(row->user);
        login.password = str_from(row->password);
    }
    identity = gateway_identify(c, &who, &login, &client, &proof);
    if (identity != IDENTITY_KNOWN) {
        assert_int_equal(identity, nobody);
        return NULL;
    }
    assert_true(gateway_identity_holds(&c->settings.clients[client], &who, proof));
    return c->settings.clients[client].name;
}

static struct config *load(void)
{
    config_write("a.token", TOKEN_A "\n");
    config_write("b.token", TOKEN_B "\n");
    return config_from(clients);
}

static void test_rows(void **state)
{
    struct config *c = load();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = ask(c, &rows[i], IDENTITY_LOGIN);

        if ((name == NULL) != (rows[i].name == NULL) ||
            (name != NULL && strcmp(name, rows[i].name) != 0))
            fail_msg("row %zu: %s", i, name);
    }
    config_unref(&c);
}

/* A login cannot help where nobody has a token, and does not hurt either. */
static void test_no_tokens(void **state)
{
    struct config *c =
        config_from("\"clients\": [{\"name\": \"lan\", \"from\": [\"10.0.0.0/8\"]}]");

    (void)state;
    assert_string_equal(ask(c, &(struct row){.from = "10.0.0.1"}, IDENTITY_UNKNOWN),
                        "lan");
    assert_string_equal(
        ask(c, &(struct row){"10.0.0.1", "x", "y", NULL}, IDENTITY_UNKNOWN), "lan");
    assert_null(ask(c, &(struct row){.from = "11.0.0.1"}, IDENTITY_UNKNOWN));
    assert_null(ask(c, &(struct row){"11.0.0.1", "x", "y", NULL}, IDENTITY_UNKNOWN));
    config_unref(&c);
}

/* Certificates, of which a gateway file cannot tell yet: the name is put in here. */
static void test_certificates(void **state)
{
    struct config *c = load();
    struct client_settings *lan = &c->settings.clients[2];
    struct caller who = caller_from("192.0.2.7");
    size_t client;
    uint32_t proof;

    (void)state;
    lan->cert_name = "lan.example";
    assert_int_equal(gateway_identify(c, &who, NULL, &client, &proof), IDENTITY_KNOWN);
    assert_string_equal(c->settings.clients[client].name, "one");
    who.cert = STR("lan.example");
    assert_int_equal(gateway_identify(c, &who, NULL, &client, &proof), IDENTITY_KNOWN);
    assert_string_equal(c->settings.clients[client].name, "lan");
    assert_true(gateway_identity_holds(lan, &who, proof));
    who.cert = STR("LAN.example");
    assert_int_equal(gateway_identify(c, &who, NULL, &client, &proof), IDENTITY_KNOWN);
    assert_string_equal(c->settings.clients[client].name, "one");
    assert_false(gateway_identity_holds(lan, &who, 0));
    /* The address must hold too. */
    who = caller_from("198.51.100.1");
    who.cert = STR("lan.example");
    assert_int_equal(gateway_identify(c, &who, NULL, &client, &proof), IDENTITY_LOGIN);
    config_unref(&c);
}

static void test_holds(void **state)
{
    struct config *c = load(), *later;
    struct caller who = caller_from("10.0.0.1"), other = caller_from("192.0.2.1");
    struct login login = {true, STR("b"), STR(TOKEN_B)};
    size_t client;
    uint32_t proof;

    (void)state;
    assert_int_equal(gateway_identify(c, &who, &login, &client, &proof),
                     IDENTITY_KNOWN);
    assert_int_equal(client, 1);
    config_write("b.token", "another-token-012345\n" TOKEN_B "\n");
    later = config_from(clients);
    assert_true(gateway_identity_holds(&later->settings.clients[1], &who, proof));
    assert_false(gateway_identity_holds(&later->settings.clients[1], &other, proof));
    assert_false(gateway_identity_holds(&later->settings.clients[0], &who, proof));
    assert_false(gateway_identity_holds(&later->settings.clients[1], &who, 0));
    config_unref(&later);
    config_write("b.token", "another-token-012345\n");
    later = config_from(clients);
    assert_false(gateway_identity_holds(&later->settings.clients[1], &who, proof));
    config_unref(&later);
    config_unref(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_no_tokens),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_holds),
    };

    return cmocka_run_group_tests(tests, config_folder_make, config_folder_remove);
}
