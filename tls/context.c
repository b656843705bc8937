#include "tls/context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

/* A context is OpenSSL's own, which counts its references atomically. */
static SSL_CTX *inside(struct tls_context *c)
{
    return (SSL_CTX *)c;
}

static bool failed(struct err *e, const char *what, const char *file)
{
    unsigned long code = ERR_peek_error();
    const char *reason = ERR_reason_error_string(code);

    /* What the system said is more telling than that the system said something. */
    if (ERR_SYSTEM_ERROR(code))
        reason = strerror(ERR_GET_REASON(code));
    err_set(e, "%s \"%s\": %s", what, file, reason != NULL ? reason : "unknown error");
    ERR_clear_error();
    return false;
}

/* Nobody is there to type one. That it was wanted is noted. */
static int no_pass_phrase(char *buf, int size, int writing, void *owner)
{
    bool *wanted = owner;

    (void)buf, (void)size, (void)writing;
    if (wanted != NULL)
        *wanted = true;
    return -1;
}

/* A client that offers others as well speaks HTTP/1.1 with us; one that offers only
 * others finds out by itself. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *in, unsigned in_len, void *owner)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen;

    (void)ssl, (void)owner;
    if (SSL_select_next_proto(&chosen, out_len, ours, sizeof ours - 1, in, in_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *context_new(const SSL_METHOD *method, struct err *e)
{
    SSL_CTX *ctx = SSL_CTX_new(method);

    if (ctx == NULL) {
        failed(e, "cannot make a TLS context for", "this process");
        return NULL;
    }
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_default_passwd_cb(ctx, no_pass_phrase);
    return ctx;
}

static bool use_own(SSL_CTX *ctx, const struct tls_server_options *options,
                    struct err *e)
{
    bool wanted = false, usable;

    if (SSL_CTX_use_certificate_chain_file(ctx, options->cert) != 1)
        return failed(e, "cannot read the certificate", options->cert);
    SSL_CTX_set_default_passwd_cb_userdata(ctx, &wanted);
    usable = SSL_CTX_use_PrivateKey_file(ctx, options->key, SSL_FILETYPE_PEM) == 1;
    SSL_CTX_set_default_passwd_cb_userdata(ctx, NULL);
    if (!usable && wanted) {
        ERR_clear_error();
        return err_set(e,
                       "the key \"%s\" has a pass phrase, and nobody is there to type "
                       "it: store it without one, readable for the gateway alone",
                       options->key);
    }
    if (!usable)
        return failed(e, "cannot use the key", options->key);
    if (SSL_CTX_check_private_key(ctx) != 1)
        return failed(e, "this is not the key of the certificate:", options->key);
    return true;
}

static bool ask_for_theirs(SSL_CTX *ctx, const char *client_ca, struct err *e)
{
    STACK_OF(X509_NAME) * names;

    if (client_ca == NULL)
        return true;
    names = SSL_load_client_CA_file(client_ca);
    if (names == NULL || SSL_CTX_load_verify_file(ctx, client_ca) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return failed(e, "cannot read the authorities", client_ca);
    }
    SSL_CTX_set_client_CA_list(ctx, names);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return true;
}

bool tls_server_new(const struct tls_server_options *options, struct tls_context **out,
                    struct err *e)
{
    SSL_CTX *ctx = context_new(TLS_server_method(), e);

    if (ctx == NULL)
        return false;
    if (!use_own(ctx, options, e) || !ask_for_theirs(ctx, options->client_ca, e)) {
        SSL_CTX_free(ctx);
        return false;
    }
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    *out = (struct tls_context *)ctx;
    return true;
}

bool tls_client_new(const char *ca_file, struct tls_context **out, struct err *e)
{
    SSL_CTX *ctx = context_new(TLS_client_method(), e);

    if (ctx == NULL)
        return false;
    SSL_CTX_set_default_verify_paths(ctx);
    if (ca_file != NULL && SSL_CTX_load_verify_file(ctx, ca_file) != 1) {
        SSL_CTX_free(ctx);
        return failed(e, "cannot read the authorities", ca_file);
    }
    ERR_clear_error();
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    *out = (struct tls_context *)ctx;
    return true;
}

struct tls_context *tls_context_ref(struct tls_context *c)
{
    SSL_CTX_up_ref(inside(c));
    return c;
}

void tls_context_unref(struct tls_context **c)
{
    if (*c != NULL)
        SSL_CTX_free(inside(*c));
    *c = NULL;
}
