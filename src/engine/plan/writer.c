/* Rows of slices and tasks, their texts and hashes, a batch at a time. */
#include "engine/plan/writer.h"

#include "core/canon.h"
#include "core/slice_spec.h"
#include "engine/plan/plan.h"
#include "engine/source/rate_key.h"

enum {
    TEXT_BYTES_MAX = 8 << 20,   /* of one expression: the ids of a slice are in it */
    BATCH_BYTES_FULL = 4 << 20, /* a batch with this much in it is written, however few it has */
    BATCH_ARENA_MAX = 64 << 20,
};

/* ---- expressions ---- */

static void write_window(struct canon *canon, const struct slice *slice)
{
    const bool is_time = slice->dimension == SLICE_TIME;
    const struct window window = is_time ? slice->query.window : slice->window;

    canon_object(canon, "window");
    canon_instant(canon, "from", window.from_us);
    if (is_time) {
        canon_instant(canon, "keepFrom", slice->query.keep.from_us);
        canon_instant(canon, "keepTo", slice->query.keep.to_us);
    }
    canon_instant(canon, "to", window.to_us);
    canon_close(canon);
}

static void write_part(struct canon *canon, struct id_range part)
{
    canon_object(canon, "idRange");
    if (part.from != ID_LOWEST)
        canon_id(canon, "from", part.from);
    if (part.to != ID_HIGHEST)
        canon_id(canon, "to", part.to);
    canon_close(canon);
}

void plan_expr_write(const struct plan_origin *origin, const struct plan_cut *cut, struct buf *out)
{
    const struct slice *slice = cut->slice;
    struct canon canon = canon_begin(out);

    if (id_range_is_valid(slice->part))
        write_part(&canon, slice->part);
    if (slice->dimension == SLICE_ID) {
        canon_array(&canon, "ids");
        for (size_t i = 0; i < cut->id_count; i++)
            canon_str(&canon, NULL, cut->ids[i]);
        canon_close(&canon);
    }
    if (slice->dimension == SLICE_FILE)
        canon_str(&canon, "file", slice->file);
    if (slice->dimension == SLICE_PAGE) {
        canon_object(&canon, "page");
        canon_i64(&canon, "from", slice->pages.from);
        canon_i64(&canon, "to", slice->pages.to);
        canon_close(&canon);
    }
    if (slice->dimension == SLICE_FEED && slice->feed.after.data != NULL)
        canon_str(&canon, "after", slice->feed.after);
    canon_str(&canon, "proto", origin->plan->expr_proto_hash);
    canon_str(&canon, "records", origin->target);
    /* By id the window is only used for pace: the same ids are the same slice on any day. */
    if (slice->dimension == SLICE_TIME || slice->dimension == SLICE_PAGE)
        write_window(&canon, slice);
    canon_end(&canon);
}

/* ---- texts ---- */

/* Every text is written in the same buffer. A text that is kept is copied out of it; a text that
 * is only hashed is not. */
static struct buf *begin_text(struct plan_writer *writer)
{
    buf_clear(&writer->text);
    return &writer->text;
}

static bool keep_text(struct plan_writer *writer, struct str *text, struct error *err)
{
    if (!buf_ok(&writer->text, err))
        return false;
    *text = arena_copy(&writer->arena, buf_str(&writer->text));
    return text->data != NULL || arena_error(&writer->arena, err);
}

static bool hash_text(struct plan_writer *writer, struct str *hex, struct error *err)
{
    char *out = ARENA_ARRAY(&writer->arena, char, HASH_HEX_MAX);
    struct hash_sum sum;

    if (out == NULL)
        return arena_error(&writer->arena, err);
    if (!buf_ok(&writer->text, err) ||
        !hash_of_next(&writer->hash, buf_str(&writer->text), &sum, err))
        return false;
    hash_hex(&sum, out);
    *hex = (struct str){ out, HASH_HEX_MAX - 1 };
    return true;
}

static struct slice_spec spec_of(const struct plan_origin *origin, const struct plan_cut *cut)
{
    const struct spec *spec = origin->spec;
    const struct spec_page *page = &spec->endpoint.page;
    const struct slice *slice = cut->slice;
    const bool by_page = slice->dimension == SLICE_PAGE;
    const bool by_id = slice->dimension == SLICE_ID;
    const int64_t first = by_page ? slice->pages.from : page->base;

