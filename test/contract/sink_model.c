/* Random histories over random projections: applied in random batches, with repeats and in another
 * order of keys, a table is what it is after one batch of everything, and what a model says that
 * shares no code with patra. */
#include <stdio.h>
#include <string.h>

#include "seeded_random.h"
#include "sink_rig.h"

enum { KEYS = 6, EVENTS = 60, KIDS = 3, BODY = 200, ROUNDS = 40 };

/* What is random of a projection. */
struct shape {
    bool erases, has_filter, not_null, has_child;
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
    if (is_whole || h->kids >= 0) {
        row->kids = h->kids >= 0 ? h->kids : 0;
        row->kid_base = h->version;
    }
}

static void model_erase(struct model_row *row, int version)
{
    *row = (struct model_row){ .is_gone = true, .version = version };
}

/* Events of a key come by version, each once. */
static void model_apply(const struct shape *shape, struct model_row *row, const struct happening *h)
{
    const bool chosen = !shape->has_filter || h->flag == 1;
    const bool remembers = shape->erases || shape->has_filter || shape->not_null;

    if (h->type == 'S' && !chosen)
        model_erase(row, h->version);
    if (!chosen)
        return;
    if (h->type == 'D' && (shape->erases || (!row->is_there && remembers))) {
        model_erase(row, h->version);
        return;
    }
    if (!row->is_there)
        *row = (struct model_row){ .is_there = true, .n = -2, .t = -2 };
    model_columns(row, h, h->type == 'S');
    row->is_deleted = h->type == 'D';
    row->version = h->version;
}

static struct str model_print(struct arena *arena, const struct shape *shape,
                              const struct model_row *rows)
{
    struct buf out;

    buf_init(&out, arena, 1 << 20);
    for (int i = 0; i < KEYS; i++) {
        char n[16] = "~", t[16] = "~";

        if (!rows[i].is_there)
            continue;
        if (rows[i].n >= 0)
            (void)snprintf(n, sizeof(n), "%d", rows[i].n);
        if (rows[i].t >= 0)
            (void)snprintf(t, sizeof(t), "t%d", rows[i].t);
        buf_printf(&out, "k%d|%d|%s|%s|%d\n", i, rows[i].version, n, t, rows[i].is_deleted);
    }
    for (int i = 0; i < KEYS && shape->has_child; i++) {
        for (int k = 0; rows[i].is_there && k < rows[i].kids; k++)
            buf_printf(&out, "kid k%d|%d|%d\n", i, k + 1, rows[i].kid_base * 10 + k);
    }
    for (int i = 0; i < KEYS; i++) {
        if (rows[i].is_gone)
            buf_printf(&out, "gone k%d|%d\n", i, rows[i].version);
    }
    return buf_str(&out);
}

/* ---- the table ---- */

static struct str table_print(struct sink_rig *rig, const struct shape *shape, const char *side)
{
    const bool has_gone = shape->erases || shape->has_filter || shape->not_null;
    char sql[512];
    struct buf out;

    buf_init(&out, &rig->batch, 1 << 20);
    (void)snprintf(sql, sizeof(sql),
                   "SELECT aggregate_id, version, n, t, %s FROM things%s ORDER BY 1",
                   shape->erases ? "0" : "CASE WHEN deleted THEN 1 ELSE 0 END", side);
    buf_add(&out, sink_rig_rows(rig, sql));
    (void)snprintf(sql, sizeof(sql),
                   "SELECT 'kid ' || aggregate_id, ordinal, v FROM kids%s ORDER BY aggregate_id, 2",
                   side);
    if (shape->has_child)
        buf_add(&out, sink_rig_rows(rig, sql));
    (void)snprintf(sql, sizeof(sql),
                   "SELECT 'gone ' || aggregate_id, version FROM things__gone%s ORDER BY 1", side);
    if (has_gone)
        buf_add(&out, sink_rig_rows(rig, sql));
    return buf_str(&out);
}

