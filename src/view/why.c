/* Why a record is where it is: gathered, step by step. */
#include "view/why.h"

#include "base/list.h"
#include "engine/event/record_event.h"
#include "port/store_rate.h"
#include "view/why_internal.h"

struct str why_step_name(enum why_step step)
{
    static const char *const names[] = {
        [WHY_ID] = "id",
        [WHY_SOURCE] = "source",
        [WHY_IMPORT] = "import",
        [WHY_PLAN] = "plan",
        [WHY_WINDOW] = "window",
        [WHY_REQUEST] = "request",
        [WHY_QUARANTINE] = "quarantine",
        [WHY_RECORD] = "record",
        [WHY_STREAM] = "stream",
        [WHY_SUBSCRIPTION] = "subscription",
        [WHY_PROJECTION] = "projection",
    };

    return str_of(names[step]);
}

struct str why_delivery_name(enum why_delivery_state state)
{
    static const char *const names[] = {
        [WHY_DELIVERED] = "delivered",
        [WHY_WAITING] = "waiting",
        [WHY_NOT_PLACED] = "not in the stream",
        [WHY_PARKED] = "parked",
        [WHY_DEAD] = "dead letter",
        [WHY_FILTERED] = "filtered",
        [WHY_SKIPPED] = "skipped",
        [WHY_EARLIER] = "before its beginning",
        [WHY_UNKNOWN] = "out of reach",
    };

    return str_of(names[state]);
}

struct str why_row_name(enum why_row_state state)
{
    static const char *const names[] = {
        [WHY_ROW_CURRENT] = "current",   [WHY_ROW_OLDER] = "older",
        [WHY_ROW_ABSENT] = "absent",     [WHY_ROW_REVIVED] = "revived",
        [WHY_ROW_LEFT_OUT] = "left out", [WHY_ROW_NOT_TAKEN] = "not taken",
    };

    return str_of(names[state]);
}

/* ---- what is known of the id ---- */

static bool read_signals(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    if (!store_signal_of(reader->store, reader->arena, &why->key, WHY_ROWS_MAX, &why->signals, err))
        return false;
    return why->signals.count == 0 || why->signals.items[0].plan_id == 0 ||
           store_plan_progress(reader->store, why->signals.items[0].plan_id, &why->taken, err);
}

static bool read_id(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    return store_record_get(reader->store, reader->arena, &why->key, &why->record, &why->has_record,
                            err) &&
           store_quarantine_of(reader->store, reader->arena, &why->key, WHY_ROWS_MAX,
                               &why->quarantine, err) &&
           read_signals(reader, why, err) &&
           store_trace_listed(reader->store, reader->arena, why->key.source, why->key.provider_id,
                              WHY_ROWS_MAX, &why->listed, err);
}

/* What else the id may be of, where there is no record of it. */
static bool read_others(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    const bool is_source = why->source.is_in_force || why->source.was_in_force;

    return why_alike_read(reader, why, err) && (is_source || why_foreign_read(reader, why, err));
}

static void see_date(struct view_why *why, const struct view_why_query *query)
{
    why->has_date = why->has_record ? why->record.has_updated : query->has_date;
    why->date_us = why->has_record ? why->record.updated_us : query->date_us;
}

/* ---- all of it ---- */

static bool gather(const struct view_reader *reader, const struct view_why_query *query,
                   struct view_why *why, struct error *err)
{
    if (!why_source_read(reader, why, err) || !read_id(reader, why, err) ||
        (!why->has_record && !read_others(reader, why, err)))
        return false;
    why->aggregate_type =
        why->is_foreign
            ? why->key.source
            : record_event_aggregate(reader->arena,
                                     &(struct record_context){ .source = why->key.source,
                                                               .endpoint = why->key.endpoint });
    if (why->aggregate_type.data == NULL)
        return arena_error(reader->arena, err);
    see_date(why, query);
    return why_windows_read(reader, why, err) &&
           (!why->has_record || (why_versions_read(reader, why, err) &&
                                 why_deliveries_read(reader, query->sinks, why, err)));
}

bool view_why(const struct view_reader *reader, const struct view_why_query *query,
              struct view_why *why, struct error *err)
{
    *why = (struct view_why){ .key = query->key };
    return store_clock(reader->store, reader->now_us, &why->now_us, err) &&
           gather(reader, query, why, err) && why_judge(why, reader->arena, err);
}

bool view_why_is_there(const struct view_why *why)
{
    for (size_t i = 0; i < why->findings.count; i++) {
        const struct str reason = why->findings.items[i].reason;

        if (!str_eq(reason, STR(WHY_REASON_FILTERED)) && !str_eq(reason, STR(WHY_REASON_OLDER)) &&
            !str_eq(reason, STR(WHY_REASON_LEFT_OUT)))
            return false;
    }
    return why->has_record && !why->record.is_deleted;
}
