/* Whose progress the plan continues, and which window is left to do. */
#include <assert.h>

#include "base/instant.h"
#include "core/canon.h"
#include "engine/cursor/cursor_view.h"
#include "engine/plan/draft.h"

enum { CAMPAIGN_BYTES_MAX = 4096 };

bool draft_is_by_id(const struct plan_draft *draft)
{
    const struct spec_operation *operation = &draft->spec->operation;

    return (operation->operation == OPERATION_UPDATE ||
            operation->operation == OPERATION_METRICS) &&
           operation->drive == UPDATE_BY_ID;
}

/* ---- the namespace ---- */

static bool hash_text(struct arena *arena, struct str text, struct str *hex, struct error *err)
{
    char *out = ARENA_ARRAY(arena, char, HASH_HEX_MAX);
    struct hash_sum sum;

    if (out == NULL)
        return arena_error(arena, err);
    if (!hash_of(text, &sum, err))
        return false;
    hash_hex(&sum, out);
    *hex = str_of(out);
    return true;
}

static bool is_campaign(const struct plan_draft *draft)
{
    return draft->plan.operation == OPERATION_BACKFILL ||
           draft->plan.operation == OPERATION_REPLAY ||
           draft->spec->operation.namespace_scope == NAMESPACE_CUSTOM;
}

static void write_maybe(struct canon *canon, const char *key, struct maybe_instant instant)
{
    if (instant.is_set)
        canon_instant(canon, key, instant.at_us);
    else
        canon_null(canon, key);
}

/* What identifies a campaign: its name, or else the bounds of the request; and the query, because
 * windows that another query fetched are not covered by this one. Everything else of a source can
 * be corrected in the middle of a campaign. A HARVEST whose trigger selects other records is a
 * campaign without bounds: it is continued by the same settings. */
static bool write_campaign(struct arena *arena, const struct plan_draft *draft, struct str *json,
                           struct error *err)
{
    const struct plan_request *request = draft->request;
    const struct maybe_instant none = { 0 };
    const bool has_name = request->campaign.len > 0 || !is_campaign(draft);
    struct buf out;
    struct canon canon;

    buf_init(&out, arena, CAMPAIGN_BYTES_MAX);
    canon = canon_begin(&out);
    canon_str(&canon, "campaign", request->campaign);
    canon_str(&canon, "endpoint", draft->plan.endpoint);
    canon_str(&canon, "expr", str_of(draft->snapshot.query_hash));
    write_maybe(&canon, "from", has_name ? none : request->from);
    canon_str(&canon, "operation", draft->operation);
    canon_str(&canon, "source", draft->plan.source);
    write_maybe(&canon, "to", has_name ? none : request->to);
    canon_end(&canon);
    *json = buf_str(&out);
    return buf_ok(&out, err);
}

/* Each endpoint has its own: two endpoints of a source may use the same name for their dates. */
static bool name_cursor(struct arena *arena, struct plan_draft *draft, struct error *err)
{
    const bool is_refresh =
        draft->plan.operation == OPERATION_UPDATE || draft->plan.operation == OPERATION_METRICS;
    const struct str key =
        is_refresh ? STR("refresh_checked_at") : draft->spec->endpoint.window.key;

    draft->plan.cursor_key = STR("");
    if (draft->plan.operation == OPERATION_REPLAY || draft_is_by_id(draft) ||
        draft_is_of_files(draft))
        return true;
    draft->plan.cursor_key = draft->spec->operation.shares_with_count > 0 && !is_refresh
                                 ? cursor_key_make_shared(arena, key)
                                 : cursor_key_make(arena, draft->plan.endpoint, key);
    return draft->plan.cursor_key.data != NULL || arena_error(arena, err);
}

bool draft_name(struct arena *arena, struct plan_draft *draft, struct error *err)
{
    draft->plan.scope = draft->spec->operation.namespace_scope;
    if (draft->selects_apart && !is_campaign(draft))
        draft->plan.scope = NAMESPACE_CUSTOM;
    if (!name_cursor(arena, draft, err))
        return false;
    if (is_campaign(draft) || draft->plan.scope == NAMESPACE_CUSTOM) {
        if (!write_campaign(arena, draft, &draft->campaign, err) ||
            !hash_text(arena, draft->campaign, &draft->plan.namespace_key, err))
            return false;
    } else if (draft->plan.scope == NAMESPACE_EXPR) {
        draft->plan.namespace_key = arena_copy(arena, str_of(draft->snapshot.query_hash));
        if (draft->plan.namespace_key.data == NULL)
            return arena_error(arena, err);
    } else {
        draft->plan.namespace_key = STR(CURSOR_NAMESPACE_GLOBAL);
    }
    return true;
}