static const char *file_of(const struct shape *shape, char *text, size_t size)
{
    const char *where = shape->has_filter ? ", where: \"@.flag == 1\"" : "";

    (void)snprintf(
        text, size,
        "projection: things\ntables:\n  things:\n    on_delete: %s\n    columns:\n"
        "      n: { type: integer, path: $.n }\n"
        "      t: { type: text, path: $.t, not_null: %s }\n"
        "    from:\n"
        "      - { aggregates: [th*], events: [Set], effect: replace%s }\n"
        "      - { aggregates: [thing], events: [Patch], effect: partial%s }\n"
        "      - { aggregates: [thing], events: [Drop], effect: delete%s }\n%s",
        shape->erases ? "remove" : "mark", shape->not_null ? "true" : "false", where, where, where,
        shape->has_child ? "    children: { kids: { each: \"$.kids[*]\", columns: { v: { type: "
                           "integer, path: $ } } } }\n"
                         : "");
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
        h->type = "SSPPPD"[pick(6)];
        h->n = any_value(shape, false);
        h->t = any_value(shape, true);
        h->flag = pick(3) > 0;
        h->kids = pick(KIDS + 2) - 1;
        print_body(h);
    }
}

static struct project_event event_of(const struct happening *h)
{
    static const char *const KEY_NAMES[KEYS] = { "k0", "k1", "k2", "k3", "k4", "k5" };

    return (struct project_event){ .aggregate_type = STR("thing"),
                                   .aggregate_id = str_of(KEY_NAMES[h->key]),
                                   .event_id = STR("019b0000-0000-7000-8000-000000000001"),
                                   .event_type = h->type == 'S'   ? STR("Set")
                                                 : h->type == 'P' ? STR("Patch")
                                                                  : STR("Drop"),
                                   .version = h->version,
                                   .occurred_us = NOW_US,
                                   .body = str_of(h->body) };
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

/* Forward in batches of any size; a batch may begin again with events that were delivered. */
static void deliver_in_batches(struct sink_rig *rig, const struct happening *history)
{
    struct project_event events[2 * EVENTS];
    int done = 0;

    while (done < EVENTS) {
        const int from = pick(3) == 0 ? pick(done + 1) : done;
        const int size = 1 + pick(15);
        const int to = from + size < EVENTS ? from + size : EVENTS;

        for (int i = from; i < to; i++)
            events[i - from] = event_of(&history[i]);
        REQUIRE_OK(sink_rig_deliver(rig, events, (size_t)(to - from)), rig->err);
        done = to > done ? to : done;
    }
}

static void deliver_at_once(struct sink_rig *rig, const struct happening *history)
{
    struct project_event events[EVENTS];

    for (int i = 0; i < EVENTS; i++)
        events[i] = event_of(&history[i]);
    REQUIRE_OK(sink_rig_deliver(rig, events, EVENTS), rig->err);
}

static void run_round(struct sink_rig *rig, uint64_t seed)
{
    struct model_row rows[KEYS] = { { 0 } };
    struct happening history[EVENTS];
    struct shape shape;
    char file[2048], label[64];
    struct str live, copy, wanted;

    seeded_random_init(&chance, seed);
    shape = (struct shape){ pick(2), pick(2), pick(3) == 0, pick(2) };
    (void)snprintf(label, sizeof(label), "seed %llu", (unsigned long long)seed);
    REQUIRE_OK(sink_rig_apply(rig, file_of(&shape, file, sizeof(file))), rig->err);
    REQUIRE_OK(store_sink_copy(rig->sink, &rig->arena, &rig->spec, &rig->err), rig->err);
    make_history(&shape, history);
    for (int i = 0; i < EVENTS; i++)
        model_apply(&shape, &rows[history[i].key], &history[i]);
    sink_rig_side(rig, SINK_NEW);
    deliver_at_once(rig, history);
    sink_rig_side(rig, SINK_LIVE);
    shuffle(history);
    deliver_in_batches(rig, history);
    arena_reset(&rig->batch);
    live = table_print(rig, &shape, "");
    copy = table_print(rig, &shape, "__new");
    wanted = model_print(&rig->batch, &shape, rows);
    CHECK_STR(live, wanted, label);
    CHECK_STR(copy, wanted, label);
    REQUIRE_OK(store_sink_remove(rig->sink, &rig->arena, &rig->spec, &rig->err), rig->err);
}

TEST(random_histories_give_what_a_model_says_however_they_are_delivered)
{
    const int rounds = test_rounds(TEST_IS_SLOW ? ROUNDS / 4 : ROUNDS);
    struct sink_rig rig;

    sink_rig_begin(&rig, "projection: first\ntables: { first: { from: [{ aggregates: [a] }] } }\n");
    for (int i = 0; i < rounds && test_failures() == 0; i++)
        run_round(&rig, (uint64_t)i + 1);
    sink_rig_end(&rig);
}
