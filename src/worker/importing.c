/* A thread that looks which imports there are, and one for each of them. */
#include "worker/importing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "adapter/foreign_open.h"
#include "adapter/system/system.h"
#include "cli/who.h"
#include "data/hash.h"
#include "engine/import/importer.h"
#include "engine/session/store_retry.h"
#include "port/store_subscription.h"
#include "spec/setting_value.h"
#include "worker/thread.h"

#define LOOK_US (2 * US_PER_SECOND)

enum { LOOK_BYTES_MAX = 64 << 20 };

struct opener {
    struct importer_opener port; /* first */
    struct secret_source *secrets;
};

struct running {
    struct importing *all;
    char name[SETTING_NAME_MAX + 1];
    char hash[HASH_HEX_MAX];
    char owner[WHO_PROCESS_MAX];
    struct store *store;
    pthread_t thread;
    bool is_used;
    atomic_bool has_ended;
};

struct importing {
    struct clock *clock; /* the session's */
    struct random_source random;
    struct opener opener;
    struct store *store;
    struct log *log;
    struct stop *stop;
    struct arena arena; /* of a look */
    pthread_t thread;
    struct running running[IMPORTS_MAX];
};

static bool open_foreign(struct importer_opener *port, const struct import_spec *spec,
                         struct store *store, struct foreign_outbox **foreign, struct error *err)
{
    const struct opener *opener = (const struct opener *)port;

    return foreign_open(
        &(struct foreign_open){ .spec = spec, .secrets = opener->secrets, .store = store }, foreign,
        err);
}

static void log_failure(struct log *log, struct str name, const struct error *err)
{
    if (log != NULL)
        log_event(log, LOG_ERROR, "import failed", LOG_STR("outbox", name),
                  LOG_STR("code", str_of(err->code)), LOG_STR("error", str_of(err->text)));
}

/* ---- one of them ---- */

static void *import(void *context)
{
    struct running *running = context;
    struct importing *all = running->all;
    const struct importer_parts parts = { .store = running->store,
                                          .clock = all->clock,
                                          .random = &all->random,
                                          .log = all->log,
                                          .opener = &all->opener.port,
                                          .stop_fd = all->stop->fd };
    const struct importer_settings settings = { .import = { .owner = str_of(running->owner) },
                                                .name = str_of(running->name),
                                                .spec_hash = str_of(running->hash) };
    struct error err;

    if (!importer_run(&parts, &settings, NULL, &err))
        log_failure(all->log, settings.name, &err);
    atomic_store(&running->has_ended, true);
    return NULL;
}

static bool start(struct importing *all, struct running *running, const struct subscription *sub,
                  struct error *err)
{
    running->all = all;
    atomic_store(&running->has_ended, false);
    (void)snprintf(running->name, sizeof(running->name), "%.*s", STR_ARG(sub->name));
    (void)snprintf(running->hash, sizeof(running->hash), "%.*s", STR_ARG(sub->spec_hash));
    who_process(running->owner, random_source_u64(&all->random), "import");
    if (!store_another(all->store, &running->store, err))
        return false;
    running->is_used = thread_start(&running->thread, import, running, err);
    if (!running->is_used)
        store_close(running->store);
    return running->is_used;
}

static void end(struct running *running)
{
    if (!running->is_used)
        return;
    (void)pthread_join(running->thread, NULL);
    store_close(running->store);
    running->is_used = false;
}

/* ---- all of them ---- */

static bool is_wanted(const struct subscription *sub)
{
    return sub->kind == SUBSCRIPTION_IMPORT && sub->state == SUBSCRIPTION_ACTIVE;
}

/* Where it runs, or where it could; NULL: nowhere. */
static struct running *place_of(struct importing *all, struct str name)
{
    struct running *found = NULL;

    for (int i = 0; i < IMPORTS_MAX; i++) {
        struct running *running = &all->running[i];

        if (running->is_used && str_eq(str_of(running->name), name))
            return running;
        if (!running->is_used && found == NULL)
            found = running;
    }
    return found;
}

static bool look(struct importing *all, struct error *err)
{
    struct subscription_list list;

    for (int i = 0; i < IMPORTS_MAX; i++) {
        if (all->running[i].is_used && atomic_load(&all->running[i].has_ended))
            end(&all->running[i]);
    }
    arena_reset(&all->arena);
    if (!store_subscription_list(all->store, &all->arena, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct running *place = place_of(all, list.items[i].name);

        if (is_wanted(&list.items[i]) && place != NULL && !place->is_used &&
            !start(all, place, &list.items[i], err))
            return false;
    }
    return true;
}

/* A store that is out of reach is told by others; the next look comes soon. */
static void *look_again(void *context)
{
    struct importing *all = context;
    struct store_retry retry = { .store = all->store };
    struct error err;

    do {
        if (store_retry_ready(&retry, &err) && look(all, &err))
            continue;
        (void)store_retry_failed(&retry, &err);
    } while (clock_sleep_us(all->clock, LOOK_US, all->stop->fd));
    for (int i = 0; i < IMPORTS_MAX; i++)
        end(&all->running[i]);
    return NULL;
}

static struct opener opener_of(struct session *session)
{
    return (struct opener){ .port = { open_foreign }, .secrets = &session->secrets.source };
}

bool importing_start(struct importing **out, struct session *session, struct log *log,
                     struct stop *stop, struct error *err)
{
    struct importing *all = calloc(1, sizeof(*all));

    *out = NULL;
    if (all == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for importers");
    all->clock = &session->clock;
    all->random = system_random();
    all->opener = opener_of(session);
    all->log = log;
    all->stop = stop;
    arena_init(&all->arena, LOOK_BYTES_MAX);
    if (store_another(session->store, &all->store, err) &&
        thread_start(&all->thread, look_again, all, err)) {
        *out = all;
        return true;
    }
    store_close(all->store);
    arena_release(&all->arena);
    free(all);
    return error_wrap(err, "start the importers");
}

void importing_join(struct importing *all)
{
    if (all == NULL)
        return;
    (void)pthread_join(all->thread, NULL);
    store_close(all->store);
    arena_release(&all->arena);
    free(all);
}

bool importing_drain(struct session *session, struct log *log, struct stop *stop, int64_t *imported,
                     struct error *err)
{
    struct opener opener = opener_of(session);
    const struct importer_parts parts = { .store = session->store,
                                          .clock = &session->clock,
                                          .random = &session->random,
                                          .log = log,
                                          .opener = &opener.port,
                                          .stop_fd = stop->fd };
    struct subscription_list list;
    char owner[WHO_PROCESS_MAX];
    bool ok = true;

    *imported = 0;
    who_process(owner, random_source_u64(&session->random), "import");
    if (!store_subscription_list(session->store, &session->arena, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        const struct importer_settings settings = { .import = { .owner = str_of(owner) },
                                                    .name = list.items[i].name,
                                                    .spec_hash = list.items[i].spec_hash,
                                                    .is_draining = true };
        struct error failure;
        int64_t count;

        if (!is_wanted(&list.items[i]))
            continue;
        if (!importer_run(&parts, &settings, &count, &failure)) {
            log_failure(log, list.items[i].name, &failure);
            if (ok)
                *err = failure;
            ok = false;
        }
        *imported += count;
    }
    return ok;
}
