/* The database, its clock, its notes. */
#include <inttypes.h>
#include <poll.h>

#include "base/instant.h"
#include "base/text.h"
#include "cmd/doctor/doctor.h"
#include "port/store_health.h"
#include "port/store_rate.h"
#include "port/store_wake.h"
#include "view/alert.h"

/* Retention keeps 90 days, and works once a day. */
#define OLD_US (97 * US_PER_DAY)
#define TRANSACTION_US (10 * US_PER_MINUTE)
#define SKEW_US (2 * US_PER_SECOND)
#define NOTE_WAIT_MS 2000

enum { ROUNDS = 5 };

static void add_each(struct doctor *d, const char *check, const struct health_text_list *list,
                     struct str todo)
{
    for (size_t i = 0; i < list->count; i++)
        doctor_add(d, check, list->items[i], todo);
}

static bool check_database(struct doctor *d, int64_t now_us, struct error *err)
{
    struct arena *arena = &d->session->arena;
    struct store *store = d->session->store;
    struct health_text_list faults, indexes, transactions;

    d->checks += 3;
    if (!store_health_faults(store, arena, invocation_flag(d->invocation, "deep"), &faults, err) ||
        !store_health_missing_indexes(store, arena, &indexes, err) ||
        !store_health_long_transactions(store, arena, now_us - TRANSACTION_US, &transactions, err))
        return false;
    add_each(d, "store.broken", &faults,
             STR("Stop all processes and restore a backup. If only an index is wrong, REINDEX it "
                 "(PostgreSQL: REINDEX INDEX CONCURRENTLY)"));
    for (size_t i = 0; i < indexes.count; i++)
        doctor_add(d, "store.index",
                   arena_printf(arena, "the index %.*s is missing", STR_ARG(indexes.items[i])),
                   STR("Somebody removed it. Make it again by the CREATE INDEX of its migration "
                       "(sql/)"));
    add_each(d, "store.transaction", &transactions,
             STR("End it: SELECT pg_terminate_backend(PID). Until then events that were written "
                 "since wait, and nothing of what it may see is cleaned up"));
    return true;
}

static void check_ages(struct doctor *d, const struct health_ages *ages, int64_t now_us)
{
    struct arena *arena = &d->session->arena;
    const struct {
        const char *table;
        int64_t at_us;
    } rows[] = { { "ing_task_run_batch", ages->batch_us },
                 { "ing_cursor_event", ages->cursor_event_us } };

    d->checks += 2;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].at_us == 0 || now_us - rows[i].at_us < OLD_US)
            continue;
        doctor_add(d, "store.grows",
                   arena_printf(arena, "%s grows: its oldest row is %.*s old", rows[i].table,
                                STR_ARG(text_span_in(arena, now_us - rows[i].at_us))),
                   STR("Run patra retention DIR, or patra serve with --retention DIR: it archives "
                       "and removes what is older than 90 days"));
    }
    d->checks++;
    if (ages->newest_plan_us - now_us > SKEW_US)
        doctor_add(d, "clock.back",
                   arena_printf(arena, "the newest plan was made %.*s in the future",
                                STR_ARG(text_span_in(arena, ages->newest_plan_us - now_us))),
                   STR("A clock was set back, or that of another machine is ahead: check NTP on "
                       "all hosts"));
}

/* ---- leases, and whoever should work ---- */

static bool check_work(struct doctor *d, struct error *err)
{
    static const enum alert_rule rules[] = { ALERT_LEASE_EXPIRED, ALERT_QUEUE_STUCK,
                                             ALERT_SCHEDULE_LATE, ALERT_PUBLISHER_DOWN,
                                             ALERT_SUBSCRIPTION_BEHIND };
    const struct view_reader reader = session_reader(d->session);
    struct view_findings findings;

    d->checks += ARRAY_LEN(rules);
    if (!view_findings(&reader, &findings, err))
        return false;
    for (size_t i = 0; i < findings.list.count; i++) {
        const struct alert_finding *finding = &findings.list.items[i];

        for (size_t r = 0; r < ARRAY_LEN(rules); r++) {
            if (finding->rule == rules[r])
                doctor_add(d, "work.stuck", finding->text,
                           arena_printf(&d->session->arena, "See docs/runbooks/%s.md",
                                        ALERT_RULES[finding->rule].name));
        }
    }
    return true;
}

