/* Random histories over random projections: applied in random batches, with repeats and in another
 * order of keys, the tables are what they are after one batch of everything, after a rebuild from
 * the stream, and what a model says that shares no code with patra. Where events are whole states
 * and deletions erase, any order will do.
 *
 * Two types of aggregates share a table, with the same ids; one event goes into two tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/system/system.h"
#include "core/lane.h"
#include "engine/rebuild/rebuild.h"
#include "port/store_outbox.h"
#include "seeded_random.h"
#include "sink_rig.h"
#include "stream_rig.h"

enum { KEYS = 6, EVENTS = 60, KIDS = 3, BODY = 200, ROUNDS = 40 };

/* What is random of a projection, and of its history. */
struct shape {
    bool erases, has_filter, not_null, has_child;
    bool is_state; /* no partial events; they come in any order */
    uint64_t seed; /* a part of the types of its aggregates */
};

struct happening { /* an event in the model's terms; -1: absent, -2: null */
    int key, version;
    char type; /* S(et), P(atch), D(rop) */
    int n, t, flag, kids;
    char body[BODY];
};

struct model_row {
    bool is_there, is_deleted, is_gone;
    int version, n, t, kids, kid_base;
    int both_n, both_t;     /* what a computed column was made of */
    int set_version, set_n; /* of the second table; 0: it has no row */
};

static struct seeded_random chance;

static int pick(int count)
{
    return (int)(random_source_u64(&chance.source) % (uint64_t)count);
}

/* ---- the model ---- */

static void model_columns(struct model_row *row, const struct happening *h, bool is_whole)
{
    row->n = h->n >= 0 ? h->n : h->n == -2 || is_whole ? -2 : row->n;
    row->t = h->t >= 0 ? h->t : h->t == -2 || is_whole ? -2 : row->t;
    if (is_whole || h->n != -1 || h->t != -1) {
        row->both_n = h->n;
        row->both_t = h->t;
    }
    if (is_whole || h->kids >= 0) {
        row->kids = h->kids >= 0 ? h->kids : 0;
        row->kid_base = h->version;
    }
}

/* Without the second table, which goes its own way. */
static void model_clear(struct model_row *row, struct model_row first)
{
    first.set_version = row->set_version;
    first.set_n = row->set_n;
    *row = first;
}

static void model_erase(struct model_row *row, int version)
{
    model_clear(row, (struct model_row){ .is_gone = true, .version = version });
}

/* Events of a key come by version, each once. */
static void model_apply(const struct shape *shape, struct model_row *row, const struct happening *h)
{
    const bool chosen = !shape->has_filter || h->flag == 1;
    const bool remembers = shape->erases || shape->has_filter || shape->not_null;

    if (h->type == 'S') {
        row->set_version = h->version;
        row->set_n = h->n;
    }
    if (h->type == 'S' && !chosen)
        model_erase(row, h->version);
    if (!chosen)
        return;
    if (h->type == 'D' && (shape->erases || (!row->is_there && remembers))) {
        model_erase(row, h->version);
        return;
    }
    if (!row->is_there)
        model_clear(row, (struct model_row){
                             .is_there = true, .n = -2, .t = -2, .both_n = -3, .both_t = -3 });
    model_columns(row, h, h->type == 'S');
    row->is_deleted = h->type == 'D';
    row->version = h->version;
}

/* "ak0": of the first type. */
static void key_name(int key, char name[8])
{
    (void)snprintf(name, 8, "%ck%d", key < KEYS / 2 ? 'a' : 'b', key % (KEYS / 2));
}

static void value_text(const char *prefix, int value, const char *otherwise, char text[16])
{
    if (value >= 0)
        (void)snprintf(text, 16, "%s%d", prefix, value);
    else
        (void)snprintf(text, 16, "%s", otherwise);
}

static void model_print_row(struct buf *out, const struct model_row *row, const char *key)
{
    char n[16], t[16], both_n[16], both_t[16];

    value_text("", row->n, "~", n);
    value_text("t", row->t, "~", t);
    value_text("", row->both_n, "", both_n);
    value_text("t", row->both_t, "", both_t);
    buf_printf(out, "%s|%d|%s|%s|", key, row->version, n, t);
    if (row->both_n == -3)
        buf_add(out, STR("~"));
    else
        buf_printf(out, "%s/%s", both_n, both_t);
    buf_printf(out, "|%d\n", row->is_deleted);
}

