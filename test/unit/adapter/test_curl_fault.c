/* libcurl's results as faults. */
#include "adapter/curl/fault.h"

#include <string.h>

#include "test.h"

static const struct {
    CURLcode result;
    bool has_proxy, has_begun, head_is_complete;
    const char *code;
    enum error_level level;
} cases[] = {
    { CURLE_OPERATION_TIMEDOUT, false, false, false, "http.timeout.connect", ERROR_TRANSIENT },
    { CURLE_COULDNT_RESOLVE_HOST, false, false, false, "http.dns", ERROR_TRANSIENT },
    { CURLE_COULDNT_CONNECT, false, false, false, "http.connect", ERROR_TRANSIENT },
    { CURLE_COULDNT_CONNECT, true, false, false, "http.proxy", ERROR_TRANSIENT },
    { CURLE_COULDNT_RESOLVE_PROXY, true, false, false, "http.proxy", ERROR_TRANSIENT },
    { CURLE_RECV_ERROR, true, false, false, "http.proxy", ERROR_TRANSIENT },
    { CURLE_RECV_ERROR, true, true, false, "http.reset", ERROR_TRANSIENT },
    { CURLE_RECV_ERROR, false, true, true, "http.reset", ERROR_TRANSIENT },
    { CURLE_SEND_ERROR, false, true, false, "http.reset", ERROR_TRANSIENT },
    { CURLE_GOT_NOTHING, false, true, false, "http.reset", ERROR_TRANSIENT },
    { CURLE_PARTIAL_FILE, false, true, true, "http.truncated", ERROR_TRANSIENT },
    { CURLE_WEIRD_SERVER_REPLY, false, true, false, "http.protocol", ERROR_TRANSIENT },
    { CURLE_UNSUPPORTED_PROTOCOL, false, true, false, "http.protocol", ERROR_TRANSIENT },
    { CURLE_HTTP2_STREAM, false, true, false, "http.reset", ERROR_TRANSIENT },
    { CURLE_SSL_CONNECT_ERROR, false, false, false, "http.handshake", ERROR_TRANSIENT },
    { CURLE_OUT_OF_MEMORY, false, true, false, "http.header_limit", ERROR_REQUEST },
    { CURLE_OUT_OF_MEMORY, false, true, true, "http.resource", ERROR_TRANSIENT },
    { CURLE_PEER_FAILED_VERIFICATION, false, false, false, "http.tls", ERROR_FATAL },
    { CURLE_SSL_CACERT_BADFILE, false, false, false, "http.tls", ERROR_FATAL },
    { CURLE_FAILED_INIT, false, false, false, "http.module", ERROR_FATAL },
};

TEST(each_result_of_the_library_is_one_fault)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct http_fault *fault = curl_fault((struct curl_outcome){
            cases[i].result, cases[i].has_proxy, cases[i].has_begun, cases[i].head_is_complete });

        CHECK_STR(str_of(fault->code), str_of(cases[i].code), curl_easy_strerror(cases[i].result));
        CHECK_EQ(fault->level, cases[i].level, curl_easy_strerror(cases[i].result));
    }
}

TEST(no_result_of_the_library_is_without_a_fault)
{
    for (int result = 1; result < CURL_LAST; result++) {
        const struct http_fault *fault =
            curl_fault((struct curl_outcome){ .result = (CURLcode)result });

        REQUIRE(fault != NULL, "a fault");
        CHECK(fault->level >= ERROR_TRANSIENT && fault->level <= ERROR_FATAL, fault->code);
        CHECK(strncmp(fault->code, "http.", 5) == 0, fault->code);
    }
}
