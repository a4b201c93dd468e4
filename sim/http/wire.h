/* wire: one connection's bytes, plain or TLS, with waits that a stop can end.
 *
 * The socket is non-blocking; every wait is a poll on it and on `stop_fd`, an eventfd that becomes
 * readable when the server shall end. One thread uses a wire.
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

/* Does the TLS handshake where `tls` is not NULL. On false the wire is to be closed all the same.
 */
bool wire_open(struct wire *wire, int fd, int stop_fd, SSL_CTX *tls);
void wire_close(struct wire *wire); /* FIN, what is in flight still arrives */
void wire_reset(struct wire *wire); /* RST, at once */

/* At most `size` bytes; 0 at the end of the stream, when nothing came in time, on an error, or when
 * the server stops. */
size_t wire_read(struct wire *wire, char *bytes, size_t size, int64_t timeout_us);

/* All of it, or false: the peer is gone or does not read. Changes the vector. */
bool wire_write(struct wire *wire, struct iovec *iov, size_t count);
bool wire_write_str(struct wire *wire, struct str bytes);

/* Lets time pass; false when the peer closed or the server stops meanwhile. */
bool wire_pause(struct wire *wire, int64_t us);

#endif
