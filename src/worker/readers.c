/* A thread that looks after others: who should be at work, and who is. */
#include "worker/readers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapter/system/system.h"
#include "cli/who.h"
#include "engine/session/store_retry.h"
#include "worker/lane_watch.h"
#include "worker/thread.h"

enum { READERS_MAX = 256, SPEC_BYTES_MAX = 1 << 20, LIST_BYTES_MAX = 64 << 20 };

#define LOOK_US (2 * US_PER_SECOND)
#define AGAIN_US (10 * US_PER_SECOND) /* after a failure that waiting does not help */

struct one { /* a reader */
    struct readers *readers;
    struct arena arena; /* of the subscription as it was when it began */
    struct subscription subscription;
    struct clock *clock; /* the session's */
    struct random_source random;
    struct store *store;
    char owner[WHO_PROCESS_MAX];
    struct lane_watch watch;
    int wake_fd;
    pthread_t thread;
    _Atomic bool is_over;
    bool ok;
    struct error err;
};

struct readers {
    struct session *session;
    struct readers_settings settings;
    struct store *store;
    struct store_retry retry;
    struct clock *clock; /* the session's */
    struct random_source random;
    pthread_t thread;
    struct one *items[READERS_MAX];
    int count;
    int64_t not_before_us; /* monotonic: none is started */
    bool is_failing;       /* the last look at the store did */
};

/* ---- one ---- */

static struct lanes_watch *watch_of(struct lane_watch *watch,
                                    const struct readers_settings *settings,
                                    struct random_source *random)
{
    return lane_watch_init(watch, &(struct lane_watch_parts){ settings->meters, settings->log,
                                                              settings->tracer, random });
}

static void *run_one(void *context)
{
    struct one *one = context;
    const struct readers_settings *settings = &one->readers->settings;
    const struct reading reader = { .subscription = &one->subscription,
                                    .owner = str_of(one->owner),
                                    .store = one->store,
                                    .clock = one->clock,
                                    .random = &one->random,
                                    .log = settings->log,
                                    .watch = watch_of(&one->watch, settings, &one->random),
                                    .wake = one->readers->session->wake,
                                    .wake_fd = one->wake_fd };

    one->ok = settings->kind->run(settings->context, &reader, NULL, &one->err);
    atomic_store(&one->is_over, true);
    return NULL;
}

static void free_one(struct one *one)
{
    store_close(one->store);
    if (one->wake_fd >= 0)
        (void)close(one->wake_fd);
    arena_release(&one->arena);
    free(one);
}

static bool copy_subscription(struct one *one, const struct subscription *s, struct error *err)
{
    one->subscription = *s;
    one->subscription.name = arena_copy(&one->arena, s->name);
    one->subscription.spec = arena_copy(&one->arena, s->spec);
    one->subscription.spec_hash = arena_copy(&one->arena, s->spec_hash);
    one->subscription.state_reason = arena_copy(&one->arena, s->state_reason);
    return !one->arena.failed || arena_error(&one->arena, err);
}

static struct one *new_one(struct readers *r, const struct subscription *s, struct error *err)
{
    struct one *one = calloc(1, sizeof(*one));

    if (one == NULL) {
        (void)error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a reader");
        return NULL;
    }
    one->readers = r;
    one->clock = r->clock;
    one->random = system_random();
    one->wake_fd = eventfd(0, EFD_CLOEXEC);
    arena_init(&one->arena, SPEC_BYTES_MAX);
    who_process(one->owner, random_source_u64(&one->random), r->settings.kind->what);
    if (one->wake_fd < 0)
        (void)error_set(err, ERROR_TRANSIENT, "workers.thread", "eventfd: %s", strerror(errno));
    if (one->wake_fd >= 0 && copy_subscription(one, s, err) &&
        store_another(r->store, &one->store, err))
        return one;
    free_one(one);
    return NULL;
}

static bool start_one(struct readers *r, const struct subscription *s, struct error *err)
{
    struct one *one = new_one(r, s, err);

    if (one == NULL)
        return false;
    if (!thread_start(&one->thread, run_one, one, err)) {
        free_one(one);
        return false;
    }
    r->items[r->count++] = one;
    log_event(r->settings.log, LOG_INFO, "reader started",
              LOG_STR("reader", str_of(r->settings.kind->what)), LOG_STR("subscription", s->name),
              LOG_STR("owner", str_of(one->owner)));
    return true;
}

static void wake_one(struct one *one)
{
    const uint64_t n = 1;

    (void)!write(one->wake_fd, &n, sizeof(n));
}

static void end_one(struct readers *r, int i)
{
    struct one *one = r->items[i];

    wake_one(one);
    (void)pthread_join(one->thread, NULL);
    if (!one->ok) {
        log_event(r->settings.log, LOG_ERROR, "reader failed",
                  LOG_STR("reader", str_of(r->settings.kind->what)),
                  LOG_STR("subscription", one->subscription.name),
                  LOG_STR("code", str_of(one->err.code)),
                  LOG_STR("errorLevel", str_of(error_level_name(one->err.level))),
                  LOG_STR("error", str_of(one->err.text)));
        r->not_before_us = clock_monotonic_us(r->clock) + AGAIN_US;
    } else {
        log_event(r->settings.log, LOG_INFO, "reader ended",
                  LOG_STR("reader", str_of(r->settings.kind->what)),
                  LOG_STR("subscription", one->subscription.name));
    }
    free_one(one);
    r->items[i] = r->items[--r->count];
}

/* ---- all ---- */

