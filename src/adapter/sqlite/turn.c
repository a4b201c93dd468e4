/* The turn of the writers of one process: two mutexes, taken one after the other. */
#include "adapter/sqlite/turn.h"

#include <time.h>

#include "base/instant.h"

/* clang's ThreadSanitizer before 16 does not see pthread_mutex_clocklock by itself. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define TELL_LOCKED(mutex) (__tsan_mutex_pre_lock(mutex, 0), __tsan_mutex_post_lock(mutex, 0, 0))
#endif
#endif
#ifndef TELL_LOCKED
#define TELL_LOCKED(mutex) ((void)0)
#endif

void turn_init(struct turn *turn)
{
    (void)pthread_mutex_init(&turn->entry, NULL);
    (void)pthread_mutex_init(&turn->held, NULL);
}

void turn_release(struct turn *turn)
{
    (void)pthread_mutex_destroy(&turn->held);
    (void)pthread_mutex_destroy(&turn->entry);
}

void turn_take(struct turn *turn)
{
    (void)pthread_mutex_lock(&turn->entry);
    (void)pthread_mutex_lock(&turn->held);
    (void)pthread_mutex_unlock(&turn->entry);
}

static bool lock_until(pthread_mutex_t *mutex, const struct timespec *until)
{
    if (pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, until) != 0)
        return false;
    TELL_LOCKED(mutex);
    return true;
}

bool turn_take_within(struct turn *turn, int64_t wait_us)
{
    struct timespec until;
    bool is_taken;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* the calendar may be set meanwhile */
    until.tv_sec += wait_us / US_PER_SECOND;
    until.tv_nsec += wait_us % US_PER_SECOND * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    if (!lock_until(&turn->entry, &until))
        return false;
    is_taken = lock_until(&turn->held, &until);
    (void)pthread_mutex_unlock(&turn->entry);
    return is_taken;
}

void turn_leave(struct turn *turn)
{
    (void)pthread_mutex_unlock(&turn->held);
}
