#include "adapter/memory/store_base.h"

enum { BY_RECORD };

static bool record_key(const void *row, struct key *key)
{
    const struct signal_stored *stored = row;

    key_add_str(key, stored->signal.source);
    key_add_str(key, stored->signal.endpoint);
    key_add_str(key, stored->signal.provider_id);
    return !stored->is_consumed;
}

const struct table_def MEMORY_SIGNAL_TABLE = {
    .name = "ing_signal",
    .row_size = sizeof(struct signal_stored),
    .text_count = 5,
    .texts = { TEXT_DEF(struct signal_stored, signal.source, TEXT_PLAIN),
               TEXT_DEF(struct signal_stored, signal.endpoint, TEXT_PLAIN),
               TEXT_DEF(struct signal_stored, signal.provider_id, TEXT_PLAIN),
               TEXT_DEF(struct signal_stored, signal.reason, TEXT_PLAIN),
               TEXT_DEF(struct signal_stored, signal.created_by, TEXT_PLAIN) },
    .index_count = 1,
    .indexes = { { "uk_signal_open", true, record_key } },
};

static bool ticket_key(const void *row, struct key *key)
{
    key_add_i64(key, ((const struct ticket_stored *)row)->ticket.task_id);
    return true;
}

const struct table_def MEMORY_RESLICE_TABLE = {
    .name = "ing_reslice_request",
    .row_size = sizeof(struct ticket_stored),
    .text_count = 1,
    .texts = { TEXT_DEF(struct ticket_stored, ticket.detail, TEXT_JSON) },
    .index_count = 1,
    .indexes = { { "uk_reslice_task", true, ticket_key } },
};

/* ---- signals ---- */

static bool add_signal(struct memory_db *db, const struct signal *signal, int64_t *added,
                       struct error *err)
{
    const struct signal_stored row = { .signal = *signal };
    struct key key = { 0 };
    bool is_new;
    int64_t id;

    (void)record_key(&row, &key);
    is_new = table_find(&db->tables[MEMORY_SIGNAL], BY_RECORD, &key) == NULL;
    key_release(&key);
    *added += is_new;
    return !is_new || (memory_check(signal->source.len > 0, "source", err) &&
                       memory_check(signal->endpoint.len > 0, "endpoint", err) &&
                       memory_check(signal->provider_id.len > 0 && signal->provider_id.len <= 1024,
                                    "provider_id", err) &&
                       memory_insert(db, MEMORY_SIGNAL, &row, &id, err));
}

static bool signal_add(struct store *store, const struct signal *signals, size_t count,
                       int64_t *added, struct error *err)
{
    struct memory_call call;
    bool ok = true;

    *added = 0;
    if (!memory_enter(&call, store, "signal_add", err))
        return false;
    for (size_t i = 0; i < count && ok; i++)
        ok = add_signal(call.db, &signals[i], added, err);
    return memory_leave(&call, ok, err);
}

/* Rows of this record that plans took up. */
static int64_t count_tried(const struct table *table, const struct signal *signal)
{
    int64_t tried = 0;

    for (int64_t id = 1; id < table->next_id; id++) {
        const struct signal_stored *row = table_get(table, id);

        tried += row != NULL && row->plan_id != 0 && str_eq(row->signal.source, signal->source) &&
                 str_eq(row->signal.endpoint, signal->endpoint) &&
                 str_eq(row->signal.provider_id, signal->provider_id);
    }
    return tried;
}

static bool is_meant(struct str wanted, struct str text)
{
    return wanted.len == 0 || str_eq(wanted, text);
}

static bool list_signals(struct memory_db *db, struct arena *arena,
                         const struct signal_filter *filter, struct signal_list *list,
                         struct error *err)
{
    const struct table *table = &db->tables[MEMORY_SIGNAL];

    for (int64_t id = filter->after_id + 1;
         id < table->next_id && (int64_t)list->count < filter->limit; id++) {
        const struct signal_stored *row = table_get(table, id);
        struct signal_stored given;
        struct signal *signal;

        if (row == NULL || row->is_consumed || !is_meant(filter->source, row->signal.source) ||
            !is_meant(filter->endpoint, row->signal.endpoint) ||
            !is_meant(filter->reason, row->signal.reason))
            continue;
        signal = LIST_ADD(arena, list);
        if (signal == NULL)
            return arena_error(arena, err);
        if (!memory_give(db, MEMORY_SIGNAL, row, arena, &given, err))
            return false;
        *signal = given.signal;
        signal->tried = count_tried(table, signal);
    }
    return true;
}

static bool signal_list(struct store *store, struct arena *arena,
                        const struct signal_filter *filter, struct signal_list *list,
                        struct error *err)
{
    struct memory_call call;

    *list = (struct signal_list){ 0 };
    return memory_enter(&call, store, "signal_list", err) &&
           memory_leave(&call, list_signals(call.db, arena, filter, list, err), err);
}

static bool signal_consume(struct store *store, const int64_t *ids, size_t count, int64_t plan_id,
                           int64_t now_us, int64_t *consumed, struct error *err)
{
    struct memory_call call;
    bool ok = true;

    (void)now_us;
    *consumed = 0;
    if (!memory_enter(&call, store, "signal_consume", err))
        return false;
    for (size_t i = 0; i < count && ok; i++) {
        const struct signal_stored *old = table_get(&call.db->tables[MEMORY_SIGNAL], ids[i]);
        struct signal_stored row;

        if (old == NULL || old->is_consumed)
            continue;
        row = *old;
        row.is_consumed = true;
        row.plan_id = plan_id;
        ok = memory_update(call.db, MEMORY_SIGNAL, &row, err);
        ++*consumed;
    }
    return memory_leave(&call, ok, err);
}

