/* Projections as they were set up, their offsets in other databases, the inbox, and looking at
 * rows. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/sql/key_digest.h"
#include "adapter/sql/sink_copy.h"
#include "adapter/sql/sink_plan.h"
#include "adapter/sql/sink_write.h"

enum { INBOX_ARENA_MAX = 64 << 20 };

/* ---- projections ---- */

static const char FIND[] =
    "SELECT spec, spec_hash, applied_at, rebuild FROM ing_projection WHERE name = :name";

static bool sink_find(struct store *sink, struct arena *arena, struct str name,
                      struct sink_projection *projection, bool *found, struct error *err)
{
    struct statement *st = statement_of(sink, FIND);

    *found = false;
    bind_text(st, ":name", name);
    while (rows_next(&st->rows)) {
        projection->json = rows_text(&st->rows, arena);
        projection->hash = rows_text(&st->rows, arena);
        projection->applied_us = rows_i64(&st->rows);
        projection->rebuild = rows_text(&st->rows, arena);
        *found = true;
    }
    return rows_finish(&st->rows, err);
}

static const char SET_REBUILD[] = "UPDATE ing_projection SET rebuild = :rebuild WHERE name = :name";

static bool sink_set_rebuild(struct store *sink, struct str name, struct str rebuild, bool *found,
                             struct error *err)
{
    struct statement *st = statement_of(sink, SET_REBUILD);

    bind_text(st, ":rebuild", rebuild);
    bind_text(st, ":name", name);
    return statement_changed(st, found, err);
}

/* As subscription_repo.c makes them: epochs begin with the time, so that they go on growing. */
static const char JOIN[] =
    "INSERT INTO ing_offset (consumer_group, subscription, lane, stream_pos, message_id,"
    " publish_time, lag_us, updated_by, updated_at, lease_epoch)"
    " {insert :group, :name, @lane, @pos, '', :now, 0, 'projection', :now, :epoch}"
    " ON CONFLICT DO NOTHING";

static bool sink_join(struct store *sink, const struct sink_join *join, struct error *err)
{
    struct statement *st = statement_of(sink, JOIN);

    bind_text(st, ":group", join->key.group);
    bind_text(st, ":name", join->key.subscription);
    bind_instant(st, ":now", join->now_us);
    bind_i64(st, ":epoch", join->now_us);
    for (int64_t lane = 0; lane < OUTBOX_LANES; lane++) {
        cell_i64(st, "@lane", lane);
        cell_i64(st, "@pos", join->before[lane]);
    }
    return statement_run(st, NULL, err) || error_wrap(err, "make offsets");
}

/* ---- the inbox ---- */

static const char RECEIVE[] =
    "INSERT INTO ing_inbox (consumer_group, event_id, lane, stream_pos, received_at)"
    " {insert by event_id: :group, @event_id, @lane, @pos, :now}"
    " ON CONFLICT DO NOTHING RETURNING event_id";

static int compare_receipts(const void *a, const void *b)
{
    return str_cmp((*(const struct sink_receipt *const *)a)->event_id,
                   (*(const struct sink_receipt *const *)b)->event_id);
}

static bool receive(struct store *sink, const struct sink_inbox *inbox, struct arena *arena,
                    bool *is_new, struct error *err)
{
    struct statement *st = statement_of(sink, RECEIVE);
    const struct sink_receipt **order =
        ARENA_ARRAY(arena, const struct sink_receipt *, inbox->count);

    if (order == NULL)
        return arena_error(arena, err);
    bind_text(st, ":group", inbox->group);
    bind_instant(st, ":now", inbox->now_us);
    for (size_t i = 0; i < inbox->count; i++) {
        order[i] = &inbox->items[i];
        is_new[i] = false;
        cell_uuid(st, "@event_id", inbox->items[i].event_id);
        cell_i64(st, "@lane", inbox->items[i].lane);
        cell_i64(st, "@pos", inbox->items[i].pos);
    }
    qsort(order, inbox->count, sizeof(*order), compare_receipts);
    while (rows_next(&st->rows)) {
        const struct sink_receipt key = { .event_id = rows_view(&st->rows) }, *wanted = &key;
        const struct sink_receipt *const *found =
            bsearch(&wanted, order, inbox->count, sizeof(*order), compare_receipts);

        if (found != NULL)
            is_new[*found - inbox->items] = true;
    }
    return rows_finish(&st->rows, err);
}

static bool sink_inbox(struct store *sink, const struct sink_inbox *inbox, bool *is_new,
                       struct error *err)
{
    struct arena arena;
    bool ok;

    if (inbox->count == 0)
        return true;
    arena_init(&arena, INBOX_ARENA_MAX);
    ok = receive(sink, inbox, &arena, is_new, err) || error_wrap(err, "add to the inbox");
    arena_release(&arena);
    return ok;
}

