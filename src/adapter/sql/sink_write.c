/* Writes the rows of projections.
 *
 *      replace   insert or update, guarded by the version
 *      partial   update; rows that are not there: insert
 *      erase     delete; remember key and version
 *
 * Each of these is one statement over all rows. Those whose version won are returned where
 * something follows from it: their children are replaced, keys that had no row are forgotten. */
#include "adapter/sql/sink_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/sql/sink_table.h"

struct writing {
    struct store *sink;
    struct arena *arena;
    const struct sink_texts *texts;
    const struct sink_rows *rows;
    bool *has_won;                 /* by row */
    const struct sink_row **order; /* by key, made when it is needed */
    struct error *err;
};

/* ---- cells ---- */

#define CELL_NAMES_5(n) "@c" #n "0", "@c" #n "1", "@c" #n "2", "@c" #n "3", "@c" #n "4"
#define CELL_NAMES_10(n) \
    CELL_NAMES_5(n), "@c" #n "5", "@c" #n "6", "@c" #n "7", "@c" #n "8", "@c" #n "9"

static const char *const CELL_NAMES[PROJECTION_COLUMNS_MAX] = {
    CELL_NAMES_10(), CELL_NAMES_10(1), CELL_NAMES_10(2), CELL_NAMES_10(3), CELL_NAMES_10(4),
};

static enum sql_type bound_type(const struct projection_column *column)
{
    if (column->is_list)
        return SQL_JSON;
    switch (column->type) {
    case FIELD_INTEGER:
        return SQL_I64;
    case FIELD_BOOLEAN:
        return SQL_BOOL;
    case FIELD_JSON:
        return SQL_JSON;
    default:
        return SQL_TEXT; /* numbers and dates too: the statement casts them */
    }
}

static void add_cells(struct statement *st, const struct projection_column *columns, size_t count,
                      const struct sink_cell *cells)
{
    for (size_t i = 0; i < count; i++)
        cell_value(st, CELL_NAMES[i],
                   (struct sql_value){ .type = bound_type(&columns[i]),
                                       .is_set = cells[i].is_set,
                                       .i64 = cells[i].i64,
                                       .text = cells[i].text });
}

static void add_key(struct statement *st, const struct projection_table *table,
                    const struct sink_row *row)
{
    if (table->type_column.len > 0)
        cell_text(st, "@type", row->aggregate_type);
    cell_text(st, "@id", row->aggregate_id);
}

/* ---- who has won ---- */

static int compare_keys(struct str type, struct str id, const struct sink_row *row)
{
    const int by_type = str_cmp(type, row->aggregate_type);

    return by_type != 0 ? by_type : str_cmp(id, row->aggregate_id);
}

static int compare_rows(const void *a, const void *b)
{
    const struct sink_row *one = *(const struct sink_row *const *)a;

    return compare_keys(one->aggregate_type, one->aggregate_id, *(const struct sink_row *const *)b);
}

static bool make_order(struct writing *writing)
{
    if (writing->order != NULL)
        return true;
    writing->order = ARENA_ARRAY(writing->arena, const struct sink_row *, writing->rows->count);
    if (writing->order == NULL)
        return arena_error(writing->arena, writing->err);
    for (size_t i = 0; i < writing->rows->count; i++)
        writing->order[i] = &writing->rows->items[i];
    qsort(writing->order, writing->rows->count, sizeof(*writing->order), compare_rows);
    return true;
}

