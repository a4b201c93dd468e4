/* Alerts, and the notices of them. */
#include "adapter/sql/session.h"
#include "port/store_alert.h"

/* ---- who looks ---- */

static const char TURN[] =
    "INSERT INTO ing_alert_turn (one, lease_owner, leased_until) VALUES (1, :owner, :until)"
    " ON CONFLICT (one) DO UPDATE SET lease_owner = :owner, leased_until = :until"
    "   WHERE ing_alert_turn.lease_owner = :owner OR ing_alert_turn.leased_until < :now";

static bool alert_turn(struct store *store, const struct alert_turn *turn, bool *mine,
                       struct error *err)
{
    struct statement *st = statement_of(store, TURN);

    bind_text(st, ":owner", turn->owner);
    bind_instant(st, ":until", turn->now_us + turn->lease_us);
    bind_instant(st, ":now", turn->now_us);
    return statement_changed(st, mine, err) || error_wrap(err, "take the turn of alerts");
}

/* ---- alerts ---- */

#define ALERT_COLUMNS                                                                   \
    "id, rule_code, subject, provenance_code, severity_code, text, since_at, seen_at, " \
    "fired_at, resolved_at"

static void read_alert(struct rows *rows, struct arena *arena, struct alert *alert)
{
    alert->id = rows_i64(rows);
    alert->rule = rows_text(rows, arena);
    alert->subject = rows_text(rows, arena);
    alert->source = rows_text(rows, arena);
    alert->severity = (enum alert_severity)rows_code(rows, &ALERT_SEVERITY_CODES);
    alert->text = rows_text(rows, arena);
    alert->since_us = rows_i64(rows);
    alert->seen_us = rows_i64(rows);
    alert->fired_us = rows_i64(rows);
    alert->resolved_us = rows_i64(rows);
}

static bool read_alerts(struct statement *st, struct arena *arena, struct alert_list *list,
                        struct error *err)
{
    struct alert *alert;

    while ((alert = ROWS_NEXT(&st->rows, arena, list)) != NULL)
        read_alert(&st->rows, arena, alert);
    return rows_finish(&st->rows, err);
}

static const char OPEN[] =
    "SELECT " ALERT_COLUMNS " FROM ing_alert WHERE resolved_at IS NULL"
    " AND (:pending OR fired_at IS NOT NULL) AND (:source = '' OR provenance_code = :source)"
    " ORDER BY severity_code{byte-order}, since_at, id LIMIT :limit";

static const char RESOLVED[] =
    "SELECT " ALERT_COLUMNS " FROM ing_alert WHERE resolved_at IS NOT NULL"
    " AND (:source = '' OR provenance_code = :source)"
    " ORDER BY resolved_at DESC, id DESC LIMIT :limit";

static bool alert_list(struct store *store, struct arena *arena, const struct alert_query *query,
                       struct alert_list *list, struct error *err)
{
    struct statement *st = statement_of(store, OPEN);

    *list = (struct alert_list){ 0 };
    bind_bool(st, ":pending", query->with_pending);
    bind_text(st, ":source", query->source);
    bind_i64(st, ":limit", query->limit);
    if (!read_alerts(st, arena, list, err))
        return error_wrap(err, "list alerts");
    if (!query->with_resolved || (int64_t)list->count >= query->limit)
        return true;
    st = statement_of(store, RESOLVED);
    bind_text(st, ":source", query->source);
    bind_i64(st, ":limit", query->limit - (int64_t)list->count);
    return read_alerts(st, arena, list, err) || error_wrap(err, "list alerts");
}

static const char FIND[] = "SELECT " ALERT_COLUMNS " FROM ing_alert WHERE id = :id";

static bool alert_find(struct store *store, struct arena *arena, int64_t id, struct alert *alert,
                       bool *found, struct error *err)
{
    struct statement *st = statement_of(store, FIND);
    struct alert_list list = { 0 };

    bind_i64(st, ":id", id);
    if (!read_alerts(st, arena, &list, err))
        return error_wrap(err, "find an alert");
    *found = list.count > 0;
    if (*found)
        *alert = list.items[0];
    return true;
}

static const char BEGIN[] =
    "INSERT INTO ing_alert (rule_code, subject, provenance_code, severity_code, text, since_at,"
    " seen_at, fired_at) VALUES (:rule, :subject, :source, :severity, :text, :since, :since,"
    " :fired) ON CONFLICT DO NOTHING";

