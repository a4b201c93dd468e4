/* Any bytes as a request to the simulator: parsed, or refused with a status. What was parsed points
 * into the given bytes. */
#include <assert.h>
#include <stdint.h>

#include "sim/auth/credential.h"
#include "sim/http/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct http_call call;
    struct request_traits traits;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 20);
    call = (struct http_call){ .arena = &arena };
    if (request_parse_head(&call, &traits, (struct str){ (const char *)bytes, size }, &err)) {
        assert(call.path.len > 0 && call.path.data[0] == '/');
        assert(call.path.len <= call.raw_path.len);
        assert(traits.content_length >= 0 && traits.content_length <= REQUEST_BODY_MAX);
        assert(request_identity(&call) == request_identity(&call));
        (void)credential_check_signature(&call, call_header(&call, STR("Authorization")), STR("id"),
                                         STR("secret"));
    } else {
        assert(call.status >= 400 && call.status < 600);
    }
    arena_release(&arena);
    return 0;
}
