#include "tls/stream.h"

#include <assert.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tls_stream {
    struct stream_layer layer;
    SSL *ssl;
    int read_waits, write_waits; /* EV_READ or EV_WRITE: for what each of them waits */
    bool dead;                   /* a call has failed, and no other may follow */
    bool stranger;               /* for want of a certificate that is accepted */
    size_t name_len;
    char name[TLS_NAME_MAX + 1]; /* of the peer; "" until it was asked for */
    char why[TLS_WHY_MAX];
};

static struct tls_stream *of(struct stream_layer *l)
{
    return (struct tls_stream *)l;
}

/* The most telling of what OpenSSL has on its mind. */
static void note_why(struct tls_stream *t)
{
    long verified = SSL_get_verify_result(t->ssl);
    unsigned long code = ERR_peek_error();
    const char *reason = ERR_reason_error_string(code);

    if (reason == NULL)
        return;
    t->stranger = ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED ||
                  ERR_GET_REASON(code) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE;
    if (verified != X509_V_OK)
        snprintf(t->why, sizeof t->why, "%s: %s", reason,
                 X509_verify_cert_error_string(verified));
    else
        snprintf(t->why, sizeof t->why, "%s", reason);
}

/* What came of an SSL call that returned `result`, which was no success. */
static enum io outcome(struct tls_stream *t, int result, int *waits)
{
    switch (SSL_get_error(t->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        *waits = EV_READ;
        return IO_AGAIN;
    case SSL_ERROR_WANT_WRITE:
        *waits = EV_WRITE;
        return IO_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return IO_EOF;
    default:
        note_why(t);
        t->dead = true;
        return IO_ERROR;
    }
}

/* One record a call is what OpenSSL gives; all that is there is what was asked for. */
static enum io read_layer(struct stream_layer *l, char *into, size_t size, size_t *n)
{
    struct tls_stream *t = of(l);
    enum io io = IO_OK;

