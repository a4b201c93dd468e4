/* From the rows in force to a spec, and sources that must not be planned at all. */
#include <assert.h>
#include <string.h>

#include "engine/plan/draft.h"
#include "engine/source/source_select.h"
#include "engine/source/source_store.h"
#include "port/store_pause.h"
#include "spec/check.h"
#include "spec/record_home.h"

static struct registry_value *value_in(const struct registry_row *row, const char *column)
{
    const int i = registry_column(row->table, str_of(column));

    assert(i >= 0);
    return &row->values[i];
}

static struct str text_in(const struct registry_row *row, const char *column)
{
    const struct registry_value *value = value_in(row, column);

    return value->is_set ? value->text : (struct str){ 0 };
}

/* ---- operations ---- */

static const struct registry_row *only_of(const struct source *source, enum operation operation)
{
    const struct registry_row *only = NULL, *row = NULL;

    while ((row = source_next_operation(source, row)) != NULL) {
        if (source_operation_code(row) != (int)operation || operation_is_of_files(source, row))
            continue;
        if (only != NULL)
            return NULL;
        only = row;
    }
    return only;
}

/* BACKFILL and REPLAY request windows as HARVEST does. A source that does not mention them has
 * them with the built-in settings. */
static bool add_operation(struct arena *arena, struct source *source, enum operation operation,
                          const struct registry_row *like, struct error *err)
{
    const size_t columns = registry_table(REGISTRY_OPERATION)->column_count;
    struct registry_row *rows = ARENA_ARRAY(arena, struct registry_row, source->registry.count + 1);
    struct registry_row *row;

    if (rows == NULL)
        return arena_error(arena, err);
    memcpy(rows, source->registry.rows, source->registry.count * sizeof(*rows));
    row = &rows[source->registry.count++];
    *row = *like;
    row->key = operation == OPERATION_BACKFILL ? STR("backfill") : STR("replay");
    row->values = ARENA_ARRAY(arena, struct registry_value, columns);
    if (row->values == NULL)
        return arena_error(arena, err);
    *value_in(row, "target_endpoint") = *value_in(like, "target_endpoint");
    source->registry.rows = rows;
    return true;
}

static bool find_operation(struct arena *arena, struct plan_draft *draft, struct error *err)
{
    const struct str name = draft->request->operation;
    const int word = code_find_written(&OPERATION_CODES, name);
    const struct registry_row *row = source_find_operation(&draft->source, name);
    const struct registry_row *harvest = only_of(&draft->source, OPERATION_HARVEST);

    if (row == NULL && harvest != NULL &&
        (word == OPERATION_BACKFILL || word == OPERATION_REPLAY) &&
        only_of(&draft->source, (enum operation)word) == NULL) {
        if (!add_operation(arena, &draft->source, (enum operation)word, harvest, err))
            return false;
        row = source_find_operation(&draft->source, name);
    }
    if (row == NULL)
        return source_lacks_operation(&draft->source, name, err);
    draft->operation = row->key;
    draft->plan.endpoint = text_in(row, "target_endpoint");
    draft->plan.operation = (enum operation)(word >= 0 ? word : source_operation_code(row));
    return true;
}

/* ---- whose records ---- */

/* Records belong to the endpoint that lists them, even when another one was requested by id;
 * metrics of records, and children of records, are records of their own. */
static void find_records(struct plan_draft *draft)
{
    const struct str endpoint = draft->spec->endpoint.name;
    const struct str lister = record_lister(&draft->source, endpoint);

    draft->base = endpoint;
    draft->target = endpoint;
    if (draft_is_of_files(draft)) {
        if (draft->spec->endpoint.records_of.len > 0 || lister.len > 0)
            draft->target = draft->spec->endpoint.records_of.len > 0
                                ? draft->spec->endpoint.records_of
                                : lister;
        draft->base = draft->target;
        return;
    }
    if (!draft_is_by_id(draft))
        return;
    if (draft->spec->endpoint.parent.len > 0) {
        draft->base = draft->spec->endpoint.parent;
        return;
    }
    if (lister.len > 0)
        draft->base = lister;
    if (draft->spec->operation.operation == OPERATION_UPDATE)
        draft->target = draft->base;
}

/* ---- compiling ---- */

/* Each value may be in its range while two of them contradict each other. A trigger's values may
 * contradict those of a source that is valid by itself. */
static bool check_source(struct arena *arena, struct plan_draft *draft, struct error *err)
{
    const struct plan_check plan = { .source = &draft->source,
                                     .operation =
                                         source_find_operation(&draft->source, draft->operation),
                                     .overrides = draft->request->overrides };

    source_check(arena, NULL, &draft->source, &draft->faults);
    if (!fault_list_ok(&draft->faults, err))
        return false;
    /* What other endpoints and operations lack is no remark on this plan. */
    fault_list_init(&draft->faults, arena);
    return source_check_plan(arena, NULL, &plan, &draft->faults, err) ||
           (plan.overrides.count > 0 ? error_wrap(err, "with these --set") : false);
}

static bool make_snapshot(struct arena *arena, struct plan_draft *draft, struct error *err)
{
    const struct snapshot_request request = { .source = &draft->source,
                                              .operation = draft->operation,
                                              .overrides = draft->request->overrides };

    return snapshot_make(arena, &request, &draft->snapshot, err) &&
           spec_cache_hold(draft->request->specs, draft->snapshot.json, &draft->spec, err);
}