static struct str model_print(struct arena *arena, const struct shape *shape,
                              const struct model_row *rows)
{
    struct buf out;
    char key[8], n[16];

    buf_init(&out, arena, 1 << 20);
    for (int i = 0; i < KEYS; i++) {
        key_name(i, key);
        if (rows[i].is_there)
            model_print_row(&out, &rows[i], key);
    }
    for (int i = 0; i < KEYS; i++) {
        key_name(i, key);
        value_text("", rows[i].set_n, "~", n);
        if (rows[i].set_version > 0)
            buf_printf(&out, "set %s|%d|%s\n", key, rows[i].set_version, n);
    }
    for (int i = 0; i < KEYS && shape->has_child; i++) {
        key_name(i, key);
        for (int k = 0; rows[i].is_there && k < rows[i].kids; k++)
            buf_printf(&out, "kid %s|%d|%d\n", key, k + 1, rows[i].kid_base * 10 + k);
    }
    for (int i = 0; i < KEYS; i++) {
        key_name(i, key);
        if (rows[i].is_gone)
            buf_printf(&out, "gone %s|%d\n", key, rows[i].version);
    }
    return buf_str(&out);
}

/* ---- the tables ---- */

#define KEY "substr(aggregate_type, length(aggregate_type)) || aggregate_id"

static struct str table_print(struct sink_rig *rig, const struct shape *shape, const char *side)
{
    const bool has_gone = shape->erases || shape->has_filter || shape->not_null;
    char sql[512];
    struct buf out;

    buf_init(&out, &rig->batch, 1 << 20);
    (void)snprintf(sql, sizeof(sql),
                   "SELECT " KEY ", version, n, t, \"both\", %s FROM things%s ORDER BY 1",
                   shape->erases ? "0" : "CASE WHEN deleted THEN 1 ELSE 0 END", side);
    buf_add(&out, sink_rig_rows(rig, sql));
    (void)snprintf(sql, sizeof(sql), "SELECT 'set ' || " KEY ", version, n FROM sets%s ORDER BY 1",
                   side);
    buf_add(&out, sink_rig_rows(rig, sql));
    (void)snprintf(sql, sizeof(sql),
                   "SELECT 'kid ' || " KEY ", ordinal, v FROM kids%s ORDER BY 1, 2", side);
    if (shape->has_child)
        buf_add(&out, sink_rig_rows(rig, sql));
    (void)snprintf(sql, sizeof(sql),
                   "SELECT 'gone ' || " KEY ", version FROM things__gone%s ORDER BY 1", side);
    if (has_gone)
        buf_add(&out, sink_rig_rows(rig, sql));
    return buf_str(&out);
}

static const char *file_of(const struct shape *shape, char *text, size_t size)
{
    const char *where = shape->has_filter ? ", where: \"@.flag == 1\"" : "";
    const unsigned long long seed = shape->seed;

    (void)snprintf(
        text, size,
        "projection: things\ntables:\n  things:\n    on_delete: %s\n    columns:\n"
        "      n: { type: integer, path: $.n }\n"
        "      t: { type: text, path: $.t, not_null: %s }\n"
        "      both: { value: \"${column.n}/${column.t}\" }\n"
        "    from:\n"
        "      - { aggregates: [thing-%llu-*], events: [Set], effect: replace%s }\n"
        "      - { aggregates: [thing-%llu-a, thing-%llu-b], events: [Patch], effect: partial%s }\n"
        "      - { aggregates: [thing-%llu-*], events: [Drop], effect: delete%s }\n%s"
        "  sets:\n    columns: { n: { type: integer, path: $.n } }\n"
        "    from: [ { aggregates: [thing-%llu-*], events: [Set] } ]\n",
        shape->erases ? "remove" : "mark", shape->not_null ? "true" : "false", seed, where, seed,
        seed, where, seed, where,
        shape->has_child ? "    children: { kids: { each: \"$.kids[*]\", columns: { v: { type: "
                           "integer, path: $ } } } }\n"
                         : "",
        seed);
    return text;
}

/* ---- histories ---- */

static int any_value(const struct shape *shape, bool is_required)
{
    const int kind = pick(4);

    if (shape->not_null && is_required)
        return pick(90);
    return kind == 0 ? -1 : kind == 1 ? -2 : pick(90);
}

static void print_member(struct buf *out, const char *name, const char *prefix, int value)
{
    if (value == -2)
        buf_printf(out, ",\"%s\":null", name);
    else if (value >= 0)
        buf_printf(out, ",\"%s\":%s%d%s", name, prefix, value, prefix[0] != '\0' ? "\"" : "");
}

