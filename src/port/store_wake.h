/* store_wake: who waits for events hears of them through the store, from any process and host.
 *
 *      writer   store_wake_send()                        reader   store_wake_listen()
 *               after its commit                                  poll(store_wake_fd()),
 * store_wake_next()
 *
 *      PostgreSQL   LISTEN and NOTIFY: the session's socket becomes readable
 *      SQLite       nothing is sent: a reader asks whether anybody has committed (data_version)
 *
 * A note is a hint. It may be lost (the session is new, a pooler is in between), it may come twice,
 * and it may be about nothing: whoever waits also looks again after a while
 * (engine/wake/wake.h). What a reader has not heard before it listens is not repeated.
 */
#ifndef PATRA_PORT_STORE_WAKE_H
#define PATRA_PORT_STORE_WAKE_H

#include "port/store.h"

enum wake_channel {
    WAKE_OUTBOX, /* events were committed: for the sequencer */
    WAKE_STREAM, /* the stream has grown: for its readers */
};
enum { WAKE_CHANNELS = 2 };

enum { WAKE_TEXT_MAX = 64 };

struct wake_note {
    bool has_channel; /* false: somebody has committed something */
    enum wake_channel channel;
    char text[WAKE_TEXT_MAX]; /* as it was sent, cut to this length */
};

struct store_wake_ops {
    bool (*is_pushed)(struct store *store);
    bool (*listen)(struct store *store, enum wake_channel channel, bool *is_new, struct error *err);
    bool (*send)(struct store *store, enum wake_channel channel, struct str text,
                 struct error *err);
    int (*fd)(struct store *store);
    bool (*next)(struct store *store, struct wake_note *note, bool *has_note, struct error *err);
};

/* Whether notes come by themselves; else store_wake_next() must be asked from time to time. */
static inline bool store_wake_is_pushed(struct store *store)
{
    return store->wake->is_pushed(store);
}

/* From now on, for this session. Costs nothing when it listens already (*is_new is false); after
 * store_reconnect() it does not. */
static inline bool MUST_CHECK store_wake_listen(struct store *store, enum wake_channel channel,
                                                bool *is_new, struct error *err)
{
    assert(store->state == STORE_IDLE);
    return store->wake->listen(store, channel, is_new, err);
}

/* A transaction of its own, not flushed to disk. The text is shorter than WAKE_TEXT_MAX and has
 * only letters, digits and ":-". */
static inline bool MUST_CHECK store_wake_send(struct store *store, enum wake_channel channel,
                                              struct str text, struct error *err)
{
    assert(store->state == STORE_IDLE && text.len < WAKE_TEXT_MAX);
    return store->wake->send(store, channel, text, err);
}

/* Readable when there may be a note, or the session is lost. Valid until the next call of the
 * session; -1: none. */
static inline int store_wake_fd(struct store *store)
{
    return store->wake->fd(store);
}

/* The next note that was received, without waiting. Notes also arrive with other calls of the
 * session, so ask before waiting. L1 store.lost when the session is lost. */
static inline bool MUST_CHECK store_wake_next(struct store *store, struct wake_note *note,
                                              bool *has_note, struct error *err)
{
    assert(store->state == STORE_IDLE);
    return store->wake->next(store, note, has_note, err);
}

#endif
