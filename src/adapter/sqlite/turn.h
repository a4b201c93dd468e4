/* turn: who of this process writes to the file now.
 *
 *      take ─▶ entry ─▶ held ─▶ entry is free for the next ─▶ ... ─▶ leave
 *
 * A plain mutex goes to whoever asks at the right moment. A session that writes one transaction
 * after the other asks again before anybody else has woken up, so the checkpoint's thread waited
 * for many commits, and the log grew meanwhile. Here one waits for the turn at the entry; who has
 * just left finds the entry taken and gets in behind those who wait there.
 *
 * Any thread may take the turn; the one that has it leaves it.
 */
#ifndef PATRA_ADAPTER_SQLITE_TURN_H
#define PATRA_ADAPTER_SQLITE_TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct turn {
    pthread_mutex_t entry; /* held by the one that is next */
    pthread_mutex_t held;
};

void turn_init(struct turn *turn);
void turn_release(struct turn *turn);

void turn_take(struct turn *turn);
bool turn_take_within(struct turn *turn, int64_t wait_us) MUST_CHECK; /* false: not in time */
void turn_leave(struct turn *turn);

#endif
