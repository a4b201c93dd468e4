/* Rate gates: gathered from the sources and the store, judged, and written as JSON. */
#include "view/gate.h"

#include "base/list.h"
#include "engine/source/rate_key.h"
#include "engine/source/source_store.h"
#include "port/store_rate.h"
#include "port/store_status.h"
#include "spec/snapshot.h"

/* ---- what the sources configure ---- */

static struct view_gate *find(const struct view_gate_list *list, struct str key)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_eq(list->items[i].key, key))
            return &list->items[i];
    }
    return NULL;
}

static bool add_sharer(struct arena *arena, struct view_gate *gate, struct str place,
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

static bool add_key(struct arena *arena, struct view_gate_list *list, struct str source,
                    const struct spec_endpoint *endpoint, struct error *err)
{
    const struct str place =
        arena_printf(arena, "%.*s/%.*s", STR_ARG(source), STR_ARG(endpoint->name));
    struct view_gate *gate;
    struct str key;

    if (place.data == NULL)
        return arena_error(arena, err);
    if (!rate_key(arena, source, endpoint, &key, err))
        return false;
    gate = find(list, key);
    if (gate == NULL) {
        gate = LIST_ADD(arena, list);
        if (gate == NULL)
            return arena_error(arena, err);
        *gate = (struct view_gate){ .key = key,
                                    .is_configured = true,
                                    .rate = endpoint->rate,
                                    .source = source,
                                    .credential = endpoint->credential };
    }
    return add_sharer(arena, gate, place, err);
}

/* A gate for each credential where there are several. */
static bool add_endpoint(struct arena *arena, struct view_gate_list *list, struct str source,
                         const struct spec_endpoint *endpoint, struct error *err)
{
    if (endpoint->variant_count == 0)
        return add_key(arena, list, source, endpoint, err);
    for (size_t i = 0; i < endpoint->variant_count; i++) {
        if (!add_key(arena, list, source, &endpoint->variants[i], err))
            return false;
    }
    return true;
}

/* An operation that no longer compiles has no settings to show; its gate is listed by its key. */
static bool add_source(const struct view_reader *reader, struct str code,
                       struct view_gate_list *list, struct error *err)
{
    struct arena *arena = reader->arena;
    const struct registry_row *row = NULL;
    struct source source;

    if (!source_load(reader->store, arena, code, reader->now_us, &source, err))
        return false;
    while ((row = source_next_operation(&source, row)) != NULL) {
        const struct snapshot_request request = { .source = &source, .operation = row->key };
        struct snapshot snapshot;
        struct error ignored;
        struct spec spec;

        if (!snapshot_make(arena, &request, &snapshot, &ignored) ||
            !spec_read(arena, snapshot.json, &spec, &ignored))
            continue;
        if (!add_endpoint(arena, list, code, &spec.endpoint, err) ||
            (spec.is_two_phase && !add_endpoint(arena, list, code, &spec.detail, err)))
            return false;
    }
    return true;
}

/* ---- what the store has learned ---- */

static bool read_gates(const struct view_reader *reader, int64_t now_us,
                       struct view_gate_list *list, struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct view_gate *gate = &list->items[i];
        const struct gate_view_request ask = { gate->key, &gate->rate, now_us };

        if (!gate_view(reader->store, &ask, &gate->view, err))
            return false;
    }
    return true;
}

/* Keys of hosts and credentials that were used before and that no source has now. */
static bool add_unconfigured(const struct view_reader *reader, struct view_gate_list *list,
                             struct error *err)
{
    struct gate_row_list rows;

