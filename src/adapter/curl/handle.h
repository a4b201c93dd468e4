/* handle: the http port on libcurl's multi interface; see curl_http.h for its threads. */
#ifndef PATRA_ADAPTER_CURL_HANDLE_H
#define PATRA_ADAPTER_CURL_HANDLE_H

#include "adapter/curl/curl_http.h"

bool curl_handle_open(const struct curl_http_options *options, struct http **http,
                      struct error *err) MUST_CHECK;

#endif
