/* Loads the module that has libcurl. */
#include "adapter/curl/curl_http.h"

bool curl_http_open(const struct curl_http_options *options, struct http **http, struct error *err)
{
    const struct curl_library *library = module_load("curl", err);

    return library != NULL && library->open(options, http, err);
}

bool curl_http_mail(const struct mail *mail, struct error *err)
{
    const struct curl_library *library = module_load("curl", err);

    return library != NULL && library->mail(mail, err);
}
