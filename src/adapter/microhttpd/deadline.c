/* Deadlines of connections: whoever sends a byte now and then is never idle, and would keep a place
 * for days. */
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "adapter/microhttpd/server.h"
#include "base/instant.h"

int64_t deadline_clock_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

/* The library sees the end of the stream and closes the socket, which it cannot do meanwhile:
 * closing gives the place back, under the same lock. */
static void cut_off(struct deadlines *deadlines, int64_t now_us)
{
    for (size_t i = 0; i < deadlines->count; i++) {
        struct deadline *place = &deadlines->items[i];

        if (place->fd < 0 || place->until_us == 0 || place->until_us > now_us)
            continue;
        (void)shutdown(place->fd, SHUT_RDWR);
        place->until_us = 0;
    }
}

static void *watch(void *context)
{
    struct deadlines *deadlines = context;
    struct timespec at;

    (void)pthread_mutex_lock(&deadlines->lock);
    while (!deadlines->is_ending) {
        (void)clock_gettime(CLOCK_MONOTONIC, &at);
        at.tv_sec++;
        (void)pthread_cond_timedwait(&deadlines->ended, &deadlines->lock, &at);
        cut_off(deadlines, deadline_clock_us());
    }
    (void)pthread_mutex_unlock(&deadlines->lock);
    return NULL;
}

bool deadlines_start(struct deadlines *deadlines, size_t count, struct error *err)
{
    pthread_condattr_t attr;

    deadlines->items = calloc(count, sizeof(*deadlines->items));
    if (deadlines->items == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for connections");
    deadlines->count = count;
    for (size_t i = 0; i < count; i++)
        deadlines->items[i].fd = -1;
    (void)pthread_mutex_init(&deadlines->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&deadlines->ended, &attr);
    (void)pthread_condattr_destroy(&attr);
    deadlines->is_started = pthread_create(&deadlines->thread, NULL, watch, deadlines) == 0;
    return deadlines->is_started ||
           error_set(err, ERROR_TRANSIENT, "web.thread", "no thread could be started");
}

void deadlines_stop(struct deadlines *deadlines)
{
    if (deadlines->is_started) {
        (void)pthread_mutex_lock(&deadlines->lock);
        deadlines->is_ending = true;
        (void)pthread_cond_signal(&deadlines->ended);
        (void)pthread_mutex_unlock(&deadlines->lock);
        (void)pthread_join(deadlines->thread, NULL);
    }
    free(deadlines->items);
    *deadlines = (struct deadlines){ 0 };
}

struct deadline *deadline_take(struct deadlines *deadlines, int fd, int64_t in_us)
{
    struct deadline *place = NULL;

    (void)pthread_mutex_lock(&deadlines->lock);
    for (size_t i = 0; i < deadlines->count && place == NULL; i++) {
        if (deadlines->items[i].fd < 0)
            place = &deadlines->items[i];
    }
    if (place != NULL)
        *place = (struct deadline){ fd, deadline_clock_us() + in_us };
    (void)pthread_mutex_unlock(&deadlines->lock);
    return place;
}

void deadline_set(struct deadlines *deadlines, struct deadline *place, int64_t in_us)
{
    if (place == NULL)
        return;
    (void)pthread_mutex_lock(&deadlines->lock);
    place->until_us = in_us > 0 ? deadline_clock_us() + in_us : 0;
    (void)pthread_mutex_unlock(&deadlines->lock);
}

void deadline_give_back(struct deadlines *deadlines, struct deadline *place)
{
    if (place == NULL)
        return;
    (void)pthread_mutex_lock(&deadlines->lock);
    place->fd = -1;
    (void)pthread_mutex_unlock(&deadlines->lock);
}