    if (!store_status_gates(reader->store, reader->arena, &rows, err))
        return false;
    for (size_t i = 0; i < rows.count; i++) {
        const struct rate_gate *row = &rows.items[i].gate;
        struct view_gate *gate;

        if (find(list, rows.items[i].key) != NULL)
            continue;
        gate = LIST_ADD(reader->arena, list);
        if (gate == NULL)
            return arena_error(reader->arena, err);
        *gate = (struct view_gate){
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

bool view_gate_list(const struct view_reader *reader, const struct view_gate_filter *filter,
                    struct view_gate_list *list, struct error *err)
{
    *list = (struct view_gate_list){ 0 };
    for (size_t i = 0; i < filter->source_count; i++) {
        if (!add_source(reader, filter->sources[i], list, err))
            return false;
    }
    return read_gates(reader, filter->now_us, list, err) &&
           (!filter->with_unconfigured || add_unconfigured(reader, list, err));
}

/* ---- judging ---- */

struct spec_rate_limit view_gate_limit(const struct view_gate *gate)
{
    const struct spec_rate_limit *with = &gate->rate.with_credential;
    struct spec_rate_limit limit = gate->rate.limit;

    if (gate->view.is_known ? !gate->view.has_credential : gate->credential.len == 0)
        return limit;
    if (with->per_second > 0)
        limit.per_second = with->per_second;
    if (with->burst > 0)
        limit.burst = with->burst;
    if (with->concurrency > 0)
        limit.concurrency = with->concurrency;
    return limit;
}

static void block_until(struct view_gate_block *block, int64_t until_us, enum wait_reason reason)
{
    if (until_us <= block->until_us)
        return;
    *block = (struct view_gate_block){ true, until_us, reason };
}

struct view_gate_block view_gate_block(const struct view_gate *gate, int64_t now_us)
{
    const struct gate_view *view = &gate->view;
    const struct gate_view_quota *windows[] = { &view->hour, &view->day };
    struct view_gate_block block = { .until_us = now_us };

    if (view->is_known) {
        block_until(&block, view->cooldown_until_us, WAIT_RETRY_AFTER);
        block_until(&block, view->parked_until_us, WAIT_QUOTA);
    }
    for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
        const int64_t usable =
            windows[i]->limit - (int64_t)((double)windows[i]->limit * gate->rate.quota_margin);

        if (windows[i]->limit > 0 && windows[i]->used >= usable)
            block_until(&block, windows[i]->until_us, WAIT_QUOTA);
    }
    return block;
}

/* ---- JSON ---- */

static void write_quota(struct json_writer *w, struct str name, const struct gate_view_quota *quota)
{
    if (quota->limit == 0)
        return;
    json_write_name(w, name);
    json_write_object(w);
    json_write_member_i64(w, STR("limit"), quota->limit);
    json_write_member_i64(w, STR("used"), quota->used);
    json_write_member_i64(w, STR("booked"), quota->booked);
    json_write_member_instant(w, STR("resetsAt"), quota->until_us);
    json_write_end(w);
}

static void write_rate(struct json_writer *w, struct str name, double per_second)
{
    json_write_name(w, name);
    json_write_double(w, per_second);
}

static void write_settings(struct json_writer *w, const struct view_gate *gate)
{
    const struct spec_rate *rate = &gate->rate;
    const struct spec_rate_limit limit = view_gate_limit(gate);

    if (!gate->is_configured)
        return;
    json_write_member_str(w, STR("of"), gate->of);
    write_rate(w, STR("configuredPerSecond"), rate->limit.per_second);
    if (rate->with_credential.per_second > 0)
        write_rate(w, STR("configuredWithCredential"), rate->with_credential.per_second);
    if (gate->credential.len > 0)
        json_write_member_str(w, STR("credential"), gate->credential);
    if (gate->view.is_known)
        json_write_member_bool(w, STR("hasCredential"), gate->view.has_credential);
    json_write_member_i64(w, STR("burst"), limit.burst);
    if (limit.concurrency > 0)
        json_write_member_i64(w, STR("concurrency"), limit.concurrency);
    write_quota(w, STR("quotaHour"), &gate->view.hour);
    write_quota(w, STR("quotaDay"), &gate->view.day);
}

static void write_gate(struct json_writer *w, const struct view_gate *gate, int64_t now_us)
{
    const struct view_gate_block block = view_gate_block(gate, now_us);
    const struct gate_view *view = &gate->view;

    json_write_object(w);
    json_write_member_str(w, STR("key"), gate->key);
    write_settings(w, gate);
    if (view->is_known) {
        write_rate(w, STR("perSecond"), (double)view->rate / (double)MICRO);
        write_rate(w, STR("tokens"), (double)view->tokens / (double)MICRO);
    }
    if (view->provider_rate > 0)
        write_rate(w, STR("providerPerSecond"), (double)view->provider_rate / (double)MICRO);
    if (view->cooldown_until_us > 0)
        json_write_member_instant(w, STR("coolDownUntil"), view->cooldown_until_us);
    if (view->parked_until_us != INT64_MIN)
        json_write_member_instant(w, STR("parkedUntil"), view->parked_until_us);
    if (view->refused_us > 0) {
        json_write_member_instant(w, STR("credentialRefusedAt"), view->refused_us);
        json_write_member_i64(w, STR("credentialRefusedStatus"), view->refused_status);
    }
    if (block.is_blocked) {
        json_write_member_instant(w, STR("blockedUntil"), block.until_us);
        json_write_member_str(w, STR("blockedReason"),
                              code_of(&WAIT_REASON_CODES, (int)block.reason));
    }
    json_write_end(w);
}

void view_gate_list_write(struct json_writer *w, const struct view_gate_list *list, int64_t now_us)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++)
        write_gate(w, &list->items[i], now_us);
    json_write_end(w);
}
