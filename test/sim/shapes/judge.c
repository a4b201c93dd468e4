/* Compares the store with the upstream's records.
 *
 * A record that is missing and shown as done must be accounted for. These count:
 *
 *   - a quarantined item or an open signal that names the record, by id or by content;
 *   - a quarantined item without a name, for one record of its task's window; a signal for an id
 *     that the upstream never had, for the records whose ids are in its text, or else for one;
 *   - a doubt of a run, for the records of its task's window, if it is about the part of the
 *     response that was damaged and the source cannot know better (damage_doubts()).
 *
 * All other losses are wrong, unless they are "unseen" (damage_unseen()). Then the upstream sent
 * exactly what a valid upstream with fewer records sends, so a reader who has only the source and
 * the responses cannot see the loss. All of them need a source without a total: a total is
 * compared with what was received. They are:
 *
 *   - A page is shorter, or has one item left out or twice. Pages may be shorter than requested,
 *     and nothing else says how many items a page had. Where a next or has_more shows that the list
 *     goes on, only these records may be missing.
 *   - A page stays empty whenever it is requested, and nothing says that more follows. An empty
 *     page is the usual end of a list. A page that is empty only once is seen: it is requested
 *     again.
 *   - The list of an XML response has no records, but text, one other element or elements of
 *     several names, and stays so. XML has no lists; a container may hold such things beside
 *     records, so this one is empty. Elements of one other name, and records in another namespace,
 *     are seen: they are a list of something else.
 *   - The list is not there, and stays so, where the source says that an empty page has none
 *     (may_be_absent: items). By the source's own words this is an empty page.
 *   - A response without pages has an object where its list should be. It may be the only record,
 *     and many APIs write a list of one like this.
 */
#include "judge.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "damage.h"
#include "test.h"
#include "within.h"

enum { STAND_INS_MAX = 1024 };

/* A quarantined item or a signal that does not say which record it is. It lists one missing record
 * of its window. */
struct stand_in {
    struct window window;
    bool is_used;
};

struct look {
    struct shape_world *w;
    struct window window;
    sqlite3 *db;
    bool is_right[SHAPE_RECORDS_MAX];
    bool is_listed[SHAPE_RECORDS_MAX];
    bool is_shown[SHAPE_RECORDS_MAX];
    unsigned doubts[SHAPE_RECORDS_MAX]; /* of runs whose window has the record */
    struct stand_in stand_ins[STAND_INS_MAX];
    int stand_in_count;
    struct judgement result;
};

/* ---- SQL ---- */

static sqlite3_stmt *query(struct look *look, const char *sql)
{
    sqlite3_stmt *st = NULL;

    REQUIRE(sqlite3_prepare_v2(look->db, sql, -1, &st, NULL) == SQLITE_OK,
            sqlite3_errmsg(look->db));
    return st;
}

static struct str text_of(sqlite3_stmt *st, int column)
{
    const char *data = (const char *)sqlite3_column_blob(st, column);

    return (struct str){ data != NULL ? data : "", (size_t)sqlite3_column_bytes(st, column) };
}

static struct window window_of(sqlite3_stmt *st, int column)
{
    return (struct window){ sqlite3_column_int64(st, column),
                            sqlite3_column_int64(st, column + 1) };
}

/* The number of the record with this id; -1: none has it. */
static int number_of(const struct look *look, struct str id)
{
    const bool has_letter = id.len > 0 && id.data[0] == 'r';
    int64_t number;

    if (has_letter == look->w->api.shape->number_ids ||
        !str_to_i64(str_slice(id, has_letter, id.len), &number) || number < 1000 ||
        number >= 1000 + look->w->api.count)
        return -1;
    return (int)number - 1000;
}

static bool has_revision(const struct look *look, struct str payload, int number)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%lld", (long long)look->w->api.records[number].revision);
    return str_find(payload, str_of(text)) < payload.len;
}

/* ---- records, and what is known to be missing ---- */

static void read_records(struct look *look)
{
    sqlite3_stmt *st = query(look, "SELECT provider_id, payload FROM ing_record JOIN"
                                   " ing_record_content ON record_id = id WHERE NOT deleted");

    while (sqlite3_step(st) == SQLITE_ROW) {
        const int number = number_of(look, text_of(st, 0));

        if (number < 0)
            look->result.strangers++;
        else
            look->is_right[number] = has_revision(look, text_of(st, 1), number);
    }
    (void)sqlite3_finalize(st);
}

static void add_stand_in(struct look *look, struct window window)
{
    REQUIRE(look->stand_in_count < STAND_INS_MAX, "too many items without a name");
    look->stand_ins[look->stand_in_count++] = (struct stand_in){ .window = window };
}

static void read_quarantine(struct look *look)
{
    sqlite3_stmt *st = query(look, "SELECT q.provider_id, q.payload, t.window_from, t.window_to"
                                   " FROM ing_quarantine q JOIN ing_task t ON t.id = q.task_id"
                                   " WHERE q.resolved_at IS NULL");

    while (sqlite3_step(st) == SQLITE_ROW) {
        int number = number_of(look, text_of(st, 0));

        for (int i = 0; number < 0 && i < look->w->api.count; i++) {
            if (has_revision(look, text_of(st, 1), i))
                number = i;
        }
        if (number < 0)
            add_stand_in(look, window_of(st, 2));
        else
            look->is_listed[number] = true;
    }
    (void)sqlite3_finalize(st);
}

