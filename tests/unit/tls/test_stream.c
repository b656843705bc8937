/* Both ends of a TLS connection over a pair of sockets, without a loop: each is read
 * and written in turn until something has come of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/unit/tls/made_certs.h"
#include "tls/stream.h"

enum { TURNS = 200, BULK = 1024 * 1024 };

struct pair {
    int fds[2];
    struct stream_layer *server, *client;
};

struct world {
    struct made_cert ca, other_ca, server;
};

static struct world world;

static struct tls_context *server_context(const char *client_ca)
{
    const struct tls_server_options options = {world.server.cert_file,
                                               world.server.key_file, client_ca};
    struct tls_context *c;
    struct err e;

    if (!tls_server_new(&options, &c, &e))
        fail_msg("%s", e.text);
    return c;
}

static struct tls_context *client_context(const char *ca)
{
    struct tls_context *c;
    struct err e;

    if (!tls_client_new(ca, &c, &e))
        fail_msg("%s", e.text);
    return c;
}

static void pair_open(struct pair *p, struct tls_context *server,
                      struct tls_context *client, const char *host, bool is_addr)
{
    assert_return_code(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, p->fds),
        errno);
    p->server = tls_accept(server, p->fds[0]);
    p->client = tls_connect(client, p->fds[1], str_from(host), is_addr);
    tls_context_unref(&server);
    tls_context_unref(&client);
}

static void pair_close(struct pair *p)
{
    p->server->ops->free(p->server);
    p->client->ops->free(p->client);
    close(p->fds[0]);
    close(p->fds[1]);
}

/* One byte from the client to the server, and with it the handshake. */
static enum io greet(struct pair *p, enum io *heard)
{
    enum io said = IO_AGAIN;
    char byte;
    size_t n;

    *heard = IO_AGAIN;
    for (int i = 0; i < TURNS && *heard == IO_AGAIN && said != IO_ERROR; i++) {
        if (said != IO_OK)
            said = p->client->ops->write(p->client, "x", 1, &n);
        *heard = p->server->ops->read(p->server, &byte, 1, &n);
    }
    return said;
}

static void test_bytes_both_ways(void **state)
{
    struct pair p;
    enum io heard;
    char got[16];
    size_t n;

    (void)state;
    pair_open(&p, server_context(NULL), client_context(world.ca.cert_file), "a.test",
              false);
    assert_false(tls_is_open(p.server));
    assert_int_equal(greet(&p, &heard), IO_OK);
    assert_int_equal(heard, IO_OK);
    assert_true(tls_is_open(p.server) && tls_is_open(p.client));
    assert_int_equal(p.server->ops->write(p.server, "answer", 6, &n), IO_OK);
    assert_int_equal(n, 6);
    assert_int_equal(p.client->ops->read(p.client, got, 3, &n), IO_OK);
    assert_int_equal(n, 3);
    /* The rest is decrypted: the socket has nothing to tell of. */
    assert_true(p.client->ops->pending(p.client));
    assert_int_equal(p.client->ops->read(p.client, got + 3, 13, &n), IO_OK);
    assert_memory_equal(got, "answer", 6);
    assert_false(p.client->ops->pending(p.client));
    assert_int_equal(p.client->ops->read(p.client, got, 16, &n), IO_AGAIN);
    assert_int_equal(p.client->ops->wants(p.client, EV_READ), EV_READ);
    assert_int_equal(p.client->ops->wants(p.client, 0), 0);
    assert_int_equal(tls_peer_name(p.server).n, 0);
    pair_close(&p);
}

/* More than the socket takes at once: nothing is lost, doubled or out of order. */
static void test_bulk(void **state)
{
    char *sent = malloc(BULK), *got = malloc(BULK);
    size_t in = 0, out = 0, n;
    struct pair p;
    enum io heard;

    (void)state;
    for (size_t i = 0; i < BULK; i++)
        sent[i] = (char)(i * 2654435761u >> 13);
    pair_open(&p, server_context(NULL), client_context(world.ca.cert_file), "a.test",
              false);
    assert_int_equal(greet(&p, &heard), IO_OK);
    while (out < BULK) {
        if (in < BULK)
            assert_int_not_equal(
                p.server->ops->write(p.server, sent + in, BULK - in, &n), IO_ERROR);
        in += in < BULK ? n : 0;
        assert_int_not_equal(p.client->ops->read(p.client, got + out, BULK - out, &n),
                             IO_ERROR);
        out += n;
    }
    assert_memory_equal(sent, got, BULK);
    pair_close(&p);
    free(sent);
    free(got);
}

