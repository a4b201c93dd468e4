/* Compares what a harvest left in the store with the truth of patra-sim. */
#include <string.h>

#include "base/instant.h"
#include "harvest.h"
#include "port/store_cursor.h"
#include "port/store_outbox.h"
#include "port/store_quarantine.h"
#include "port/store_record.h"
#include "port/store_signal.h"
#include "sim_verify.h"
#include "test.h"
#include "within.h"

enum { ROWS_MAX = 100000 };

/* At rest, the events of one record in so many are checked, of other records each time. */
enum { EVENTS_EACH = 4 };

static const char *say(struct harvest *h, const char *what, struct str of)
{
    return arena_printf(&h->arena, "%s: %.*s", what, STR_ARG(of)).data;
}

/* ---- records ---- */

static bool get(struct harvest *h, struct str id, struct stored_record *record)
{
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_record_get(
                   h->store, &h->arena,
                   &(struct record_key){ str_of(h->shape->source), str_of(h->shape->endpoint), id },
                   record, &found, &err),
               err);
    return found;
}

static bool is_same(struct harvest *h, const struct stored_record *record,
                    const struct sim_truth_row *row)
{
    return record->is_deleted == row->is_dead &&
           sim_truth_has_bytes(row, &h->arena, record->payload);
}

/* Records that the store lists as missing. */
struct known_missing {
    struct signal_list signals;
    struct quarantined_list quarantined;
};

static struct known_missing known_missing(struct harvest *h)
{
    const struct str source = str_of(h->shape->source);
    struct error err = { 0 };
    struct known_missing missing;

    REQUIRE_OK(store_signal_list(h->store, &h->arena,
                                 &(struct signal_filter){ .source = source, .limit = ROWS_MAX },
                                 &missing.signals, &err),
               err);
    REQUIRE_OK(
        store_quarantine_list(h->store, &h->arena,
                              &(struct quarantine_filter){ .source = source, .limit = ROWS_MAX },
                              &missing.quarantined, &err),
        err);
    return missing;
}

static bool is_known(const struct known_missing *missing, struct str id)
{
    for (size_t i = 0; i < missing->signals.count; i++) {
        if (str_eq(missing->signals.items[i].provider_id, id))
            return true;
    }
    return false;
}

/* Quarantined without an id: any one of those that are missing. */
static size_t nameless(const struct known_missing *missing)
{
    size_t count = 0;

    for (size_t i = 0; i < missing->quarantined.count; i++)
        count += missing->quarantined.items[i].provider_id.len == 0;
    return count;
}

/* ---- what is shown ---- */

struct shown {
    struct task_list tasks;
    bool has_cursor;
    bool is_feed;
    int64_t cursor_us;
};

static bool harvest_cursor(struct harvest *h, struct cursor *cursor)
{
    struct cursor_list cursors;
    struct error err = { 0 };

    REQUIRE_OK(store_cursor_list(h->store, &h->arena, str_of(h->shape->source), &cursors, &err),
               err);
    for (size_t i = 0; i < cursors.count; i++) {
        *cursor = cursors.items[i];
        if (cursor->name.operation == OPERATION_HARVEST)
            return true;
    }
    return false;
}

static struct task_list tasks_of(struct harvest *h)
{
    const struct task_filter filter = { .source = str_of(h->shape->source), .limit = ROWS_MAX };
    struct task_list tasks;
    struct error err = { 0 };

    REQUIRE_OK(store_task_list(h->store, &h->arena, &filter, &tasks, &err), err);
    return tasks;
}

int64_t harvest_cursor_us(struct harvest *h)
{
    struct cursor cursor;

    return harvest_cursor(h, &cursor) ? cursor.value.instant_us : INT64_MIN;
}

struct task_list harvest_tasks(struct harvest *h, enum task_status status)
{
    const struct task_list all = tasks_of(h);
    struct task_list some = { 0 };

    for (size_t i = 0; i < all.count; i++) {
        struct task *task = NULL;

        if (all.items[i].status != status)
            continue;
        task = LIST_ADD(&h->arena, &some);
        REQUIRE(task != NULL, "memory");
        *task = all.items[i];
    }
    return some;
}

static bool is_shown(const struct shown *shown, int64_t at_us)
{
    if (shown->has_cursor && !shown->is_feed && at_us < shown->cursor_us)
        return true;
    for (size_t i = 0; i < shown->tasks.count; i++) {
        const struct task *task = &shown->tasks.items[i];
        const struct window done = task->status == TASK_SUCCEEDED ? task->window : task->covered;

        if (window_is_valid(done) && is_within(done, at_us))
            return true;
        if (shown->is_feed && task->operation == OPERATION_HARVEST &&
            task->status == TASK_SUCCEEDED)
            return true; /* as far as the source goes */
    }
    return false;
}

/* All that is looked at is of one moment, and read without a lock for each row. */
static void begin_look(struct harvest *h)
{
    struct error err = { 0 };

    REQUIRE_OK(store_begin_read(h->store, &err), err);
}

static const char *end_look(struct harvest *h, const char *wrong)
{
    store_rollback(h->store);
    return wrong;
}