    return (struct slice_spec){
        .slice = slice,
        .pagination = page->type,
        .initial_offset = by_page ? (slice->pages.from - page->base) * page->size : 0,
        .initial_page = first,
        .initial = page->initial,
        .page_size = page->size,
        .is_base1 = page->base == 1,
        .is_two_phase = spec->is_two_phase || by_id,
        .id_batch_size = spec->is_two_phase ? spec->detail.batch.id_batch_size
                                            : spec->endpoint.batch.id_batch_size,
        .lag_us = spec->endpoint.window.lag_us,
        .watermark_key = spec->endpoint.window.key,
        .requests_max = spec->operation.budget_requests,
        .duration_max_us = spec->operation.budget_time_us,
        .priority = spec->operation.priority,
        .comment = cut->is_last_resort ? STR("cannot be cut any further") : STR(""),
    };
}

/* ---- rows ---- */

static bool fill_slice(struct plan_writer *writer, const struct plan_cut *cut,
                       struct plan_slice *row, struct error *err)
{
    const struct plan_origin *origin = &writer->origin;
    const struct slice_spec spec = spec_of(origin, cut);
    struct slice_identity identity = { .source = origin->plan->source,
                                       .endpoint = origin->plan->endpoint,
                                       .operation = origin->plan->operation };

    *row = (struct plan_slice){
        .plan_id = origin->plan->id,
        .parent_id = origin->parent_id,
        .source = origin->plan->source,
        .number = origin->first_number + writer->slices_added + (int64_t)writer->count,
        .dimension = cut->slice->dimension,
        .window = cut->slice->dimension == SLICE_TIME ? cut->slice->window : (struct window){ 0 },
        .status = SLICE_READY,
        .created_us = origin->now_us,
    };
    plan_expr_write(origin, cut, begin_text(writer));
    if (!keep_text(writer, &row->expr_snapshot, err) || !hash_text(writer, &row->expr_hash, err))
        return false;
    identity.expr_hash = row->expr_hash;
    slice_spec_write(&spec, begin_text(writer));
    if (!keep_text(writer, &row->spec, err))
        return false;
    slice_signature_write(&identity, &spec, begin_text(writer));
    return hash_text(writer, &row->signature_hash, err);
}

static void write_params(const struct plan_cut *cut, struct buf *out)
{
    const struct slice *slice = cut->slice;
    struct canon canon = canon_begin(out);

    switch (slice->dimension) {
    case SLICE_TIME:
        canon_instant(&canon, "from", slice->window.from_us);
        if (id_range_is_valid(slice->part) && slice->part.from != ID_LOWEST)
            canon_id(&canon, "fromId", slice->part.from);
        break;
    case SLICE_PAGE:
        canon_i64(&canon, "fromPage", slice->pages.from);
        break;
    case SLICE_ID:
        if (slice->ids.slicing == ID_SLICING_HASH) {
            canon_i64(&canon, "bucket", slice->ids.bucket);
            canon_i64(&canon, "buckets", slice->ids.bucket_count);
            canon_i64(&canon, "ids", (int64_t)cut->id_count);
        } else {
            canon_id(&canon, "fromId", slice->ids.from);
            canon_i64(&canon, "ids", (int64_t)cut->id_count);
        }
        break;
    case SLICE_FEED:
        canon_i64(&canon, "cursorVersion", cut->cursor_version);
        break;
    case SLICE_FILE:
        canon_str(&canon, "file", slice->file);
        break;
    }
    if (cut->is_last_resort)
        canon_bool(&canon, "lastResort", true);
    if (slice->dimension == SLICE_TIME) {
        canon_instant(&canon, "to", slice->window.to_us);
        if (id_range_is_valid(slice->part) && slice->part.to != ID_HIGHEST)
            canon_id(&canon, "toId", slice->part.to);
    } else if (slice->dimension == SLICE_PAGE)
        canon_i64(&canon, "toPage", slice->pages.to);
    else if (slice->dimension == SLICE_ID && slice->ids.slicing == ID_SLICING_RANGE)
        canon_id(&canon, "toId", slice->ids.to);
    canon_end(&canon);
}

