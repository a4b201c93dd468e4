/* The one symbol of patra-pack.so. */
#include "adapter/pack/pack.h"

extern const struct pack_library patra_module;

MODULE_EXPORT const struct pack_library patra_module = {
    .head = { .version = PATRA_VERSION },
    .gzip = pack_gzip_open,
    .zstd = pack_zstd_open,
    .unzstd = pack_unzstd_open,
    .body = pack_body_open,
};
