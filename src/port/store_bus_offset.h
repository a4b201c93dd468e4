/* store_bus_offset: how far the readers of a bus are, kept where their rows are.
 *
 * A bus remembers itself what a group of readers has settled. What is kept here, lane by lane and
 * in the transaction that writes the rows, is how many events were applied and which was the
 * newest: for people, and to know what was done when somebody moves the group
 * (store_bus_offset_move). The rows are those of ing_offset, in a group of their own,
 * BUS_OFFSET_GROUP, under the name BUS/NAME.
 */
#ifndef PATRA_PORT_STORE_BUS_OFFSET_H
#define PATRA_PORT_STORE_BUS_OFFSET_H

#include "port/store_offset.h"

#define BUS_OFFSET_GROUP STR("bus")

struct bus_place { /* a lane's part of what was applied */
    int64_t lane;
    int64_t events;
    struct str event_id; /* of the newest */
    struct str bus_id;   /* what the bus calls it */
    int64_t published_us;
};

struct bus_offset_save {
    struct str name; /* BUS/NAME */
    struct str by;
    int64_t now_us;
    const struct bus_place *places; /* each lane once */
    size_t count;
};

struct bus_offset { /* of a lane, for people */
    struct str name;
    struct bus_place newest; /* all events that were applied */
    struct str by;
    int64_t updated_us;
};

struct bus_offset_list {
    struct bus_offset *items; /* by name and lane */
    size_t count;
};

struct bus_offset_move {
    struct str name;
    struct str inbox;   /* the group of the inbox */
    int64_t to_us;      /* the bus delivers what was published from then on */
    int64_t forget_us;  /* events received since are forgotten; INT64_MAX: none */
    struct str to_text; /* for the audit row: where it goes on */
    struct str reason;
    struct str by;
    int64_t now_us;
};

struct store_bus_offset_ops {
    bool (*save)(struct store *sink, const struct bus_offset_save *save, struct error *err);
    bool (*list)(struct store *sink, struct arena *arena, struct bus_offset_list *list,
                 struct error *err);
    bool (*received)(struct store *sink, struct str inbox, int64_t since_us, int64_t *events,
                     struct error *err);
    bool (*has)(struct store *sink, struct str inbox, struct str event_id, bool *has,
                struct error *err);
    bool (*move)(struct store *sink, const struct bus_offset_move *move, struct error *err);
};

/* Adds to what was applied; the newest event stays the newest. Part of the caller's transaction. */
static inline bool MUST_CHECK store_bus_offset_save(struct store *sink,
                                                    const struct bus_offset_save *save,
                                                    struct error *err)
{
    assert(sink->state == STORE_WRITING);
    return sink->bus_offset->save(sink, save, err);
}

static inline bool MUST_CHECK store_bus_offset_list(struct store *sink, struct arena *arena,
                                                    struct bus_offset_list *list, struct error *err)
{
    return sink->bus_offset->list(sink, arena, list, err);
}

/* How many events of the inbox were received since an instant. */
static inline bool MUST_CHECK store_bus_offset_received(struct store *sink, struct str inbox,
                                                        int64_t since_us, int64_t *events,
                                                        struct error *err)
{
    return sink->bus_offset->received(sink, inbox, since_us, events, err);
}

/* Whether the inbox has an event. */
static inline bool MUST_CHECK store_bus_offset_has(struct store *sink, struct str inbox,
                                                   struct str event_id, bool *has,
                                                   struct error *err)
{
    return sink->bus_offset->has(sink, inbox, event_id, has, err);
}

/* Writes down who moves it and why (a row of ing_offset_reset per lane), and forgets what is to be
 * applied again. In one transaction, the caller's or its own; the bus itself is moved after it. */
static inline bool MUST_CHECK store_bus_offset_move(struct store *sink,
                                                    const struct bus_offset_move *move,
                                                    struct error *err)
{
    return sink->bus_offset->move(sink, move, err);
}

#endif
