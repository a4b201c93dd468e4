/* The table of the ways a request can fail, and the groups of them that callers decide by. */
#include "data/http_fault.h"

#include <string.h>

#include "base/attr.h"

const struct http_fault http_faults[] = {
    { "http.timeout.connect", ERROR_TRANSIENT, "the connection was not made in time" },
    { "http.timeout.idle", ERROR_TRANSIENT, "the server sent nothing for too long" },
    { "http.timeout.total", ERROR_TRANSIENT, "the request did not finish in time" },
    { "http.dns", ERROR_TRANSIENT, "the host's name could not be resolved" },
    { "http.connect", ERROR_TRANSIENT, "could not connect" },
    { "http.proxy", ERROR_TRANSIENT, "the proxy could not be reached, or refused the request" },
    { "http.reset", ERROR_TRANSIENT, "the connection was closed before the response ended" },
    { "http.truncated", ERROR_TRANSIENT, "the body ended too early" },
    { "http.encoding", ERROR_TRANSIENT,
      "the content coding of the body is broken or was not requested" },
    { "http.protocol", ERROR_TRANSIENT,
      "the response is not HTTP, or a success announces two lengths, or one that is not a number" },
    { "http.handshake", ERROR_TRANSIENT, "the TLS handshake failed" },
    { "http.cancelled", ERROR_TRANSIENT, "the request was cancelled" },
    { "http.resource", ERROR_TRANSIENT, "this machine lacks memory, descriptors or threads" },
    { "http.too_large", ERROR_REQUEST, "the body is larger than http.body_max allows" },
    { "http.inflate_limit", ERROR_REQUEST,
      "the body decompresses to more than http.inflated_max allows" },
    { "http.header_limit", ERROR_REQUEST, "there are too many headers, or they are too long" },
    { "http.redirect_refused", ERROR_REQUEST, "the redirect must not be followed" },
    { "http.url", ERROR_REQUEST, "the URL is not an http or https URL" },
    { "http.plain", ERROR_REQUEST, "plain HTTP is not allowed" },
    { "http.method", ERROR_REQUEST, "the method is not valid" },
    { "http.header", ERROR_REQUEST, "a header is not valid" },
    { "http.limit", ERROR_REQUEST, "a timeout or limit is out of range" },
    { "memory.limit", ERROR_REQUEST, "the response does not fit into its arena" },
    { "http.tls", ERROR_FATAL, "the certificate is not trusted, or the CA file is not usable" },
    { "http.auth", ERROR_FATAL, "the handle has no credentials" },
    { "http.module", ERROR_FATAL, "the library is not the one that patra was built for" },
};
const size_t http_faults_count = ARRAY_LEN(http_faults);

const struct http_fault *http_fault_find(const char *code)
{
    for (size_t i = 0; i < http_faults_count; i++) {
        if (strcmp(http_faults[i].code, code) == 0)
            return &http_faults[i];
    }
    return NULL;
}

static bool is_one_of(const char *code, const char *const *codes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(codes[i], code) == 0)
            return true;
    }
    return false;
}

bool http_fault_spares_status(const char *code)
{
    static const char *const after_the_head[] = {
        "http.timeout.idle", "http.timeout.total", "http.reset",         "http.truncated",
        "http.encoding",     "http.too_large",     "http.inflate_limit", "http.protocol",
    };

    return is_one_of(code, after_the_head, ARRAY_LEN(after_the_head));
}

bool http_error_is_cancelled(const struct error *err)
{
    return strcmp(err->code, "http.cancelled") == 0;
}

bool http_error_is_late(const struct error *err)
{
    static const char *const late[] = { "http.timeout.idle", "http.timeout.total" };

    return is_one_of(err->code, late, ARRAY_LEN(late));
}

bool http_error_is_oversized(const struct error *err)
{
    static const char *const oversized[] = { "http.too_large", "http.inflate_limit",
                                             "memory.limit" };

    return is_one_of(err->code, oversized, ARRAY_LEN(oversized));
}
