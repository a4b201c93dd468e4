/* The publisher's thread. */
#include "worker/publishing.h"

#include <stdlib.h>

#include "adapter/system/system.h"
#include "cli/who.h"
#include "engine/publish/publisher.h"
#include "worker/thread.h"

struct publishing {
    struct clock *clock; /* the session's */
    struct random_source random;
    struct store *store;
    struct log *log;
    struct stop *stop;
    struct wake *wake;
    int64_t keep_us;
    char owner[WHO_PROCESS_MAX];
    pthread_t thread;
    bool ok;
    struct error err;
};

static void *publish(void *context)
{
    struct publishing *p = context;
    const struct publisher_parts parts = { .store = p->store,
                                           .clock = p->clock,
                                           .random = &p->random,
                                           .log = p->log,
                                           .wake = p->wake,
                                           .wake_fd = p->stop->fd };
    const struct publisher_settings settings = { .sequencer = { .owner = str_of(p->owner) },
                                                 .keep_us = p->keep_us };

    p->ok = publisher_run(&parts, &settings, NULL, &p->err);
    if (!p->ok)
        stop_request(p->stop);
    return NULL;
}

bool publishing_start(struct publishing **out, const struct publishing_parts *parts,
                      struct error *err)
{
    struct publishing *p = calloc(1, sizeof(*p));

    *out = NULL;
    if (p == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for the publisher");
    p->clock = &parts->session->clock;
    p->random = system_random();
    p->wake = parts->session->wake;
    p->log = parts->log;
    p->stop = parts->stop;
    p->keep_us = parts->keep_us;
    who_process(p->owner, random_source_u64(&p->random), "publisher");
    if (store_another(parts->session->store, &p->store, err) &&
        thread_start(&p->thread, publish, p, err)) {
        *out = p;
        return true;
    }
    store_close(p->store);
    free(p);
    return error_wrap(err, "start the publisher");
}

bool publishing_join(struct publishing *p, struct error *err)
{
    bool ok;

    if (p == NULL)
        return true;
    (void)pthread_join(p->thread, NULL);
    ok = p->ok;
    if (!ok)
        *err = p->err;
    store_close(p->store);
    free(p);
    return ok;
}