static bool signal_close(struct store *store, const struct signal *signal, struct str by,
                         int64_t now_us, bool *closed, struct error *err)
{
    struct signal_stored row = { .signal = *signal };
    const struct signal_stored *open;
    struct key key = { 0 };
    struct memory_call call;
    bool ok = true;

    (void)by;
    (void)now_us;
    *closed = false;
    if (!memory_enter(&call, store, "signal_close", err))
        return false;
    (void)record_key(&row, &key);
    open = table_find(&call.db->tables[MEMORY_SIGNAL], BY_RECORD, &key);
    key_release(&key);
    if (open != NULL && str_eq(open->signal.reason, signal->reason)) {
        row = *open;
        row.is_consumed = true;
        ok = memory_update(call.db, MEMORY_SIGNAL, &row, err);
        *closed = ok;
    }
    return memory_leave(&call, ok, err);
}

static bool signal_drop(struct store *store, int64_t id, struct str by, int64_t now_us,
                        bool *dropped, struct error *err)
{
    const struct signal_stored *old;
    struct signal_stored row;
    struct memory_call call;

    (void)by;
    (void)now_us;
    if (!memory_enter(&call, store, "signal_drop", err))
        return false;
    old = table_get(&call.db->tables[MEMORY_SIGNAL], id);
    *dropped = old != NULL && !old->is_consumed;
    if (*dropped) {
        row = *old;
        row.is_consumed = true;
    }
    return memory_leave(&call, !*dropped || memory_update(call.db, MEMORY_SIGNAL, &row, err), err);
}

static bool is_among(struct str id, const struct str *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(ids[i], id))
            return true;
    }
    return false;
}

static bool signal_repeat(struct store *store, int64_t plan_id, const struct str *provider_ids,
                          size_t count, int64_t now_us, int64_t *added, struct error *err)
{
    struct memory_call call;
    bool ok = true;
    int64_t end;

    *added = 0;
    if (!memory_enter(&call, store, "signal_repeat", err))
        return false;
    end = call.db->tables[MEMORY_SIGNAL].next_id;
    for (int64_t id = 1; id < end && ok; id++) {
        const struct signal_stored *old = table_get(&call.db->tables[MEMORY_SIGNAL], id);
        struct signal again;

        if (old == NULL || !old->is_consumed || old->plan_id != plan_id ||
            !is_among(old->signal.provider_id, provider_ids, count))
            continue;
        again = old->signal;
        again.id = 0;
        again.created_us = now_us;
        ok = add_signal(call.db, &again, added, err);
    }
    return memory_leave(&call, ok, err);
}

/* ---- re-slice requests ---- */

static bool add_ticket(struct memory_db *db, const struct reslice_ticket *ticket, bool *added,
                       struct error *err)
{
    struct ticket_stored row = { .ticket = *ticket };
    struct key key = { 0 };
    int64_t id;

    (void)ticket_key(&row, &key);
    *added = table_find(&db->tables[MEMORY_RESLICE], 0, &key) == NULL;
    key_release(&key);
    if (!window_is_valid(ticket->remaining))
        row.ticket.remaining = (struct window){ 0, 0 };
    return !*added || (memory_refers(db, MEMORY_TASK, ticket->task_id, err) &&
                       memory_refers(db, MEMORY_SLICE, ticket->slice_id, err) &&
                       memory_insert(db, MEMORY_RESLICE, &row, &id, err));
}

static bool reslice_add(struct store *store, const struct reslice_ticket *ticket, bool *added,
                        struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "reslice_add", err) &&
           memory_leave(&call, add_ticket(call.db, ticket, added, err), err);
}

static bool claim_tickets(struct memory_db *db, struct arena *arena, int64_t limit,
                          struct reslice_ticket_list *list, struct error *err)
{
    const struct table *table = &db->tables[MEMORY_RESLICE];

    for (int64_t id = 1; id < table->next_id && (int64_t)list->count < limit; id++) {
        const struct ticket_stored *old = table_get(table, id);
        struct ticket_stored row, given;
        struct reslice_ticket *ticket;

        if (old == NULL || old->is_claimed)
            continue;
        ticket = LIST_ADD(arena, list);
        if (ticket == NULL)
            return arena_error(arena, err);
        if (!memory_give(db, MEMORY_RESLICE, old, arena, &given, err))
            return false;
        *ticket = given.ticket;
        row = *old;
        row.is_claimed = true;
        if (!memory_update(db, MEMORY_RESLICE, &row, err))
            return false;
    }
    return true;
}

static bool reslice_claim(struct store *store, struct arena *arena, struct str owner,
                          int64_t now_us, int64_t limit, struct reslice_ticket_list *list,
                          struct error *err)
{
    struct memory_call call;

    (void)owner;
    (void)now_us;
    *list = (struct reslice_ticket_list){ 0 };
    return memory_enter(&call, store, "reslice_claim", err) &&
           memory_leave(&call, claim_tickets(call.db, arena, limit, list, err), err);
}

const struct store_signal_ops MEMORY_SIGNAL_OPS = {
    .add = signal_add,
    .list = signal_list,
    .consume = signal_consume,
    .close = signal_close,
    .drop = signal_drop,
    .repeat = signal_repeat,
    .reslice_add = reslice_add,
    .reslice_claim = reslice_claim,
};