    *n = 0;
    if (t->dead)
        return IO_ERROR;
    ERR_clear_error();
    t->read_waits = EV_READ;
    while (*n < size && io == IO_OK) {
        size_t got = 0;
        int result = SSL_read_ex(t->ssl, into + *n, size - *n, &got);

        *n += got;
        if (result != 1)
            io = outcome(t, result, &t->read_waits);
    }
    /* What ended the reading is told by the next one. */
    return *n > 0 ? IO_OK : io;
}

static enum io write_layer(struct stream_layer *l, const char *from, size_t len,
                           size_t *n)
{
    struct tls_stream *t = of(l);
    enum io io = IO_OK;

    *n = 0;
    if (t->dead)
        return IO_ERROR;
    ERR_clear_error();
    t->write_waits = EV_WRITE;
    while (*n < len && io == IO_OK) {
        size_t sent = 0;
        int result = SSL_write_ex(t->ssl, from + *n, len - *n, &sent);

        *n += sent;
        if (result != 1)
            io = outcome(t, result, &t->write_waits);
    }
    return *n > 0 ? IO_OK : io;
}

static int wants_layer(struct stream_layer *l, int events)
{
    const struct tls_stream *t = of(l);

    return ((events & EV_READ) != 0 ? t->read_waits : 0) |
           ((events & EV_WRITE) != 0 ? t->write_waits : 0);
}

static int ready_layer(struct stream_layer *l, int events)
{
    const struct tls_stream *t = of(l);

    return ((events & t->read_waits) != 0 ? EV_READ : 0) |
           ((events & t->write_waits) != 0 ? EV_WRITE : 0);
}

/* Also an end, or an error, that a read has met behind the bytes that it gave. */
static bool pending_layer(struct stream_layer *l)
{
    const struct tls_stream *t = of(l);

    return t->dead || SSL_pending(t->ssl) > 0 ||
           (SSL_get_shutdown(t->ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
}

static void shut_layer(struct stream_layer *l)
{
    struct tls_stream *t = of(l);

    ERR_clear_error();
    if (!t->dead && SSL_is_init_finished(t->ssl))
        SSL_shutdown(t->ssl);
    ERR_clear_error();
}

static void free_layer(struct stream_layer *l)
{
    struct tls_stream *t = of(l);

    SSL_free(t->ssl);
    free(t);
}

static const struct stream_layer_ops ops = {
    .read = read_layer,
    .write = write_layer,
    .wants = wants_layer,
    .ready = ready_layer,
    .pending = pending_layer,
    .shut = shut_layer,
    .free = free_layer,
};

static struct tls_stream *tls_new(struct tls_context *c, int fd)
{
    struct tls_stream *t = calloc(1, sizeof *t);

    if (t == NULL || (t->ssl = SSL_new((SSL_CTX *)c)) == NULL ||
        SSL_set_fd(t->ssl, fd) != 1)
        abort();
    t->layer.ops = &ops;
    t->read_waits = EV_READ;
    t->write_waits = EV_WRITE;
    return t;
}

struct stream_layer *tls_accept(struct tls_context *c, int fd)
{
    struct tls_stream *t = tls_new(c, fd);

    SSL_set_accept_state(t->ssl);
    return &t->layer;
}

/* Where the name cannot be noted nobody is believed: the connection is dead. */
static bool expect_host(SSL *ssl, const char *host, bool is_addr)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

    if (is_addr)
        return X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(param, host, 0) == 1 &&
           SSL_set_tlsext_host_name(ssl, host) == 1;
}

struct stream_layer *tls_connect(struct tls_context *c, int fd, struct str host,
                                 bool is_addr)
{
    struct tls_stream *t = tls_new(c, fd);
    char text[TLS_NAME_MAX + 1];

    SSL_set_connect_state(t->ssl);
    if (host.n == 0 || host.n > TLS_NAME_MAX || memchr(host.p, '\0', host.n) != NULL) {
        t->dead = true;
    } else {
        snprintf(text, sizeof text, STR_FMT, STR_ARG(host));
        t->dead = !expect_host(t->ssl, text, is_addr);
    }
    if (t->dead)
        snprintf(t->why, sizeof t->why, "no name to look for in a certificate");
    return &t->layer;
}

bool tls_is_open(const struct stream_layer *l)
{
    const struct tls_stream *t = (const struct tls_stream *)l;

    return !t->dead && SSL_is_init_finished(t->ssl);
}

static bool keep_name(struct tls_stream *t, const ASN1_STRING *text)
{
    unsigned char *utf8;
    int len = text != NULL ? ASN1_STRING_to_UTF8(&utf8, text) : -1;

    if (len < 0)
        return false;
    if (len > 0 && len <= TLS_NAME_MAX && memchr(utf8, '\0', (size_t)len) == NULL) {
        memcpy(t->name, utf8, (size_t)len);
        t->name_len = (size_t)len;
    }
    OPENSSL_free(utf8);
    /* A name that cannot be kept is the name all the same: nothing stands in for it. */
    return true;
}

static bool keep_alternative(struct tls_stream *t, const GENERAL_NAMES *names, int type)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

        if (name->type == type)
            return keep_name(t, type == GEN_DNS ? name->d.dNSName
                                                : name->d.uniformResourceIdentifier);
    }
    return false;
}

static void read_name(struct tls_stream *t, X509 *cert)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    X509_NAME *subject = X509_get_subject_name(cert);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);

    if (names == NULL || (!keep_alternative(t, names, GEN_DNS) &&
                          !keep_alternative(t, names, GEN_URI))) {
        if (at >= 0)
            keep_name(t, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    }
    GENERAL_NAMES_free(names);
}

struct str tls_peer_name(struct stream_layer *l)
{
    struct tls_stream *t = of(l);
    X509 *cert;

    if (!tls_is_open(l))
        return (struct str){t->name, 0};
    cert = SSL_get1_peer_certificate(t->ssl);
    if (t->name_len == 0 && cert != NULL && SSL_get_verify_result(t->ssl) == X509_V_OK)
        read_name(t, cert);
    X509_free(cert);
    return (struct str){t->name, t->name_len};
}

bool tls_is_stranger(const struct stream_layer *l)
{
    return ((const struct tls_stream *)l)->stranger;
}

const char *tls_why(const struct stream_layer *l)
{
    return ((const struct tls_stream *)l)->why;
}
