/* Which expressions of a source were read by a mapping that is no longer in force. */
#include "engine/rederive/rederive.h"

#include <string.h>

#include "engine/rederive/rederive_internal.h"
#include "engine/source/mapping.h"

/* Records of a page, and everything made of them. */
#define PAGE_ARENA_MAX ((size_t)1 << 30)
#define LAST_ID (INT64_MAX - 1) /* after every record */

/* ---- one expression ---- */

static bool add_expr(struct rederiving *r, const struct rederive_group *group,
                     const struct mapping *mapping, struct error *err)
{
    const struct expr expr = { .expr_hash = str_of(group->new_hash),
                               .source = group->old.source,
                               .endpoint = group->old.endpoint,
                               .query_hash = group->old.query_hash,
                               .mapping_hash = str_of(mapping->snapshot.mapping_hash),
                               .snapshot = mapping->snapshot.json,
                               .created_us = r->request->now_us };

    return r->request->is_dry || store_expr_add(r->store, &expr, err);
}

static bool run_expr(struct rederiving *r, const struct mappings *mappings,
                     struct rederive_group *group, struct error *err)
{
    const struct mapping *mapping = mapping_of(mappings, group->old.endpoint);
    const struct spec *old = NULL;
    bool ok;

    if (mapping == NULL) {
        r->result->orphans++;
        return true;
    }
    if (str_eq(group->old.mapping_hash, str_of(mapping->snapshot.mapping_hash)))
        return true;
    if (!expr_hash_of(group->old.query_hash, str_of(mapping->snapshot.mapping_hash),
                      group->new_hash, err) ||
        !spec_cache_hold(r->request->specs, group->old.snapshot, &old, err))
        return false;
    group->from = mapping_bearer(old);
    group->to = mapping->endpoint;
    ok = add_expr(r, group, mapping, err) && rederive_group_run(r, group, err);
    spec_cache_release(r->request->specs, old);
    return ok;
}

/* ---- one endpoint ---- */

/* The first expression after `hash` that records have; the others of its records are skipped. */
static bool next_hash(struct rederiving *r, struct str endpoint, char hash[HASH_HEX_MAX],
                      bool *found, struct error *err)
{
    const struct candidate last = { .id = LAST_ID, .expr_hash = str_of(hash) };
    const struct candidate_query query = { .reason = CANDIDATE_EXPR_CHANGE,
                                           .source = r->request->source->registry.code,
                                           .endpoint = endpoint,
                                           .expr_hash = STR(""),
                                           .after = hash[0] != '\0' ? &last : NULL,
                                           .limit = 1 };
    struct candidate_list list;

    arena_reset(&r->page);
    if (!store_candidate_list(r->store, &r->page, &query, &list, err))
        return false;
    *found = list.count > 0;
    if (!*found)
        return true;
    if (list.items[0].expr_hash.len >= HASH_HEX_MAX)
        return error_set(err, ERROR_FATAL, "rederive.record", "a record has no expr_hash");
    memcpy(hash, list.items[0].expr_hash.data, list.items[0].expr_hash.len);
    hash[list.items[0].expr_hash.len] = '\0';
    return true;
}

static bool run_endpoint(struct rederiving *r, const struct mappings *mappings, struct str endpoint,
                         struct error *err)
{
    struct rederive_group group = { .endpoint = endpoint };
    char hash[HASH_HEX_MAX] = "";
    bool found = true, is_known;

    while (found && !r->result->is_left) {
        if (!next_hash(r, endpoint, hash, &found, err))
            return false;
        if (!found)
            break;
        /* Pages end the page arena; an expression is small, and there are few. */
        if (!store_expr_get(r->store, r->arena, str_of(hash), &group.old, &is_known, err))
            return false;
        if (!is_known)
            r->result->unknown++;
        else if (!run_expr(r, mappings, &group, err))
            return error_wrap(err, "%.*s", STR_ARG(endpoint));
    }
    return true;
}

static bool run_all(struct rederiving *r, struct mappings *mappings, struct error *err)
{
    const struct str only = r->request->endpoint;
    const struct registry_row *row = NULL;

    if (!mappings_load(mappings, r->arena, r->request->source, err))
        return false;
    while ((row = source_next_endpoint(r->request->source, row)) != NULL) {
        if ((only.len == 0 || str_eq(only, row->endpoint)) &&
            !run_endpoint(r, mappings, row->endpoint, err))
            return false;
    }
    return true;
}

bool rederive(struct store *store, struct arena *arena, const struct rederive_request *request,
              struct rederive_result *result, struct error *err)
{
    struct mappings *mappings = ARENA_NEW(arena, struct mappings);
    struct rederiving r = { .store = store, .arena = arena, .request = request, .result = result };
    bool ok;

    *result = (struct rederive_result){ 0 };
    if (mappings == NULL)
        return arena_error(arena, err);
    mappings->specs = request->specs;
    arena_init(&r.page, PAGE_ARENA_MAX);
    ok = run_all(&r, mappings, err);
    mappings_release(mappings);
    arena_release(&r.page);
    return ok || error_wrap(err, "rederive %.*s", STR_ARG(request->source->registry.code));
}