static const char PRUNE[] =
    "DELETE FROM ing_inbox WHERE consumer_group = :group AND event_id IN"
    " (SELECT event_id FROM ing_inbox WHERE consumer_group = :group AND received_at < :before"
    "   LIMIT :limit)";

static bool sink_inbox_prune(struct store *sink, struct str group, int64_t before_us, int64_t limit,
                             int64_t *removed, struct error *err)
{
    struct statement *st = statement_of(sink, PRUNE);

    bind_text(st, ":group", group);
    bind_instant(st, ":before", before_us);
    bind_i64(st, ":limit", limit);
    return statement_run(st, removed, err) || error_wrap(err, "prune the inbox");
}

/* ---- looking ---- */

static bool sink_row(struct store *sink, const struct sink_tables *tables, size_t table,
                     const struct sink_key *key, struct sink_seen *seen, bool *found,
                     struct error *err)
{
    const struct sink_texts *texts = &tables->items[table];
    struct statement *st = statement_of(sink, texts->row);

    *found = false;
    *seen = (struct sink_seen){ .key = *key };
    if (texts->table->type_column.len > 0)
        bind_text(st, ":type", key->aggregate_type);
    bind_text(st, ":id", key->aggregate_id);
    while (rows_next(&st->rows)) {
        seen->version = rows_i64(&st->rows);
        seen->is_gone = rows_bool(&st->rows);
        *found = true;
    }
    return rows_finish(&st->rows, err) ||
           error_wrap(err, "table %.*s", STR_ARG(texts->table->name));
}

static struct statement *statement_of_table(struct store *sink, const struct sink_texts *texts,
                                            const char *text)
{
    struct statement *st = statement_of(sink, text);

    if (texts->table->type_column.len == 0)
        bind_text(st, ":type", projection_only_type(texts->table));
    return st;
}

static bool sink_digest(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                        size_t table, const struct key_buckets *buckets,
                        struct key_digest_list *list, struct error *err)
{
    const struct sink_texts *texts = &tables->items[table];
    struct statement *st = statement_of_table(sink, texts, texts->digest);

    bind_buckets(st, buckets);
    return key_digests_read(st, arena, list, err) ||
           error_wrap(err, "digest of table %.*s", STR_ARG(texts->table->name));
}

static bool sink_pick(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                      size_t table, const struct key_pick *pick, struct sink_seen_list *list,
                      struct error *err)
{
    const struct sink_texts *texts = &tables->items[table];
    const bool has_type = texts->table->type_column.len > 0;
    struct statement *st = statement_of_table(sink, texts, texts->pick);

    bind_pick(st, pick);
    return key_states_read(st, arena, has_type ? STR("") : projection_only_type(texts->table), list,
                           err) ||
           error_wrap(err, "keys of table %.*s", STR_ARG(texts->table->name));
}

/* ---- forgetting ---- */

/* The statement's own guard is met by every version. */
static bool delete_key(struct store *sink, const struct sink_texts *texts, const char *text,
                       bool with_version, const struct sink_key *key, struct error *err)
{
    struct statement *st = statement_of(sink, text);

    if (texts->table->type_column.len > 0)
        cell_text(st, "@type", key->aggregate_type);
    cell_text(st, "@id", key->aggregate_id);
    if (with_version)
        cell_i64(st, "@version", INT64_MAX);
    if (text != texts->erase || texts->table->child_count == 0)
        return statement_run(st, NULL, err);
    while (rows_next(&st->rows)) /* the key that was there */
        rows_skip(&st->rows, texts->table->type_column.len > 0 ? 2 : 1);
    return rows_finish(&st->rows, err);
}

static bool sink_forget(struct store *sink, const struct sink_tables *tables, size_t table,
                        const struct sink_key *key, struct error *err)
{
    const struct sink_texts *texts = &tables->items[table];
    bool ok = true;

    for (size_t i = 0; i < texts->table->child_count && ok; i++)
        ok = delete_key(sink, texts, texts->children[i].clear, false, key, err);
    return (ok && delete_key(sink, texts, texts->erase, true, key, err) &&
            (!texts->has_gone || delete_key(sink, texts, texts->gone_forget, true, key, err))) ||
           error_wrap(err, "table %.*s", STR_ARG(texts->table->name));
}

const struct store_sink_ops SQL_SINK = {
    .plan = sink_plan,
    .set_up = sink_set_up,
    .find = sink_find,
    .set_rebuild = sink_set_rebuild,
    .join = sink_join,
    .remove = sink_remove,
    .tables = sink_tables_make,
    .write = sink_write,
    .inbox = sink_inbox,
    .inbox_prune = sink_inbox_prune,
    .row = sink_row,
    .digest = sink_digest,
    .pick = sink_pick,
    .forget = sink_forget,
    .copy = sink_copy,
    .swap = sink_swap,
    .swap_back = sink_swap_back,
};