static void print_body(struct happening *h)
{
    struct arena arena;
    struct buf out;

    arena_init(&arena, 1 << 16);
    buf_init(&out, &arena, BODY - 1);
    buf_printf(&out, "{\"flag\":%d", h->flag);
    print_member(&out, "n", "", h->n);
    print_member(&out, "t", "\"t", h->t);
    for (int i = 0; i < h->kids; i++)
        buf_printf(&out, "%s%d", i == 0 ? ",\"kids\":[" : ",", h->version * 10 + i);
    buf_add(&out, h->kids > 0 ? STR("]}") : h->kids == 0 ? STR(",\"kids\":[]}") : STR("}"));
    REQUIRE(!out.failed, "a short body");
    (void)snprintf(h->body, BODY, "%.*s", STR_ARG(buf_str(&out)));
    arena_release(&arena);
}

/* Of a column that may not be NULL every event has a value: a first partial one needs it. */
static void make_history(const struct shape *shape, struct happening *history)
{
    int versions[KEYS] = { 0 };

    for (int i = 0; i < EVENTS; i++) {
        struct happening *h = &history[i];

        h->key = pick(KEYS);
        h->version = versions[h->key] += 1 + pick(3);
        h->type = (shape->is_state ? "SSSSDD" : "SSPPPD")[pick(6)];
        h->n = any_value(shape, false);
        h->t = any_value(shape, true);
        h->flag = pick(3) > 0;
        h->kids = pick(KIDS + 2) - 1;
        print_body(h);
    }
}

static struct project_event event_of(const struct shape *shape, struct arena *arena,
                                     const struct happening *h)
{
    static const char *const IDS[KEYS / 2] = { "k0", "k1", "k2" };

    return (struct project_event){
        .aggregate_type = arena_printf(arena, "thing-%llu-%c", (unsigned long long)shape->seed,
                                       h->key < KEYS / 2 ? 'a' : 'b'),
        .aggregate_id = str_of(IDS[h->key % (KEYS / 2)]),
        .event_id = arena_printf(arena, "019b%04x-%04x-7000-8000-%012x", (unsigned)shape->seed,
                                 (unsigned)h->key, (unsigned)h->version),
        .event_type = h->type == 'S'   ? STR("Set")
                      : h->type == 'P' ? STR("Patch")
                                       : STR("Drop"),
        .version = h->version,
        .occurred_us = NOW_US,
        .body = str_of(h->body),
    };
}

/* Neighbours of different keys change places. */
static void shuffle(struct happening *history)
{
    for (int i = 0; i < 4 * EVENTS; i++) {
        const int at = pick(EVENTS - 1);
        const struct happening first = history[at];

        if (history[at].key == history[at + 1].key)
            continue;
        history[at] = history[at + 1];
        history[at + 1] = first;
    }
}

static int by_version(const void *a, const void *b)
{
    const struct project_event *one = a, *other = b;

    return (one->version > other->version) - (one->version < other->version);
}

/* As a consumer delivers: the events of a batch by version. */
static void deliver(struct sink_rig *rig, struct project_event *events, int count)
{
    qsort(events, (size_t)count, sizeof(events[0]), by_version);
    REQUIRE_OK(sink_rig_deliver(rig, events, (size_t)count), rig->err);
}

/* Forward in batches of any size; a batch may begin again with events that were delivered. */
static void deliver_in_batches(struct sink_rig *rig, const struct shape *shape,
                               const struct happening *history)
{
    struct project_event events[EVENTS];
    int done = 0;

    while (done < EVENTS) {
        const int from = pick(3) == 0 ? pick(done + 1) : done;
        const int size = 1 + pick(15);
        const int to = from + size < EVENTS ? from + size : EVENTS;

        for (int i = from; i < to; i++)
            events[i - from] = event_of(shape, &rig->arena, &history[i]);
        deliver(rig, events, to - from);
        done = to > done ? to : done;
    }
}

/* The same from any place to any other, until each was there. */
static void deliver_in_any_order(struct sink_rig *rig, const struct shape *shape,
                                 const struct happening *history)
{
    bool is_delivered[EVENTS] = { false };
    int left = EVENTS;

    while (left > 0) {
        struct project_event events[EVENTS];
        bool is_chosen[EVENTS] = { false };
        int count = 0;

        for (int size = 1 + pick(8); size > 0; size--)
            is_chosen[pick(EVENTS)] = true;
        for (int i = 0; i < EVENTS; i++) {
            if (!is_chosen[i])
                continue;
            events[count++] = event_of(shape, &rig->arena, &history[i]);
            left -= !is_delivered[i];
            is_delivered[i] = true;
        }
        deliver(rig, events, count);
    }
}

static void deliver_at_once(struct sink_rig *rig, const struct shape *shape,
                            const struct happening *history)
{
    struct project_event events[EVENTS];

    for (int i = 0; i < EVENTS; i++)
        events[i] = event_of(shape, &rig->arena, &history[i]);
    REQUIRE_OK(sink_rig_deliver(rig, events, EVENTS), rig->err);
}

