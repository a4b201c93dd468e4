/* certificate: a self-signed certificate and its key, made for a test. */
#ifndef PATRA_TEST_SUPPORT_CERTIFICATE_H
#define PATRA_TEST_SUPPORT_CERTIFICATE_H

#include <stdbool.h>

enum { CERTIFICATE_PEM_MAX = 8192 };

struct certificate {
    char pem[CERTIFICATE_PEM_MAX];
    char key[CERTIFICATE_PEM_MAX];        /* RSA, PKCS #8 */
    char public_key[CERTIFICATE_PEM_MAX]; /* of it */
};

/* For this alternative name: "IP:127.0.0.1", "DNS:example.org". */
bool certificate_make(struct certificate *certificate, const char *name);

#endif
