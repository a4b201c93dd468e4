/* The one symbol of patra-curl.so. */
#include "adapter/curl/curl_http.h"
#include "adapter/curl/handle.h"
#include "adapter/curl/mail.h"

extern const struct curl_library patra_module;

MODULE_EXPORT const struct curl_library patra_module = {
    .head = { .version = PATRA_VERSION },
    .open = curl_handle_open,
    .mail = curl_mail,
};
