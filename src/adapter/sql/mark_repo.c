/* The latest time that the store has seen, and what is mended when that was wrong. */
#include <string.h>

#include "adapter/sql/orphans.h"
#include "adapter/sql/session.h"
#include "core/registry.h"
#include "port/store_mark.h"

static const char LOAD[] = "SELECT {clock}, c.seen_at, c.boot, c.up_us FROM (SELECT 1 AS one) AS o"
                           " LEFT JOIN sys_clock AS c ON c.one = o.one";

static bool mark_load(struct store *store, struct store_mark *mark, bool *has_server,
                      int64_t *server_us, struct error *err)
{
    struct statement *st = statement_of(store, LOAD);

    *mark = (struct store_mark){ 0 };
    *has_server = false;
    if (rows_next(&st->rows)) {
        struct str boot;

        *has_server = !rows_is_null(&st->rows);
        *server_us = rows_i64(&st->rows);
        mark->is_there = !rows_is_null(&st->rows);
        mark->seen_us = rows_i64(&st->rows);
        boot = rows_view(&st->rows);
        if (boot.len > 0 && boot.len < sizeof(mark->boot))
            memcpy(mark->boot, boot.data, boot.len);
        mark->up_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "read the latest time");
}

static const char SAVE[] =
    "INSERT INTO sys_clock (one, seen_at, boot, up_us) VALUES (1, :seen, :boot, :up)"
    " ON CONFLICT (one) DO UPDATE SET seen_at = :seen, boot = :boot, up_us = :up"
    " WHERE sys_clock.seen_at < :seen OR :back";

static bool mark_save(struct store *store, const struct store_mark *mark, bool may_go_back,
                      struct error *err)
{
    struct statement *st = statement_of(store, SAVE);

    bind_instant(st, ":seen", mark->seen_us);
    bind_text(st, ":boot", str_of(mark->boot));
    bind_i64(st, ":up", mark->up_us);
    bind_bool(st, ":back", may_go_back);
    return statement_run(st, NULL, err) || error_wrap(err, "note the latest time");
}

/* ---- mending ---- */

struct mending {
    struct store *store;
    int64_t seen_us;
    int64_t now_us;
};

static bool count_changes(struct statement *st, int64_t *count, struct error *err)
{
    int64_t changed;

    if (!statement_run(st, &changed, err))
        return false;
    *count += changed;
    return true;
}

/* What has happened in the time that was wrong has happened by now. */
static bool mend_past(const struct mending *mending, const char *sql, int64_t *count,
                      struct error *err)
{
    struct statement *st = statement_of(mending->store, sql);

    bind_instant(st, ":now", mending->now_us);
    return count_changes(st, count, err);
}

/* What was to happen so long after it is to happen so long after now. */
static bool mend_future(const struct mending *mending, const char *sql, int64_t *count,
                        struct error *err)
{
    struct statement *st = statement_of(mending->store, sql);

    bind_instant(st, ":now", mending->now_us);
    bind_instant(st, ":seen", mending->seen_us);
    return count_changes(st, count, err);
}

#define NOW "CAST(:now AS {instant})"
#define SEEN "CAST(:seen AS {instant})"
#define SOONER(column)                                                                 \
    column " = CASE WHEN " column " > " SEEN " THEN " NOW " + (" column " - " SEEN ")" \
           " WHEN " column " > " NOW " THEN " NOW " ELSE " column " END"

static const char TICKS[] = "DELETE FROM ing_schedule_tick WHERE tick_at > :now";
static const char RECORDS[] =
    "UPDATE ing_record_state SET observed_at = :now WHERE observed_at > :now";
static const char QUARANTINE[] =
    "UPDATE ing_quarantine SET observed_at = :now WHERE observed_at > :now";
static const char CHILDREN[] =
    "UPDATE ing_child_fetch SET fetched_at = :now WHERE fetched_at > :now";

/* A window that ends in the future was never to be: what has been fetched of it does not count, and
 * what waits is not fetched. */
static const char ENDED[] =
    "UPDATE ing_task SET reset_at = :now WHERE window_to > :now AND reset_at IS NULL"
    " AND status_code <> 'QUEUED'";
static const char SLICES[] =
    "UPDATE ing_plan_slice SET status_code = 'CANCELLED' WHERE window_to > :now"
    " AND id IN (SELECT slice_id FROM ing_task WHERE window_to > :now AND status_code = 'QUEUED')";
static const char QUEUED[] =
    "UPDATE ing_task SET status_code = 'CANCELLED', finished_at = :now, last_error ="
    " 'its window ends in the future: the clock was ahead' WHERE window_to > :now"
    " AND status_code = 'QUEUED'";
static const char RUNS[] = ORPHANS_END("t.window_to > :now");

/* clang-format off */
static const char TASKS[] =
    "UPDATE ing_task SET " SOONER("scheduled_at") ", " SOONER("leased_until")
    " WHERE scheduled_at > " NOW " OR leased_until > " NOW;
static const char GATES[] =
    "UPDATE ing_rate_gate SET " SOONER("refilled_at") ", " SOONER("raised_at") ", "
    SOONER("demoted_at") ", " SOONER("cooldown_until") ", " SOONER("line_until") ", "
    SOONER("started_at") ", " SOONER("parked_until") ", version = version + 1"
    " WHERE updated_at > " NOW;
