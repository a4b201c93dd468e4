/* Digests of both sides, and the keys of the buckets that differ. */
#include "engine/audit/audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "engine/audit/audit_internal.h"
#include "engine/project/digest.h"

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

/* The endpoints with records that the table takes. *is_whole is false when it takes only some
 * events of one of them. */
static bool find_types(struct audit *audit, const struct record_count_list *counts, bool *is_whole,
                       int64_t *records, struct error *err)
{
    *is_whole = true;
    *records = 0;
    for (size_t i = 0; i < counts->count; i++) {
        const struct record_count *count = &counts->items[i];
        const struct str name = arena_printf(audit->arena, "%.*s/%.*s", STR_ARG(count->source),
                                             STR_ARG(count->endpoint));
        struct record_type *type;

        if (name.data == NULL)
            return arena_error(audit->arena, err);
        if (!has_type(audit->spec, name))
            continue;
        *is_whole &= takes_all(audit->spec, name);
        *records += count->live + count->deleted;
        type = LIST_ADD(audit->arena, &audit->types);
        if (type == NULL)
            return arena_error(audit->arena, err);
        *type = (struct record_type){ count->source, count->endpoint, name };
    }
    return true;
}

bool audit_is_compared(const struct audit *audit, struct str type)
{
    for (size_t i = 0; i < audit->types.count; i++) {
        if (str_eq(audit->types.items[i].aggregate_type, type))
            return true;
    }
    return !has_type(audit->spec, type);
}

/* ---- digests ---- */

static bool digest_records(const struct audit *audit, struct arena *arena,
                           struct bucket_digest *digests, int64_t *keys, struct error *err)
{
    for (size_t i = 0; i < audit->types.count; i++) {
        struct key_digest_list list;

        if (!store_record_digest(audit->request->store, arena, &audit->types.items[i],
                                 &audit->buckets, &list, err))
            return false;
        for (size_t k = 0; k < list.count; k++) {
            digest_add(digests, &list.items[k]);
            *keys += list.items[k].keys;
        }
    }
    return true;
}

static bool digest_rows(const struct audit *audit, struct arena *arena,
                        struct bucket_digest *digests, struct error *err)
{
    struct key_digest_list list;

    if (!store_sink_digest(audit->request->sink, arena, audit->request->tables, audit->table,
                           &audit->buckets, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (audit_is_compared(audit, list.items[i].aggregate_type))
            digest_add(digests, &list.items[i]);
    }
    return true;
}

struct suspects {  /* the buckets that differ */
    int64_t *keys; /* of each bucket, on the side that has more; 0: it does not differ */
    int64_t count;
};

static bool compare_digests(const struct audit *audit, struct arena *arena,
                            struct suspects *suspects, struct error *err)
{
    const size_t count = (size_t)audit->buckets.count;
    struct bucket_digest *wanted = ARENA_ARRAY(arena, struct bucket_digest, count);
    struct bucket_digest *found = ARENA_ARRAY(arena, struct bucket_digest, count);

    *suspects = (struct suspects){ .keys = ARENA_ARRAY(arena, int64_t, count) };
    if (wanted == NULL || found == NULL || suspects->keys == NULL)
        return arena_error(arena, err);
    memset(wanted, 0, count * sizeof(*wanted));
    memset(found, 0, count * sizeof(*found));
    if (!digest_records(audit, arena, wanted, &audit->result->keys, err) ||
        !digest_rows(audit, arena, found, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const int64_t more = wanted[i].keys > found[i].keys ? wanted[i].keys : found[i].keys;

        suspects->keys[i] = digest_is_same(&wanted[i], &found[i]) ? 0 : more;
        suspects->count += suspects->keys[i] > 0;
    }
    audit->result->buckets += suspects->count;
    return true;
}

/* ---- the keys of buckets that differ ---- */

/* A key with two states may have them in buckets that are read at different times: it is noted with
 * the record's. */
static bool note(const struct audit *audit, struct arena *look, const struct sink_key *key,
                 bool is_record, struct error *err)
{
    struct audit_result *result = audit->result;
    struct audit_difference *difference;
    struct audit_state state;
    enum audit_kind kind;

    arena_reset(look);
    if (!audit_look(audit->request, look, audit->table, key, &state, err))
        return false;
    if ((!is_record && state.wanted > 0) ||
        !audit_is_wrong(audit->request, audit->table, &state, &kind))
        return true;
    if (state.is_behind) {
        result->behind++;
        return true;
    }
    result->is_full = result->differences.count == AUDIT_DIFFERENCES_MAX;
    if (result->is_full)
        return true;
    difference = LIST_ADD(audit->arena, &result->differences);
    if (difference == NULL)
        return arena_error(audit->arena, err);
    *difference = (struct audit_difference){
        .table = audit->table,
        .key = { arena_copy(audit->arena, key->aggregate_type),
                 arena_copy(audit->arena, key->aggregate_id) },
        .kind = kind,
        .wanted = state.wanted,
        .found = state.found,
    };
    return !audit->arena->failed || arena_error(audit->arena, err);
}

static bool is_same(const struct audit *audit, const struct sink_seen *wanted,
                    const struct sink_seen *found)
{
    return wanted->version == found->version &&
           (audit->buckets.ignores_gone || wanted->is_gone == found->is_gone);
}

/* Both sides are in order. */
static bool meet(const struct audit *audit, const struct audit_sides *sides, struct arena *look,
                 struct error *err)
{
    const struct sink_seen_list *wanted = &sides->wanted, *found = &sides->found;
    size_t w = 0, f = 0;
    bool ok = true;

