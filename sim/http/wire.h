/* wire: one connection's bytes, plain or TLS. A stop ends every wait.
 *
 * The socket is non-blocking; every wait polls it and `stop_fd`, an eventfd that becomes readable
 * when the server stops. A wire is used by one thread.
 */
#ifndef PATRA_SIM_HTTP_WIRE_H
#define PATRA_SIM_HTTP_WIRE_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/str.h"

struct wire {
    int fd;
    int stop_fd;
    SSL *ssl; /* NULL on a plain connection */
    uint64_t sent;
};

/* Does the TLS handshake unless `tls` is NULL. The wire must be closed even after false. */
bool wire_open(struct wire *wire, int fd, int stop_fd, SSL_CTX *tls);
void wire_close(struct wire *wire); /* FIN: bytes in flight still arrive */
void wire_reset(struct wire *wire); /* RST: at once */

/* At most `size` bytes; 0 at the end of the stream, when nothing came in time, on an error, or when
 * the server stops. */
size_t wire_read(struct wire *wire, char *bytes, size_t size, int64_t timeout_us);

/* Writes everything, or returns false: the peer has closed or does not read. Changes the vector. */
bool wire_write(struct wire *wire, struct iovec *iov, size_t count);
bool wire_write_str(struct wire *wire, struct str bytes);

/* Waits; false when the peer closes or the server stops meanwhile. */
bool wire_pause(struct wire *wire, int64_t us);

#endif
