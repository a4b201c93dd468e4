/* Cursors, replayed one after the other. */
#include "worker/cursor_meters.h"

#include "base/instant.h"
#include "core/codes.h"
#include "engine/cursor/cursor_verify.h"
#include "worker/meter_table.h"

struct labels {
    struct str items[3];
};

static struct labels labels_of(const struct cursor_name *name)
{
    return (struct labels){ { name->source, code_of(&OPERATION_CODES, (int)name->operation),
                              name->cursor_key } };
}

static void count(const struct cursor_meters_parts *parts, const struct cursor_check *check,
                  int64_t took_us)
{
    const struct labels of = labels_of(&check->name);
    struct meters *meters = parts->meters;

    meters_add(meters, METRIC_REPLAY_MS, of.items, (double)took_us / 1000);
    meters_add(meters, METRIC_REPLAY_SECONDS, of.items, (double)took_us / (double)US_PER_SECOND);
    meters_add(meters, METRIC_REPLAY_GAPS, of.items, (double)check->gaps);
    meters_add(meters, METRIC_REPLAY_DIFFERS, of.items, !check->agrees);
    if (!check->agrees)
        log_event(parts->log, LOG_ERROR, "cursor differs from its events",
                  LOG_STR("source", check->name.source), LOG_STR("operation", of.items[1]),
                  LOG_STR("cursorKey", check->name.cursor_key),
                  LOG_STR("namespace", check->name.namespace_key),
                  LOG_STR("code", STR("cursor.rebuild.required")),
                  LOG_STR("next", STR("patra cursor verify; patra cursor rebuild")));
}

/* L4: the events themselves are wrong. Anything else is the store's. */
static bool replay(const struct cursor_meters_parts *parts, const struct cursor_name *name,
                   struct error *err)
{
    const int64_t began_us = clock_monotonic_us(parts->clock);
    const struct labels of = labels_of(name);
    struct cursor_check check;

    if (cursor_verify_one(parts->store, parts->arena, name, &check, err)) {
        count(parts, &check, clock_monotonic_us(parts->clock) - began_us);
        return true;
    }
    if (err->level != ERROR_FATAL)
        return false;
    meters_add(parts->meters, METRIC_REPLAY_DIFFERS, of.items, 1);
    log_event(parts->log, LOG_ERROR, "cursor cannot be replayed", LOG_STR("source", name->source),
              LOG_STR("operation", of.items[1]), LOG_STR("cursorKey", name->cursor_key),
              LOG_STR("code", str_of(err->code)), LOG_STR("error", str_of(err->text)));
    return true;
}

bool cursor_meters_replay(const struct cursor_meters_parts *parts, struct error *err)
{
    struct cursor_name_list names;

    if (!store_cursor_names(parts->store, parts->arena, STR(""), &names, err))
        return false;
    meters_clear(parts->meters, METRIC_REPLAY_GAPS);
    meters_clear(parts->meters, METRIC_REPLAY_DIFFERS);
    for (size_t i = 0; i < names.count; i++) {
        if (!replay(parts, &names.items[i], err))
            return false;
    }
    return true;
}
