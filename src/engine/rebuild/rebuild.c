/* A rebuild: pages of the stream and of records into the copies, then the swap. */
#include "engine/rebuild/rebuild.h"

#include "engine/message/wire.h"
#include "engine/project/digest.h"
#include "engine/project/project.h"
#include "engine/rebuild/record_source.h"
#include "engine/rebuild/state.h"
#include "port/store_offset.h"
#include "port/store_stream.h"
#include "port/store_subscription.h"

enum {
    LANE_EVENTS = 200, /* of a page */
    PAGE_BYTES = 16 << 20,
    SWAP_TRIES = 200,
    KEEP_BYTES = 16 << 20,
    COMPARED = 64 /* buckets */
};

/* Between two tries: who waited for the one goes on before the other. */
#define SWAP_PAUSE_US (US_PER_SECOND / 10)

struct rebuilding {
    const struct rebuild_request *request;
    struct arena *page; /* of one page */
    struct arena whole; /* lives to the end */
    struct arena keep;  /* texts of the state */
    const struct projector *projector;
    const struct sink_tables *copies;
    struct rebuild_state state;
    struct rebuild_result *result;
    struct error *err;
};

/* ---- events ---- */

static bool add_event(struct rebuilding *r, const struct stored_event *stored,
                      struct project_event *events, size_t *count)
{
    static const struct wire_settings PLAIN;
    const bool is_foreign = stored->aggregate_type.len > 0;
    const struct str type = is_foreign ? stored->aggregate_type
                                       : arena_printf(r->page, "%.*s/%.*s", STR_ARG(stored->source),
                                                      STR_ARG(stored->endpoint));
    struct wire_message message;

    if (type.data == NULL)
        return arena_error(r->page, r->err);
    if (!projection_has(r->request->spec, type))
        return true;
    if (!wire_make(r->page, &PLAIN, stored, &message, r->err))
        return false;
    events[(*count)++] = (struct project_event){ .aggregate_type = type,
                                                 .aggregate_id = message.key,
                                                 .event_id = stored->event.event_id,
                                                 .event_type = stored->event.event_type,
                                                 .version = stored->event.version,
                                                 .occurred_us = stored->event.occurred_us,
                                                 .body = message.body };
    return true;
}

static void note_skipped(struct rebuilding *r, const struct project_event *event)
{
    if (r->result->skipped++ > 0)
        return;
    (void)error_wrap(r->err, "%.*s", STR_ARG(event->aggregate_id));
    r->result->skipped_example = *r->err;
}

/* Leaves out the events that cannot be applied, each tried by itself. */
static bool leave_out(struct rebuilding *r, struct project_event *events, size_t *count)
{
    size_t kept = 0, failed;

    for (size_t i = 0; i < *count; i++) {
        struct sink_batch batch;

        if (project_batch(r->projector, r->page, &events[i], 1, &batch, &failed, r->err)) {
            events[kept++] = events[i];
            continue;
        }
        if (r->err->level != ERROR_DATA)
            return false;
        note_skipped(r, &events[i]);
    }
    *count = kept;
    return true;
}

static bool make_rows(struct rebuilding *r, struct project_event *events, size_t count,
                      struct sink_batch *batch)
{
    size_t failed;

    if (project_batch(r->projector, r->page, events, count, batch, &failed, r->err))
        return true;
    return r->err->level == ERROR_DATA && leave_out(r, events, &count) &&
           project_batch(r->projector, r->page, events, count, batch, &failed, r->err);
}

static bool write_rows(struct rebuilding *r, struct store *sink, const struct sink_tables *tables,
                       struct project_event *events, size_t count)
{
    struct sink_written written = { 0 };
    struct sink_batch batch;

    if (!make_rows(r, events, count, &batch) ||
        !store_sink_write(sink, r->page, tables, &batch, &written, r->err))
        return false;
    r->result->rows += written.changed;
    return true;
}

/* ---- the state ---- */

static bool save_state(struct rebuilding *r, struct store *sink)
{
    struct sink_projection projection;
    struct rebuild_state there;
    struct str json;
    bool found;

    r->state.at_us = clock_now_us(r->request->clock);
    if (!rebuild_state_write(r->page, &r->state, &json, r->err) ||
        !store_sink_find(sink, r->page, r->request->spec->name, &projection, &found, r->err))
        return false;
    if (!found || !rebuild_state_read(r->page, projection.rebuild, &there) ||
        there.run != r->state.run)
        return error_set(r->err, ERROR_REQUEST, "rebuild.overtaken",
                         "another rebuild of %.*s has begun", STR_ARG(r->request->spec->name));
    return store_sink_set_rebuild(sink, r->request->spec->name, json, &found, r->err);
}

