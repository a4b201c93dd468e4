/* store_alert: what is or was wrong, who is notified, and what people have set about it.
 *
 *      turn ─▶ one process at a time looks and sends
 *      open alerts ◀─ begin, see, end, drop        engine/alert/settle.h decides
 *      notices ◀─ add, of_resolved; due ─▶ claim ─▶ sent | failed        engine/alert/deliver.h
 *
 * There is at most one open alert per rule and subject, and one notice of each kind per alert and
 * receiver, whoever writes and however often.
 */
#ifndef PATRA_PORT_STORE_ALERT_H
#define PATRA_PORT_STORE_ALERT_H

#include "core/alert.h"
#include "port/store.h"

struct alert {
    int64_t id;
    struct str rule; /* its name; of a later patra perhaps */
    struct str subject;
    struct str source; /* '': none */
    enum alert_severity severity;
    struct str text;
    int64_t since_us;
    int64_t seen_us;
    int64_t fired_us;    /* 0: it has not held long enough */
    int64_t resolved_us; /* 0: it is open */
};

struct alert_list {
    struct alert *items;
    size_t count;
};

struct alert_query {
    bool with_pending;  /* those that have not fired yet */
    bool with_resolved; /* the latest */
    struct str source;  /* '': any */
    int64_t limit;
};

struct alert_notice {
    int64_t id;
    int64_t alert_id;
    struct str receiver;
    enum alert_notice_kind kind;
    int64_t created_us;
    int64_t next_try_us;
    int64_t attempts;
    struct str last_error;
    int64_t sent_us;    /* 0: not yet */
    int64_t gave_up_us; /* 0: no */
};

struct alert_notice_list {
    struct alert_notice *items;
    size_t count;
};

struct alert_receiver_row {
    struct str name;
    struct str spec; /* JSON: spec/alert_file.h */
    struct str applied_by;
    int64_t created_us;
    int64_t updated_us;
};

struct alert_receiver_list {
    struct alert_receiver_row *items;
    size_t count;
};

struct alert_setting { /* a rule that a person has set */
    struct str rule;
    bool is_off;
    int64_t limit;
    int64_t hold_us;
    struct str set_by;
    int64_t updated_us;
};

struct alert_setting_list {
    struct alert_setting *items;
    size_t count;
};

struct alert_silence { /* '': any */
    int64_t id;
    struct str rule;
    struct str source;
    struct str subject;
    int64_t until_us;
    struct str reason;
    struct str created_by;
    int64_t created_us;
};

struct alert_silence_list {
    struct alert_silence *items;
    size_t count;
};

struct alert_turn {
    struct str owner;
    int64_t now_us;
    int64_t lease_us;
};

struct alert_seen {
    int64_t id;
    struct str text;
    int64_t now_us;
    bool fires; /* it has held long enough */
};

struct alert_failure {
    int64_t id;
    struct str error;
    int64_t next_try_us;
    int64_t gave_up_us; /* 0: it is tried again */
};

struct store_alert_ops {
    bool (*turn)(struct store *store, const struct alert_turn *turn, bool *mine, struct error *err);
    bool (*list)(struct store *store, struct arena *arena, const struct alert_query *query,
                 struct alert_list *list, struct error *err);
    bool (*find)(struct store *store, struct arena *arena, int64_t id, struct alert *alert,
                 bool *found, struct error *err);
    bool (*begin)(struct store *store, const struct alert *alert, struct error *err);
    bool (*see)(struct store *store, const struct alert_seen *seen, struct error *err);
    bool (*end)(struct store *store, int64_t id, int64_t now_us, struct error *err);
    bool (*drop)(struct store *store, int64_t id, struct error *err);
    bool (*notice_add)(struct store *store, const struct alert_notice *notice, bool *added,
                       struct error *err);
    bool (*notice_resolved)(struct store *store, int64_t id, int64_t now_us, struct error *err);
    bool (*notices)(struct store *store, struct arena *arena, int64_t id,
                    struct alert_notice_list *list, struct error *err);
    bool (*due)(struct store *store, struct arena *arena, int64_t now_us, int64_t limit,
                struct alert_notice_list *list, struct error *err);
    bool (*claim)(struct store *store, const struct alert_notice *notice, int64_t until_us,
                  bool *mine, struct error *err);
    bool (*sent)(struct store *store, int64_t id, int64_t now_us, struct error *err);
    bool (*failed)(struct store *store, const struct alert_failure *failure, struct error *err);
};

struct store_alert_config_ops {
    bool (*receiver_apply)(struct store *store, const struct alert_receiver_row *row, bool *changed,
                           struct error *err);
    bool (*receivers)(struct store *store, struct arena *arena, struct alert_receiver_list *list,
                      struct error *err);
    bool (*receiver_remove)(struct store *store, struct str name, bool *removed, struct error *err);
    bool (*rule_set)(struct store *store, const struct alert_setting *setting, struct error *err);
    bool (*rule_clear)(struct store *store, struct str rule, struct error *err);
    bool (*rules)(struct store *store, struct arena *arena, struct alert_setting_list *list,
                  struct error *err);
    bool (*silence)(struct store *store, const struct alert_silence *silence, int64_t *id,
                    struct error *err);
    bool (*silence_end)(struct store *store, int64_t id, int64_t now_us, bool *ended,
                        struct error *err);
    bool (*silences)(struct store *store, struct arena *arena, int64_t now_us,
                     struct alert_silence_list *list, struct error *err);
};

