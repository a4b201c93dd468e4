/* store_mark: the latest time that a store has seen (core/clock_jump.h). */
#ifndef PATRA_PORT_STORE_MARK_H
#define PATRA_PORT_STORE_MARK_H

#include "port/clock.h"
#include "port/store.h"

struct store_mark {
    bool is_there;
    int64_t seen_us;
    char boot[CLOCK_BOOT_MAX]; /* '' where the time is a server's */
    int64_t up_us;
};

struct store_mark_mending {
    int64_t seen_us; /* the latest time by the clock that was wrong */
    int64_t now_us;
    bool with_rates; /* else they are shifted */
};

/* What was written while the clock was wrong, and is brought back to now. */
struct store_mark_mended {
    int64_t settings; /* rows of sources */
    int64_t ticks;
    int64_t tasks;
    int64_t records;
    int64_t others; /* rates, slots, leases, retries */
};

struct store_mark_ops {
    bool (*load)(struct store *store, struct store_mark *mark, bool *has_server, int64_t *server_us,
                 struct error *err);
    bool (*save)(struct store *store, const struct store_mark *mark, bool may_go_back,
                 struct error *err);
    bool (*mend)(struct store *store, const struct store_mark_mending *mending,
                 struct store_mark_mended *mended, struct error *err);
    bool (*shift)(struct store *store, int64_t by_us, struct error *err);
};

/* With the time of the server, if there is one. */
static inline bool MUST_CHECK store_mark_load(struct store *store, struct store_mark *mark,
                                              bool *has_server, int64_t *server_us,
                                              struct error *err)
{
    return store->mark->load(store, mark, has_server, server_us, err);
}

/* Unless the store has seen a later time; with may_go_back, even then: a person says so. */
static inline bool MUST_CHECK store_mark_save(struct store *store, const struct store_mark *mark,
                                              bool may_go_back, struct error *err)
{
    return store->mark->save(store, mark, may_go_back, err);
}

/* Brings what was written for times after now_us back to it: what was to happen so long after
 * seen_us happens so long after now_us. Cursors and what is covered are not touched. In the
 * caller's transaction. */
static inline bool MUST_CHECK store_mark_mend(struct store *store,
                                              const struct store_mark_mending *mending,
                                              struct store_mark_mended *mended, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->mark->mend(store, mending, mended, err);
}

/* Moves the instants of rates and slots, which are kept by the marks of a host
 * (engine/session/store_time.h): with the mark, in the caller's transaction. */
static inline bool MUST_CHECK store_mark_shift(struct store *store, int64_t by_us,
                                               struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->mark->shift(store, by_us, err);
}

#endif
