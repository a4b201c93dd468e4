/* "made-millis,key,record,mark", in base64. */
#include "sim/protocol/token.h"

#include <inttypes.h>

#include "base/instant.h"
#include "sim/util/encode.h"

enum { TOKEN_MAX = 256 };

struct str token_make(const struct sim_world *world, const struct http_call *call,
                      enum view_order order, struct hit last, int mark)
{
    struct buf token;

    buf_init(&token, call->arena, TOKEN_MAX);
    encode_base64(
        &token,
        arena_printf(call->arena, "%" PRId64 ",%" PRId64 ",%u,%d", call->now_us / US_PER_MS,
                     view_key_of(world_corpus(world), order, last.version), last.record, mark),
        BASE64_URL);
    return buf_str(&token);
}

bool token_read(const struct sim_world *world, const struct http_call *call, struct str token,
                struct view_query *query, int *mark)
{
    int64_t made_ms, record, number;
    struct str plain;

    if (call->content_fault == CONTENT_FAULT_EXPIRED_TOKEN ||
        !decode_base64(call->arena, token, &plain) || !str_to_i64(str_cut(&plain, ','), &made_ms) ||
        !str_to_i64(str_cut(&plain, ','), &query->after_us) ||
        !str_to_i64(str_cut(&plain, ','), &record) || record < 0 || record > UINT32_MAX ||
        !str_to_i64(plain, &number) || number < 0 || number > 1 || made_ms < 0 ||
        made_ms > call->now_us / US_PER_MS)
        return false;
    query->has_after = true;
    query->after_record = (uint32_t)record;
    *mark = (int)number;
    return call->now_us - made_ms * US_PER_MS <= world_options_of(world)->token_life_us;
}
