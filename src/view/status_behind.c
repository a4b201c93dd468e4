/* Cursors that are far behind.
 *
 * A harvest with a schedule keeps its cursor near the present: at most the lag, the rounding of its
 * windows and a period of the schedule before now. One that is three periods (and a quarter of an
 * hour at least) further behind, and has not moved for as long either, does not catch up by
 * itself. One that moves is catching up, however far it has to go. Who triggers by hand knows
 * where the cursor is: without a schedule nothing is said.
 */
#include "base/instant.h"
#include "base/list.h"
#include "engine/plan/place.h"
#include "view/status.h"

#define PATIENCE_MIN_US (15 * US_PER_MINUTE)

enum { PERIODS = 3 };

static int64_t patience_of(const struct schedule_view *schedule)
{
    const int64_t span_us = PERIODS * schedule->period_us;

    return span_us > PATIENCE_MIN_US ? span_us : PATIENCE_MIN_US;
}

/* An operation that does not compile is reported by its trigger. */
static bool find_place(const struct view_reader *reader, struct str source, struct str operation,
                       struct plan_place *place)
{
    const struct plan_request request = { .source = source,
                                          .operation = operation,
                                          .now_us = reader->now_us,
                                          .secrets = reader->secrets };
    struct error ignored;

    return plan_place(reader->store, reader->arena, &request, place, &ignored) &&
           place->of.operation == OPERATION_HARVEST && place->has_cursor &&
           place->cursor.value.type == CURSOR_TIME;
}

bool view_status_behind(const struct view_reader *reader, struct view_source_status *source,
                        int64_t now_us, struct error *err)
{
    for (size_t i = 0; i < source->schedules.count; i++) {
        const struct schedule_view *schedule = &source->schedules.items[i];
        const int64_t patience_us = patience_of(schedule);
        struct view_behind behind = { .operation = schedule->operation };
        struct view_behind *slot;
        struct plan_place place;

        if (schedule->period_us == 0 ||
            pause_list_has(&source->pauses, source->code, schedule->endpoint) ||
            !find_place(reader, source->code, schedule->operation, &place))
            continue;
        behind.at_us = place.cursor.value.instant_us;
        behind.behind_us = now_us - place.lag_us - place.align_us - behind.at_us;
        behind.still_us = now_us - place.cursor.updated_us;
        if (behind.behind_us <= patience_us || behind.still_us <= patience_us)
            continue;
        slot = LIST_ADD(reader->arena, &source->behind);
        if (slot == NULL)
            return arena_error(reader->arena, err);
        *slot = behind;
    }
    return true;
}
