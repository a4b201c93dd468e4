/* The loop around an import. */
#include "engine/import/importer.h"

#include "engine/session/pace.h"
#include "engine/session/store_retry.h"
#include "port/store_offset.h"
#include "port/store_rate.h"
#include "port/store_subscription.h"
#include "spec/import.h"

/* How often it looks whether it is still wanted, and says that it is alive. */
#define CHECK_US (2 * US_PER_SECOND)
#define ALIVE_US (10 * US_PER_SECOND)

#define BACKOFF_MIN_US (US_PER_SECOND / 10)
#define BACKOFF_MAX_US (5 * US_PER_SECOND)

enum { SPEC_BYTES_MAX = 4 << 20 };

struct importer {
    const struct importer_parts *parts;
    const struct importer_settings *settings;
    bool has_spec;
    struct import_spec spec;
    struct arena spec_arena;
    struct arena arena; /* of a look at the subscription */
    struct foreign_outbox *foreign;
    struct import *import;
    struct store_retry retry;
    struct store_backoff backoff;
    int64_t wait_us;
    int64_t check_us; /* monotonic: when it looks after itself again */
    int64_t imported;
    struct error trouble; /* with the foreign database; level NONE: none */
    bool was_held;
    bool is_over;
};

static void report(void *context, const struct error *err)
{
    const struct importer *i = context;

    if (i->parts->log != NULL)
        log_event(i->parts->log, LOG_WARN, "importer waits for the store",
                  LOG_STR("outbox", i->settings->name), LOG_STR("code", str_of(err->code)),
                  LOG_STR("error", str_of(err->text)));
}

/* ---- opening and closing ---- */

static void close_import(struct importer *i)
{
    struct error ignored; /* the lease ends by itself */

    if (i->import != NULL)
        (void)!import_release(i->import, &ignored);
    import_close(i->import);
    foreign_close(i->foreign);
    i->import = NULL;
    i->foreign = NULL;
}

static bool open_import(struct importer *i, struct error *err)
{
    const struct importer_parts *parts = i->parts;

    if (i->import != NULL)
        return true;
    return parts->opener->open(parts->opener, &i->spec, parts->store, &i->foreign, err) &&
           import_open(&i->import,
                       &(struct import_parts){
                           .store = parts->store, .foreign = i->foreign, .spec = &i->spec },
                       &i->settings->import, err);
}

/* ---- looking after itself ---- */

static bool attend(struct importer *i, int64_t now_us, struct error *err)
{
    const struct offset_attend attend = {
        .key = { SUBSCRIPTION_GROUP, i->settings->name },
        .owner = i->settings->import.owner,
        .now_us = now_us,
        .until_us = now_us + ALIVE_US,
        .error = i->trouble.level != ERROR_NONE ? str_of(i->trouble.text) : STR(""),
    };
    int64_t ignored;

    return store_offset_attend(i->parts->store, &attend, &ignored, err);
}

/* It is over when the import was removed, paused or changed: who started it starts another one. */
static bool check(struct importer *i, int64_t now_us, struct error *err)
{
    const int64_t monotonic_us = clock_monotonic_us(i->parts->clock);
    struct subscription found;
    bool is_there;

    if (monotonic_us < i->check_us)
        return true;
    arena_reset(&i->arena);
    if (!store_subscription_find(i->parts->store, &i->arena, i->settings->name, &found, &is_there,
                                 err))
        return false;
    if (!is_there || found.kind != SUBSCRIPTION_IMPORT || found.state != SUBSCRIPTION_ACTIVE ||
        !str_eq(found.spec_hash, i->settings->spec_hash)) {
        i->is_over = true;
        return true;
    }
    i->check_us = monotonic_us + CHECK_US;
    if (!i->has_spec &&
        !import_load(&i->spec_arena, arena_copy(&i->spec_arena, found.spec), &i->spec, err))
        return false;
    i->has_spec = true;
    return attend(i, now_us, err);
}

/* ---- one turn ---- */

static int64_t next_wait_us(const struct importer *i, const struct import_round *round)
{
    if (round->is_held && (round->imported > 0 || round->repeated > 0))
        return 0;
    if (round->is_held && round->gaps > 0)
        return PACE_MIN_US;
    return pace_longer_us(i->wait_us, i->spec.poll_us);
}

