/* The notifier's thread. */
#include "worker/notifying.h"

#include <pthread.h>
#include <stdlib.h>

#include "engine/wake/notifier.h"
#include "worker/thread.h"

struct notifying {
    struct store *store;
    struct notifier *notifier;
    pthread_t thread;
};

static void *notify(void *context)
{
    const struct notifying *n = context;

    notifier_run(n->notifier);
    return NULL;
}

static bool open_notifier(struct notifying *n, struct session *session, struct stop *stop,
                          struct error *err)
{
    if (!store_another(session->store, &n->store, err))
        return false;
    return notifier_open(&n->notifier,
                         &(struct notifier_parts){ .wake = session->wake,
                                                   .store = n->store,
                                                   .clock = &session->clock,
                                                   .stop_fd = stop->fd },
                         err);
}

static void free_notifying(struct notifying *n)
{
    notifier_close(n->notifier);
    store_close(n->store);
    free(n);
}

bool notifying_start(struct notifying **out, struct session *session, struct stop *stop,
                     struct error *err)
{
    struct notifying *n;

    *out = NULL;
    if (!store_wake_is_pushed(session->store))
        return true;
    n = calloc(1, sizeof(*n));
    if (n == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for the notifier");
    if (open_notifier(n, session, stop, err) && thread_start(&n->thread, notify, n, err)) {
        *out = n;
        return true;
    }
    free_notifying(n);
    return error_wrap(err, "start the notifier");
}

void notifying_join(struct notifying *n)
{
    if (n == NULL)
        return;
    (void)pthread_join(n->thread, NULL);
    free_notifying(n);
}
