/* fault: libcurl's results in the port's words. The only place that knows both. */
#ifndef PATRA_ADAPTER_CURL_FAULT_H
#define PATRA_ADAPTER_CURL_FAULT_H

#include <curl/curl.h>
#include <stdbool.h>

#include "data/http_fault.h"

struct curl_outcome {
    CURLcode result;       /* not CURLE_OK */
    bool has_proxy;        /* the way goes through one */
    bool has_begun;        /* the request was put on the wire */
    bool head_is_complete; /* status and headers have come */
};

/* Never NULL: what libcurl may yet invent is "http.protocol". */
const struct http_fault *curl_fault(struct curl_outcome outcome);

/* Whether libcurl's own text may be told besides: it says which certificate or address, and can not
 * hold a part of the URL behind the host. */
bool curl_fault_has_text(CURLcode result);

#endif
