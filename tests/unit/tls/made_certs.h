/* Certificates that a test makes for itself: an authority, and what it signs. */
#ifndef TESTS_MADE_CERTS_H
#define TESTS_MADE_CERTS_H

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <unistd.h>

struct made_cert {
    X509 *cert;
    EVP_PKEY *key;
    char cert_file[64], key_file[64];
};

static inline void made_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509_EXTENSION *extension;

    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    assert_non_null(extension);
    X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
}

static inline FILE *made_file(char path[64])
{
    snprintf(path, 64, "/tmp/weir-test-pem-XXXXXX");
    return fdopen(mkstemp(path), "w");
}

static inline void made_write(struct made_cert *m)
{
    FILE *file = made_file(m->cert_file);

    PEM_write_X509(file, m->cert);
    fclose(file);
    file = made_file(m->key_file);
    PEM_write_PrivateKey(file, m->key, NULL, NULL, 0, NULL, NULL);
    fclose(file);
}

/* `by` NULL: an authority. `names`: as in a subjectAltName; NULL: there is none. `days`
 * may be negative: it has expired. */
static inline void made_cert(struct made_cert *m, const struct made_cert *by,
                             const char *common, const char *names, int days)
{
    X509_NAME *subject;
    X509 *issuer = by != NULL ? by->cert : NULL;

    m->key = EVP_EC_gen("P-256");
    m->cert = X509_new();
    X509_set_version(m->cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(m->cert), (long)(size_t)m->cert >> 4);
    X509_gmtime_adj(X509_getm_notBefore(m->cert), -100L * 86400);
    X509_gmtime_adj(X509_getm_notAfter(m->cert), days * 86400L);
    X509_set_pubkey(m->cert, m->key);
    subject = X509_get_subject_name(m->cert);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                               (const unsigned char *)common, -1, -1, 0);
    X509_set_issuer_name(m->cert, X509_get_subject_name(issuer ? issuer : m->cert));
    if (issuer == NULL)
        made_extension(m->cert, m->cert, NID_basic_constraints, "critical,CA:TRUE");
    if (names != NULL)
        made_extension(m->cert, issuer ? issuer : m->cert, NID_subject_alt_name, names);
    assert_true(X509_sign(m->cert, by != NULL ? by->key : m->key, EVP_sha256()) > 0);
    made_write(m);
}

static inline void made_done(struct made_cert *m)
{
    unlink(m->cert_file);
    unlink(m->key_file);
    X509_free(m->cert);
    EVP_PKEY_free(m->key);
}

#endif
