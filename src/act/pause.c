/* Pausing and resuming. */
#include "act/pause.h"

#include "engine/source/source_store.h"
#include "port/store_rate.h"
#include "port/store_task.h"
#include "view/gate.h"

static bool is_known(const struct view_reader *reader, struct str source, struct str endpoint,
                     struct error *err)
{
    struct source rows;

    if (!source_load(reader->store, reader->arena, source, reader->now_us, &rows, err))
        return false;
    if (endpoint.len == 0 || source_row(&rows, REGISTRY_ENDPOINT, endpoint, STR("")) != NULL)
        return true;
    return error_set(err, ERROR_REQUEST, "pause.endpoint", "%.*s has no endpoint '%.*s'",
                     STR_ARG(source), STR_ARG(endpoint));
}

bool act_pause(const struct view_reader *reader, const struct pause *pause, bool *added,
               struct error *err)
{
    return is_known(reader, pause->source, pause->endpoint, err) &&
           store_pause_add(reader->store, pause, added, err);
}

/* The credentials of the source that were refused are used again, a silence that it demanded is
 * over, and what was put off is due: also where the gate has forgotten why. */
static bool lift(const struct view_reader *reader, struct str source, bool *any, struct error *err)
{
    struct view_gate_filter filter = { .sources = &source, .source_count = 1 };
    struct view_gate_list gates;
    int64_t hastened;
    bool changed;

    *any = false;
    if (!store_clock(reader->store, reader->now_us, &filter.now_us, err) ||
        !view_gate_list(reader, &filter, &gates, err))
        return false;
    for (size_t i = 0; i < gates.count; i++) {
        if (!gate_lift(reader->store, gates.items[i].key, filter.now_us, &changed, err))
            return false;
        *any |= changed;
    }
    if (!store_task_hasten(reader->store, source, filter.now_us, &hastened, err))
        return false;
    *any |= hastened > 0;
    return true;
}

bool act_resume(const struct view_reader *reader, struct str source, struct str endpoint,
                bool *changed, struct error *err)
{
    bool was_paused, was_stopped, was_silent = false;
    struct error unknown; /* a source that was removed has no gates */

    if (!store_pause_remove(reader->store, source, endpoint, PAUSE_PAUSED, &was_paused, err) ||
        !store_pause_remove(reader->store, source, endpoint, PAUSE_STOPPED, &was_stopped, err))
        return false;
    /* A pause may outlive its source, so the name is checked only when nothing was removed. */
    if (!was_paused && !was_stopped && !is_known(reader, source, endpoint, err))
        return false;
    if (endpoint.len == 0 && is_known(reader, source, endpoint, &unknown) &&
        !lift(reader, source, &was_silent, err))
        return false;
    *changed = was_paused || was_stopped || was_silent;
    return true;
}
