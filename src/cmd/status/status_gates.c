/* Rate gates, from both sides: what the source files want, and what the store remembers. */
#include "cmd/status/status.h"
#include "engine/rate_key.h"
#include "engine/source_store.h"
#include "port/store_rate.h"
#include "spec/snapshot.h"

static struct status_gate *find(struct status *status, struct str key)
{
    for (size_t i = 0; i < status->gates.count; i++) {
        if (str_eq(status->gates.items[i].key, key))
            return &status->gates.items[i];
    }
    return NULL;
}

static bool add_sharer(struct arena *arena, struct status_gate *gate, struct str place,
                       struct error *err)
{
    struct str rest = gate->of;

    while (rest.len > 0) {
        if (str_eq(str_trim(str_cut(&rest, ',')), place))
            return true;
    }
    gate->of = gate->of.len == 0
                   ? place
                   : arena_printf(arena, "%.*s, %.*s", STR_ARG(gate->of), STR_ARG(place));
    return gate->of.data != NULL || arena_error(arena, err);
}

static bool add_endpoint(struct session *session, struct status *status, struct str source,
                         const struct spec_endpoint *endpoint, struct error *err)
{
    struct arena *arena = &session->arena;
    const struct str place =
        arena_printf(arena, "%.*s/%.*s", STR_ARG(source), STR_ARG(endpoint->name));
    struct status_gate *gate;
    struct str key;

    if (place.data == NULL)
        return arena_error(arena, err);
    if (!rate_key(arena, source, endpoint, &key, err))
        return false;
    gate = find(status, key);
    if (gate == NULL) {
        gate = LIST_ADD(arena, &status->gates);
        if (gate == NULL)
            return arena_error(arena, err);
        *gate = (struct status_gate){ .key = key, .is_configured = true, .rate = endpoint->rate };
    }
    return add_sharer(arena, gate, place, err);
}

/* A source that does not compile any more has no settings to show: its gates are told by key. */
static bool add_source(struct session *session, struct status *status, struct str code,
                       struct error *err)
{
    struct arena *arena = &session->arena;
    const struct registry_row *row = NULL;
    struct source source;

    if (!source_load(session->store, arena, code, clock_now_us(&session->clock), &source, err))
        return false;
    while ((row = source_next_operation(&source, row)) != NULL) {
        struct snapshot snapshot;
        struct error ignored;
        struct spec spec;

        if (!snapshot_make(arena,
                           &(struct snapshot_request){ .source = &source, .operation = row->key },
                           &snapshot, &ignored) ||
            !spec_read(arena, snapshot.json, &spec, &ignored))
            continue;
        if (!add_endpoint(session, status, code, &spec.endpoint, err) ||
            (spec.is_two_phase && !add_endpoint(session, status, code, &spec.detail, err)))
            return false;
    }
    return true;
}

static bool view_gates(struct session *session, struct status *status, struct error *err)
{
    for (size_t i = 0; i < status->gates.count; i++) {
        struct status_gate *gate = &status->gates.items[i];
        const struct gate_view_ask ask = { gate->key, &gate->rate, status->now_us };

        if (!gate_view(session->store, &ask, &gate->view, err))
            return false;
    }
    return true;
}

/* What is in the store and in no file: keys of hosts and credentials that were used before. */
static bool add_others(struct session *session, struct status *status, struct error *err)
{
    struct gate_row_list rows;

    if (!store_status_gates(session->store, &session->arena, &rows, err))
        return false;
    for (size_t i = 0; i < rows.count; i++) {
        const struct rate_gate *row = &rows.items[i].gate;
        struct status_gate *gate;

        if (find(status, rows.items[i].key) != NULL)
            continue;
        gate = LIST_ADD(&session->arena, &status->gates);
        if (gate == NULL)
            return arena_error(&session->arena, err);
        *gate = (struct status_gate){
            .key = rows.items[i].key,
            .view = { .is_known = true,
                      .rate = row->bucket.rate,
                      .provider_rate = row->bucket.provider_rate,
                      .tokens = row->bucket.tokens,
                      .cooldown_until_us = row->bucket.cooldown_until_us,
                      .parked_until_us = row->parked_until_us },
        };
    }
    return true;
}

bool status_gather_gates(struct session *session, struct status *status, struct str source,
                         struct error *err)
{
    for (size_t i = 0; i < status->sources.count; i++) {
        if (!add_source(session, status, status->sources.items[i].code, err))
            return false;
    }
    return view_gates(session, status, err) && (source.len > 0 || add_others(session, status, err));
}

bool status_gate_blocked(const struct status_gate *gate, int64_t now_us, int64_t *until_us,
                         enum wait_why *why)
{
    const struct gate_view *view = &gate->view;
    const struct gate_view_quota *windows[] = { &view->hour, &view->day };

    *until_us = now_us;
    if (view->is_known && view->cooldown_until_us > *until_us) {
        *until_us = view->cooldown_until_us;
        *why = WAIT_RETRY_AFTER;
    }
    if (view->is_known && view->parked_until_us > *until_us) {
        *until_us = view->parked_until_us;
        *why = WAIT_QUOTA;
    }
    for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
        const int64_t usable =
            windows[i]->limit - (int64_t)((double)windows[i]->limit * gate->rate.quota_margin);

        if (windows[i]->limit > 0 && windows[i]->used >= usable &&
            windows[i]->until_us > *until_us) {
            *until_us = windows[i]->until_us;
            *why = WAIT_QUOTA;
        }
    }
    return *until_us > now_us;
}