struct str draft_apart(struct arena *arena, const struct plan_draft *draft)
{
    char start[INSTANT_TEXT_MAX];
    const size_t len = instant_format(draft->decision.window.from_us, start);

    if (draft->selects_apart)
        return STR("--set changes which records are selected: the windows of this plan are counted "
                   "apart, and the operation's own cursor does not move");
    if (draft->former.count == 0 || draft->decision.empty != WINDOW_EMPTY_NOT)
        return STR("");
    return arena_printf(
        arena,
        "the query has changed: what was fetched with another query does not count, and this "
        "one starts at %.*s",
        (int)len, start);
}

/* ---- what is known of it ---- */

static struct cursor_name name_of(const struct plan *plan)
{
    return (struct cursor_name){ .source = plan->source,
                                 .operation = plan->operation,
                                 .cursor_key = plan->cursor_key,
                                 .scope = plan->scope,
                                 .namespace_key = plan->namespace_key };
}

static bool load_cursor(struct store *store, struct arena *arena, const struct cursor_name *name,
                        struct cursor *cursor, struct maybe_instant *at, struct error *err)
{
    bool found;

    *at = (struct maybe_instant){ 0 };
    if (!store_cursor_load(store, arena, name, cursor, &found, err))
        return false;
    if (!found)
        return true;
    if (cursor->value.type != CURSOR_TIME)
        return error_set(err, ERROR_FATAL, "plan.cursor", "the cursor %.*s is not of type TIME",
                         STR_ARG(name->cursor_key));
    *at = (struct maybe_instant){ true, cursor->value.instant_us };
    return true;
}

/* *harvest is the draft of that HARVEST, as far as its name; *is_same is false when it is one of
 * another endpoint. */
static bool name_harvest(struct arena *arena, const struct plan_draft *draft, struct str operation,
                         struct plan_draft *harvest, bool *is_same, struct error *err)
{
    const struct snapshot_request request = { .source = &draft->source, .operation = operation };
    bool ok = true;

    *harvest = *draft;
    harvest->spec = NULL;
    harvest->selects_apart = false;
    if (!snapshot_make(arena, &request, &harvest->snapshot, err) ||
        !spec_cache_hold(draft->request->specs, harvest->snapshot.json, &harvest->spec, err))
        return false;
    *is_same = str_eq(harvest->spec->endpoint.name, draft->plan.endpoint);
    if (*is_same) {
        harvest->plan.operation = OPERATION_HARVEST;
        harvest->plan.expr_proto_hash = str_of(harvest->snapshot.expr_proto_hash);
        ok = draft_name(arena, harvest, err);
    }
    draft_release(harvest);
    return ok;
}

/* The forward watermark: the cursor of the HARVEST over the same endpoint. Where the trigger
 * selects other records, that HARVEST will never fetch them: there is none. */
static bool load_forward(struct store *store, struct arena *arena, struct plan_draft *draft,
                         struct maybe_instant *forward, struct error *err)
{
    const struct registry_row *row = NULL;
    struct plan_draft other;
    struct cursor cursor;

    if (draft->selects_apart)
        return true;
    while ((row = source_next_operation(&draft->source, row)) != NULL) {
        struct cursor_name name;
        bool is_same;

        if (source_operation_code(row) != OPERATION_HARVEST)
            continue;
        if (!name_harvest(arena, draft, row->key, &other, &is_same, err))
            return false;
        if (!is_same)
            continue;
        name = name_of(&other.plan);
        return load_cursor(store, arena, &name, &cursor, forward, err);
    }
    return true;
}

/* ---- queries that came before ---- */

static bool is_former(const struct cursor *cursor, const struct cursor_name *name)
{
    return cursor->name.operation == name->operation && cursor->name.scope != NAMESPACE_CUSTOM &&
           cursor->value.type == CURSOR_TIME && str_eq(cursor->name.cursor_key, name->cursor_key) &&
           !(cursor->name.scope == name->scope &&
             str_eq(cursor->name.namespace_key, name->namespace_key));
}

static bool find_former(struct store *store, struct arena *arena, struct plan_draft *draft,
                        struct error *err)
{
    struct former *former = &draft->former;
    struct cursor_list list;