static void note_round(struct importer *i, const struct import_round *round)
{
    struct log *log = i->parts->log;
    const struct str name = i->settings->name;

    i->imported += round->imported;
    if (log != NULL && round->is_held && !i->was_held)
        log_event(log, LOG_INFO, "importing", LOG_STR("outbox", name));
    if (log != NULL && round->refused > 0)
        log_event(log, LOG_WARN, "rows refused", LOG_STR("outbox", name),
                  LOG_I64("rows", round->refused));
    if (log != NULL && i->trouble.level != ERROR_NONE)
        log_event(log, LOG_INFO, "foreign outbox recovered", LOG_STR("outbox", name));
    if (i->trouble.level != ERROR_NONE)
        i->check_us = 0; /* tell it */
    i->trouble = (struct error){ 0 };
    i->was_held = round->is_held;
}

static bool turn(struct importer *i, struct error *err)
{
    struct import_round round;
    int64_t now_us;

    if (!store_clock(i->parts->store, clock_now_us(i->parts->clock), &now_us, err) ||
        !check(i, now_us, err))
        return false;
    if (i->is_over)
        return true;
    if (!open_import(i, err) || !import_round(i->import, now_us, &round, err))
        return false;
    note_round(i, &round);
    i->wait_us = next_wait_us(i, &round);
    i->is_over = i->settings->is_draining && round.imported == 0 && round.repeated == 0 &&
                 round.gaps == 0 && !(round.has_more && round.is_held);
    return true;
}

/* The foreign database is not there, or not as it should be: that is its people's matter. */
static void wait_for_foreign(struct importer *i, const struct error *err)
{
    const int64_t twice_us = i->wait_us < BACKOFF_MIN_US ? BACKOFF_MIN_US : 2 * i->wait_us;

    i->wait_us = twice_us < BACKOFF_MAX_US ? twice_us : BACKOFF_MAX_US;
    if (i->parts->log != NULL && i->trouble.level == ERROR_NONE)
        log_event(i->parts->log, LOG_ERROR, "foreign outbox failed",
                  LOG_STR("outbox", i->settings->name), LOG_STR("code", str_of(err->code)),
                  LOG_STR("error", str_of(err->text)));
    if (i->trouble.level == ERROR_NONE)
        i->check_us = 0; /* tell it */
    i->trouble = *err;
    store_rollback(i->parts->store);
    close_import(i);
    i->was_held = false;
}

static bool is_raced(const struct error *err)
{
    return err->level == ERROR_TRANSIENT && !store_error_is_own(err);
}

/* After a failed turn: whether to go on. */
static bool recover(struct importer *i, struct error *err, bool *is_stopped)
{
    *is_stopped = false;
    if (i->settings->is_draining)
        return false;
    if (foreign_error_is_own(err) || is_raced(err)) {
        wait_for_foreign(i, err);
        return true;
    }
    i->wait_us = 0;
    if (store_retry_wait(&i->retry, &i->backoff, err))
        return true;
    *is_stopped = !clock_sleep_us(i->parts->clock, 0, i->parts->stop_fd);
    return false;
}

static bool loop(struct importer *i, struct error *err)
{
    bool is_stopped;

    while (!i->is_over) {
        if (!clock_sleep_us(i->parts->clock, pace_with_chance_us(i->parts->random, i->wait_us),
                            i->parts->stop_fd))
            return true;
        if (turn(i, err))
            i->retry.failures = 0;
        else if (!recover(i, err, &is_stopped))
            return is_stopped;
    }
    return true;
}

bool importer_run(const struct importer_parts *parts, const struct importer_settings *settings,
                  int64_t *imported, struct error *err)
{
    struct importer i = { .parts = parts,
                          .settings = settings,
                          .retry = { .store = parts->store },
                          .backoff = { .delay_min_us = BACKOFF_MIN_US,
                                       .delay_max_us = BACKOFF_MAX_US,
                                       .clock = parts->clock,
                                       .random = parts->random,
                                       .wake_fd = parts->stop_fd,
                                       .report = report } };
    bool ok;

    i.backoff.context = &i;
    arena_init(&i.arena, SPEC_BYTES_MAX);
    arena_init(&i.spec_arena, SPEC_BYTES_MAX);
    ok = loop(&i, err);
    close_import(&i);
    arena_release(&i.arena);
    arena_release(&i.spec_arena);
    if (imported != NULL)
        *imported = i.imported;
    return ok;
}