static const char *check_shown(struct harvest *h, const struct sim_truth *truth, size_t *missing)
{
    const struct known_missing known = known_missing(h);
    struct shown shown = { .tasks = tasks_of(h), .is_feed = h->shape->feed != CURSOR_TIME };
    struct cursor cursor;
    size_t left = nameless(&known);

    *missing = known.signals.count + left;
    shown.has_cursor = harvest_cursor(h, &cursor);
    shown.cursor_us = shown.has_cursor ? cursor.value.instant_us : 0;
    for (size_t i = 0; i < truth->count; i++) {
        const struct sim_truth_row *row = &truth->items[i];
        struct stored_record record;

        if (!row->is_wanted || !is_shown(&shown, row->at_us) || is_known(&known, row->id))
            continue;
        if (!get(h, row->id, &record)) {
            if (left-- > 0)
                continue;
            return say(h, "shown as done, and not held", row->id);
        }
        if (!is_same(h, &record, row))
            return say(h, "shown as done, and held with other bytes", row->id);
    }
    return NULL;
}

const char *harvest_check_shown(struct harvest *h, const struct sim_truth *truth, size_t *missing)
{
    begin_look(h);
    return end_look(h, check_shown(h, truth, missing));
}

const char *harvest_check_forms(struct harvest *h, const struct sim_truth *truth)
{
    for (size_t i = 0; i < truth->count; i++) {
        const struct sim_truth_row *row = &truth->items[i];
        struct sim_truth other = { 0 };
        struct stored_record record;
        struct str path;

        if (!row->is_wanted)
            continue;
        if (!get(h, row->id, &record))
            return say(h, "known to be missing, and not fetched again", row->id);
        if (is_same(h, &record, row))
            continue;
        if (h->shape->detail_protocol == NULL)
            return say(h, "held with other bytes", row->id);
        path = arena_printf(&h->arena, "/_sim/truth?protocol=%s&id=%.*s", h->shape->detail_protocol,
                            STR_ARG(row->id));
        sim_truth_read(&other, &h->arena,
                       sim_ask(h->stage->http, &h->arena, &h->stage->sim, "GET", path.data, NULL));
        if (other.count != 1 || !is_same(h, &record, &other.items[0]))
            return say(h, "in neither form", row->id);
    }
    return NULL;
}

/* ---- at rest ---- */

static const char *check_cursor(struct harvest *h)
{
    struct cursor_event_list events;
    struct cursor_fold fold;
    struct cursor cursor;
    struct error err = { 0 };
    char text[INSTANT_TEXT_MAX];

    if (!harvest_cursor(h, &cursor))
        return "there is no cursor";
    REQUIRE_OK(store_cursor_event_list(h->store, &h->arena, &cursor.name,
                                       (struct store_page){ .limit = ROWS_MAX }, &events, &err),
               err);
    cursor_fold_init(&fold, h->shape->feed);
    for (size_t i = 0; i < events.count; i++)
        (events.items[i].reason == CURSOR_EVENT_RESET ? cursor_fold_reset : cursor_fold_add)(
            &fold, events.items[i].has_prev ? &events.items[i].prev : NULL, &events.items[i].next);
    if (!cursor_fold_agrees(&fold, &cursor.value))
        return "the cursor is not what its events say";
    if (h->shape->feed == CURSOR_TIME && cursor.value.instant_us != h->window.to_us)
        return say(h, "the cursor is not at the end",
                   (struct str){ text, instant_format(cursor.value.instant_us, text) });
    return NULL;
}

static const char *check_events(struct harvest *h, struct str id)
{
    struct stored_event_list events;
    struct stored_record record;
    struct error err = { 0 };

    if (!get(h, id, &record))
        return say(h, "missing at rest", id);
    REQUIRE_OK(store_outbox_of(h->store, &h->arena,
                               &(struct outbox_query){ record.id, 0, ROWS_MAX }, &events, &err),
               err);
    if ((int64_t)events.count != record.version)
        return say(h, "not one event per version", id);
    for (size_t i = 0; i < events.count; i++) {
        if (events.items[i].event.version != (int64_t)i + 1)
            return say(h, "events out of order", id);
    }
    return NULL;
}

static const char *check_rest(struct harvest *h, const struct sim_truth *truth)
{
    const struct task_list tasks = tasks_of(h);
    const char *wrong = check_cursor(h);

    for (size_t i = 0; i < tasks.count && wrong == NULL; i++) {
        const enum task_status status = tasks.items[i].status;

        if (status == TASK_QUEUED || status == TASK_DISPATCHED || status == TASK_EXECUTING)
            wrong = say(h, "a task is left", tasks.items[i].last_error);
    }
    for (size_t i = h->stage->cases % EVENTS_EACH; i < truth->count && wrong == NULL;
         i += EVENTS_EACH) {
        if (truth->items[i].is_wanted)
            wrong = check_events(h, truth->items[i].id);
    }
    return wrong;
}

const char *harvest_check_rest(struct harvest *h, const struct sim_truth *truth)
{
    begin_look(h);
    return end_look(h, check_rest(h, truth));
}

const char *harvest_verify(struct harvest *h)
{
    return sim_verify(&h->stage->sim, &(struct sim_verify_ask){ .store = h->dsn,
                                                                .protocol = h->shape->protocol,
                                                                .source = h->shape->source,
                                                                .endpoint = h->shape->endpoint,
                                                                .from = h->from,
                                                                .to = h->to });
}

int64_t harvest_need(struct harvest *h, const struct sim_truth *truth)
{
    const struct task_list tasks = harvest_tasks(h, TASK_SUCCEEDED);
    int64_t need = 0;

    for (size_t i = 0; i < tasks.count; i++)
        need += sim_shape_need(h->shape, truth, tasks.items[i].window);
    return need;
}