/* Of several elements of XML read as one, the id is all their ids in a row. */
static bool list_run_together(struct look *look, struct str id)
{
    bool found = false;

    for (int i = 0; i < look->w->api.count; i++) {
        const struct str one = shape_id(look->w->api.shape, &look->w->arena, i);

        if (id.len > one.len && str_find(id, one) < id.len)
            look->is_listed[i] = found = true;
    }
    return found;
}

/* A signal has no window: one of an id that the upstream never had may be of any. */
static void read_signals(struct look *look)
{
    sqlite3_stmt *st = query(look, "SELECT provider_id FROM ing_signal WHERE consumed_at IS NULL");

    while (sqlite3_step(st) == SQLITE_ROW) {
        const struct str id = text_of(st, 0);
        const int number = number_of(look, id);

        if (number >= 0)
            look->is_listed[number] = true;
        else if (!list_run_together(look, id))
            add_stand_in(look, look->window);
    }
    (void)sqlite3_finalize(st);
}

/* ---- what is shown ---- */

static void show(struct look *look, struct window window)
{
    for (int i = 0; i < look->w->api.count; i++)
        look->is_shown[i] |= is_within(window, look->w->api.records[i].updated_us);
}

static void read_tasks(struct look *look)
{
    const struct task_filter filter = { .source = STR("demo"), .limit = 100000 };
    struct task_list tasks;
    struct error err = { 0 };

    REQUIRE_OK(store_task_list(look->w->store, &look->w->arena, &filter, &tasks, &err), err);
    for (size_t i = 0; i < tasks.count; i++) {
        const struct task *task = &tasks.items[i];
        const bool is_done = task->status == TASK_SUCCEEDED;
        const struct window done = is_done ? task->window : task->covered;

        look->result.undone += !is_done;
        if (window_is_valid(done) && !id_range_is_valid(task->ids))
            show(look, done);
    }
}

static void read_cursor(struct look *look)
{
    sqlite3_stmt *st = query(look, "SELECT max(normalized_instant) FROM ing_cursor"
                                   " WHERE operation_code = 'HARVEST'");

    if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_type(st, 0) != SQLITE_NULL)
        show(look, (struct window){ 0, sqlite3_column_int64(st, 0) });
    (void)sqlite3_finalize(st);
}

/* The doubts that runs name, for the records of their windows. */
static void read_doubts(struct look *look)
{
    sqlite3_stmt *st = query(look, "SELECT d.value, t.window_from, t.window_to FROM ing_task_run n"
                                   " JOIN ing_task t ON t.id = n.task_id,"
                                   " json_each(n.stats, '$.doubts') d");

    while (sqlite3_step(st) == SQLITE_ROW) {
        const unsigned doubt = damage_doubt_named(text_of(st, 0));
        const struct window window = window_of(st, 1);

        for (int i = 0; i < look->w->api.count; i++)
            look->doubts[i] |= is_within(window, look->w->api.records[i].updated_us) ? doubt : 0;
    }
    (void)sqlite3_finalize(st);
}

/* ---- the judgement ---- */

static bool is_stood_in_for(struct look *look, int number)
{
    const int64_t at_us = look->w->api.records[number].updated_us;

    for (int i = 0; i < look->stand_in_count; i++) {
        struct stand_in *item = &look->stand_ins[i];

        if (item->is_used || !is_within(item->window, at_us))
            continue;
        item->is_used = true;
        return true;
    }
    return false;
}

/* A record that is missing and shown as done. */
static void count_pretended(struct look *look, int number, unsigned doubts)
{
    struct judgement *result = &look->result;

    result->pretended++;
    if (look->is_listed[number] || is_stood_in_for(look, number))
        return;
    if ((look->doubts[number] & doubts) != 0)
        result->doubted++;
    else if (result->unlisted++ == 0)
        (void)snprintf(result->first, sizeof(result->first), "%.*s",
                       STR_ARG(shape_id(look->w->api.shape, &look->w->arena, number)));
}

static void count(struct look *look, unsigned doubts)
{
    const struct shape_api *api = &look->w->api;

    for (int i = 0; i < api->count; i++) {
        if (!is_within(look->window, api->records[i].updated_us))
            continue;
        look->result.records++;
        if (look->is_right[i])
            continue;
        look->result.missing++;
        if (look->is_shown[i])
            count_pretended(look, i, doubts);
    }
}

struct judgement judge(struct shape_world *w, struct window window, unsigned doubts)
{
    static struct look look;

    look = (struct look){ .w = w, .window = window };
    REQUIRE(sqlite3_open_v2(w->dsn, &look.db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, w->dsn);
    read_records(&look);
    read_quarantine(&look);
    read_signals(&look);
    read_tasks(&look);
    read_cursor(&look);
    read_doubts(&look);
    count(&look, doubts);
    (void)sqlite3_close(look.db);
    return look.result;
}
