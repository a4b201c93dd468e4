/* tls: the simulator's side of HTTPS, with a certificate that is given or made on the spot.
 *
 * A made one is signed by a made authority; clients are told to trust DIR/ca.pem. Both are for
 * tests: their keys lie in the folder, unprotected.
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

/* Writes ca.pem, server.pem and server.key into `folder` (made if absent), for 127.0.0.1, localhost
 * and `address`. A folder that has them keeps them. */
bool tls_make_files(const char *folder, const char *address, struct error *err) MUST_CHECK;

#endif
