/* Receivers of alerts, the limits of rules, and silences: what people set. */
#include "adapter/sql/session.h"
#include "port/store_alert.h"

/* ---- receivers ---- */

static const char APPLY[] =
    "INSERT INTO reg_alert_receiver (name, spec, applied_by, created_at, updated_at)"
    " VALUES (:name, :spec, :by, :now, :now)"
    " ON CONFLICT (name) DO UPDATE SET spec = :spec, applied_by = :by, updated_at = :now"
    "   WHERE reg_alert_receiver.spec <> :spec";

static bool receiver_apply(struct store *store, const struct alert_receiver_row *row, bool *changed,
                           struct error *err)
{
    struct statement *st = statement_of(store, APPLY);

    bind_text(st, ":name", row->name);
    bind_text(st, ":spec", row->spec);
    bind_text(st, ":by", row->applied_by);
    bind_instant(st, ":now", row->updated_us);
    return statement_changed(st, changed, err) ||
           error_wrap(err, "apply receiver %.*s", STR_ARG(row->name));
}

static const char RECEIVERS[] = "SELECT name, spec, applied_by, created_at, updated_at"
                                " FROM reg_alert_receiver ORDER BY name{byte-order}";

static bool receiver_list(struct store *store, struct arena *arena,
                          struct alert_receiver_list *list, struct error *err)
{
    struct rows *rows = &statement_of(store, RECEIVERS)->rows;
    struct alert_receiver_row *row;

    *list = (struct alert_receiver_list){ 0 };
    while ((row = ROWS_NEXT(rows, arena, list)) != NULL) {
        row->name = rows_text(rows, arena);
        row->spec = rows_text(rows, arena);
        row->applied_by = rows_text(rows, arena);
        row->created_us = rows_i64(rows);
        row->updated_us = rows_i64(rows);
    }
    return rows_finish(rows, err) || error_wrap(err, "list receivers");
}

static const char REMOVE[] = "DELETE FROM reg_alert_receiver WHERE name = :name";
static const char REMOVE_NOTICES[] =
    "DELETE FROM ing_alert_notice WHERE receiver = :name AND sent_at IS NULL";

static bool remove_within(struct store *store, struct str name, bool *removed, struct error *err)
{
    struct statement *st = statement_of(store, REMOVE);
    int64_t notices;

    bind_text(st, ":name", name);
    if (!statement_changed(st, removed, err))
        return false;
    st = statement_of(store, REMOVE_NOTICES);
    bind_text(st, ":name", name);
    return statement_run(st, &notices, err);
}

static bool receiver_remove(struct store *store, struct str name, bool *removed, struct error *err)
{
    bool owns_transaction, ok;

    *removed = false;
    ok = store_begin_if_idle(store, &owns_transaction, err) &&
         store_end_if_owned(store, owns_transaction, remove_within(store, name, removed, err), err);
    return ok || error_wrap(err, "remove receiver %.*s", STR_ARG(name));
}

/* ---- rules ---- */

static const char RULE_SET[] =
    "INSERT INTO reg_alert_rule (rule_code, is_off, limit_value, hold_us, set_by, updated_at)"
    " VALUES (:rule, :off, :limit, :hold, :by, :now)"
    " ON CONFLICT (rule_code) DO UPDATE SET is_off = :off, limit_value = :limit, hold_us = :hold,"
    "  set_by = :by, updated_at = :now";

static bool rule_set(struct store *store, const struct alert_setting *setting, struct error *err)
{
    struct statement *st = statement_of(store, RULE_SET);
    int64_t changes;

    bind_text(st, ":rule", setting->rule);
    bind_bool(st, ":off", setting->is_off);
    bind_i64(st, ":limit", setting->limit);
    bind_i64(st, ":hold", setting->hold_us);
    bind_text(st, ":by", setting->set_by);
    bind_instant(st, ":now", setting->updated_us);
    return statement_run(st, &changes, err) ||
           error_wrap(err, "set rule %.*s", STR_ARG(setting->rule));
}

static const char RULE_CLEAR[] = "DELETE FROM reg_alert_rule WHERE rule_code = :rule";

