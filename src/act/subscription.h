/* subscription: what people do with a subscription and what waits for it. */
#ifndef PATRA_ACT_SUBSCRIPTION_H
#define PATRA_ACT_SUBSCRIPTION_H

#include "engine/lanes/give_up.h"
#include "engine/lanes/redrive.h"
#include "port/store_offset.h"
#include "port/store_subscription.h"
#include "view/reader.h"
#include "view/why.h"

/* ---- the database that has its offsets, parked keys and dead letters: the store, or the one where
 * its projection's tables are ---- */

struct subscription_home {
    struct subscription subscription;
    struct offset_key key;
    struct store *stream; /* the reader's store */
    struct store *store;  /* may be the same */
    int64_t now_us;       /* by its clock */
};

/* "subscription.unknown" (L2) when there is none of this name. */
bool subscription_home_open(const struct view_reader *reader, struct view_sinks *sinks,
                            struct str name, struct subscription_home *home,
                            struct error *err) MUST_CHECK;
void subscription_home_close(struct subscription_home *home); /* accepts the zero value */

/* ---- what waits; `key` '': all of it ---- */

/* Tries parked keys at once. "parked.unknown" (L2) when the key is not parked. */
bool act_parked_retry(const struct subscription_home *home, struct str key, int64_t *count,
                      struct error *err) MUST_CHECK;

struct act_skip {
    struct str key;
    struct str who;
    struct str note; /* '': none */
};
/* The events that wait for a parked key become dead letters. "parked.unknown" (L2). */
bool act_parked_skip(const struct subscription_home *home, struct arena *arena,
                     const struct act_skip *skip, struct given_up *given,
                     struct error *err) MUST_CHECK;

/* Dead letters are delivered after all. "dead.unknown" (L2) when the key has none. */
bool act_redrive(const struct subscription_home *home, struct str key, struct str who,
                 struct redriven *redriven, struct error *err) MUST_CHECK;

/* ---- all of it ---- */

struct act_hold {
    struct str name;
    bool is_paused; /* else: it goes on */
    struct str who;
    struct str note;
};
/* "subscription.unknown" (L2). *changed is false where it was so already. */
bool act_subscription_hold(const struct view_reader *reader, const struct act_hold *hold,
                           bool *changed, struct error *err) MUST_CHECK;

#endif
