/* The queries of all operations of a source. */
#include "engine/update/current.h"

#include <string.h>

#include "port/store_expr.h"
#include "spec/snapshot.h"

bool current_queries_find(struct current_queries *current, struct arena *scratch,
                          const struct source *source, struct error *err)
{
    const struct registry_row *row = NULL;

    current->count = 0;
    while ((row = source_next_operation(source, row)) != NULL) {
        const struct snapshot_request request = { .source = source, .operation = row->key };
        struct snapshot snapshot;

        if (current->count == CURRENT_QUERIES_MAX)
            return error_set(err, ERROR_REQUEST, "plan.request",
                             "the source has more than %d operations", CURRENT_QUERIES_MAX);
        arena_reset(scratch);
        if (!snapshot_make(scratch, &request, &snapshot, err))
            return false;
        memcpy(current->hashes[current->count++], snapshot.query_hash, HASH_HEX_MAX);
    }
    return true;
}

bool current_queries_have(const struct current_queries *current, struct store *store,
                          struct arena *arena, struct str expr_hash, bool *has, struct error *err)
{
    struct expr expr;
    bool found;

    *has = false;
    if (!store_expr_get(store, arena, expr_hash, &expr, &found, err))
        return false;
    for (size_t i = 0; found && i < current->count; i++)
        *has |= str_eq(expr.query_hash, str_of(current->hashes[i]));
    return true;
}

bool current_queries_renew(struct store *store, struct arena *arena, struct str old_hash,
                           struct str new_hash, int64_t now_us, struct error *err)
{
    struct expr expr, by;
    char hash[HASH_HEX_MAX];
    bool is_known, is_new_known;

    if (!store_expr_get(store, arena, old_hash, &expr, &is_known, err) ||
        !store_expr_get(store, arena, new_hash, &by, &is_new_known, err))
        return false;
    if (!is_known || !is_new_known || str_eq(expr.mapping_hash, by.mapping_hash))
        return true;
    if (!expr_hash_of(by.query_hash, expr.mapping_hash, hash, err))
        return false;
    expr.expr_hash = str_of(hash);
    expr.query_hash = by.query_hash;
    expr.created_us = now_us;
    return store_expr_add(store, &expr, err);
}
