/* store_sink: the tables of projections: made, changed, written, compared, replaced.
 *
 * A sink is a session on the database where a projection's tables are: the store itself, or another
 * database (adapter/sink_open.h), which then has these tables and those of offsets, readers, parked
 * keys, dead letters and the inbox (port/store_offset.h and port/store_parked.h work on it), and
 * nothing else. So rows, inbox and offset are one transaction, wherever the tables are.
 *
 *      store_sink_plan()      what has to be done so that the tables are as a spec says
 *      store_sink_set_up()    does it, and remembers the spec;  store_sink_find() reads that back
 *      store_sink_join()      offsets for a subscription, where the store's own are elsewhere
 *      store_sink_remove()    drops what patra made
 *
 *      store_sink_tables()    a handle on the tables of a spec, for everything below
 *      store_sink_write()     applies rows
 *      store_sink_inbox()     remembers events, and returns which of them are new
 *      store_sink_row()       one key: which version is there?
 *      store_sink_digest()    keys and versions, as a number per bucket (port/key_digest.h)
 *      store_sink_pick()      those of some buckets
 *      store_sink_forget()    a key that the table should not know
 *
 *      store_sink_copy()      empty copies beside the live tables, "NAME__new"
 *      store_sink_swap()      the copies become the live tables, these become "NAME__old"
 *      store_sink_swap_back() the old ones become the live tables again
 *
 * What a write promises:
 *
 * Versions. A row changes only by an event with a higher version than the one it shows. A deletion
 * keeps the version, in the row (marked) or beside the table ("NAME__gone"): an earlier event that
 * arrives late revives nothing, a repeated one changes nothing. Children are replaced only when the
 * event of their row won.
 *
 * Owners. The writer owns the lanes of its keys: its transaction has begun with store_offset_save()
 * or store_offset_renew() for them, or nobody else writes at all (a rebuild's copies). A row that
 * two transactions write at once is guarded by its version also without that, a key without a row
 * is not.
 *
 * Readers. They see a batch whole or not at all, and a swap as one moment: before it the old rows,
 * after it the new ones, never a mixture and never no table. A reader whose query began before the
 * swap sees the old rows to its end.
 *
 * Failures. A value that the database refuses (a column that is not_null) is L2 "store.constraint".
 * The rest is as in port/store.h.
 */
#ifndef PATRA_PORT_STORE_SINK_H
#define PATRA_PORT_STORE_SINK_H

#include "core/limits.h"
#include "core/projection_spec.h"
#include "port/key_digest.h"
#include "port/store_offset.h"

/* ---- tables ---- */

enum sink_step_kind {
    SINK_STEP_TABLE,   /* a table is made */
    SINK_STEP_COLUMN,  /* a column is added */
    SINK_STEP_WIDEN,   /* a column gets a type that holds all it has */
    SINK_STEP_INDEX,   /* an index is made */
    SINK_STEP_REFUSED, /* something would be lost, or the table is the user's own: not done */
};

struct sink_plan_step {
    enum sink_step_kind kind;
    struct str table;
    struct str text; /* a sentence: "column year: text to integer may lose values" */
    struct str sql;  /* what is done; of a refusal: what a person would have to do, or empty */
};

struct sink_plan {
    struct sink_plan_step *items; /* in order */
    size_t count;
    size_t refused;
};

struct sink_set_up {
    const struct projection_spec *spec;
    struct str json; /* its stored form */
    struct str hash;
    struct str applied_by;
    int64_t now_us;
};

struct sink_projection { /* as it is remembered where its tables are */
    struct str json;
    struct str hash;
    int64_t applied_us;
    struct str rebuild; /* how far a rebuild is (engine/rebuild), JSON; empty: there is none */
};

struct sink_join {
    struct offset_key key;
    int64_t before[OUTBOX_LANES]; /* positions after which new offsets begin */
    int64_t now_us;
};

enum sink_side {
    SINK_LIVE,
    SINK_NEW, /* "NAME__new" */
    SINK_OLD, /* "NAME__old" */
};

/* The statements of a spec's tables, on one side. It belongs to the session and lives as long; the
 * spec must live as long too. A session has one: who gets a new spec, or needs another side, opens
 * a new session. It stays valid after store_reconnect() and after a swap. */
struct sink_tables;

/* ---- rows ---- */

/* A value of a column, by its type: INTEGER and BOOLEAN in i64; TEXT in text; NUMBER as digits;
 * INSTANT as "2026-01-02T03:04:05.678901Z", always with six digits, DATE as "2026-01-02"; JSON and
 * lists as JSON. */
struct sink_cell {
    bool is_set; /* else NULL */
    int64_t i64;
    struct str text;
};

struct sink_child_rows {
    bool is_given;                 /* replaced by these; else they stay */
    const struct sink_cell *cells; /* row by row, a cell per column of the child */
    size_t count;                  /* rows; their ordinals are 1, 2, 3 ... */
};