    while (ok && (w < wanted->count || f < found->count) && !audit->result->is_full) {
        const struct sink_seen *one = w < wanted->count ? &wanted->items[w] : NULL;
        const struct sink_seen *other = f < found->count ? &found->items[f] : NULL;
        const int order = one == NULL     ? 1
                          : other == NULL ? -1
                                          : audit_key_order(&one->key, &other->key);

        if (order != 0 || !is_same(audit, one, other))
            ok = note(audit, look, order <= 0 ? &one->key : &other->key, order <= 0, err);
        w += order <= 0;
        f += order >= 0;
    }
    return ok;
}

/* As many of the buckets that differ as fit, from *from on, which moves. */
static struct str next_marks(const struct audit *audit, const struct suspects *suspects,
                             struct arena *arena, int64_t *from)
{
    const size_t count = (size_t)audit->buckets.count;
    char *marks = ARENA_ARRAY(arena, char, count);
    int64_t keys = 0;

    if (marks == NULL)
        return (struct str){ 0 };
    memset(marks, 0, count);
    while (*from < audit->buckets.count && keys < AUDIT_PICKED_KEYS) {
        const int64_t at = (*from)++;

        keys += suspects->keys[at];
        marks[at] = suspects->keys[at] > 0 ? KEY_PICKED : 0;
    }
    return (struct str){ marks, count };
}

static bool look_at_buckets(const struct audit *audit, const struct suspects *suspects,
                            struct arena *pick, struct arena *look, struct error *err)
{
    int64_t from = 0;

    while (from < audit->buckets.count && !audit->result->is_full) {
        struct audit_sides sides;
        struct str marks;

        arena_reset(pick);
        marks = next_marks(audit, suspects, pick, &from);
        if (marks.data == NULL)
            return arena_error(pick, err);
        if (!audit_sides_read(audit, pick, marks, &sides, err) || !meet(audit, &sides, look, err))
            return false;
    }
    return true;
}

static int by_key(const void *a, const void *b)
{
    return audit_key_order(&((const struct audit_difference *)a)->key,
                           &((const struct audit_difference *)b)->key);
}

static bool look_at_suspects(const struct audit *audit, const struct suspects *suspects,
                             struct error *err)
{
    struct audit_difference_list *list = &audit->result->differences;
    const size_t before = list->count;
    struct arena pick, look;
    bool ok;

    arena_init(&pick, AUDIT_BYTES_MAX);
    arena_init(&look, LOOK_BYTES_MAX);
    ok = look_at_buckets(audit, suspects, &pick, &look, err);
    arena_release(&look);
    arena_release(&pick);
    if (list->count > before + 1)
        qsort(list->items + before, list->count - before, sizeof(list->items[0]), by_key);
    return ok;
}

static bool compare(const struct audit *audit, struct error *err)
{
    struct suspects suspects;
    struct arena arena;
    bool ok;

    arena_init(&arena, AUDIT_BYTES_MAX);
    ok = compare_digests(audit, &arena, &suspects, err) &&
         (suspects.count == 0 || look_at_suspects(audit, &suspects, err));
    arena_release(&arena);
    return ok;
}

static bool audit_table(const struct audit_request *request, struct arena *arena, size_t table,
                        const struct record_count_list *counts, struct audit_result *result,
                        struct error *err)
{
    struct audit audit = {
        .request = request,
        .arena = arena,
        .table = table,
        .spec = &request->spec->tables[table],
        .result = result,
    };
    bool is_whole;
    int64_t records;

    if (!find_types(&audit, counts, &is_whole, &records, err))
        return false;
    if (!is_whole || audit.types.count == 0) {
        result->tables_left_out++;
        return true;
    }
    audit.buckets.count = digest_buckets(records);
    audit.buckets.ignores_gone = audit_has_filter(audit.spec);
    return compare(&audit, err);
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
