/* Waits for the writers of a mark. */
#include "engine/export/settled.h"

enum { POLL_US = 10000 };

bool settled_wait(struct arena *arena, const struct settled_request *request,
                  struct settled *settled, struct error *err)
{
    const int64_t until_us = clock_monotonic_us(request->clock) + request->wait_us;
    struct stream_mark first, later;

    if (!store_stream_writers(request->store, arena, &first, err))
        return false;
    settled->last = first.last_id;
    settled->is_settled = first.writers.count == 0;
    while (!settled->is_settled && clock_monotonic_us(request->clock) < until_us) {
        (void)clock_sleep_us(request->clock, POLL_US, CLOCK_NO_WAKE);
        if (!store_stream_writers(request->store, arena, &later, err))
            return false;
        settled->is_settled = !stream_writers_share(&first.writers, &later.writers);
    }
    return true;
}
