/* tls: HTTPS with a given certificate, or with one that is created.
 *
 * A created certificate is signed by a created authority, DIR/ca.pem, which clients must trust.
 * Both are for tests only: their keys are in the folder, unprotected.
 */
#ifndef PATRA_SIM_HTTP_TLS_H
#define PATRA_SIM_HTTP_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"

/* The caller frees with SSL_CTX_free(). */
bool tls_open(const char *cert_file, const char *key_file, SSL_CTX **tls,
              struct error *err) MUST_CHECK;

/* Writes ca.pem, server.pem and server.key into `folder` (created if absent), for 127.0.0.1,
 * localhost and `address`. Existing files are kept. */
bool tls_make_files(const char *folder, const char *address, struct error *err) MUST_CHECK;

#endif