/* A transaction: rows, and with them how far the rebuild is. */
static bool commit_rows(struct rebuilding *r, struct project_event *events, size_t count,
                        bool with_state)
{
    struct store *sink = r->request->sink;

    if (!store_begin(sink, r->err))
        return false;
    if ((!with_state || save_state(r, sink)) && write_rows(r, sink, r->copies, events, count) &&
        store_commit(sink, r->err))
        return true;
    store_rollback(sink);
    return false;
}

/* One page. Events that break a rule of the table (a first partial one without a column that may
 * not be NULL) are left out too: then the events are committed one by one, and the state last. */
static bool commit_page(struct rebuilding *r, struct project_event *events, size_t count)
{
    if (commit_rows(r, events, count, true))
        return true;
    if (!store_error_is_constraint(r->err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (commit_rows(r, &events[i], 1, false))
            continue;
        if (!store_error_is_constraint(r->err))
            return false;
        note_skipped(r, &events[i]);
    }
    return commit_rows(r, events, 0, true);
}

static bool begin_state(struct rebuilding *r)
{
    const struct rebuild_request *request = r->request;
    struct rebuild_state *state = &r->state;
    struct sink_projection projection;
    bool found;

    if (!store_sink_find(request->sink, &r->whole, request->spec->name, &projection, &found,
                         r->err))
        return false;
    if (!found || !str_eq(projection.hash, request->hash))
        return error_set(r->err, ERROR_REQUEST, "rebuild.spec",
                         "the tables of %.*s are those of another spec: apply it first",
                         STR_ARG(request->spec->name));
    r->result->is_continued = rebuild_state_read(&r->whole, projection.rebuild, state) &&
                              str_eq(state->hash, request->hash) && !state->is_swapped;
    if (!r->result->is_continued) {
        *state = (struct rebuild_state){ .hash = request->hash };
        if (!store_stream_begins(request->store, state->pos, r->err))
            return false;
        for (int lane = 0; lane < OUTBOX_LANES; lane++)
            state->has_records |= state->pos[lane] > 0;
    }
    state->run = state->at_us = clock_now_us(request->clock);
    return true;
}

/* Copies and state are there together, or neither. */
static bool begin(struct rebuilding *r)
{
    const struct rebuild_request *request = r->request;
    struct str json;
    bool found;

    if (!begin_state(r) ||
        (r->state.has_records && !record_source_check(r->page, request, r->err)) ||
        !rebuild_state_write(r->page, &r->state, &json, r->err) ||
        !store_begin(request->sink, r->err))
        return false;
    if ((r->result->is_continued ||
         store_sink_copy(request->sink, r->page, request->spec, r->err)) &&
        store_sink_set_rebuild(request->sink, request->spec->name, json, &found, r->err) &&
        store_commit(request->sink, r->err))
        return true;
    store_rollback(request->sink);
    return false;
}

/* ---- pages ---- */

static bool count_behind(struct rebuilding *r)
{
    int64_t ends[OUTBOX_LANES];

    if (!store_stream_ends(r->request->store, ends, r->err))
        return false;
    r->result->behind = 0;
    for (int lane = 0; lane < OUTBOX_LANES; lane++)
        r->result->behind += ends[lane] > r->state.pos[lane] ? ends[lane] - r->state.pos[lane] : 0;
    return true;
}

/* Events after the state's positions, which move; *count is 0 at the end of the stream. */
static bool read_page(struct rebuilding *r, struct store *store, struct project_event **events,
                      size_t *count, bool *is_end)
{
    struct stream_place places[OUTBOX_LANES];
    const struct stream_read read = { places, OUTBOX_LANES, LANE_EVENTS, PAGE_BYTES };
    struct stream_event_list list;

    *count = 0;
    for (int lane = 0; lane < OUTBOX_LANES; lane++)
        places[lane] = (struct stream_place){ lane, r->state.pos[lane] };
    if (!store_stream_read(store, r->page, &read, &list, r->err))
        return false;
    *events = ARENA_ARRAY(r->page, struct project_event, list.count);
    if (*events == NULL)
        return arena_error(r->page, r->err);
    for (size_t i = 0; i < list.count; i++) {
        if (!add_event(r, &list.items[i].stored, *events, count))
            return false;
        r->state.pos[list.items[i].lane] = list.items[i].pos;
    }
    r->result->events += (int64_t)list.count;
    *is_end = list.count == 0;
    return true;
}

static bool goes_on(struct rebuilding *r)
{
    struct rebuild_listener *listener = r->request->listener;

    return listener == NULL || listener->page(listener, r->result);
}

static bool follow_stream(struct rebuilding *r, bool *stopped)
{
    bool is_end = false;

    while (!is_end && !*stopped) {
        struct project_event *events;
        size_t count;

        arena_reset(r->page);
        if (!read_page(r, r->request->store, &events, &count, &is_end) ||
            (!is_end && !commit_page(r, events, count)) || !count_behind(r))
            return false;
        *stopped = !goes_on(r);
    }
    return true;
}

static bool read_records(struct rebuilding *r, bool *stopped)
{
    while (r->state.has_records && !r->state.records_done && !*stopped) {
        struct record_page page;

        arena_reset(r->page);
        if (!record_source_next(r->page, &r->keep, r->request, &r->state, &page, r->err))
            return false;
        r->state.hash = r->request->hash;
        if (!commit_page(r, page.items, page.count))
            return false;
        r->result->records += (int64_t)page.count;
        r->result->skipped += page.unread;
        *stopped = !goes_on(r);
    }
    return true;
}

/* ---- comparing and swapping ---- */

static bool compare(struct rebuilding *r, struct store *live, const struct sink_tables *tables)
{
    struct bucket_digest before[COMPARED], after[COMPARED];

    if (!digest_table(live, r->page, tables, 0, COMPARED, before, r->err) ||
        !digest_table(r->request->sink, r->page, r->copies, 0, COMPARED, after, r->err))
        return false;
    for (int i = 0; i < COMPARED; i++) {
        r->result->live_keys += before[i].keys;
        r->result->new_keys += after[i].keys;
        r->result->buckets_differ += !digest_is_same(&before[i], &after[i]);
    }
    return true;
}

/* Everything that the stream has after the state's positions, within the transaction. */
static bool catch_up(struct rebuilding *r, struct store *live, const struct sink_tables *tables)
{
    bool is_end = false;

    while (!is_end) {
        struct project_event *events;
        size_t count;

        arena_reset(r->page);
        if (!read_page(r, r->request->store, &events, &count, &is_end) ||
            !write_rows(r, live, tables, events, count))
            return false;
    }
    return true;
}

/* The tables change places and get what the stream has got meanwhile: nobody else can write to them
 * until the commit, and whatever was applied to the old ones came from the stream before. From here
 * on the old ones are behind, which is noted for the way back. */
static bool swap_forth(struct rebuilding *r, struct store *live, const struct sink_tables *tables)
{
    if (!store_sink_swap(live, r->page, r->request->spec, r->err) || !catch_up(r, live, tables))
        return false;
    r->state.is_swapped = true;
    return save_state(r, live);
}

static bool swap_back(struct rebuilding *r, struct store *live, const struct sink_tables *tables)
{
    bool found;

    return store_sink_swap_back(live, r->page, r->request->spec, r->err) &&
           catch_up(r, live, tables) &&
           store_sink_set_rebuild(live, r->request->spec->name, (struct str){ 0 }, &found, r->err);
}

typedef bool swapping(struct rebuilding *r, struct store *live, const struct sink_tables *tables);

/* First the lanes: consumers finish what they have begun, and begin nothing. They lock the tables
 * in the order of their events, and would hold some of them while the swap has others. */
static bool swap_once(struct rebuilding *r, struct store *live, const struct sink_tables *tables,
                      swapping *way)
{
    const struct offset_key key = { SUBSCRIPTION_GROUP, r->request->spec->name };
    const struct rebuild_state before = r->state;

    if (!store_begin(live, r->err))
        return false;
    if (store_offset_hold_all(live, &key, r->err) && way(r, live, tables) &&
        store_commit(live, r->err))
        return true;
    store_rollback(live);
    r->state = before;
    return false;
}

/* After a failure: somebody was in the way; or an event that came last cannot be applied, which the
 * copies can be told by themselves. */
static bool is_worth_another(struct rebuilding *r, swapping *way)
{
    bool stopped = false;

    if (store_error_is_constraint(r->err) && way == swap_forth)
        return follow_stream(r, &stopped) && !stopped;
    return r->err->level == ERROR_TRANSIENT;
}

/* A reader that holds a table for long makes the swap give up before the reader would have to. Each
 * try begins with copies that are up to date: readers wait for what it has to add. */
static bool swap(struct rebuilding *r, swapping *way)
{
    const struct sink_tables *tables;
    struct store *live = NULL;
    bool ok = false, stopped = false; /* too late for that */

    arena_reset(r->page);
    if (!store_another(r->request->sink, &live, r->err))
        return false;
    if (store_sink_tables(live, r->request->spec, SINK_LIVE, &tables, r->err) &&
        (way == swap_back || compare(r, live, tables))) {
        for (int i = 0; i < SWAP_TRIES && !ok; i++) {
            r->result->tries = i;
            if (way == swap_forth && !follow_stream(r, &stopped))
                break;
            ok = swap_once(r, live, tables, way);
            if (!ok && (!is_worth_another(r, way) ||
                        !clock_sleep_us(r->request->clock, SWAP_PAUSE_US, CLOCK_NO_WAKE)))
                break;
        }
    }
    store_close(live);
    return ok;
}

static bool run(struct rebuilding *r, bool *is_swapped)
{
    bool stopped = false;

    if (!project_compile(&r->whole, r->request->spec, &r->projector, r->err) ||
        !store_sink_tables(r->request->sink, r->request->spec, SINK_NEW, &r->copies, r->err))
        return false;
    if (!begin(r) || !follow_stream(r, &stopped) || !read_records(r, &stopped))
        return false;
    if (stopped)
        return true;
    *is_swapped = swap(r, swap_forth);
    return *is_swapped;
}

static void begin_arenas(struct rebuilding *r)
{
    arena_init(&r->whole, KEEP_BYTES);
    arena_init(&r->keep, KEEP_BYTES);
}

static void end_arenas(struct rebuilding *r)
{
    arena_release(&r->keep);
    arena_release(&r->whole);
}

bool rebuild(struct arena *arena, const struct rebuild_request *request,
             struct rebuild_result *result, bool *is_swapped, struct error *err)
{
    struct rebuilding r = { .request = request, .page = arena, .result = result, .err = err };
    bool ok;

    *result = (struct rebuild_result){ 0 };
    *is_swapped = false;
    begin_arenas(&r);
    ok = run(&r, is_swapped);
    end_arenas(&r);
    return ok || error_wrap(err, "rebuild %.*s", STR_ARG(request->spec->name));
}

static bool find_swapped(struct rebuilding *r)
{
    const struct rebuild_request *request = r->request;
    int64_t begins[OUTBOX_LANES];
    struct sink_projection projection;
    bool found, is_there = true;

    if (!store_sink_find(request->sink, &r->whole, request->spec->name, &projection, &found,
                         r->err) ||
        !store_stream_begins(request->store, begins, r->err))
        return false;
    if (!found || !rebuild_state_read(&r->whole, projection.rebuild, &r->state) ||
        !r->state.is_swapped || !str_eq(r->state.hash, request->hash))
        return error_set(
            r->err, ERROR_REQUEST, "rebuild.no_old",
            "there are no tables from before a rebuild of %.*s: it was not rebuilt since it was "
            "applied, or they are back already",
            STR_ARG(request->spec->name));
    for (int lane = 0; lane < OUTBOX_LANES; lane++)
        is_there &= begins[lane] <= r->state.pos[lane];
    return is_there || error_set(r->err, ERROR_REQUEST, "rebuild.pruned",
                                 "events since the rebuild were removed from the stream: the old "
                                 "tables of %.*s cannot be brought up to date",
                                 STR_ARG(request->spec->name));
}

bool rebuild_back(struct arena *arena, const struct rebuild_request *request,
                  struct rebuild_result *result, struct error *err)
{
    struct rebuilding r = { .request = request, .page = arena, .result = result, .err = err };
    bool ok;

    *result = (struct rebuild_result){ 0 };
    begin_arenas(&r);
    ok = project_compile(&r.whole, request->spec, &r.projector, err) && find_swapped(&r) &&
         swap(&r, swap_back);
    end_arenas(&r);
    return ok || error_wrap(err, "bring back the tables of %.*s", STR_ARG(request->spec->name));
}