static void test_half_close(void **state)
{
    struct pair p;
    enum io heard;
    char got[4];
    size_t n;

    (void)state;
    pair_open(&p, server_context(NULL), client_context(world.ca.cert_file), "a.test",
              false);
    greet(&p, &heard);
    p.client->ops->shut(p.client);
    shutdown(p.fds[1], SHUT_WR);
    assert_int_equal(p.server->ops->read(p.server, got, 4, &n), IO_EOF);
    assert_int_equal(p.server->ops->write(p.server, "late", 4, &n), IO_OK);
    assert_int_equal(p.client->ops->read(p.client, got, 4, &n), IO_OK);
    assert_memory_equal(got, "late", 4);
    pair_close(&p);
}

static void test_cut_is_no_end(void **state)
{
    struct pair p;
    enum io heard;
    char got[4];
    size_t n;

    (void)state;
    pair_open(&p, server_context(NULL), client_context(world.ca.cert_file), "a.test",
              false);
    greet(&p, &heard);
    shutdown(p.fds[1], SHUT_WR);
    assert_int_equal(p.server->ops->read(p.server, got, 4, &n), IO_ERROR);
    assert_int_equal(p.server->ops->read(p.server, got, 4, &n), IO_ERROR);
    pair_close(&p);
}

static const struct verify_row {
    const char *host, *san;
    bool is_addr;
    int days;
    bool other_ca, good;
    const char *why;
} verify_rows[] = {
    {"a.test", "DNS:a.test", false, 1, false, true, ""},
    {"x.b.test", "DNS:a.test,DNS:*.b.test", false, 1, false, true, ""},
    {"192.0.2.7", "IP:192.0.2.7", true, 1, false, true, ""},
    {"2001:db8::7", "IP:2001:db8::7", true, 1, false, true, ""},
    {"other.test", "DNS:a.test", false, 1, false, false, "hostname mismatch"},
    {"x.y.b.test", "DNS:*.b.test", false, 1, false, false, "hostname mismatch"},
    {"xa.b.test", "DNS:x*.b.test", false, 1, false, false, "hostname mismatch"},
    {"192.0.2.7", "DNS:192.0.2.7", true, 1, false, false, "IP address mismatch"},
    {"a.test", "DNS:a.test", false, -1, false, false, "has expired"},
    {"a.test", "DNS:a.test", false, 1, true, false, "unable to get local issuer"},
    {"", "DNS:a.test", false, 1, false, false, "no name to look for"},
};

static void check_verified(const struct verify_row *row)
{
    struct made_cert before = world.server;
    struct pair p;
    enum io heard, said;

    made_cert(&world.server, row->other_ca ? &world.other_ca : &world.ca, "made",
              row->san, row->days);
    pair_open(&p, server_context(NULL), client_context(world.ca.cert_file), row->host,
              row->is_addr);
    said = greet(&p, &heard);
    if ((said == IO_OK) != row->good || strstr(tls_why(p.client), row->why) == NULL)
        fail_msg("%s with %s: %d, %s", row->host, row->san, said, tls_why(p.client));
    assert_int_equal(tls_is_open(p.client), row->good);
    pair_close(&p);
    made_done(&world.server);
    world.server = before;
}

static void test_server_is_verified(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof verify_rows / sizeof *verify_rows; i++)
        check_verified(&verify_rows[i]);
}

static const struct client_row {
    const char *common, *san; /* NULL: no certificate is shown */
    bool other_ca;
    const char *name; /* NULL: refused */
} client_rows[] = {
    {"agent-7", NULL, false, "agent-7"},
    {"agent-7", "DNS:ci.test,DNS:b.test", false, "ci.test"},
    {"agent-7", "URI:spiffe://a.test/ci", false, "spiffe://a.test/ci"},
    {"agent-7", "URI:spiffe://a.test/ci,DNS:ci.test", false, "ci.test"},
    {"agent-7", "IP:192.0.2.1", false, "agent-7"},
    {"agent-7", NULL, true, NULL},
    {NULL, NULL, false, NULL},
};

