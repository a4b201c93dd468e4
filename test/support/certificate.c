/* A self-signed certificate, by OpenSSL. */
#include "certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

enum { KEY_BITS = 2048, DAY_SECONDS = 86400 };

static void take(BIO *bio, char out[CERTIFICATE_PEM_MAX])
{
    const int len = BIO_read(bio, out, CERTIFICATE_PEM_MAX - 1);

    out[len > 0 ? len : 0] = '\0';
    BIO_free(bio);
}

static bool describe(X509 *x509, EVP_PKEY *key, const char *name)
{
    X509_NAME *subject = X509_get_subject_name(x509);
    X509_EXTENSION *names = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, name);
    X509_EXTENSION *limits = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "CA:TRUE");
    const bool ok =
        names != NULL && limits != NULL && X509_set_version(x509, 2) == 1 &&
        ASN1_INTEGER_set(X509_get_serialNumber(x509), 1) == 1 &&
        X509_gmtime_adj(X509_getm_notBefore(x509), -DAY_SECONDS) != NULL &&
        X509_gmtime_adj(X509_getm_notAfter(x509), DAY_SECONDS) != NULL &&
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)"patra test",
                                   -1, -1, 0) == 1 &&
        X509_set_issuer_name(x509, subject) == 1 && X509_set_pubkey(x509, key) == 1 &&
        X509_add_ext(x509, names, -1) == 1 && X509_add_ext(x509, limits, -1) == 1;

    X509_EXTENSION_free(names);
    X509_EXTENSION_free(limits);
    return ok && X509_sign(x509, key, EVP_sha256()) > 0;
}

bool certificate_make(struct certificate *certificate, const char *name)
{
    EVP_PKEY *key = EVP_RSA_gen(KEY_BITS);
    X509 *x509 = X509_new();
    const bool ok = key != NULL && x509 != NULL && describe(x509, key, name);
    BIO *bio;

    if (ok) {
        bio = BIO_new(BIO_s_mem());
        (void)PEM_write_bio_X509(bio, x509);
        take(bio, certificate->pem);
        bio = BIO_new(BIO_s_mem());
        (void)PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
        take(bio, certificate->key);
        bio = BIO_new(BIO_s_mem());
        (void)PEM_write_bio_PUBKEY(bio, key);
        take(bio, certificate->public_key);
    }
    X509_free(x509);
    EVP_PKEY_free(key);
    return ok;
}