/* ---- the stream, and a rebuild from it ---- */

static void publish(struct sink_rig *rig, struct sequencer *sequencer, struct store *store,
                    const struct shape *shape, const struct happening *history)
{
    struct foreign_event events[EVENTS];
    struct error err;
    int64_t added;

    for (int i = 0; i < EVENTS; i++) {
        const struct project_event e = event_of(shape, &rig->arena, &history[i]);

        events[i] = (struct foreign_event){
            .aggregate_type = e.aggregate_type,
            .aggregate_id = e.aggregate_id,
            .event = { .event_id = e.event_id,
                       .event_type = e.event_type,
                       .version = e.version,
                       .schema_version = 1,
                       .lane = lane_of(e.aggregate_type, e.aggregate_id),
                       .occurred_us = NOW_US,
                       .body = e.body },
        };
    }
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_outbox_add(store, events, EVENTS, &added, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(stream_rig_round(sequencer, NOW_US).appended, EVENTS, "in the stream");
}

static void rebuild_tables(struct sink_rig *rig, struct store *store)
{
    struct clock clock = system_clock();
    struct store *sink = contract_open(rig->dsn);
    const struct rebuild_request request = { .store = store,
                                             .sink = sink,
                                             .spec = &rig->spec,
                                             .hash = str_of(rig->text.hash),
                                             .clock = &clock };
    struct rebuild_result result;
    bool swapped;

    REQUIRE_OK(rebuild(&rig->batch, &request, &result, &swapped, &rig->err), rig->err);
    CHECK(swapped, "swapped");
    store_close(sink);
}

/* ---- all of it ---- */

struct world {
    struct sink_rig rig;
    struct store *store; /* whose stream it is */
    struct sequencer *sequencer;
};

static struct shape any_shape(uint64_t seed)
{
    struct shape shape = { .seed = seed };

    shape.erases = pick(2);
    shape.has_filter = pick(2);
    shape.not_null = pick(3) == 0;
    shape.has_child = pick(2);
    shape.is_state = shape.erases && pick(2) == 0;
    return shape;
}

static void check_tables(struct sink_rig *rig, const struct shape *shape,
                         const struct model_row *rows, const char *side, const char *what)
{
    char label[64];

    (void)snprintf(label, sizeof(label), "seed %llu, %s", (unsigned long long)shape->seed, what);
    arena_reset(&rig->batch);
    CHECK_STR(table_print(rig, shape, side), model_print(&rig->batch, shape, rows), label);
}

static void run_round(struct world *world, uint64_t seed)
{
    struct model_row rows[KEYS] = { { 0 } };
    struct sink_rig *rig = &world->rig;
    struct happening history[EVENTS];
    struct shape shape;
    char file[2048];

    seeded_random_init(&chance, seed);
    shape = any_shape(seed);
    REQUIRE_OK(sink_rig_apply(rig, file_of(&shape, file, sizeof(file))), rig->err);
    REQUIRE_OK(store_sink_copy(rig->sink, &rig->arena, &rig->spec, &rig->err), rig->err);
    make_history(&shape, history);
    for (int i = 0; i < EVENTS; i++)
        model_apply(&shape, &rows[history[i].key], &history[i]);
    publish(rig, world->sequencer, world->store, &shape, history);
    sink_rig_side(rig, SINK_NEW);
    deliver_at_once(rig, &shape, history);
    check_tables(rig, &shape, rows, "__new", "at once");
    sink_rig_side(rig, SINK_LIVE);
    shuffle(history);
    if (shape.is_state)
        deliver_in_any_order(rig, &shape, history);
    else
        deliver_in_batches(rig, &shape, history);
    check_tables(rig, &shape, rows, "", "one by one");
    rebuild_tables(rig, world->store);
    check_tables(rig, &shape, rows, "", "rebuilt");
    REQUIRE_OK(store_sink_remove(rig->sink, &rig->arena, &rig->spec, &rig->err), rig->err);
}

TEST(random_histories_give_what_a_model_says_however_they_are_delivered)
{
    const int rounds = test_rounds(TEST_IS_SLOW ? ROUNDS / 4 : ROUNDS);
    struct world world;

    sink_rig_begin(&world.rig,
                   "projection: first\ntables: { first: { from: [{ aggregates: [a] }] } }\n");
    world.store = contract_open(world.rig.dsn);
    world.sequencer = stream_rig_sequencer(world.store, "one");
    for (int i = 0; i < rounds && test_failures() == 0; i++)
        run_round(&world, (uint64_t)i + 1);
    sequencer_close(world.sequencer);
    store_close(world.store);
    sink_rig_end(&world.rig);
}