struct sink_row {
    struct str aggregate_type;
    struct str aggregate_id;
    int64_t version;
    bool is_deleted; /* PARTIAL: the row is marked as deleted; else it is not deleted any more */
    uint64_t given;  /* PARTIAL: a bit per column that gets its cell; others stay */
    const struct sink_cell *cells;          /* one per column of the table */
    const struct sink_child_rows *children; /* one per child of the table */
};

enum sink_change {
    SINK_REPLACE, /* every column, every child */
    SINK_PARTIAL, /* what is given; a key without a row gets one, with NULL in other columns */
    SINK_ERASE,   /* the row and its children go, the version stays; only key and version count */
};

struct sink_rows {
    size_t table; /* of the spec */
    enum sink_change change;
    const struct sink_row *items; /* each key once */
    size_t count;
};

struct sink_batch {
    const struct sink_rows *steps; /* in order */
    size_t count;
};

struct sink_written {
    int64_t changed; /* rows of the tables, children not counted */
    int64_t stale;   /* events that were too late for their row */
};

struct sink_receipt { /* of an event, for the inbox */
    struct str event_id;
    int64_t lane;
    int64_t pos; /* 0: the bus does not say */
};

struct sink_inbox {
    struct str group;                 /* one per projection: each receives an event once */
    const struct sink_receipt *items; /* each event once */
    size_t count;
    int64_t now_us;
};

struct store_sink_ops {
    bool (*plan)(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                 struct sink_plan *plan, struct error *err);
    bool (*set_up)(struct store *sink, struct arena *arena, const struct sink_set_up *set_up,
                   struct sink_plan *done, struct error *err);
    bool (*find)(struct store *sink, struct arena *arena, struct str name,
                 struct sink_projection *projection, bool *found, struct error *err);
    bool (*set_rebuild)(struct store *sink, struct str name, struct str rebuild, bool *found,
                        struct error *err);
    bool (*join)(struct store *sink, const struct sink_join *join, struct error *err);
    bool (*remove)(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                   struct error *err);
    bool (*tables)(struct store *sink, const struct projection_spec *spec, enum sink_side side,
                   const struct sink_tables **tables, struct error *err);
    bool (*write)(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                  const struct sink_batch *batch, struct sink_written *written, struct error *err);
    bool (*inbox)(struct store *sink, const struct sink_inbox *inbox, bool *is_new,
                  struct error *err);
    bool (*inbox_prune)(struct store *sink, struct str group, int64_t before_us, int64_t limit,
                        int64_t *removed, struct error *err);
    bool (*row)(struct store *sink, const struct sink_tables *tables, size_t table,
                const struct sink_key *key, struct sink_seen *seen, bool *found, struct error *err);
    bool (*digest)(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                   size_t table, const struct key_buckets *buckets, struct key_digest_list *list,
                   struct error *err);
    bool (*pick)(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                 size_t table, const struct key_pick *pick, struct sink_seen_list *list,
                 struct error *err);
    bool (*forget)(struct store *sink, const struct sink_tables *tables, size_t table,
                   const struct sink_key *key, struct error *err);
    bool (*copy)(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                 struct error *err);
    bool (*swap)(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                 struct error *err);
    bool (*swap_back)(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                      struct error *err);
};

/* Compares with the tables that are there; changes nothing. Of a table that is the user's own every
 * difference is a refusal. */
static inline bool MUST_CHECK store_sink_plan(struct store *sink, struct arena *arena,
                                              const struct projection_spec *spec,
                                              struct sink_plan *plan, struct error *err)
{
    return sink->sink->plan(sink, arena, spec, plan, err);
}

/* Plans and does it, in one transaction, the caller's or its own; *done is the plan. One at a time
 * per database. With a refusal nothing is done: L2 "sink.refused", and the plan has the reasons. */
static inline bool MUST_CHECK store_sink_set_up(struct store *sink, struct arena *arena,
                                                const struct sink_set_up *set_up,
                                                struct sink_plan *done, struct error *err)
{
    return sink->sink->set_up(sink, arena, set_up, done, err);
}

/* What was set up last under this name. A consumer whose spec has another hash waits, or reads the
 * spec again. */
static inline bool MUST_CHECK store_sink_find(struct store *sink, struct arena *arena,
                                              struct str name, struct sink_projection *projection,
                                              bool *found, struct error *err)
{
    return sink->sink->find(sink, arena, name, projection, found, err);
}

/* Remembers how far a rebuild is; an empty text: there is none. */
static inline bool MUST_CHECK store_sink_set_rebuild(struct store *sink, struct str name,
                                                     struct str rebuild, bool *found,
                                                     struct error *err)
{
    return sink->sink->set_rebuild(sink, name, rebuild, found, err);
}

