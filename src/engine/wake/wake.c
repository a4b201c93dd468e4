/* The threads of this process that wait, and how they are rung. */
#include "engine/wake/wake.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/wake/wake_inside.h"

/* ---- followers ---- */

bool wake_follow(struct wake *wake, struct follower *follower, enum wake_channel channel,
                 struct error *err)
{
    follower->channel = channel;
    atomic_init(&follower->is_rung, false);
    follower->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (follower->fd < 0)
        return error_set(err, ERROR_TRANSIENT, "wake.system", "eventfd: %s", strerror(errno));
    if (wake == NULL)
        return true;
    (void)pthread_mutex_lock(&wake->guard);
    follower->next = wake->followers;
    wake->followers = follower;
    (void)pthread_mutex_unlock(&wake->guard);
    return true;
}

void wake_leave(struct wake *wake, struct follower *follower)
{
    if (wake != NULL) {
        struct follower **place = &wake->followers;

        (void)pthread_mutex_lock(&wake->guard);
        while (*place != NULL && *place != follower)
            place = &(*place)->next;
        if (*place != NULL)
            *place = follower->next;
        (void)pthread_mutex_unlock(&wake->guard);
    }
    if (follower->fd >= 0)
        (void)close(follower->fd);
    follower->fd = -1;
}

/* The eventfd first: what was rung for between the two lines is seen by what is read now. */
bool follower_answer(struct follower *follower)
{
    uint64_t rings;
    const bool was_rung = read(follower->fd, &rings, sizeof(rings)) == (ssize_t)sizeof(rings);

    atomic_store(&follower->is_rung, false);
    return was_rung;
}

static void ring(struct follower *follower)
{
    const uint64_t one = 1;

    if (atomic_exchange(&follower->is_rung, true))
        return;
    while (write(follower->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}

/* ---- telling ---- */

void wake_tell(struct wake *wake, enum wake_channel channel)
{
    if (wake == NULL)
        return;
    if (channel == WAKE_OUTBOX)
        atomic_store(&wake->is_unsent, true);
    (void)pthread_mutex_lock(&wake->guard);
    for (struct follower *f = wake->followers; f != NULL; f = f->next) {
        if (f->channel == channel)
            ring(f);
    }
    (void)pthread_mutex_unlock(&wake->guard);
}

static void wrote_events(struct store_listener *listener)
{
    wake_tell((struct wake *)listener, WAKE_OUTBOX);
}

struct store_listener *wake_listener(struct wake *wake)
{
    return &wake->listener;
}

void wake_flush(struct wake *wake, struct store *store)
{
    struct error ignored; /* whoever waits looks by itself after a while */

    if (wake != NULL && store != NULL && store->state == STORE_IDLE &&
        atomic_exchange(&wake->is_unsent, false))
        (void)!store_wake_send(store, WAKE_OUTBOX, STR(""), &ignored);
}

/* ---- probes ---- */

#define PROBE "probe:"

void wake_probe_text(const struct wake *wake, int64_t count, char text[WAKE_TEXT_MAX])
{
    (void)snprintf(text, WAKE_TEXT_MAX, PROBE "%016" PRIx64 ":%" PRId64, wake->number, count);
}

bool wake_text_is_probe(const char *text)
{
    return strncmp(text, PROBE, strlen(PROBE)) == 0;
}

bool wake_probe_read(const struct wake *wake, const char *text, int64_t *count)
{
    char own[WAKE_TEXT_MAX];
    const int length = snprintf(own, sizeof(own), PROBE "%016" PRIx64 ":", wake->number);

    return strncmp(text, own, (size_t)length) == 0 && str_to_i64(str_of(text + length), count);
}

/* ---- opening and closing ---- */

bool wake_open(struct wake **out, struct random_source *random, struct error *err)
{
    struct wake *wake = calloc(1, sizeof(*wake));

    *out = wake;
    if (wake == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory to wake others");
    wake->listener.wrote_events = wrote_events;
    wake->number = random_source_u64(random);
    (void)pthread_mutex_init(&wake->guard, NULL);
    for (int i = 0; i < WAKE_CHANNELS; i++)
        atomic_init(&wake->probes[i].sent_us, INT64_MAX);
    return true;
}

void wake_close(struct wake *wake)
{
    if (wake == NULL)
        return;
    assert(wake->followers == NULL);
    (void)pthread_mutex_destroy(&wake->guard);
    free(wake);
}
