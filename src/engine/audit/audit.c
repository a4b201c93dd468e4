/* Digests of both sides, and a walk over both where they differ. */
#include "engine/audit/audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "core/lane.h"
#include "engine/audit/audit_internal.h"
#include "engine/project/digest.h"
#include "port/store_record_read.h"

#define LOOK_BYTES_MAX ((size_t)64 << 20)

struct str audit_kind_name(enum audit_kind kind)
{
    static const char *const names[] = { [AUDIT_MISSING] = "missing",
                                         [AUDIT_STALE] = "stale",
                                         [AUDIT_EXTRA] = "extra",
                                         [AUDIT_REVIVED] = "revived" };

    return str_of(names[kind]);
}

/* ---- what is compared ---- */

/* Its row shows the newest version of a record only if it takes every event of it. */
static bool takes_all(const struct projection_table *table, struct str type)
{
    return projection_source_of(table, type, STR("RecordCreated")) != NULL &&
           projection_source_of(table, type, STR("RecordUpdated")) != NULL &&
           projection_source_of(table, type, PROJECTION_DELETED) != NULL;
}

static bool has_type(const struct projection_table *table, struct str type)
{
    for (size_t i = 0; i < table->source_count; i++) {
        if (projection_source_has(&table->sources[i], type))
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct audit_type *)a)->name, ((const struct audit_type *)b)->name);
}

/* The endpoints with records that the table takes. *is_whole is false when it takes only some
 * events of one of them. */
static bool find_types(struct arena *arena, const struct record_count_list *counts,
                       const struct projection_table *table, struct audit_type_list *types,
                       bool *is_whole, struct error *err)
{
    *types = (struct audit_type_list){ 0 };
    *is_whole = true;
    for (size_t i = 0; i < counts->count; i++) {
        const struct record_count *count = &counts->items[i];
        const struct str name =
            arena_printf(arena, "%.*s/%.*s", STR_ARG(count->source), STR_ARG(count->endpoint));
        struct audit_type *type;

        if (name.data == NULL)
            return arena_error(arena, err);
        if (!has_type(table, name))
            continue;
        *is_whole &= takes_all(table, name);
        type = LIST_ADD(arena, types);
        if (type == NULL)
            return arena_error(arena, err);
        *type = (struct audit_type){ name, count->source, count->endpoint };
    }
    if (types->count > 1)
        qsort(types->items, types->count, sizeof(types->items[0]), by_name);
    return true;
}

/* Keys of other services are not compared; those of a type that nothing takes are extra. */
static bool is_compared(const struct projection_table *table, const struct audit_type_list *types,
                        struct str type)
{
    for (size_t i = 0; i < types->count; i++) {
        if (str_eq(types->items[i].name, type))
            return true;
    }
    return !has_type(table, type);
}

/* ---- digests ---- */

static bool digest_side(const struct audit_request *request, size_t table,
                        const struct audit_type_list *types, bool is_table,
                        struct lane_digest digests[OUTBOX_LANES], int64_t *keys, struct error *err)
{
    const struct projection_table *spec = &request->spec->tables[table];
    const bool has_filter = audit_has_filter(spec);
    const struct sink_seen *seen;
    struct audit_side side;
    bool ok;

    memset(digests, 0, OUTBOX_LANES * sizeof(digests[0]));
    audit_side_init(&side, request, table, is_table ? NULL : types);
    while ((ok = audit_side_next(&side, &seen, err)) && seen != NULL) {
        struct sink_seen item = *seen;

        item.is_gone &= !has_filter;
        if (is_table && !is_compared(spec, types, item.key.aggregate_type))
            continue;
        digest_add(digests, &item);
        *keys += !is_table;
    }
    audit_side_release(&side);
    return ok;
}

static bool compare_digests(const struct audit_request *request, size_t table,
                            const struct audit_type_list *types, bool differs[OUTBOX_LANES],
                            struct audit_result *result, struct error *err)
{
    struct lane_digest wanted[OUTBOX_LANES], found[OUTBOX_LANES];

    if (!digest_side(request, table, types, false, wanted, &result->keys, err) ||
        !digest_side(request, table, types, true, found, &result->keys, err))
        return false;
    for (int i = 0; i < OUTBOX_LANES; i++) {
        differs[i] = wanted[i].keys != found[i].keys || wanted[i].sum != found[i].sum;
        result->lanes += differs[i];
    }
    return true;
}

/* ---- the walk ---- */

struct walk {
    const struct audit_request *request;
    struct arena *arena; /* of the result */
    struct arena look;
    size_t table;
    const struct audit_type_list *types;
    const bool *differs;
    struct audit_result *result;
};

