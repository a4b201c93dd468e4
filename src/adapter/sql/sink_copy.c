/* Copies of the tables of a projection, exchanged by renaming: all in one transaction. */
#include "adapter/sql/sink_copy.h"

#include "adapter/sql/sink_plan.h"

struct copying {
    struct store *sink;
    struct arena *arena;
    const struct projection_spec *spec;
    struct sink_object objects[SINK_OBJECTS_MAX];
    size_t count;
    struct buf script;
    struct error *err;
};

static void init(struct copying *copying, struct store *sink, struct arena *arena,
                 const struct projection_spec *spec, struct error *err)
{
    copying->sink = sink;
    copying->arena = arena;
    copying->spec = spec;
    copying->count = sink_objects(spec, copying->objects);
    copying->err = err;
    buf_init(&copying->script, arena, (size_t)SINK_OBJECTS_MAX * SINK_TEXT_MAX);
}

static struct str name_of(const struct copying *copying, size_t i, enum sink_side side)
{
    return sink_object_name(copying->arena, &copying->objects[i], side);
}

static bool is_patras(const struct sink_object *object)
{
    return object->is_gone || object->table->is_managed;
}

static void put_drop(struct copying *copying, size_t i, enum sink_side side)
{
    buf_add(&copying->script, STR("DROP TABLE IF EXISTS "));
    sink_put_name(&copying->script, copying->spec, name_of(copying, i, side));
    buf_add(&copying->script, STR("; "));
}

static void put_rename(struct copying *copying, size_t i, enum sink_side from, enum sink_side to)
{
    buf_add(&copying->script, STR("ALTER TABLE "));
    sink_put_name(&copying->script, copying->spec, name_of(copying, i, from));
    buf_printf(&copying->script, " RENAME TO \"%.*s\"; ", STR_ARG(name_of(copying, i, to)));
}

static bool check_managed(const struct copying *copying)
{
    for (size_t i = 0; i < copying->count; i++) {
        if (!is_patras(&copying->objects[i]))
            return error_set(copying->err, ERROR_REQUEST, "sink.unmanaged",
                             "table %.*s is not managed by patra: it cannot be replaced as a whole",
                             STR_ARG(copying->objects[i].table->name));
    }
    return true;
}

/* Runs the script in the caller's transaction or its own, one at a time per database. */
static bool run(struct copying *copying)
{
    bool owns_transaction, ok;

    ok = store_begin_if_idle(copying->sink, &owns_transaction, copying->err) &&
         store_lock(copying->sink, STR("projection"), copying->err) &&
         sink_run(copying->sink, &copying->script, copying->err);
    return store_end_if_owned(copying->sink, owns_transaction, ok, copying->err);
}

bool sink_copy(struct store *sink, struct arena *arena, const struct projection_spec *spec,
               struct error *err)
{
    const struct dialect *dialect = sql_session_of(sink)->driver->dialect;
    struct copying copying;

    init(&copying, sink, arena, spec, err);
    if (!check_managed(&copying))
        return false;
    for (size_t i = 0; i < copying.count; i++) {
        const struct str name = name_of(&copying, i, SINK_NEW);

        put_drop(&copying, i, SINK_NEW);
        sink_put_create(&copying.script, dialect, spec, &copying.objects[i], name);
        buf_add(&copying.script, STR("; "));
        if (!sink_put_indexes(sink, arena, spec, &copying.objects[i], name, &copying.script, err))
            return false;
    }
    return run(&copying) || error_wrap(err, "copy the tables of %.*s", STR_ARG(spec->name));
}

/* The script of the dialect with the names of two tables. */
static void put_grant(struct copying *copying, size_t i, enum sink_side from, enum sink_side to)
{
    struct str rest = str_of(sql_session_of(copying->sink)->driver->dialect->sink_grant);

    while (rest.len > 0) {
        const size_t at = str_find_char(rest, '{');
        const struct str tail = str_slice(rest, at, rest.len);
        const bool is_from = str_starts(tail, STR("{from}"));

        buf_add(&copying->script, str_slice(rest, 0, at));
        if (at == rest.len)
            return;
        sink_put_name(&copying->script, copying->spec, name_of(copying, i, is_from ? from : to));
        rest = str_slice(tail, is_from ? sizeof("{from}") - 1 : sizeof("{to}") - 1, tail.len);
    }
}