/* ---- the clock, and how long an answer takes ---- */

static bool check_clock(struct doctor *d, struct error *err)
{
    struct arena *arena = &d->session->arena;
    int64_t best_us = INT64_MAX, skew_us = 0;

    d->checks += 2;
    for (int i = 0; i < ROUNDS; i++) {
        const int64_t from_us = clock_monotonic_us(&d->session->clock);
        struct clock_host ours;
        int64_t theirs_us, took_us;

        clock_host(&d->session->clock, &ours);
        if (!store_clock(d->session->store, ours.calendar_us, &theirs_us, err))
            return false;
        took_us = clock_monotonic_us(&d->session->clock) - from_us;
        if (took_us >= best_us)
            continue;
        best_us = took_us;
        skew_us = theirs_us - (ours.calendar_us + took_us / 2);
    }
    if (skew_us > SKEW_US || skew_us < -SKEW_US)
        doctor_add(d, "clock.skew",
                   arena_printf(arena, "the clock of the database is %.*s %s this machine's",
                                STR_ARG(text_span_in(arena, skew_us < 0 ? -skew_us : skew_us)),
                                skew_us > 0 ? "ahead of" : "behind"),
                   STR("Check NTP on both. patra goes by the database's clock"));
    if (best_us > d->slow_us)
        doctor_add(d, "store.slow",
                   arena_printf(arena, "the database takes %.*s to answer",
                                STR_ARG(text_span_in(arena, best_us))),
                   STR("Each batch needs some ten answers: run patra near its database"));
    return true;
}

/* ---- notes ---- */

static bool hear(struct doctor *d, struct store *listener, struct str text, bool *heard,
                 struct error *err)
{
    const int64_t until_us = clock_monotonic_us(&d->session->clock) + NOTE_WAIT_MS * US_PER_MS;
    struct wake_note note;
    bool has_note = false;

    *heard = false;
    while (!*heard && clock_monotonic_us(&d->session->clock) < until_us) {
        struct pollfd wait = { .fd = store_wake_fd(listener), .events = POLLIN };

        if (!store_wake_next(listener, &note, &has_note, err))
            return false;
        if (has_note)
            *heard = str_eq(str_of(note.text), text);
        else
            (void)poll(&wait, 1, 100);
    }
    return true;
}

/* A pooler may keep notes from those who listen. */
static bool check_notes(struct doctor *d, struct error *err)
{
    const struct str text =
        arena_printf(&d->session->arena, "doctor-%" PRIx64, random_source_u64(&d->session->random));
    struct store *listener = NULL;
    bool heard = true, is_new;
    bool ok;

    if (!store_wake_is_pushed(d->session->store))
        return true;
    d->checks++;
    ok = store_another(d->session->store, &listener, err) &&
         store_wake_listen(listener, WAKE_OUTBOX, &is_new, err) &&
         store_wake_send(d->session->store, WAKE_OUTBOX, text, err) &&
         hear(d, listener, text, &heard, err);
    store_close(listener);
    if (ok && !heard)
        doctor_add(d, "notes.deaf", STR("a note (NOTIFY) did not arrive at a session that listens"),
                   STR("A pooler between patra and the database hands sessions on per "
                       "transaction. Connect directly or by session pooling; until then events "
                       "are found by looking, up to a second later"));
    return ok;
}

bool doctor_store(struct doctor *d, struct error *err)
{
    struct health_ages ages;
    int64_t now_us;

    if (!store_clock(d->session->store, clock_now_us(&d->session->clock), &now_us, err) ||
        !check_database(d, now_us, err) || !store_health_ages(d->session->store, &ages, err))
        return false;
    check_ages(d, &ages, now_us);
    return check_work(d, err) && check_clock(d, err) && check_notes(d, err);
}
