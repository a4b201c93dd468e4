/* fault: maps libcurl's results to the faults of the port. The only place that knows both. */
#ifndef PATRA_ADAPTER_CURL_FAULT_H
#define PATRA_ADAPTER_CURL_FAULT_H

#include <curl/curl.h>
#include <stdbool.h>

#include "data/http_fault.h"

struct curl_outcome {
    CURLcode result;       /* not CURLE_OK */
    bool has_proxy;        /* the connection goes through one */
    bool has_begun;        /* the request was sent */
    bool head_is_complete; /* status and headers were received */
};

/* Never NULL: results that later versions of libcurl may add are "http.protocol". */
const struct http_fault *curl_fault(struct curl_outcome outcome);

/* Whether libcurl's own text may be shown too: it names the certificate or address, and cannot hold
 * a part of the URL after the host. */
bool curl_fault_has_text(CURLcode result);

#endif