static bool is_wanted(const struct readers_settings *settings, const struct subscription *s)
{
    return s->kind == settings->kind->subscription && s->state == SUBSCRIPTION_ACTIVE &&
           (settings->only == NULL || str_eq(s->name, str_of(settings->only)));
}

/* As it runs: with this spec and policy. */
static const struct subscription *find_same(const struct readers *r, const struct one *one,
                                            const struct subscription_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct subscription *s = &list->items[i];

        if (str_eq(s->name, one->subscription.name))
            return is_wanted(&r->settings, s) && s->policy == one->subscription.policy &&
                           s->created_us == one->subscription.created_us &&
                           str_eq(s->spec_hash, one->subscription.spec_hash)
                       ? s
                       : NULL;
    }
    return NULL;
}

static bool is_running(const struct readers *r, const struct subscription *s)
{
    for (int i = 0; i < r->count; i++) {
        if (str_eq(r->items[i]->subscription.name, s->name))
            return true;
    }
    return false;
}

/* Those that must end are all woken first, so that they end at the same time. */
static void end_unwanted(struct readers *r, const struct subscription_list *list)
{
    for (int i = 0; i < r->count; i++) {
        if (find_same(r, r->items[i], list) == NULL)
            wake_one(r->items[i]);
    }
    for (int i = r->count - 1; i >= 0; i--) {
        if (atomic_load(&r->items[i]->is_over) || find_same(r, r->items[i], list) == NULL)
            end_one(r, i);
    }
}

static bool look(struct readers *r, struct arena *arena, struct error *err)
{
    struct subscription_list list;

    if (!store_retry_ready(&r->retry, err) || !store_subscription_list(r->store, arena, &list, err))
        return false;
    end_unwanted(r, &list);
    if (clock_monotonic_us(r->clock) < r->not_before_us)
        return true;
    for (size_t i = 0; i < list.count && r->count < READERS_MAX; i++) {
        if (is_wanted(&r->settings, &list.items[i]) && !is_running(r, &list.items[i]) &&
            !start_one(r, &list.items[i], err))
            return false;
    }
    return true;
}

static void *look_after(void *context)
{
    struct readers *r = context;
    struct arena arena;
    struct error err;

    arena_init(&arena, LIST_BYTES_MAX);
    do {
        arena_reset(&arena);
        if (look(r, &arena, &err)) {
            r->is_failing = false;
            continue;
        }
        (void)store_retry_failed(&r->retry, &err);
        if (!r->is_failing)
            log_event(r->settings.log, LOG_WARN, "subscriptions cannot be read",
                      LOG_STR("code", str_of(err.code)), LOG_STR("error", str_of(err.text)));
        r->is_failing = true;
    } while (clock_sleep_us(r->clock, LOOK_US, r->settings.stop->fd));
    arena_release(&arena);
    for (int i = 0; i < r->count; i++)
        wake_one(r->items[i]);
    while (r->count > 0)
        end_one(r, r->count - 1);
    return NULL;
}

bool readers_start(struct readers **out, struct session *session,
                   const struct readers_settings *settings, struct error *err)
{
    struct readers *r = calloc(1, sizeof(*r));

    *out = NULL;
    if (r == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for readers");
    r->session = session;
    r->settings = *settings;
    r->clock = &session->clock;
    r->random = system_random();
    if (!store_another(session->store, &r->store, err))
        goto fail;
    r->retry.store = r->store;
    if (!thread_start(&r->thread, look_after, r, err))
        goto fail;
    *out = r;
    return true;
fail:
    store_close(r->store);
    free(r);
    return error_wrap(err, "start the readers");
}

void readers_join(struct readers *r)
{
    if (r == NULL)
        return;
    (void)pthread_join(r->thread, NULL);
    store_close(r->store);
    free(r);
}

/* ---- until nothing is left ---- */

static bool drain_one(struct session *session, const struct readers_settings *settings,
                      const struct subscription *s, struct lanes_total *total, struct error *err)
{
    char owner[WHO_PROCESS_MAX];
    struct lane_watch watch;
    struct reading reader = { .subscription = s,
                              .store = session->store,
                              .clock = &session->clock,
                              .random = &session->random,
                              .log = settings->log,
                              .watch = watch_of(&watch, settings, &session->random),
                              .wake = session->wake,
                              .wake_fd = settings->stop->fd,
                              .is_draining = true };
    struct lanes_total one = { 0 };
    bool ok;

    who_process(owner, random_source_u64(&session->random), settings->kind->what);
    reader.owner = str_of(owner);
    ok = settings->kind->run(settings->context, &reader, &one, err);
    total->delivered += one.delivered;
    total->parked += one.parked;
    total->dead += one.dead;
    return ok;
}

bool readers_drain(struct session *session, const struct readers_settings *settings,
                   struct lanes_total *total, struct error *err)
{
    struct subscription_list list;
    bool ok = true, found = false;

    *total = (struct lanes_total){ 0 };
    if (!store_subscription_list(session->store, &session->arena, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct error failed;

        if (!is_wanted(settings, &list.items[i]))
            continue;
        found = true;
        if (drain_one(session, settings, &list.items[i], total, &failed))
            continue;
        if (ok)
            *err = failed; /* the first one counts */
        ok = false;
    }
    if (ok && !found && settings->only != NULL)
        return error_set(err, ERROR_REQUEST, "subscription.missing",
                         "there is no active %s %s: patra outbox status lists them",
                         settings->kind->noun, settings->only);
    return ok;
}
