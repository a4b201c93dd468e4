/* Which fault of data/http_fault.h each result code of libcurl is. */
#include "adapter/curl/fault.h"

#include <assert.h>

#include "base/attr.h"

static const struct row {
    CURLcode result;
    const char *code;
    bool has_text;
} rows[] = {
    { CURLE_OPERATION_TIMEDOUT, "http.timeout.connect", false }, /* our own clocks end the others */
    { CURLE_COULDNT_RESOLVE_HOST, "http.dns", true },
    { CURLE_COULDNT_CONNECT, "http.connect", true },
    { CURLE_INTERFACE_FAILED, "http.connect", false },
    { CURLE_COULDNT_RESOLVE_PROXY, "http.proxy", false },
    { CURLE_PROXY, "http.proxy", false },

    { CURLE_GOT_NOTHING, "http.reset", false },
    { CURLE_RECV_ERROR, "http.reset", false },
    { CURLE_SEND_ERROR, "http.reset", false },
    { CURLE_HTTP2_STREAM, "http.reset", false },
    { CURLE_ABORTED_BY_CALLBACK, "http.reset", false },
    { CURLE_PARTIAL_FILE, "http.truncated", false },
    { CURLE_BAD_CONTENT_ENCODING, "http.encoding", false },

    { CURLE_HTTP2, "http.protocol", false },
    { CURLE_HTTP3, "http.protocol", false },
    { CURLE_WEIRD_SERVER_REPLY, "http.protocol", false },
    { CURLE_UNSUPPORTED_PROTOCOL, "http.protocol", false }, /* HTTP/0.9 */
    { CURLE_WRITE_ERROR, "http.protocol", false },

    { CURLE_URL_MALFORMAT, "http.url", false },
    { CURLE_FILESIZE_EXCEEDED, "http.too_large", false },
    { CURLE_OUT_OF_MEMORY, "http.resource", false },
    { CURLE_AGAIN, "http.resource", false },
    { CURLE_NO_CONNECTION_AVAILABLE, "http.resource", false },

    { CURLE_SSL_CONNECT_ERROR, "http.handshake", true },
    { CURLE_PEER_FAILED_VERIFICATION, "http.tls", true },
    { CURLE_SSL_CERTPROBLEM, "http.tls", true },
    { CURLE_SSL_CIPHER, "http.tls", true },
    { CURLE_SSL_CACERT_BADFILE, "http.tls", true },
    { CURLE_SSL_CRL_BADFILE, "http.tls", true },
    { CURLE_SSL_ISSUER_ERROR, "http.tls", true },
    { CURLE_SSL_PINNEDPUBKEYNOTMATCH, "http.tls", true },
    { CURLE_SSL_INVALIDCERTSTATUS, "http.tls", true },
    { CURLE_SSL_CLIENTCERT, "http.tls", true },
    { CURLE_SSL_ENGINE_NOTFOUND, "http.tls", true },
    { CURLE_SSL_ENGINE_SETFAILED, "http.tls", true },
    { CURLE_SSL_ENGINE_INITFAILED, "http.tls", true },
    { CURLE_USE_SSL_FAILED, "http.tls", true },

    { CURLE_FAILED_INIT, "http.module", false },
    { CURLE_NOT_BUILT_IN, "http.module", false },
    { CURLE_UNKNOWN_OPTION, "http.module", false },
    { CURLE_BAD_FUNCTION_ARGUMENT, "http.module", false },
};

static const struct row *find_row(CURLcode result)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].result == result)
            return &rows[i];
    }
    return NULL;
}

/* Before the tunnel is open these are faults of the way to the proxy: it cannot be reached, or it
 * refused with a status of its own. */
static bool is_connection_fault(CURLcode result)
{
    switch (result) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_INTERFACE_FAILED:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2_STREAM:
    case CURLE_ABORTED_BY_CALLBACK:
        return true;
    default:
        return false;
    }
}

const struct http_fault *curl_fault(struct curl_outcome outcome)
{
    const struct row *row = find_row(outcome.result);
    const char *code = row != NULL ? row->code : "http.protocol";

    assert(outcome.result != CURLE_OK);
    if (outcome.has_proxy && !outcome.has_begun && is_connection_fault(outcome.result))
        code = "http.proxy";
    /* libcurl reports a header line longer than its own buffer as lack of memory. */
    if (outcome.result == CURLE_OUT_OF_MEMORY && outcome.has_begun && !outcome.head_is_complete)
        code = "http.header_limit";
    return http_fault_find(code);
}

bool curl_fault_has_text(CURLcode result)
{
    const struct row *row = find_row(result);

    return row != NULL && row->has_text;
}
