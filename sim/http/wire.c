/* Non-blocking reads and writes, plain or by OpenSSL, each wait interruptible by the stop event. */
#include "sim/http/wire.h"

#include <errno.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/instant.h"
#include "sim/util/clock.h"

/* A client that reads nothing for this long is dropped; after a stop it has less time. */
enum { WRITE_SECONDS_MAX = 60, STOPPING_SECONDS_MAX = 2, HANDSHAKE_SECONDS_MAX = 10 };
enum { POLL_MS_MAX = 3600000 };

enum wait { WAIT_READY, WAIT_TIMEOUT, WAIT_STOP };

static int poll_ms(int64_t us)
{
    const int64_t ms = us > 0 ? (us + US_PER_MS - 1) / US_PER_MS : 0;

    return ms > POLL_MS_MAX ? POLL_MS_MAX : (int)ms;
}

static enum wait wait_for(const struct wire *wire, short events, int64_t timeout_us)
{
    struct pollfd fds[2] = { { wire->fd, events, 0 }, { wire->stop_fd, POLLIN, 0 } };
    const int64_t deadline_us = sim_clock_real() + timeout_us;
    int ready;

    do
        ready = poll(fds, 2, poll_ms(deadline_us - sim_clock_real()));
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return WAIT_TIMEOUT;
    return fds[0].revents != 0 ? WAIT_READY : WAIT_STOP;
}

/* Waits until the socket is ready for OpenSSL; false when the TLS connection has ended. */
static bool wait_for_tls(const struct wire *wire, int result, int64_t timeout_us)
{
    const int code = SSL_get_error(wire->ssl, result);

    ERR_clear_error();
    if (code != SSL_ERROR_WANT_READ && code != SSL_ERROR_WANT_WRITE)
        return false;
    return wait_for(wire, code == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, timeout_us) == WAIT_READY;
}

bool wire_open(struct wire *wire, int fd, int stop_fd, SSL_CTX *tls)
{
    int result;

    *wire = (struct wire){ .fd = fd, .stop_fd = stop_fd };
    if (tls == NULL)
        return true;
    wire->ssl = SSL_new(tls);
    if (wire->ssl == NULL || SSL_set_fd(wire->ssl, fd) != 1)
        return false;
    while ((result = SSL_accept(wire->ssl)) != 1) {
        if (!wait_for_tls(wire, result, HANDSHAKE_SECONDS_MAX * US_PER_SECOND))
            return false;
    }
    return true;
}

void wire_close(struct wire *wire)
{
    if (wire->ssl != NULL) {
        if (SSL_is_init_finished(wire->ssl))
            (void)SSL_shutdown(wire->ssl);
        ERR_clear_error();
        SSL_free(wire->ssl);
        wire->ssl = NULL;
    }
    if (wire->fd >= 0)
        (void)close(wire->fd);
    wire->fd = -1;
}

void wire_reset(struct wire *wire)
{
    const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

    SSL_free(wire->ssl); /* without a TLS shutdown */
    wire->ssl = NULL;
    if (wire->fd >= 0) {
        (void)setsockopt(wire->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        (void)close(wire->fd);
    }
    wire->fd = -1;
}

static size_t read_tls(struct wire *wire, char *bytes, size_t size, int64_t timeout_us)
{
    size_t got;

    for (;;) {
        const int result = SSL_read_ex(wire->ssl, bytes, size, &got);

        if (result == 1)
            return got;
        if (!wait_for_tls(wire, result, timeout_us))
            return 0;
    }
}

size_t wire_read(struct wire *wire, char *bytes, size_t size, int64_t timeout_us)
{
    if (wire->ssl != NULL)
        return read_tls(wire, bytes, size, timeout_us);
    for (;;) {
        const ssize_t got = recv(wire->fd, bytes, size, 0);

        if (got >= 0)
            return (size_t)got;
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN || wait_for(wire, POLLIN, timeout_us) != WAIT_READY)
            return 0;
    }
}

/* After a stop, a response in progress may finish if its client reads quickly. */
static bool wait_to_write(const struct wire *wire)
{
    struct pollfd fd = { wire->fd, POLLOUT, 0 };
    const enum wait wait = wait_for(wire, POLLOUT, WRITE_SECONDS_MAX * US_PER_SECOND);

    return wait == WAIT_READY ||
           (wait == WAIT_STOP && poll(&fd, 1, STOPPING_SECONDS_MAX * 1000) == 1);
}

static bool write_tls(struct wire *wire, const struct iovec *iov)
{
    size_t done = 0, wrote;

    while (done < iov->iov_len) {
        const int result = SSL_write_ex(wire->ssl, (const char *)iov->iov_base + done,
                                        iov->iov_len - done, &wrote);

        if (result == 1) {
            done += wrote;
            wire->sent += wrote;
        } else if (!wait_for_tls(wire, result, WRITE_SECONDS_MAX * US_PER_SECOND)) {
            return false;
        }
    }
    return true;
}

static void advance(struct iovec **iov, size_t *count, size_t wrote)
{
    while (*count > 0 && wrote >= (*iov)->iov_len) {
        wrote -= (*iov)->iov_len;
        (*iov)++;
        (*count)--;
    }
    if (*count > 0) {
        (*iov)->iov_base = (char *)(*iov)->iov_base + wrote;
        (*iov)->iov_len -= wrote;
    }
}

bool wire_write(struct wire *wire, struct iovec *iov, size_t count)
{
    if (wire->ssl != NULL) {
        for (size_t i = 0; i < count; i++) {
            if (!write_tls(wire, &iov[i]))
                return false;
        }
        return true;
    }
    advance(&iov, &count, 0);
    while (count > 0) {
        const struct msghdr message = { .msg_iov = iov, .msg_iovlen = count };
        const ssize_t wrote = sendmsg(wire->fd, &message, MSG_NOSIGNAL);

        if (wrote >= 0) {
            wire->sent += (uint64_t)wrote;
            advance(&iov, &count, (size_t)wrote);
        } else if (errno != EINTR && (errno != EAGAIN || !wait_to_write(wire))) {
            return false;
        }
    }
    return true;
}

bool wire_write_str(struct wire *wire, struct str bytes)
{
    struct iovec iov = { (void *)bytes.data, bytes.len };

    return wire_write(wire, &iov, 1);
}

bool wire_pause(struct wire *wire, int64_t us)
{
    return wait_for(wire, POLLRDHUP, us) == WAIT_TIMEOUT;
}