static bool fill_task(struct plan_writer *writer, const struct plan_cut *cut,
                      const struct plan_slice *slice, struct task *row, struct error *err)
{
    const struct plan_origin *origin = &writer->origin;
    const struct plan *plan = origin->plan;
    const struct task_identity identity = { .slice_signature = slice->signature_hash,
                                            .expr_hash = slice->expr_hash,
                                            .operation = plan->operation,
                                            .purpose = plan->namespace_key,
                                            .generation = cut->generation };

    *row = (struct task){
        .schedule_instance_id = plan->schedule_instance_id,
        .plan_id = plan->id,
        .source = plan->source,
        .endpoint = plan->endpoint,
        .operation = plan->operation,
        .credential = credential_of(&origin->spec->endpoint.auth),
        .cursor_key = plan->cursor_key,
        .scope = plan->scope,
        .namespace_key = plan->namespace_key,
        .window = slice->window,
        .ids = cut->slice->part,
        .expr_hash = slice->expr_hash,
        .priority = origin->spec->operation.priority,
        .scheduled_us = cut->scheduled_us,
        .created_us = origin->now_us,
    };
    write_params(cut, begin_text(writer));
    if (!keep_text(writer, &row->params, err))
        return false;
    task_identity_write(&identity, begin_text(writer));
    return hash_text(writer, &row->idempotent_key, err);
}

/* ---- batches ---- */

void plan_writer_init(struct plan_writer *writer, struct store *store,
                      const struct plan_origin *origin)
{
    writer->store = store;
    writer->origin = *origin;
    arena_init(&writer->arena, BATCH_ARENA_MAX);
    arena_init(&writer->texts, BATCH_ARENA_MAX);
    buf_init(&writer->text, &writer->texts, TEXT_BYTES_MAX);
    writer->hash = (struct hash){ 0 };
    writer->count = 0;
    writer->slices_added = 0;
}

void plan_writer_release(struct plan_writer *writer)
{
    hash_release(&writer->hash);
    arena_release(&writer->texts);
    arena_release(&writer->arena);
}

static void tell(const struct plan_writer *writer)
{
    struct plan_watch *watch = writer->origin.watch;

    for (size_t i = 0; watch != NULL && i < writer->count; i++)
        watch->see(watch, &(struct plan_event){ .kind = PLAN_EVENT_SLICE,
                                                .plan = writer->origin.plan,
                                                .slice = &writer->slices[i],
                                                .task = &writer->tasks[i] });
}

static bool flush(struct plan_writer *writer, struct error *err)
{
    int64_t added;

    if (!store_slice_add(writer->store, writer->slices, writer->count, writer->slice_ids, &added,
                         err))
        return false;
    for (size_t i = 0; i < writer->count; i++)
        writer->tasks[i].slice_id = writer->slice_ids[i];
    writer->slices_added += (int64_t)writer->count;
    if (!store_task_add(writer->store, writer->tasks, writer->count, &added, err))
        return false;
    /* The namespace is locked and live windows were left out, so no other planner can have made
     * them. */
    if (added != (int64_t)writer->count)
        return error_set(err, ERROR_TRANSIENT, "plan.conflict",
                         "tasks of this plan are there already: another planner was faster");
    tell(writer);
    writer->count = 0;
    arena_reset(&writer->arena);
    return true;
}

bool plan_writer_add(struct plan_writer *writer, const struct plan_cut *cut, struct error *err)
{
    struct plan_slice *slice = &writer->slices[writer->count];

    if (!fill_slice(writer, cut, slice, err) ||
        !fill_task(writer, cut, slice, &writer->tasks[writer->count], err))
        return false;
    writer->count++;
    if (writer->count < PLAN_BATCH && writer->arena.used < BATCH_BYTES_FULL)
        return true;
    return flush(writer, err);
}

bool plan_writer_finish(struct plan_writer *writer, struct error *err)
{
    return writer->count == 0 || flush(writer, err);
}
