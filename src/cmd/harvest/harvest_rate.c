/* The rate gate beside the progress: how many requests a second are allowed by now. */
#include "cmd/harvest/harvest.h"
#include "core/bucket.h"
#include "view/gate.h"

static int64_t per_1000s(const struct gate_view *view)
{
    const bool is_announced = view->provider_rate > 0 && view->provider_rate < view->rate;

    return (is_announced ? view->provider_rate : view->rate) / (MICRO / 1000);
}

/* Where a source has several gates, the slowest one counts. */
bool harvest_show_rate(struct session *session, struct arena *arena,
                       const struct task_partition *partition, int64_t now_us,
                       struct display *display, struct error *err)
{
    const struct view_gate_filter filter = { .sources = &partition->source,
                                             .source_count = 1,
                                             .now_us = now_us };
    struct view_reader reader = session_reader(session);
    struct view_gate_list gates;
    int64_t slowest = 0;

    reader.arena = arena;
    if (!view_gate_list(&reader, &filter, &gates, err))
        return false;
    for (size_t i = 0; i < gates.count; i++) {
        const int64_t rate = per_1000s(&gates.items[i].view); /* 0: unknown */

        if (rate > 0 && (slowest == 0 || rate < slowest))
            slowest = rate;
    }
    display_allowed(display, slowest);
    return true;
}