static const char SLOTS[] =
    "UPDATE ing_rate_permit SET " SOONER("expires_at") " WHERE expires_at > " NOW;
static const char HEAD[] =
    "UPDATE ing_stream_head SET " SOONER("leased_until") " WHERE leased_until > " NOW;
static const char OFFSETS[] =
    "UPDATE ing_offset SET " SOONER("leased_until") " WHERE leased_until > " NOW;
static const char READERS[] =
    "UPDATE ing_reader SET " SOONER("alive_until") " WHERE alive_until > " NOW;
static const char PARKED[] =
    "UPDATE ing_parked SET " SOONER("next_retry_at") " WHERE next_retry_at > " NOW;
static const char ALERT_TURN[] =
    "UPDATE ing_alert_turn SET " SOONER("leased_until") " WHERE leased_until > " NOW;
static const char ALERT_NOTICES[] =
    "UPDATE ing_alert_notice SET " SOONER("next_try_at") " WHERE next_try_at > " NOW;
/* clang-format on */

/* ---- rates ---- */

/* Instants that nothing has set yet are long ago, and stay there. */
#define SHIFTED(column)                                                          \
    column " = CASE WHEN " column " > CAST(:long_ago AS {instant}) THEN " column \
           " + (CAST(:to AS {instant}) - CAST(:from AS {instant})) ELSE " column " END"

/* clang-format off */
static const char SHIFT_GATES[] =
    "UPDATE ing_rate_gate SET " SHIFTED("refilled_at") ", " SHIFTED("raised_at") ", "
    SHIFTED("demoted_at") ", " SHIFTED("cooldown_until") ", " SHIFTED("line_until") ", "
    SHIFTED("started_at") ", " SHIFTED("parked_until") ", version = version + 1";
static const char SHIFT_SLOTS[] = "UPDATE ing_rate_permit SET " SHIFTED("expires_at");
/* clang-format on */

static bool mark_shift(struct store *store, int64_t by_us, struct error *err)
{
    static const char *const tables[] = { SHIFT_GATES, SHIFT_SLOTS };

    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct statement *st = statement_of(store, tables[i]);

        bind_instant(st, ":long_ago", US_PER_DAY);
        bind_instant(st, ":from", US_PER_DAY);
        bind_instant(st, ":to", US_PER_DAY + by_us);
        if (!statement_run(st, NULL, err))
            return error_wrap(err, "shift rates");
    }
    return true;
}

/* ---- what a person says ---- */

/* Rows that were in force only in the time that was wrong were never in force. */
static bool mend_settings(const struct mending *mending, int64_t *count, struct error *err)
{
    static const struct {
        const char *verb;
        const char *rest;
    } parts[] = {
        { "DELETE FROM", " WHERE effective_from >= :now AND effective_to IS NOT NULL" },
        { "UPDATE", " SET effective_to = :now WHERE effective_to > :now" },
        { "UPDATE", " SET effective_from = :now WHERE effective_from > :now" },
    };
    struct arena *texts = &sql_session_of(mending->store)->texts;

    for (int i = 0; i < REGISTRY_TABLE_COUNT; i++) {
        const char *table = registry_table((enum registry_table_id)i)->name;

        for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
            const struct str text =
                arena_printf(texts, "%s %s%s", parts[k].verb, table, parts[k].rest);

            if (text.data == NULL)
                return arena_error(texts, err);
            if (!mend_past(mending, text.data, count, err))
                return false;
        }
    }
    return true;
}

static bool mend_rates(const struct mending *mending, int64_t *count, struct error *err)
{
    return mend_future(mending, GATES, count, err) && mend_future(mending, SLOTS, count, err);
}

static bool mark_mend(struct store *store, const struct store_mark_mending *asked,
                      struct store_mark_mended *mended, struct error *err)
{
    static const char *const others[] = {
        HEAD, OFFSETS, READERS, PARKED, ALERT_TURN, ALERT_NOTICES
    };
    const struct mending mending = { store, asked->seen_us, asked->now_us };
    bool ok;

    *mended = (struct store_mark_mended){ 0 };
    ok = mend_settings(&mending, &mended->settings, err) &&
         mend_past(&mending, TICKS, &mended->ticks, err) &&
         mend_past(&mending, ENDED, &mended->tasks, err) &&
         mend_past(&mending, SLICES, &mended->others, err) &&
         mend_past(&mending, QUEUED, &mended->tasks, err) &&
         mend_past(&mending, RUNS, &mended->others, err) &&
         mend_past(&mending, RECORDS, &mended->records, err) &&
         mend_past(&mending, QUARANTINE, &mended->others, err) &&
         mend_past(&mending, CHILDREN, &mended->others, err) &&
         mend_future(&mending, TASKS, &mended->tasks, err) &&
         (!asked->with_rates || mend_rates(&mending, &mended->others, err));
    for (size_t i = 0; ok && i < ARRAY_LEN(others); i++)
        ok = mend_future(&mending, others[i], &mended->others, err);
    return ok || error_wrap(err, "mend what was written for later");
}

const struct store_mark_ops SQL_MARK = {
    .load = mark_load,
    .save = mark_save,
    .mend = mark_mend,
    .shift = mark_shift,
};
