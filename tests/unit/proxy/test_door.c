/* The door of a gateway, and what happens to those inside when the file changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/door.h"
#include "tests/unit/proxy/config_file.h"
#include "tests/unit/proxy/conn_world.h"

#define TOKEN_A "token-of-a-0123456789" /* a:token-of-a-0123456789 */
#define LOGIN_A "YTp0b2tlbi1vZi1hLTAxMjM0NTY3ODk="
#define NETWORK "\"network\": {\"allowedDomains\": [\"good.test\", \"127.0.0.1\"]}"
#define BY_TOKEN \
    NETWORK ", \"clients\": [{\"name\": \"a\", \"tokenFile\": \"a.token\"}]"
#define BY_ADDRESS \
    NETWORK ", \"clients\": [{\"name\": \"lan\", \"from\": [\"127.0.0.0/8\"]}]"

/* The fixture's own session has no part in this: the door listens at its port. */
struct house {
    struct fixture *f;
    struct door *door;
};

static struct house house_new(const char *keys)
{
    struct house h = {.f = fixture_new(&limits_default)};
    struct config *c;
    unsigned port = 0;
    struct err e;
    int fd;

    config_write("a.token", TOKEN_A "\n");
    c = config_from(keys);
    h.door = door_new(h.f->w.core, c);
    config_unref(&c);
    fd = core_world_listen("127.0.0.1", &port);
    assert_true(door_listen(h.door, 0, fd, &e));
    h.f->port = port;
    return h;
}

static void house_free(struct house *h)
{
    door_free(&h->door);
    fixture_free(h->f);
}

static void change(struct house *h, const char *keys)
{
    struct config *c = config_from(keys);

    door_set_config(h->door, c);
    config_unref(&c);
}

/* Asks, and returns the status of the answer; 0 when there is none. */
static int knock(struct house *h, int client, const char *login, char got[TEXT_MAX])
{
    char head[256];

    snprintf(head, sizeof head, "CONNECT good.test:%u HTTP/1.1\r\n%s%s%s\r\n",
             h->f->server_port, login != NULL ? "Proxy-Authorization: Basic " : "",
             login != NULL ? login : "", login != NULL ? "\r\n" : "");
    say(client, head);
    hear(h->f, client, "\r\n\r\n", got);
    return got[0] != '\0' ? (int)strtol(got + strlen("HTTP/1.1 "), NULL, 10) : 0;
}

/* A tunnel that stands. */
static int enter(struct house *h, const char *login)
{
    int client = client_open(h->f);
    char got[TEXT_MAX];

    assert_int_equal(knock(h, client, login, got), 200);
    return client;
}