static bool rule_clear(struct store *store, struct str rule, struct error *err)
{
    struct statement *st = statement_of(store, RULE_CLEAR);
    int64_t changes;

    bind_text(st, ":rule", rule);
    return statement_run(st, &changes, err) || error_wrap(err, "clear rule %.*s", STR_ARG(rule));
}

static const char RULES[] = "SELECT rule_code, is_off, limit_value, hold_us, set_by, updated_at"
                            " FROM reg_alert_rule ORDER BY rule_code{byte-order}";

static bool rule_list(struct store *store, struct arena *arena, struct alert_setting_list *list,
                      struct error *err)
{
    struct rows *rows = &statement_of(store, RULES)->rows;
    struct alert_setting *row;

    *list = (struct alert_setting_list){ 0 };
    while ((row = ROWS_NEXT(rows, arena, list)) != NULL) {
        row->rule = rows_text(rows, arena);
        row->is_off = rows_bool(rows);
        row->limit = rows_i64(rows);
        row->hold_us = rows_i64(rows);
        row->set_by = rows_text(rows, arena);
        row->updated_us = rows_i64(rows);
    }
    return rows_finish(rows, err) || error_wrap(err, "list rules");
}

/* ---- silences ---- */

static const char SILENCE[] =
    "INSERT INTO ing_alert_silence (rule_code, provenance_code, subject, until_at, reason,"
    " created_by, created_at) VALUES (:rule, :source, :subject, :until, :reason, :by, :now)"
    " RETURNING id";

static bool silence_add(struct store *store, const struct alert_silence *silence, int64_t *id,
                        struct error *err)
{
    struct statement *st = statement_of(store, SILENCE);

    bind_text(st, ":rule", silence->rule);
    bind_text(st, ":source", silence->source);
    bind_text(st, ":subject", silence->subject);
    bind_instant(st, ":until", silence->until_us);
    bind_text(st, ":reason", silence->reason);
    bind_text(st, ":by", silence->created_by);
    bind_instant(st, ":now", silence->created_us);
    return rows_only_i64(&st->rows, id, err) || error_wrap(err, "add a silence");
}

static const char SILENCE_END[] =
    "UPDATE ing_alert_silence SET until_at = :now WHERE id = :id AND until_at > :now";

static bool silence_end(struct store *store, int64_t id, int64_t now_us, bool *ended,
                        struct error *err)
{
    struct statement *st = statement_of(store, SILENCE_END);

    bind_i64(st, ":id", id);
    bind_instant(st, ":now", now_us);
    return statement_changed(st, ended, err) || error_wrap(err, "end a silence");
}

static const char SILENCES[] =
    "SELECT id, rule_code, provenance_code, subject, until_at, reason, created_by, created_at"
    " FROM ing_alert_silence WHERE until_at > :now ORDER BY until_at, id";

static bool silence_list(struct store *store, struct arena *arena, int64_t now_us,
                         struct alert_silence_list *list, struct error *err)
{
    struct statement *st = statement_of(store, SILENCES);
    struct rows *rows = &st->rows;
    struct alert_silence *row;

    *list = (struct alert_silence_list){ 0 };
    bind_instant(st, ":now", now_us);
    while ((row = ROWS_NEXT(rows, arena, list)) != NULL) {
        row->id = rows_i64(rows);
        row->rule = rows_text(rows, arena);
        row->source = rows_text(rows, arena);
        row->subject = rows_text(rows, arena);
        row->until_us = rows_i64(rows);
        row->reason = rows_text(rows, arena);
        row->created_by = rows_text(rows, arena);
        row->created_us = rows_i64(rows);
    }
    return rows_finish(rows, err) || error_wrap(err, "list silences");
}

const struct store_alert_config_ops SQL_ALERT_CONFIG = {
    .receiver_apply = receiver_apply,
    .receivers = receiver_list,
    .receiver_remove = receiver_remove,
    .rule_set = rule_set,
    .rule_clear = rule_clear,
    .rules = rule_list,
    .silence = silence_add,
    .silence_end = silence_end,
    .silences = silence_list,
};