static bool alert_begin(struct store *store, const struct alert *alert, struct error *err)
{
    struct statement *st = statement_of(store, BEGIN);
    int64_t added;

    bind_text(st, ":rule", alert->rule);
    bind_text(st, ":subject", alert->subject);
    bind_text(st, ":source", alert->source);
    bind_code(st, ":severity", &ALERT_SEVERITY_CODES, (int)alert->severity);
    bind_text(st, ":text", alert->text);
    bind_instant(st, ":since", alert->since_us);
    bind_instant_opt(st, ":fired", alert->fired_us != 0, alert->fired_us);
    return statement_run(st, &added, err) || error_wrap(err, "begin an alert");
}

static const char SEE[] =
    "UPDATE ing_alert SET text = :text, seen_at = :now,"
    " fired_at = CASE WHEN :fires THEN coalesce(fired_at, :now) ELSE fired_at END"
    " WHERE id = :id AND resolved_at IS NULL";

static bool alert_see(struct store *store, const struct alert_seen *seen, struct error *err)
{
    struct statement *st = statement_of(store, SEE);
    int64_t changes;

    bind_i64(st, ":id", seen->id);
    bind_text(st, ":text", seen->text);
    bind_instant(st, ":now", seen->now_us);
    bind_bool(st, ":fires", seen->fires);
    return statement_run(st, &changes, err) || error_wrap(err, "see an alert again");
}

static const char END[] = "UPDATE ing_alert SET resolved_at = :now"
                          " WHERE id = :id AND resolved_at IS NULL AND fired_at IS NOT NULL";

static bool alert_end(struct store *store, int64_t id, int64_t now_us, struct error *err)
{
    struct statement *st = statement_of(store, END);
    int64_t changes;

    bind_i64(st, ":id", id);
    bind_instant(st, ":now", now_us);
    return statement_run(st, &changes, err) || error_wrap(err, "resolve an alert");
}

static const char DROP[] = "DELETE FROM ing_alert WHERE id = :id AND fired_at IS NULL";

static bool alert_drop(struct store *store, int64_t id, struct error *err)
{
    struct statement *st = statement_of(store, DROP);
    int64_t changes;

    bind_i64(st, ":id", id);
    return statement_run(st, &changes, err) || error_wrap(err, "forget an alert");
}

/* ---- notices ---- */

static const char NOTICE_ADD[] =
    "INSERT INTO ing_alert_notice (alert_id, receiver, kind_code, created_at, next_try_at)"
    " VALUES (:alert, :receiver, :kind, :now, :now) ON CONFLICT DO NOTHING";

static bool notice_add(struct store *store, const struct alert_notice *notice, bool *added,
                       struct error *err)
{
    struct statement *st = statement_of(store, NOTICE_ADD);

    bind_i64(st, ":alert", notice->alert_id);
    bind_text(st, ":receiver", notice->receiver);
    bind_code(st, ":kind", &ALERT_NOTICE_CODES, (int)notice->kind);
    bind_instant(st, ":now", notice->created_us);
    return statement_changed(st, added, err) || error_wrap(err, "add a notice");
}

static const char NOTICE_RESOLVED[] =
    "INSERT INTO ing_alert_notice (alert_id, receiver, kind_code, created_at, next_try_at)"
    " SELECT alert_id, receiver, 'RESOLVED', :now, :now FROM ing_alert_notice"
    " WHERE alert_id = :alert AND kind_code = 'FIRED' ON CONFLICT DO NOTHING";

static bool notice_resolved(struct store *store, int64_t id, int64_t now_us, struct error *err)
{
    struct statement *st = statement_of(store, NOTICE_RESOLVED);
    int64_t added;

    bind_i64(st, ":alert", id);
    bind_instant(st, ":now", now_us);
    return statement_run(st, &added, err) || error_wrap(err, "add notices of an end");
}

#define NOTICE_COLUMNS                                                                     \
    "n.id, n.alert_id, n.receiver, n.kind_code, n.created_at, n.next_try_at, n.attempts, " \
    "n.last_error, n.sent_at, n.gave_up_at"

static bool read_notices(struct statement *st, struct arena *arena, struct alert_notice_list *list,
                         struct error *err)
{
    struct rows *rows = &st->rows;
    struct alert_notice *notice;

