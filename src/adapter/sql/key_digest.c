/* Binds and reads digests of keys, and the states of some buckets. */
#include "adapter/sql/key_digest.h"

#include <assert.h>

void bind_buckets(struct statement *st, const struct key_buckets *buckets)
{
    assert(buckets->count > 0 && buckets->count <= KEY_BUCKETS_MAX);
    assert((buckets->count & (buckets->count - 1)) == 0);
    bind_i64(st, ":mask", buckets->count - 1);
    bind_bool(st, ":ignores_gone", buckets->ignores_gone);
}

void bind_pick(struct statement *st, const struct key_pick *pick)
{
    static const char picked[] = { KEY_PICKED };

    assert((int64_t)pick->marks.len == pick->buckets.count);
    bind_buckets(st, &pick->buckets);
    bind_bytes(st, ":marks", pick->marks);
    bind_bytes(st, ":picked", (struct str){ picked, 1 });
}

/* Types are few, and their rows many: equal ones share their bytes. */
static struct str type_text(struct rows *rows, struct arena *arena, struct str last)
{
    const struct str type = rows_view(rows);

    return last.data != NULL && str_eq(type, last) ? last : arena_copy(arena, type);
}

bool key_digests_read(struct statement *st, struct arena *arena, struct key_digest_list *list,
                      struct error *err)
{
    struct key_digest *digest;
    struct str type = { 0 };

    *list = (struct key_digest_list){ 0 };
    while ((digest = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        type = type_text(&st->rows, arena, type);
        digest->aggregate_type = type;
        digest->bucket = rows_i64(&st->rows);
        digest->keys = rows_i64(&st->rows);
        digest->low = rows_i64(&st->rows);
        digest->high = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) && (!arena->failed || arena_error(arena, err));
}

bool key_states_read(struct statement *st, struct arena *arena, struct str type,
                     struct sink_seen_list *list, struct error *err)
{
    const bool has_type = type.len == 0;
    struct sink_seen *seen;

    *list = (struct sink_seen_list){ 0 };
    while ((seen = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        type = has_type ? type_text(&st->rows, arena, type) : type;
        seen->key.aggregate_type = type;
        seen->key.aggregate_id = rows_text(&st->rows, arena);
        seen->version = rows_i64(&st->rows);
        seen->is_gone = rows_bool(&st->rows);
    }
    return rows_finish(&st->rows, err) && (!arena->failed || arena_error(arena, err));
}