static int compare_keys(const struct sink_seen *a, const struct sink_seen *b)
{
    int order;

    if (a == NULL || b == NULL)
        return a == NULL ? 1 : -1;
    order = str_cmp(a->key.aggregate_type, b->key.aggregate_type);
    return order != 0 ? order : str_cmp(a->key.aggregate_id, b->key.aggregate_id);
}

static bool note(struct walk *walk, const struct sink_key *key, struct error *err)
{
    struct audit_result *result = walk->result;
    struct audit_difference *difference;
    struct audit_state state;
    enum audit_kind kind;

    arena_reset(&walk->look);
    if (!audit_look(walk->request, &walk->look, walk->table, key, &state, err))
        return false;
    if (!audit_is_wrong(walk->request, walk->table, &state, &kind))
        return true;
    if (state.is_behind) {
        result->behind++;
        return true;
    }
    result->is_full = result->differences.count == AUDIT_DIFFERENCES_MAX;
    if (result->is_full)
        return true;
    difference = LIST_ADD(walk->arena, &result->differences);
    if (difference == NULL)
        return arena_error(walk->arena, err);
    *difference = (struct audit_difference){
        .table = walk->table,
        .key = { arena_copy(walk->arena, key->aggregate_type),
                 arena_copy(walk->arena, key->aggregate_id) },
        .kind = kind,
        .wanted = state.wanted,
        .found = state.found,
    };
    return !walk->arena->failed || arena_error(walk->arena, err);
}

/* The keys at the front of both sides; NULL where one does not have the key. */
static bool meet(struct walk *walk, const struct sink_seen *wanted, const struct sink_seen *found,
                 struct error *err)
{
    const struct projection_table *table = &walk->request->spec->tables[walk->table];
    const struct sink_key *key = wanted != NULL ? &wanted->key : &found->key;
    const bool ignores_gone = audit_has_filter(table);

    if (!walk->differs[lane_of(key->aggregate_type, key->aggregate_id)] ||
        (wanted == NULL && !is_compared(table, walk->types, key->aggregate_type)) ||
        (wanted != NULL && found != NULL && wanted->version == found->version &&
         (ignores_gone || wanted->is_gone == found->is_gone)))
        return true;
    return note(walk, key, err);
}

static bool walk_both(struct walk *walk, struct audit_side *source, struct audit_side *sink,
                      struct error *err)
{
    const struct sink_seen *wanted, *found;
    bool ok = audit_side_next(source, &wanted, err) && audit_side_next(sink, &found, err);

    while (ok && (wanted != NULL || found != NULL)) {
        const int order = compare_keys(wanted, found);

        ok = meet(walk, order <= 0 ? wanted : NULL, order >= 0 ? found : NULL, err) &&
             (order > 0 || audit_side_next(source, &wanted, err)) &&
             (order < 0 || audit_side_next(sink, &found, err));
    }
    return ok;
}

static bool walk_table(struct walk *walk, struct error *err)
{
    struct audit_side source, sink;
    bool ok;

    audit_side_init(&source, walk->request, walk->table, walk->types);
    audit_side_init(&sink, walk->request, walk->table, NULL);
    arena_init(&walk->look, LOOK_BYTES_MAX);
    ok = walk_both(walk, &source, &sink, err);
    arena_release(&walk->look);
    audit_side_release(&sink);
    audit_side_release(&source);
    return ok;
}

static bool audit_table(const struct audit_request *request, struct arena *arena, size_t table,
                        const struct record_count_list *counts, struct audit_result *result,
                        struct error *err)
{
    const struct projection_table *spec = &request->spec->tables[table];
    const int64_t lanes_before = result->lanes;
    bool differs[OUTBOX_LANES], is_whole;
    struct audit_type_list types;
    struct walk walk = { .request = request,
                         .arena = arena,
                         .table = table,
                         .types = &types,
                         .differs = differs,
                         .result = result };

    if (!find_types(arena, counts, spec, &types, &is_whole, err))
        return false;
    if (!is_whole || types.count == 0) {
        result->tables_left_out++;
        return true;
    }
    return compare_digests(request, table, &types, differs, result, err) &&
           (result->lanes == lanes_before || walk_table(&walk, err));
}

bool audit_projection(const struct audit_request *request, struct arena *arena,
                      struct audit_result *result, struct error *err)
{
    struct record_count_list counts;

    *result = (struct audit_result){ 0 };
    if (!store_record_counts(request->store, arena, STR(""), &counts, err))
        return error_wrap(err, "audit %.*s", STR_ARG(request->spec->name));
    for (size_t i = 0; i < request->spec->table_count; i++) {
        if (!audit_table(request, arena, i, &counts, result, err))
            return error_wrap(err, "audit table %.*s of %.*s",
                              STR_ARG(request->spec->tables[i].name), STR_ARG(request->spec->name));
    }
    return true;
}
