/* outbox: how far events are on their way: the stream, and each subscription that reads it. */
#ifndef PATRA_VIEW_OUTBOX_H
#define PATRA_VIEW_OUTBOX_H

#include "data/json_write.h"
#include "port/store_parked.h"
#include "port/store_stream.h"
#include "port/store_subscription.h"
#include "view/reader.h"

struct view_owner {
    struct str owner;
    int lanes;
};

struct view_owner_list {
    struct view_owner *items;
    size_t count;
};

struct view_subscription {
    struct subscription subscription;
    int64_t waiting;       /* events of the stream that it has not passed */
    int64_t lag_us;        /* how long the first of them has been in the stream; 0: none */
    int64_t parked;        /* keys */
    int64_t behind;        /* versions that the one of them lacks that lacks most */
    int64_t dead;          /* letters that were not redriven */
    int64_t lanes_crashed; /* whose last reader died without moving them */
    struct view_owner_list owners;
    struct reader_state_list readers;   /* that are alive */
    const struct reader_state *trouble; /* the first that cannot go on; NULL: none */
};

struct view_subscription_list {
    struct view_subscription *items; /* by name */
    size_t count;
};

struct view_outbox {
    struct stream_status stream;
    int64_t gap_ids; /* up to the cursor: being written, or never to be events */
    int64_t lag_us;  /* of the oldest event that is not in the stream */
    bool is_leased;  /* there is a publisher */
    int64_t now_us;  /* by the clock that leases are judged by */
    struct view_subscription_list subscriptions;
};

/* Imports, which do not read the stream, have no positions: their waiting is 0. */
bool view_outbox(const struct view_reader *reader, struct view_outbox *outbox,
                 struct error *err) MUST_CHECK;
void view_outbox_write(struct json_writer *w, const struct view_outbox *outbox);

struct view_parked {
    struct str subscription;
    struct parked_list keys; /* by lane, type and id */
    bool is_full;            /* there may be more */
};

struct view_parked_list {
    struct view_parked *items;
    size_t count;
};

/* Of all subscriptions that have some in the store itself, up to `limit` keys of each. */
bool view_parked(const struct view_reader *reader, int64_t limit, struct view_parked_list *list,
                 struct error *err) MUST_CHECK;
void view_parked_write(struct json_writer *w, const struct view_parked_list *list);

/* Events that were given up. */
void view_letter_list_write(struct json_writer *w, const struct letter_list *list);

/* "subscription.unknown" (L2) */
bool view_subscription_check(const struct view_reader *reader, struct str name,
                             struct error *err) MUST_CHECK;

#endif