static void assert_stands(struct house *h, int client)
{
    for (int i = 0; i < 5; i++)
        core_world_turn(&h->f->w, 0.01);
    assert_int_equal(recv(client, (char[1]){0}, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
}

static void assert_cut(struct house *h, int client)
{
    char got[TEXT_MAX];

    assert_true(hear(h->f, client, NULL, got));
    close(client);
}

static void test_each_in_its_session(void **state)
{
    struct house h = house_new(BY_TOKEN);
    int client = enter(&h, LOGIN_A), stranger = client_open(h.f);
    char got[TEXT_MAX];

    (void)state;
    assert_int_equal(knock(&h, stranger, NULL, got), 407);
    assert_int_equal(door_connections(h.door), 2);
    close(stranger);
    core_world_until(&h.f->w, door_connections(h.door) == 1);
    close(client);
    house_free(&h);
}

static void test_the_same_again(void **state)
{
    struct house h = house_new(BY_TOKEN);
    int client = enter(&h, LOGIN_A);

    (void)state;
    change(&h, BY_TOKEN);
    /* The other token takes over; this one is still good. */
    config_write("a.token", "another-token-012345\n" TOKEN_A "\n");
    change(&h, BY_TOKEN);
    assert_stands(&h, client);
    close(client);
    house_free(&h);
}

static void test_token_withdrawn(void **state)
{
    struct house h = house_new(BY_TOKEN);
    int client = enter(&h, LOGIN_A);
    char got[TEXT_MAX];

    (void)state;
    config_write("a.token", "another-token-012345\n");
    change(&h, BY_TOKEN);
    assert_cut(&h, client);
    client = client_open(h.f);
    assert_int_equal(knock(&h, client, LOGIN_A, got), 407);
    close(client);
    house_free(&h);
}

static void test_client_gone(void **state)
{
    struct house h = house_new(BY_TOKEN);
    int client = enter(&h, LOGIN_A);

    (void)state;
    change(&h,
           NETWORK ", \"clients\": [{\"name\": \"b\", \"tokenFile\": \"a.token\"}]");
    assert_cut(&h, client);
    house_free(&h);
}

static void test_address_out_of_range(void **state)
{
    struct house h = house_new(BY_ADDRESS);
    int client = enter(&h, NULL);
    char got[TEXT_MAX];

    (void)state;
    change(&h, BY_ADDRESS);
    assert_stands(&h, client);
    change(&h,
           NETWORK ", \"clients\": [{\"name\": \"lan\", \"from\": [\"10.0.0.0/8\"]}]");
    assert_cut(&h, client);
    client = client_open(h.f);
    assert_int_equal(knock(&h, client, NULL, got), 0);
    close(client);
    house_free(&h);
}

/* Who came in by address is no client that now wants a token. */
static void test_token_wanted_now(void **state)
{
    struct house h = house_new(BY_ADDRESS);
    int client = enter(&h, NULL);

    (void)state;
    change(&h,
           NETWORK ", \"clients\": [{\"name\": \"lan\", \"from\": [\"127.0.0.0/8\"], "
                   "\"tokenFile\": \"a.token\"}]");
    assert_cut(&h, client);
    house_free(&h);
}

static void test_denied_now(void **state)
{
    struct house h = house_new(BY_ADDRESS);
    int client = enter(&h, NULL);

    (void)state;
    change(&h,
           NETWORK ", \"clients\": [{\"name\": \"lan\", \"from\": [\"127.0.0.0/8\"], "
                   "\"network\": {\"deniedDomains\": [\"good.test\"]}}]");
    assert_cut(&h, client);
    house_free(&h);
}

/* From one policy for all to clients, and back. */
static void test_clients_come_and_go(void **state)
{
    struct house h = house_new(NETWORK);
    int client = enter(&h, NULL);

    (void)state;
    change(&h, NETWORK);
    assert_stands(&h, client);
    change(&h, BY_ADDRESS);
    assert_cut(&h, client);
    client = enter(&h, NULL);
    change(&h, NETWORK);
    assert_cut(&h, client);
    client = enter(&h, NULL);
    close(client);
    house_free(&h);
}

/* A client is the same when its name is, wherever it stands. */
static void test_another_order(void **state)
{
    static const char swapped[] =
        NETWORK ", \"clients\": [{\"name\": \"x\", \"from\": [\"10.0.0.0/8\"]}, "
                "{\"name\": \"lan\", \"from\": [\"127.0.0.0/8\"]}, "
                "{\"name\": \"y\", \"from\": [\"11.0.0.0/8\"]}]";
    struct house h = house_new(BY_ADDRESS);
    int client = enter(&h, NULL);

    (void)state;
    change(&h, swapped);
    assert_stands(&h, client);
    change(&h, BY_ADDRESS);
    assert_stands(&h, client);
    close(client);
    house_free(&h);
}

/* Waits for a login while the file changes: the new one holds. */
static void test_waiting_at_the_door(void **state)
{
    struct house h = house_new(BY_TOKEN);
    int client = client_open(h.f);
    char got[TEXT_MAX];

    (void)state;
    assert_int_equal(knock(&h, client, NULL, got), 407);
    config_write("a.token", "another-token-012345\n");
    change(&h, BY_TOKEN);
    assert_int_equal(knock(&h, client, LOGIN_A, got), 407);
    config_write("a.token", TOKEN_A "\n");
    change(&h, BY_TOKEN);
    assert_int_equal(knock(&h, client, LOGIN_A, got), 200);
    close(client);
    house_free(&h);
}

static void test_listeners(void **state)
{
    struct house h = house_new(NETWORK);
    struct config *c = config_from(NETWORK);
    struct ip ip = {.family = 4, .bytes = {127, 0, 0, 1}};
    struct addr a;
    char path[96];
    struct err e;
    int client;

    (void)state;
    assert_true(door_listens(h.door, 0));
    assert_false(door_listens(h.door, 1));
    config_unref(&c);
    config_write("gateway.json", "{\"listen\": [\"unix:/a\"], " NETWORK "}");
    config_path(path, "gateway.json");
    assert_true(config_load(path, NULL, NULL, &c, &e));
    door_set_config(h.door, c);
    config_unref(&c);
    assert_false(door_listens(h.door, 0));
    a = addr_from_ip(&ip, h.f->port);
    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(client, &a.sa, a.len), -1);
    close(client);
    house_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_in_its_session),
        cmocka_unit_test(test_the_same_again),
        cmocka_unit_test(test_token_withdrawn),
        cmocka_unit_test(test_client_gone),
        cmocka_unit_test(test_address_out_of_range),
        cmocka_unit_test(test_token_wanted_now),
        cmocka_unit_test(test_denied_now),
        cmocka_unit_test(test_clients_come_and_go),
        cmocka_unit_test(test_another_order),
        cmocka_unit_test(test_waiting_at_the_door),
        cmocka_unit_test(test_listeners),
    };

    return cmocka_run_group_tests(tests, config_folder_make, config_folder_remove);
}
