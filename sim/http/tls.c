/* TLS by OpenSSL: loads a certificate, or makes one with its authority. */
#include "sim/http/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES_MAX = 4096, DAYS_VALID = 3650 };

static bool library_error(struct error *err, const char *doing)
{
    char text[256];

    ERR_error_string_n(ERR_get_error(), text, sizeof(text));
    ERR_clear_error();
    return error_set(err, ERROR_REQUEST, "tls", "%s: %s", doing, text);
}

bool tls_open(const char *cert_file, const char *key_file, SSL_CTX **tls, struct error *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    if (context == NULL)
        return library_error(err, "make a TLS context");
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
    if (SSL_CTX_use_certificate_chain_file(context, cert_file) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) != 1) {
        SSL_CTX_free(context);
        return library_error(err, cert_file);
    }
    *tls = context;
    return true;
}

/* ---- making certificates ---- */

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509_EXTENSION *extension;
    X509V3_CTX context;
    bool ok;

    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    ok = extension != NULL && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

static bool set_name(X509 *cert, const char *name)
{
    return X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                                      (const unsigned char *)name, -1, -1, 0) == 1;
}

struct certificate {
    X509 *cert;
    EVP_PKEY *key;
};

static void release(struct certificate *certificate)
{
    X509_free(certificate->cert);
    EVP_PKEY_free(certificate->key);
}

/* A key, and a certificate for it without extensions or signature. */
static bool begin(struct certificate *made, const char *name, long serial)
{
    made->key = EVP_EC_gen("P-256");
    made->cert = X509_new();
    return made->key != NULL && made->cert != NULL &&
           X509_set_version(made->cert, X509_VERSION_3) == 1 &&
           ASN1_INTEGER_set(X509_get_serialNumber(made->cert), serial) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(made->cert), -86400) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(made->cert), 86400L * DAYS_VALID) != NULL &&
           X509_set_pubkey(made->cert, made->key) == 1 && set_name(made->cert, name);
}

static bool sign(struct certificate *made, const struct certificate *issuer)
{
    return X509_set_issuer_name(made->cert, X509_get_subject_name(issuer->cert)) == 1 &&
           X509_sign(made->cert, issuer->key, EVP_sha256()) > 0;
}

static bool make_authority(struct certificate *made)
{
    return begin(made, "patra-sim test authority", 1) &&
           add_extension(made->cert, made->cert, NID_basic_constraints, "critical,CA:TRUE") &&
           add_extension(made->cert, made->cert, NID_key_usage, "critical,keyCertSign,cRLSign") &&
           add_extension(made->cert, made->cert, NID_subject_key_identifier, "hash") &&
           sign(made, made);
}

static bool make_server(struct certificate *made, const struct certificate *authority,
                        const char *address)
{
    char names[128];

    (void)snprintf(names, sizeof(names), "DNS:localhost,IP:127.0.0.1,IP:%s", address);
    return begin(made, "patra-sim", 2) &&
           add_extension(made->cert, authority->cert, NID_basic_constraints, "CA:FALSE") &&
           add_extension(made->cert, authority->cert, NID_ext_key_usage, "serverAuth") &&
           add_extension(made->cert, authority->cert, NID_subject_alt_name, names) &&
           add_extension(made->cert, authority->cert, NID_authority_key_identifier, "keyid") &&
           sign(made, authority);
}

/* ---- files ---- */

static FILE *create(const char *folder, const char *name)
{
    char path[PATH_BYTES_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return fopen(path, "wb");
}

static bool write_certificate(const char *folder, const char *name, X509 *cert)
{
    FILE *file = create(folder, name);
    const bool ok = file != NULL && PEM_write_X509(file, cert) == 1;

    return (file == NULL || fclose(file) == 0) && ok;
}

static bool write_key(const char *folder, const char *name, EVP_PKEY *key)
{
    FILE *file = create(folder, name);
    const bool ok = file != NULL && PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1;

    return (file == NULL || fclose(file) == 0) && ok;
}

static bool has_files(const char *folder)
{
    static const char *const names[] = { "ca.pem", "server.pem", "server.key" };
    char path[PATH_BYTES_MAX];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        if (access(path, R_OK) != 0)
            return false;
    }
    return true;
}

bool tls_make_files(const char *folder, const char *address, struct error *err)
{
    struct certificate authority = { 0 }, server = { 0 };
    bool ok;

    if (has_files(folder))
        return true;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return error_set(err, ERROR_REQUEST, "tls.folder", "%s: %s", folder, strerror(errno));
    ok = make_authority(&authority) && make_server(&server, &authority, address);
    if (!ok) {
        (void)library_error(err, "make a certificate");
    } else if (!write_certificate(folder, "ca.pem", authority.cert) ||
               !write_certificate(folder, "server.pem", server.cert) ||
               !write_key(folder, "server.key", server.key)) {
        ok = error_set(err, ERROR_REQUEST, "tls.folder", "%s: cannot be written", folder);
    }
    release(&authority);
    release(&server);
    return ok;
}