/* *mine: nobody else looks and sends until the lease ends. Who has it renews it by asking again. */
static inline bool MUST_CHECK store_alert_turn(struct store *store, const struct alert_turn *turn,
                                               bool *mine, struct error *err)
{
    return store->alert->turn(store, turn, mine, err);
}

/* Open ones by severity and time; after them, with_resolved, the latest that are resolved. */
static inline bool MUST_CHECK store_alert_list(struct store *store, struct arena *arena,
                                               const struct alert_query *query,
                                               struct alert_list *list, struct error *err)
{
    return store->alert->list(store, arena, query, list, err);
}

static inline bool MUST_CHECK store_alert_find(struct store *store, struct arena *arena, int64_t id,
                                               struct alert *alert, bool *found, struct error *err)
{
    return store->alert->find(store, arena, id, alert, found, err);
}

/* Does nothing where the rule and subject have an open alert. */
static inline bool MUST_CHECK store_alert_begin(struct store *store, const struct alert *alert,
                                                struct error *err)
{
    return store->alert->begin(store, alert, err);
}

static inline bool MUST_CHECK store_alert_see(struct store *store, const struct alert_seen *seen,
                                              struct error *err)
{
    return store->alert->see(store, seen, err);
}

static inline bool MUST_CHECK store_alert_end(struct store *store, int64_t id, int64_t now_us,
                                              struct error *err)
{
    return store->alert->end(store, id, now_us, err);
}

/* Forgets one that has not fired. */
static inline bool MUST_CHECK store_alert_drop(struct store *store, int64_t id, struct error *err)
{
    return store->alert->drop(store, id, err);
}

static inline bool MUST_CHECK store_alert_notice_add(struct store *store,
                                                     const struct alert_notice *notice, bool *added,
                                                     struct error *err)
{
    return store->alert->notice_add(store, notice, added, err);
}

/* Whoever was, or is to be, notified that it fired is notified that it is over. */
static inline bool MUST_CHECK store_alert_notice_resolved(struct store *store, int64_t id,
                                                          int64_t now_us, struct error *err)
{
    return store->alert->notice_resolved(store, id, now_us, err);
}

/* Of one alert. */
static inline bool MUST_CHECK store_alert_notices(struct store *store, struct arena *arena,
                                                  int64_t id, struct alert_notice_list *list,
                                                  struct error *err)
{
    return store->alert->notices(store, arena, id, list, err);
}

/* To be sent now, the oldest first. That an alert is over waits until it was notified that it
 * fired. */
static inline bool MUST_CHECK store_alert_due(struct store *store, struct arena *arena,
                                              int64_t now_us, int64_t limit,
                                              struct alert_notice_list *list, struct error *err)
{
    return store->alert->due(store, arena, now_us, limit, list, err);
}

/* Of all that claim a notice as they read it, one has *mine, until `until_us`. */
static inline bool MUST_CHECK store_alert_claim(struct store *store,
                                                const struct alert_notice *notice, int64_t until_us,
                                                bool *mine, struct error *err)
{
    return store->alert->claim(store, notice, until_us, mine, err);
}

static inline bool MUST_CHECK store_alert_sent(struct store *store, int64_t id, int64_t now_us,
                                               struct error *err)
{
    return store->alert->sent(store, id, now_us, err);
}

static inline bool MUST_CHECK store_alert_failed(struct store *store,
                                                 const struct alert_failure *failure,
                                                 struct error *err)
{
    return store->alert->failed(store, failure, err);
}

/* ---- what people set ---- */

/* *changed is false when it is there with the same spec. */
static inline bool MUST_CHECK store_alert_receiver_apply(struct store *store,
                                                         const struct alert_receiver_row *row,
                                                         bool *changed, struct error *err)
{
    return store->alert_config->receiver_apply(store, row, changed, err);
}

static inline bool MUST_CHECK store_alert_receivers(struct store *store, struct arena *arena,
                                                    struct alert_receiver_list *list,
                                                    struct error *err)
{
    return store->alert_config->receivers(store, arena, list, err);
}

/* With the notices that it has not got. */
static inline bool MUST_CHECK store_alert_receiver_remove(struct store *store, struct str name,
                                                          bool *removed, struct error *err)
{
    return store->alert_config->receiver_remove(store, name, removed, err);
}

static inline bool MUST_CHECK store_alert_rule_set(struct store *store,
                                                   const struct alert_setting *setting,
                                                   struct error *err)
{
    return store->alert_config->rule_set(store, setting, err);
}

/* Back to the default. */
static inline bool MUST_CHECK store_alert_rule_clear(struct store *store, struct str rule,
                                                     struct error *err)
{
    return store->alert_config->rule_clear(store, rule, err);
}

static inline bool MUST_CHECK store_alert_rules(struct store *store, struct arena *arena,
                                                struct alert_setting_list *list, struct error *err)
{
    return store->alert_config->rules(store, arena, list, err);
}

static inline bool MUST_CHECK store_alert_silence(struct store *store,
                                                  const struct alert_silence *silence, int64_t *id,
                                                  struct error *err)
{
    return store->alert_config->silence(store, silence, id, err);
}

static inline bool MUST_CHECK store_alert_silence_end(struct store *store, int64_t id,
                                                      int64_t now_us, bool *ended,
                                                      struct error *err)
{
    return store->alert_config->silence_end(store, id, now_us, ended, err);
}

/* Those in force. */
static inline bool MUST_CHECK store_alert_silences(struct store *store, struct arena *arena,
                                                   int64_t now_us, struct alert_silence_list *list,
                                                   struct error *err)
{
    return store->alert_config->silences(store, arena, now_us, list, err);
}

#endif