    if (!store_cursor_list(store, arena, draft->plan.source, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct cursor_event_list first;

        if (!is_former(&list.items[i], &draft->cursor.name))
            continue;
        if (!store_cursor_event_list(store, arena, &list.items[i].name,
                                     (struct store_page){ .limit = 1 }, &first, err))
            return false;
        former->count++;
        if (first.count > 0 &&
            (!former->start.is_set || first.items[0].next.instant_us < former->start.at_us))
            former->start = (struct maybe_instant){ true, first.items[0].next.instant_us };
    }
    return true;
}

/* ---- the decision ---- */

static struct window_request request_of(const struct plan_draft *draft)
{
    const struct spec_window *window = &draft->spec->endpoint.window;

    return (struct window_request){
        .operation = draft->plan.operation,
        .drive = draft->spec->operation.drive,
        .now_us = draft->request->now_us,
        .user_from = draft->request->from,
        .user_to = draft->request->to,
        .start = { window->has_start && draft->plan.operation == OPERATION_HARVEST,
                   window->start_us },
        .beyond = window->beyond_now,
        .lag_us = window->lag_us,
        .lookback_us = window->lookback_us,
        .size_us = window->size_us,
        .mode = window->mode,
        .align = window->align,
    };
}

bool draft_decide(struct store *store, struct arena *arena, struct plan_draft *draft,
                  struct error *err)
{
    struct window_request request = request_of(draft);
    const struct cursor_name name = name_of(&draft->plan);

    draft->cursor = (struct cursor){ .name = name };
    if (draft->plan.cursor_key.len > 0 &&
        !load_cursor(store, arena, &name, &draft->cursor, &request.cursor, err))
        return false;
    if (draft->plan.cursor_key.len > 0 && draft->plan.scope == NAMESPACE_EXPR &&
        !request.cursor.is_set) {
        if (!find_former(store, arena, draft, err))
            return false;
        if (!request.start.is_set)
            request.start = draft->former.start;
    }
    if (draft->plan.operation == OPERATION_BACKFILL) {
        if (!load_forward(store, arena, draft, &request.forward, err))
            return false;
        if (request.cursor.is_set &&
            !cursor_campaign_end(store, arena, &name, &request.campaign_to.is_set,
                                 &request.campaign_to.at_us, err))
            return false;
    }
    draft->decision = window_decide(&request);
    draft->plan.window =
        draft->decision.empty == WINDOW_EMPTY_NOT ? draft->decision.window : (struct window){ 0 };
    return true;
}

/* ---- the cursor's first value ---- */

bool draft_start_cursor(struct store *store, struct arena *arena, const struct plan_draft *draft,
                        struct error *err)
{
    const struct window *window = &draft->decision.window;
    const struct cursor_name *name = &draft->cursor.name;
    struct cursor_move move = {
        .to = { .type = CURSOR_TIME, .instant_us = window->from_us },
        .lineage = { .schedule_instance_id = draft->plan.schedule_instance_id,
                     .plan_id = draft->plan.id },
        .expr_hash = draft->plan.expr_proto_hash,
        .now_us = draft->request->now_us,
    };
    const struct cursor_event_identity identity = { .source = name->source,
                                                    .operation = name->operation,
                                                    .cursor_key = name->cursor_key,
                                                    .scope = name->scope,
                                                    .namespace_key = name->namespace_key,
                                                    .next = &move.to,
                                                    .window = window };
    struct cursor_event event = {
        .name = *name,
        .direction = draft->spec->operation.direction,
        .reason = CURSOR_EVENT_ADVANCE,
        .next = move.to,
        .window = *window,
        .lineage = move.lineage,
        .expr_hash = move.expr_hash,
        .remarks = STR("{}"),
        .created_us = move.now_us,
    };
    bool is_done;
    struct buf out;

    buf_init(&out, arena, CAMPAIGN_BYTES_MAX);
    cursor_event_identity_write(&identity, &out);
    if (!buf_ok(&out, err) || !hash_text(arena, buf_str(&out), &event.idempotent_key, err) ||
        !store_cursor_event_add(store, &event, &is_done, err) ||
        !store_cursor_move(store, &draft->cursor, &move, &is_done, err))
        return false;
    return is_done ||
           error_set(err, ERROR_TRANSIENT, "plan.conflict",
                     "the cursor %.*s was started by another planner", STR_ARG(name->cursor_key));
}