/* Whether the trigger's settings select other records than the source's own do. */
static bool compare_selection(struct arena *arena, struct plan_draft *draft, struct error *err)
{
    const struct snapshot_request own = { .source = &draft->source, .operation = draft->operation };
    struct snapshot snapshot;

    if (draft->request->overrides.count == 0)
        return true;
    if (!snapshot_make(arena, &own, &snapshot, err))
        return false;
    draft->selects_apart = strcmp(snapshot.query_hash, draft->snapshot.query_hash) != 0;
    return true;
}

/* By id there is no window that could be kept apart: the records would count as checked, though
 * they were requested in another way. */
static bool check_selection(const struct plan_draft *draft, struct error *err)
{
    if (!draft->selects_apart || !draft_is_by_id(draft))
        return true;
    return error_set(err, ERROR_REQUEST, "plan.request",
                     "--set changes which records are selected, and %.*s by id has no namespace "
                     "that keeps them apart: change the source's file instead",
                     STR_ARG(code_of(&OPERATION_CODES, (int)draft->plan.operation)));
}

/* An option without effect is refused: the plan would not be the one that was meant.
 */
static bool check_request(const struct plan_draft *draft, struct error *err)
{
    const struct plan_request *request = draft->request;
    const enum operation operation = draft->plan.operation;
    const bool has_campaign = operation == OPERATION_BACKFILL || operation == OPERATION_REPLAY ||
                              draft->spec->operation.namespace_scope == NAMESPACE_CUSTOM;
    const char *idle = request->ids != NULL && !draft_is_by_id(draft)     ? "ids"
                       : request->stale_us > 0 && !draft_is_by_id(draft)  ? "stale"
                       : request->campaign.len > 0 && !has_campaign       ? "campaign"
                       : request->from.is_set && draft_is_feed(draft)     ? "from"
                       : request->to.is_set && draft_is_feed(draft)       ? "to"
                       : request->from.is_set && draft_is_of_files(draft) ? "from"
                       : request->to.is_set && draft_is_of_files(draft)   ? "to"
                                                                          : NULL;

    if (idle == NULL)
        return true;
    return error_set(
        err, ERROR_REQUEST, "plan.request", "--%s cannot be used with %.*s of %.*s: %s", idle,
        STR_ARG(code_of(&OPERATION_CODES, (int)operation)), STR_ARG(draft->plan.endpoint),
        strcmp(idle, "campaign") == 0 ? "only backfill and replay are campaigns"
        : draft_is_of_files(draft)    ? "its files are read whole"
        : draft_is_feed(draft)        ? "a feed continues from its cursor; patra cursor reset sets "
                                        "it"
                                      : "only an update or metrics by id chooses its records");
}

bool draft_compile(struct store *store, struct arena *arena, const struct plan_request *request,
                   struct plan_draft *draft, struct error *err)
{
    const int word = code_find_written(&OPERATION_CODES, request->operation);

    *draft = (struct plan_draft){ .request = request };
    fault_list_init(&draft->faults, arena);
    draft->plan.operation = word >= 0 ? (enum operation)word : OPERATION_HARVEST;
    if (!source_load(store, arena, request->source, request->now_us, &draft->source, err))
        return false;
    draft->plan.source = draft->source.registry.code;
    if (!find_operation(arena, draft, err))
        return false;
    if (!check_source(arena, draft, err) ||
        !source_select(arena, request->secrets, &draft->source, err) ||
        !make_snapshot(arena, draft, err) || !compare_selection(arena, draft, err))
        return false;
    /* The result keeps it after the spec was released. */
    draft->plan.endpoint = arena_copy(arena, draft->spec->endpoint.name);
    if (draft->plan.endpoint.data == NULL)
        return arena_error(arena, err);
    draft->plan.operation = draft->spec->operation.operation;
    draft->plan.expr_proto_hash = str_of(draft->snapshot.expr_proto_hash);
    draft->plan.expr_proto_snapshot = draft->snapshot.json;
    draft->plan.spec_fingerprint = str_of(draft->snapshot.fingerprint);
    find_records(draft);
    return check_request(draft, err) && check_selection(draft, err);
}

void draft_release(struct plan_draft *draft)
{
    spec_cache_release(draft->request->specs, draft->spec);
    draft->spec = NULL;
}

/* ---- who may not ---- */

bool draft_may_run(struct store *store, struct arena *arena, const struct plan_draft *draft,
                   struct error *err)
{
    const struct str source = draft->plan.source;
    const struct registry_row *row =
        source_row(&draft->source, REGISTRY_PROVENANCE, STR(""), STR(""));
    const struct registry_value *enabled = row != NULL ? value_in(row, "enabled") : NULL;
    struct pause_list pauses;

    if (enabled != NULL && enabled->is_set && enabled->number == 0)
        return error_set(err, ERROR_REQUEST, "plan.disabled",
                         "%.*s is disabled: its file says enabled: false", STR_ARG(source));
    if (!store_pause_list(store, arena, source, &pauses, err))
        return false;
    for (size_t i = 0; i < pauses.count; i++) {
        const struct pause *pause = &pauses.items[i];

        if (pause->endpoint.len > 0 && !str_eq(pause->endpoint, draft->plan.endpoint))
            continue;
        return error_set(err, ERROR_REQUEST,
                         pause->kind == PAUSE_STOPPED ? "plan.stopped" : PLAN_PAUSED,
                         "%.*s%s%.*s is %s%s%.*s: patra resume %.*s%s%.*s", STR_ARG(source),
                         pause->endpoint.len > 0 ? "/" : "", STR_ARG(pause->endpoint),
                         pause->kind == PAUSE_STOPPED ? "stopped" : "paused",
                         pause->reason.len > 0 ? ", " : "", STR_ARG(pause->reason), STR_ARG(source),
                         pause->endpoint.len > 0 ? "/" : "", STR_ARG(pause->endpoint));
    }
    return true;
}