static void note_winner(struct writing *writing, struct str type, struct str id)
{
    size_t low = 0, high = writing->rows->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare_keys(type, id, writing->order[middle]);

        if (order == 0) {
            writing->has_won[writing->order[middle] - writing->rows->items] = true;
            return;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
}

/* Runs a statement that returns the keys of the rows that it changed. */
static bool run_returning(struct writing *writing, struct statement *st)
{
    const struct projection_table *table = writing->texts->table;

    if (!make_order(writing))
        return false;
    while (rows_next(&st->rows)) {
        const struct str type = table->type_column.len > 0 ? rows_text(&st->rows, writing->arena)
                                                           : projection_only_type(table);
        const struct str id = rows_text(&st->rows, writing->arena);

        note_winner(writing, type, id);
    }
    return rows_finish(&st->rows, writing->err);
}

static int64_t count_winners(const struct writing *writing)
{
    int64_t count = 0;

    for (size_t i = 0; i < writing->rows->count; i++)
        count += writing->has_won[i];
    return count;
}

/* ---- children ---- */

static bool clear_children(const struct writing *writing, size_t child)
{
    struct statement *st = statement_of(writing->sink, writing->texts->children[child].clear);

    for (size_t i = 0; i < writing->rows->count; i++) {
        const struct sink_row *row = &writing->rows->items[i];

        if (writing->has_won[i] &&
            (writing->rows->change == SINK_ERASE || row->children[child].is_given))
            add_key(st, writing->texts->table, row);
    }
    return statement_run(st, NULL, writing->err);
}

static bool add_children(const struct writing *writing, size_t child)
{
    const struct sink_child_texts *texts = &writing->texts->children[child];
    struct statement *st = statement_of(writing->sink, texts->add);

    for (size_t i = 0; i < writing->rows->count; i++) {
        const struct sink_row *row = &writing->rows->items[i];

        if (!writing->has_won[i] || !row->children[child].is_given)
            continue;
        for (size_t k = 0; k < row->children[child].count; k++) {
            add_key(st, writing->texts->table, row);
            cell_i64(st, "@ordinal", (int64_t)k + 1);
            add_cells(st, texts->child->columns, texts->child->column_count,
                      row->children[child].cells + k * texts->child->column_count);
        }
    }
    return statement_run(st, NULL, writing->err);
}

static bool write_children(const struct writing *writing)
{
    for (size_t i = 0; i < writing->texts->table->child_count; i++) {
        if (!clear_children(writing, i) ||
            (writing->rows->change != SINK_ERASE && !add_children(writing, i)))
            return error_wrap(writing->err, "table %.*s",
                              STR_ARG(writing->texts->table->children[i].name));
    }
    return true;
}

/* ---- keys without a row ---- */

struct key_choice {      /* of rows */
    const bool *is_done; /* NULL: all */
    bool only_deleted;
};

static bool run_keys(const struct writing *writing, const char *text, struct key_choice choice,
                     int64_t *changes)
{
    struct statement *st = statement_of(writing->sink, text);

    for (size_t i = 0; i < writing->rows->count; i++) {
        if ((choice.is_done != NULL && choice.is_done[i]) ||
            (choice.only_deleted && !writing->rows->items[i].is_deleted))
            continue;
        add_key(st, writing->texts->table, &writing->rows->items[i]);
        cell_i64(st, "@version", writing->rows->items[i].version);
    }
    return statement_run(st, changes, writing->err);
}

static bool forget_gone(const struct writing *writing)
{
    return !writing->texts->has_gone ||
           run_keys(writing, writing->texts->gone_forget, (struct key_choice){ 0 }, NULL);
}

/* ---- the three changes ---- */

static bool write_replace(struct writing *writing, int64_t *changed)
{
    const struct projection_table *table = writing->texts->table;
    struct statement *st = statement_of(writing->sink, writing->texts->replace);

    for (size_t i = 0; i < writing->rows->count; i++) {
        const struct sink_row *row = &writing->rows->items[i];

        add_key(st, table, row);
        cell_i64(st, "@version", row->version);
        add_cells(st, table->columns, table->column_count, row->cells);
    }
    if (table->child_count == 0)
        return statement_run(st, changed, writing->err) && forget_gone(writing);
    if (!run_returning(writing, st) || !forget_gone(writing))
        return false;
    *changed = count_winners(writing);
    return write_children(writing);
}

static bool update_rows(struct writing *writing)
{
    const struct projection_table *table = writing->texts->table;
    struct statement *st = statement_of(writing->sink, writing->texts->update);

    for (size_t i = 0; i < writing->rows->count; i++) {
        const struct sink_row *row = &writing->rows->items[i];

        cell_i64(st, "@version", row->version);
        if (table->deleted_column.len > 0)
            cell_bool(st, "@deleted", row->is_deleted);
        if (table->column_count > 0)
            cell_i64(st, "@given", (int64_t)row->given);
        add_cells(st, table->columns, table->column_count, row->cells);
        add_key(st, table, row);
    }
    return run_returning(writing, st);
}

/* Those that were not updated: they have no row, or a later one. Where a row of NULLs is not
 * possible, a deletion is only remembered. */
static bool insert_rows(struct writing *writing)
{
    const struct projection_table *table = writing->texts->table;
    struct statement *st = statement_of(writing->sink, writing->texts->insert);

    for (size_t i = 0; i < writing->rows->count; i++) {
        const struct sink_row *row = &writing->rows->items[i];

        if (writing->has_won[i] || (row->is_deleted && writing->texts->has_gone))
            continue;
        add_key(st, table, row);
        cell_i64(st, "@version", row->version);
        if (table->deleted_column.len > 0)
            cell_bool(st, "@deleted", row->is_deleted);
        add_cells(st, table->columns, table->column_count, row->cells);
    }
    return run_returning(writing, st);
}

static bool write_partial(struct writing *writing, int64_t *changed)
{
    int64_t remembered = 0;

    if (!update_rows(writing) || !insert_rows(writing) || !forget_gone(writing))
        return false;
    *changed = count_winners(writing);
    if (writing->texts->has_gone &&
        !run_keys(writing, writing->texts->gone_add,
                  (struct key_choice){ .is_done = writing->has_won, .only_deleted = true },
                  &remembered))
        return false;
    *changed += remembered;
    return write_children(writing);
}

static bool write_erase(struct writing *writing, int64_t *changed)
{
    struct statement *st = statement_of(writing->sink, writing->texts->erase);
    const bool has_children = writing->texts->table->child_count > 0;

    for (size_t i = 0; i < writing->rows->count; i++) {
        add_key(st, writing->texts->table, &writing->rows->items[i]);
        cell_i64(st, "@version", writing->rows->items[i].version);
    }
    if (!(has_children ? run_returning(writing, st) : statement_run(st, NULL, writing->err)) ||
        !run_keys(writing, writing->texts->gone_add, (struct key_choice){ 0 }, changed))
        return false;
    return write_children(writing);
}

bool sink_write(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                const struct sink_batch *batch, struct sink_written *written, struct error *err)
{
    static bool (*const WRITERS[])(struct writing *, int64_t *) = {
        [SINK_REPLACE] = write_replace,
        [SINK_PARTIAL] = write_partial,
        [SINK_ERASE] = write_erase,
    };

    for (size_t i = 0; i < batch->count; i++) {
        const struct sink_rows *rows = &batch->steps[i];
        struct writing writing = { sink, arena, &tables->items[rows->table], rows, .err = err };
        int64_t changed = 0;

        if (rows->count == 0)
            continue;
        writing.has_won = arena_alloc(arena, rows->count * sizeof(bool));
        if (writing.has_won == NULL)
            return arena_error(arena, err);
        memset(writing.has_won, 0, rows->count * sizeof(bool));
        if (!WRITERS[rows->change](&writing, &changed))
            return error_wrap(err, "table %.*s", STR_ARG(writing.texts->table->name));
        written->changed += changed;
        written->stale += (int64_t)rows->count - changed;
    }
    return true;
}