    *list = (struct alert_notice_list){ 0 };
    while ((notice = ROWS_NEXT(rows, arena, list)) != NULL) {
        notice->id = rows_i64(rows);
        notice->alert_id = rows_i64(rows);
        notice->receiver = rows_text(rows, arena);
        notice->kind = (enum alert_notice_kind)rows_code(rows, &ALERT_NOTICE_CODES);
        notice->created_us = rows_i64(rows);
        notice->next_try_us = rows_i64(rows);
        notice->attempts = rows_i64(rows);
        notice->last_error = rows_text(rows, arena);
        notice->sent_us = rows_i64(rows);
        notice->gave_up_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

static const char NOTICES[] =
    "SELECT " NOTICE_COLUMNS " FROM ing_alert_notice AS n WHERE n.alert_id = :alert ORDER BY n.id";

static bool alert_notices(struct store *store, struct arena *arena, int64_t id,
                          struct alert_notice_list *list, struct error *err)
{
    struct statement *st = statement_of(store, NOTICES);

    bind_i64(st, ":alert", id);
    return read_notices(st, arena, list, err) || error_wrap(err, "list notices");
}

static const char DUE[] =
    "SELECT " NOTICE_COLUMNS " FROM ing_alert_notice AS n"
    " WHERE n.sent_at IS NULL AND n.gave_up_at IS NULL AND n.next_try_at <= :now"
    " AND (n.kind_code = 'FIRED' OR NOT EXISTS (SELECT 1 FROM ing_alert_notice AS f"
    "  WHERE f.alert_id = n.alert_id AND f.receiver = n.receiver AND f.kind_code = 'FIRED'"
    "  AND f.sent_at IS NULL AND f.gave_up_at IS NULL))"
    " ORDER BY n.next_try_at, n.id LIMIT :limit";

static bool notices_due(struct store *store, struct arena *arena, int64_t now_us, int64_t limit,
                        struct alert_notice_list *list, struct error *err)
{
    struct statement *st = statement_of(store, DUE);

    bind_instant(st, ":now", now_us);
    bind_i64(st, ":limit", limit);
    return read_notices(st, arena, list, err) || error_wrap(err, "find notices that are due");
}

static const char CLAIM[] =
    "UPDATE ing_alert_notice SET attempts = attempts + 1, next_try_at = :until"
    " WHERE id = :id AND attempts = :attempts AND sent_at IS NULL AND gave_up_at IS NULL";

static bool notice_claim(struct store *store, const struct alert_notice *notice, int64_t until_us,
                         bool *mine, struct error *err)
{
    struct statement *st = statement_of(store, CLAIM);

    bind_i64(st, ":id", notice->id);
    bind_i64(st, ":attempts", notice->attempts);
    bind_instant(st, ":until", until_us);
    return statement_changed(st, mine, err) || error_wrap(err, "claim a notice");
}

static const char SENT[] = "UPDATE ing_alert_notice SET sent_at = :now, last_error = ''"
                           " WHERE id = :id AND sent_at IS NULL";

static bool notice_sent(struct store *store, int64_t id, int64_t now_us, struct error *err)
{
    struct statement *st = statement_of(store, SENT);
    int64_t changes;

    bind_i64(st, ":id", id);
    bind_instant(st, ":now", now_us);
    return statement_run(st, &changes, err) || error_wrap(err, "note that a notice was sent");
}

static const char FAILED[] =
    "UPDATE ing_alert_notice SET last_error = :error, next_try_at = :next, gave_up_at = :gave_up"
    " WHERE id = :id AND sent_at IS NULL";

static bool notice_failed(struct store *store, const struct alert_failure *failure,
                          struct error *err)
{
    struct statement *st = statement_of(store, FAILED);
    int64_t changes;

    bind_i64(st, ":id", failure->id);
    bind_text(st, ":error", failure->error);
    bind_instant(st, ":next", failure->next_try_us);
    bind_instant_opt(st, ":gave_up", failure->gave_up_us != 0, failure->gave_up_us);
    return statement_run(st, &changes, err) || error_wrap(err, "note that a notice was not sent");
}

const struct store_alert_ops SQL_ALERT = {
    .turn = alert_turn,
    .list = alert_list,
    .find = alert_find,
    .begin = alert_begin,
    .see = alert_see,
    .end = alert_end,
    .drop = alert_drop,
    .notice_add = notice_add,
    .notice_resolved = notice_resolved,
    .notices = alert_notices,
    .due = notices_due,
    .claim = notice_claim,
    .sent = notice_sent,
    .failed = notice_failed,
};
