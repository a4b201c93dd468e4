/* The one symbol of patra-http.so. */
#include "adapter/microhttpd/server.h"

extern const struct web_module patra_module;

MODULE_EXPORT const struct web_module patra_module = {
    .head = { .version = PATRA_VERSION },
    .start = web_server_start,
    .port = web_server_port,
    .stop = web_server_stop,
};
