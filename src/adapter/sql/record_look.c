/* Records that were looked at and have not changed. */
#include "adapter/sql/record_names.h"
#include "adapter/sql/record_rows.h"
#include "base/instant.h"

#define US_PER_WEEK (7 * US_PER_DAY)

int64_t record_rows_week(int64_t at_us)
{
    return at_us / US_PER_WEEK - (at_us % US_PER_WEEK < 0);
}

void record_rows_bind_check(struct statement *st, const struct record_context *context,
                            int64_t expr)
{
    bind_i64(st, ":expr", expr);
    bind_i64(st, ":week", record_rows_week(context->now_us));
    bind_instant(st, ":now", context->now_us);
}

/* ---- locking ---- */

/* A row is locked by any update. */
static const char LOCK[] =
    "UPDATE ing_record_state AS t SET checked_at = t.checked_at {each ing_record_state}";

bool record_rows_lock(struct store *store, const struct record_version *records, size_t count,
                      struct error *err)
{
    struct statement *st = statement_of(store, LOCK);
    int64_t changes;

    for (size_t i = 0; i < count; i++)
        cell_i64(st, "@id", records[i].id);
    return statement_run(st, &changes, err) || error_wrap(err, "lock %zu records", count);
}

/* ---- confirming ---- */

/* A record that is seen again unchanged was fetched by this query, but its fields, as they were
 * published, were read by the mapping it had: then it gets the expression of both, if that is known
 * (engine/update/current.h). If not, it keeps its own, and is read again later (port/store_expr.h).
 */
#define MOVED_EXPR                                                                          \
    "CASE WHEN t.expr_id = :expr THEN :expr ELSE coalesce((SELECT"                          \
    " CASE WHEN o.mapping_hash = n.mapping_hash THEN :expr"                                 \
    "  ELSE coalesce((SELECT min(j.id) FROM ing_expr AS b"                                  \
    "    JOIN ing_record_expr AS j ON j.expr_hash = b.expr_hash"                            \
    "    WHERE b.query_hash = n.query_hash AND b.mapping_hash = o.mapping_hash), i.id) END" \
    " FROM ing_record_expr AS i JOIN ing_expr AS o ON o.expr_hash = i.expr_hash,"           \
    "  ing_expr AS n WHERE i.id = t.expr_id AND n.expr_hash = :expr_hash), :expr) END"

/* Nearly always the expression is the same, and the week, too: no index need be written then. What
 * another worker holds is being written or confirmed there: waiting for it could be mutual. The
 * condition is a CASE because PostgreSQL, before its first statistics, takes an equality for rare,
 * and would compare each record with the whole table instead of going to its row. */
#define LOOK_AGAIN                                                              \
    " checked_at = {greatest}(t.checked_at, :now) {each-free ing_record_state}" \
    " AND CASE WHEN t.expr_id = :expr THEN t.checked_week >= :week ELSE FALSE END"
#define LOOK_AND_MOVE                                                          \
    " checked_at = {greatest}(t.checked_at, :now),"                            \
    " checked_week = {greatest}(t.checked_week, :week), expr_id = " MOVED_EXPR \
    " {each-free ing_record_state}"                                            \
    " AND (t.expr_id <> :expr OR t.checked_week < :week)"
#define CONFIRMED                                    \
    "UPDATE ing_record_state AS t SET observed_at =" \
    " {greatest}(t.observed_at, :observed),"

static const char CONFIRM[] = CONFIRMED LOOK_AGAIN " AND t.version = @version";
static const char CONFIRM_AND_MOVE[] = CONFIRMED LOOK_AND_MOVE " AND t.version = @version";

struct confirmation {
    const struct record_context *context;
    const struct record_version *records;
    size_t count;
    int64_t expr;
};

static void add_confirmed(struct statement *st, const struct confirmation *of)
{
    bind_instant(st, ":observed", of->context->observed_us);
    record_rows_bind_check(st, of->context, of->expr);
    for (size_t i = 0; i < of->count; i++) {
        cell_i64(st, "@id", of->records[i].id);
        cell_i64(st, "@version", of->records[i].version);
    }
}

static bool confirm_all(struct store *store, const struct confirmation *of, int64_t *changes,
                        struct error *err)
{
    struct statement *st = statement_of(store, CONFIRM);
    int64_t moved = 0;

    add_confirmed(st, of);
    if (!statement_run(st, changes, err))
        return false;
    if (*changes == (int64_t)of->count)
        return true;
    st = statement_of(store, CONFIRM_AND_MOVE);
    add_confirmed(st, of);
    bind_text(st, ":expr_hash", of->context->expr_hash);
    if (!statement_run(st, &moved, err))
        return false;
    *changes += moved;
    return true;
}

bool record_rows_confirm(struct store *store, const struct record_context *context,
                         const struct record_version *records, size_t count, bool *confirmed,
                         struct error *err)
{
    struct confirmation of = { .context = context, .records = records, .count = count };
    int64_t changes = 0;
    const bool ok = record_expr_make(store, context->expr_hash, &of.expr, err) &&
                    confirm_all(store, &of, &changes, err);

    *confirmed = ok && changes == (int64_t)count;
    return ok || error_wrap(err, "confirm %zu records", count);
}

/* ---- touching ---- */

static const char TOUCH[] = "UPDATE ing_record_state AS t SET" LOOK_AGAIN;
static const char TOUCH_AND_MOVE[] = "UPDATE ing_record_state AS t SET" LOOK_AND_MOVE;

struct touch {
    const struct record_context *context;
    const int64_t *ids;
    size_t count;
    int64_t expr;
};

static void add_touched(struct statement *st, const struct touch *touch)
{
    record_rows_bind_check(st, touch->context, touch->expr);
    for (size_t i = 0; i < touch->count; i++)
        cell_i64(st, "@id", touch->ids[i]);
}

static bool touch_all(struct store *store, const struct touch *touch, struct error *err)
{
    struct statement *st = statement_of(store, TOUCH);
    int64_t changes;

    add_touched(st, touch);
    if (!statement_run(st, &changes, err))
        return false;
    if (changes == (int64_t)touch->count)
        return true;
    st = statement_of(store, TOUCH_AND_MOVE);
    add_touched(st, touch);
    bind_text(st, ":expr_hash", touch->context->expr_hash);
    return statement_run(st, NULL, err);
}

bool record_rows_touch(struct store *store, const struct record_context *context,
                       const int64_t *ids, size_t count, struct error *err)
{
    struct touch touch = { .context = context, .ids = ids, .count = count };

    return (record_expr_make(store, context->expr_hash, &touch.expr, err) &&
            touch_all(store, &touch, err)) ||
           error_wrap(err, "touch %zu records", count);
}
