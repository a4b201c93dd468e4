/* Any bytes as what a NATS server answers: read or refused; what is read is in its range. */
#include <assert.h>
#include <stdint.h>

#include "adapter/nats/answer.h"
#include "core/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { (const char *)data, size };
    struct nats_delivery_mark mark;
    struct nats_ack ack;
    struct arena arena;
    struct str rest, key;
    int64_t lane;

    arena_init(&arena, (size_t)8 << 20);
    if (nats_ack_read(&arena, text, &ack)) {
        assert(ack.is_error || ack.sequence > 0);
        assert(!ack.is_error || ack.reason.len > 0);
        for (size_t i = 0; i < ack.reason.len; i++)
            assert(ack.reason.data[i] >= ' ' && ack.reason.data[i] <= '~');
    }
    if (nats_reply_read(&arena, text, &ack))
        assert(!ack.is_error || ack.reason.len > 0);
    if (nats_delivery_mark_read(text, &mark))
        assert(mark.attempt > 0 && mark.sequence > 0 && mark.published_us >= 0);
    rest = text;
    key = str_cut(&rest, '\n');
    (void)nats_subject_covers(key, rest);
    lane = nats_subject_lane(STR("a.${lane}.b"), text);
    assert(lane >= -1 && lane < OUTBOX_LANES);
    arena_release(&arena);
    return 0;
}