/* A client context with a certificate, which only a test needs. */
static struct tls_context *client_with(const struct made_cert *cert)
{
    struct tls_context *c = client_context(world.ca.cert_file);

    SSL_CTX_use_certificate((SSL_CTX *)c, cert->cert);
    SSL_CTX_use_PrivateKey((SSL_CTX *)c, cert->key);
    return c;
}

static void check_client(const struct client_row *row)
{
    struct made_cert cert = {0};
    struct tls_context *client;
    struct pair p;
    enum io heard;

    if (row->common != NULL) {
        made_cert(&cert, row->other_ca ? &world.other_ca : &world.ca, row->common,
                  row->san, 1);
        client = client_with(&cert);
    } else {
        client = client_context(world.ca.cert_file);
    }
    pair_open(&p, server_context(world.ca.cert_file), client, "a.test", false);
    greet(&p, &heard);
    assert_int_equal(heard, row->name != NULL ? IO_OK : IO_ERROR);
    assert_int_equal(tls_is_stranger(p.server), row->name == NULL);
    if (!str_equal(tls_peer_name(p.server), str_from(row->name ? row->name : "")))
        fail_msg("%s: " STR_FMT, row->common, STR_ARG(tls_peer_name(p.server)));
    pair_close(&p);
    if (row->common != NULL)
        made_done(&cert);
}

static void test_client_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof client_rows / sizeof *client_rows; i++)
        check_client(&client_rows[i]);
}

static void test_not_tls(void **state)
{
    static const char plain[] = "GET / HTTP/1.1\r\n\r\n";
    struct pair p;
    char got[8];
    size_t n;

    (void)state;
    pair_open(&p, server_context(NULL), client_context(NULL), "a.test", false);
    assert_int_equal(write(p.fds[1], plain, sizeof plain - 1), sizeof plain - 1);
    assert_int_equal(p.server->ops->read(p.server, got, 8, &n), IO_ERROR);
    assert_non_null(strstr(tls_why(p.server), "http request"));
    assert_false(tls_is_stranger(p.server));
    pair_close(&p);
}

static void expect_refused(const char *cert, const char *key, const char *ca,
                           const char *why)
{
    const struct tls_server_options options = {cert, key, ca};
    struct tls_context *c = NULL;
    struct err e;

    assert_false(tls_server_new(&options, &c, &e));
    if (strstr(e.text, why) == NULL)
        fail_msg("\"%s\" is not in: %s", why, e.text);
}

static void test_bad_files(void **state)
{
    const char *cert = world.server.cert_file, *key = world.server.key_file;

    (void)state;
    expect_refused("/nowhere.pem", key, NULL,
                   "certificate \"/nowhere.pem\": No such file");
    expect_refused(key, key, NULL, "cannot read the certificate");
    expect_refused(cert, "/nowhere.key", NULL, "key \"/nowhere.key\": No such file");
    expect_refused(cert, world.ca.key_file, NULL, "key values mismatch");
    expect_refused(cert, key, "/nowhere.ca", "cannot read the authorities");
    expect_refused(cert, key, key, "cannot read the authorities");
}

static int open_world(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    made_cert(&world.ca, NULL, "Test Authority", NULL, 2);
    made_cert(&world.other_ca, NULL, "Other Authority", NULL, 2);
    made_cert(&world.server, &world.ca, "a.test", "DNS:a.test", 1);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    made_done(&world.ca);
    made_done(&world.other_ca);
    made_done(&world.server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_both_ways),
        cmocka_unit_test(test_bulk),
        cmocka_unit_test(test_half_close),
        cmocka_unit_test(test_cut_is_no_end),
        cmocka_unit_test(test_server_is_verified),
        cmocka_unit_test(test_client_is_named),
        cmocka_unit_test(test_not_tls),
        cmocka_unit_test(test_bad_files),
    };

    return cmocka_run_group_tests(tests, open_world, close_world);
}