/* Of the live tables, those that a word of the dialect names. */
static void put_live(struct copying *copying, struct str word)
{
    const bool is_one = str_eq(word, STR("first")) || str_eq(word, STR("last"));
    const bool is_reversed = str_eq(word, STR("reversed")) || str_eq(word, STR("last"));

    for (size_t i = 0; i < (is_one ? 1 : copying->count); i++) {
        const size_t at = is_reversed ? copying->count - 1 - i : i;

        buf_add(&copying->script, i > 0 ? STR(", ") : STR(""));
        sink_put_name(&copying->script, copying->spec, name_of(copying, at, SINK_LIVE));
    }
}

static void put_lock(struct copying *copying)
{
    struct str rest = str_of(sql_session_of(copying->sink)->driver->dialect->sink_swap_lock);

    while (rest.len > 0) {
        buf_add(&copying->script, str_cut(&rest, '{'));
        if (rest.len > 0)
            put_live(copying, str_cut(&rest, '}'));
    }
}

static bool exchange(struct copying *copying)
{
    const struct dialect *dialect = sql_session_of(copying->sink)->driver->dialect;
    struct buf moves = copying->script;

    buf_init(&copying->script, copying->arena, moves.limit);
    buf_add(&copying->script, str_of(dialect->sink_swap_begin));
    put_lock(copying);
    buf_printf(&copying->script, "%.*s%s", STR_ARG(buf_str(&moves)), dialect->sink_swap_end);
    return run(copying);
}

bool sink_swap(struct store *sink, struct arena *arena, const struct projection_spec *spec,
               struct error *err)
{
    struct copying copying;

    init(&copying, sink, arena, spec, err);
    if (!check_managed(&copying))
        return false;
    for (size_t i = 0; i < copying.count; i++) {
        put_grant(&copying, i, SINK_LIVE, SINK_NEW);
        put_drop(&copying, i, SINK_OLD);
        put_rename(&copying, i, SINK_LIVE, SINK_OLD);
        put_rename(&copying, i, SINK_NEW, SINK_LIVE);
    }
    return exchange(&copying) || error_wrap(err, "swap the tables of %.*s", STR_ARG(spec->name));
}

bool sink_swap_back(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                    struct error *err)
{
    struct copying copying;

    init(&copying, sink, arena, spec, err);
    if (!check_managed(&copying))
        return false;
    for (size_t i = 0; i < copying.count; i++) {
        bool found = false;

        if (!sink_has_table(sink, spec, name_of(&copying, i, SINK_OLD), &found, err))
            return false;
        if (!found)
            return error_set(err, ERROR_REQUEST, "sink.no_old",
                             "there are no tables from before a rebuild of %.*s",
                             STR_ARG(spec->name));
        put_grant(&copying, i, SINK_LIVE, SINK_OLD);
        put_drop(&copying, i, SINK_LIVE);
        put_rename(&copying, i, SINK_OLD, SINK_LIVE);
    }
    return exchange(&copying) ||
           error_wrap(err, "bring back the tables of %.*s", STR_ARG(spec->name));
}

/* ---- removing ---- */

static const char FORGET[] = "DELETE FROM ing_projection WHERE name = :name";
static const char OFFSETS[] = "DELETE FROM ing_offset WHERE subscription = :name";
static const char READERS[] = "DELETE FROM ing_reader WHERE subscription = :name";
static const char PARKED[] = "DELETE FROM ing_parked WHERE subscription = :name";

static bool run_named(struct store *sink, const char *sql, struct str name, struct error *err)
{
    struct statement *st = statement_of(sink, sql);

    bind_text(st, ":name", name);
    return statement_run(st, NULL, err);
}

static bool remove_within(struct copying *copying)
{
    struct store *sink = copying->sink;
    const struct str name = copying->spec->name;

    if (!run(copying) || !run_named(sink, FORGET, name, copying->err))
        return false;
    return !sql_session_of(sink)->is_sink || (run_named(sink, OFFSETS, name, copying->err) &&
                                              run_named(sink, READERS, name, copying->err) &&
                                              run_named(sink, PARKED, name, copying->err));
}

bool sink_remove(struct store *sink, struct arena *arena, const struct projection_spec *spec,
                 struct error *err)
{
    struct copying copying;
    bool owns_transaction, ok;

    init(&copying, sink, arena, spec, err);
    for (size_t i = 0; i < copying.count; i++) {
        if (!is_patras(&copying.objects[i]))
            continue;
        put_drop(&copying, i, SINK_LIVE);
        put_drop(&copying, i, SINK_NEW);
        put_drop(&copying, i, SINK_OLD);
    }
    ok = store_begin_if_idle(sink, &owns_transaction, err) && remove_within(&copying);
    return store_end_if_owned(sink, owns_transaction, ok, err) ||
           error_wrap(err, "remove the tables of %.*s", STR_ARG(spec->name));
}
