/* Any bytes as a request to the simulator: understood or refused with a status; what was understood
 * looks into the bytes given. */
#include <assert.h>
#include <stdint.h>

#include "sim/auth/credential.h"
#include "sim/http/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct exchange exchange;
    struct request_traits traits;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 20);
    exchange = (struct exchange){ .arena = &arena };
    if (request_parse_head(&exchange, &traits, (struct str){ (const char *)bytes, size }, &err)) {
        assert(exchange.path.len > 0 && exchange.path.data[0] == '/');
        assert(exchange.path.len <= exchange.raw_path.len);
        assert(traits.content_length >= 0 && traits.content_length <= REQUEST_BODY_MAX);
        assert(request_identity(&exchange) == request_identity(&exchange));
        (void)proof_signature(&exchange, exchange_header(&exchange, STR("Authorization")),
                              STR("id"), STR("secret"));
    } else {
        assert(exchange.status >= 400 && exchange.status < 600);
    }
    arena_release(&arena);
    return 0;
}
