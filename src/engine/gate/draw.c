/* Permits out of a bucket, each at its instant. */
#include "engine/gate/draw.h"

#include <assert.h>

#include "base/instant.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* One permit, at the bucket's own time. The second call is made for the instant that the first one
 * returned. */
static bool draw_one(struct bucket *bucket, const struct bucket_config *config,
                     const struct draw_request *ask, int64_t until_us, int64_t *due_us)
{
    struct bucket next = *bucket;
    struct bucket_ask question = {
        .now_us = later(ask->from_us, bucket->refilled_at_us),
        .cost = ask->cost,
        .deadline_us = INT64_MAX,
        .is_waking = true,
    };
    struct bucket_answer answer = bucket_acquire(&next, config, &question);

    if (answer.decision == RATE_WAIT) {
        question.now_us = answer.at_us;
        answer = bucket_acquire(&next, config, &question);
    }
    *due_us = answer.at_us;
    if (answer.decision != RATE_ALLOW || answer.at_us > until_us)
        return false;
    *bucket = next;
    return true;
}

size_t draw(struct bucket *bucket, const struct bucket_config *config,
            const struct draw_request *ask, int64_t *dues_us, int64_t *at_us)
{
    size_t count = 0;

    assert(ask->cost <= config->burst);
    while (count < ask->count) {
        const int64_t until_us = count == 0 ? ask->first_us : ask->rest_us;

        if (!draw_one(bucket, config, ask, until_us, at_us))
            break;
        dues_us[count++] = *at_us;
    }
    return count;
}

void draw_heal(struct bucket *bucket, int64_t now_us, int64_t ahead_max_us)
{
    if (bucket->refilled_at_us <= now_us + ahead_max_us)
        return;
    bucket->refilled_at_us = now_us;
    bucket->line_until_us = now_us;
    if (bucket->tokens > 0)
        bucket->tokens = 0;
}