/* Adds the offsets of a subscription that are missing, one per lane; those that are there stay. For
 * a sink that is not the store: there, store_subscription_apply() makes them. Retention looks at
 * the store's own, so who reads for such a sink moves these too, after the sink's are saved. */
static inline bool MUST_CHECK store_sink_join(struct store *sink, const struct sink_join *join,
                                              struct error *err)
{
    return sink->sink->join(sink, join, err);
}

/* Drops the tables that patra made, on every side, and forgets the projection. In another database
 * than the store also its offsets and parked keys, which store_subscription_remove() cannot reach.
 * A user's own tables stay as they are. */
static inline bool MUST_CHECK store_sink_remove(struct store *sink, struct arena *arena,
                                                const struct projection_spec *spec,
                                                struct error *err)
{
    return sink->sink->remove(sink, arena, spec, err);
}

static inline bool MUST_CHECK store_sink_tables(struct store *sink,
                                                const struct projection_spec *spec,
                                                enum sink_side side,
                                                const struct sink_tables **tables,
                                                struct error *err)
{
    return sink->sink->tables(sink, spec, side, tables, err);
}

/* Part of the caller's transaction. The arena holds what is needed meanwhile. Adds to *written. */
static inline bool MUST_CHECK store_sink_write(struct store *sink, struct arena *arena,
                                               const struct sink_tables *tables,
                                               const struct sink_batch *batch,
                                               struct sink_written *written, struct error *err)
{
    assert(sink->state == STORE_WRITING);
    return sink->sink->write(sink, arena, tables, batch, written, err);
}

/* Part of the caller's transaction. is_new[i] says whether event i had not been added before. */
static inline bool MUST_CHECK store_sink_inbox(struct store *sink, const struct sink_inbox *inbox,
                                               bool *is_new, struct error *err)
{
    assert(sink->state == STORE_WRITING);
    return sink->sink->inbox(sink, inbox, is_new, err);
}

/* Forgets up to `limit` events that were added before an instant. */
static inline bool MUST_CHECK store_sink_inbox_prune(struct store *sink, struct str group,
                                                     int64_t before_us, int64_t limit,
                                                     int64_t *removed, struct error *err)
{
    return sink->sink->inbox_prune(sink, group, before_us, limit, removed, err);
}

/* *found is false when the table has seen nothing of the key. seen->key is `key`. */
static inline bool MUST_CHECK store_sink_row(struct store *sink, const struct sink_tables *tables,
                                             size_t table, const struct sink_key *key,
                                             struct sink_seen *seen, bool *found, struct error *err)
{
    return sink->sink->row(sink, tables, table, key, seen, found, err);
}

/* Digests of the rows of a table and its keys without a row, made by the database in one pass. */
static inline bool MUST_CHECK store_sink_digest(struct store *sink, struct arena *arena,
                                                const struct sink_tables *tables, size_t table,
                                                const struct key_buckets *buckets,
                                                struct key_digest_list *list, struct error *err)
{
    return sink->sink->digest(sink, arena, tables, table, buckets, list, err);
}

/* The states of some buckets, in one pass. */
static inline bool MUST_CHECK store_sink_pick(struct store *sink, struct arena *arena,
                                              const struct sink_tables *tables, size_t table,
                                              const struct key_pick *pick,
                                              struct sink_seen_list *list, struct error *err)
{
    return sink->sink->pick(sink, arena, tables, table, pick, list, err);
}

/* Removes the row of a key, its children and what is remembered of it, whatever the version: the
 * next write is the first one of the key. Part of the caller's transaction, which keeps others from
 * writing the key (store_offset_hold). */
static inline bool MUST_CHECK store_sink_forget(struct store *sink,
                                                const struct sink_tables *tables, size_t table,
                                                const struct sink_key *key, struct error *err)
{
    assert(sink->state == STORE_WRITING);
    return sink->sink->forget(sink, tables, table, key, err);
}

/* Makes empty copies of the tables, also of keys without a row; drops those that are there. All
 * tables must be managed: L2 "sink.unmanaged". */
static inline bool MUST_CHECK store_sink_copy(struct store *sink, struct arena *arena,
                                              const struct projection_spec *spec, struct error *err)
{
    return sink->sink->copy(sink, arena, spec, err);
}

/* In one transaction, the caller's or its own: drops what is old, renames the live tables, renames
 * the copies. Writers wait meanwhile. */
static inline bool MUST_CHECK store_sink_swap(struct store *sink, struct arena *arena,
                                              const struct projection_spec *spec, struct error *err)
{
    return sink->sink->swap(sink, arena, spec, err);
}

/* The same back; what was live is dropped. L2 "sink.no_old" when there is nothing to go back to. */
static inline bool MUST_CHECK store_sink_swap_back(struct store *sink, struct arena *arena,
                                                   const struct projection_spec *spec,
                                                   struct error *err)
{
    return sink->sink->swap_back(sink, arena, spec, err);
}

#endif
