/* nats_bus: a bus over NATS JetStream, in a module of its own (patra-nats.so).
 *
 *      publish   a subject per lane; the event's id is the message's id, so the server drops what
 * it has (create.dedup); the answers come to an inbox of the connection fence     the first message
 * of a lane in a call says which message of its subject must be the last; the others of the lane
 * follow when it was acknowledged read      a durable pull consumer per group
 *
 * What a message has beside the attributes:
 *
 *      Nats-Msg-Id      the event's id
 *      Content-Type     of the body
 *      Patra-Key        what order is kept by, percent-encoded
 *      Patra-Version    of the record
 *      Patra-Epoch      of the lane's owner: so an owner whose last acknowledgements were lost can
 *                       tell its own messages from those of its successor
 */
#ifndef PATRA_ADAPTER_NATS_NATS_BUS_H
#define PATRA_ADAPTER_NATS_NATS_BUS_H

#include "adapter/nats/link.h"
#include "core/limits.h"

/* What the handle knows of a lane; is_known: the subject's last message has this sequence. */
struct nats_lane {
    int64_t epoch;
    int64_t sequence;
    bool is_known;
};

/* A delivery that is not settled. */
struct nats_slot {
    char *reply; /* where its verdict goes; NULL: the slot is free */
    size_t bytes;
    uint32_t generation; /* so that an old handle does not settle a new delivery */
    uint32_t next_free;
};

struct nats_reader {
    char *group; /* NULL: not subscribed */
    struct bus_flow flow;
    struct nats_slot *slots;
    uint32_t slot_count;
    uint32_t first_free;
    size_t unsettled;
    size_t unsettled_bytes;
    struct nats_item *waiting, *waiting_last; /* taken from the queue, not handed out yet */
    size_t waiting_count;
    int64_t pull;          /* the request under way; 0: none */
    int64_t pull_left;     /* messages that it may still bring */
    int64_t pull_until_us; /* when it has certainly ended */
    int64_t pulls;
    bool is_single; /* the next message is larger than what is left: ask for it alone */
};

struct nats_bus {
    struct bus bus; /* first */
    struct nats_link link;
    struct arena scratch; /* for the answers of one call */
    int64_t calls;
    struct nats_lane lanes[OUTBOX_LANES];
    struct nats_reader reader;
};

bool nats_bus_open(const struct bus_parts *parts, struct bus **bus, struct error *err) MUST_CHECK;

/* ---- inside the module ---- */

static inline struct nats_bus *nats_bus_of(struct bus *bus)
{
    return (struct nats_bus *)bus;
}

enum { NATS_SUBJECT_MAX = 512 };

/* The subject of a lane; of all lanes ("*") with lane < 0. False when it is too long. */
bool nats_bus_subject(const struct nats_bus *bus, int64_t lane, char subject[NATS_SUBJECT_MAX]);

bool nats_bus_check(struct bus *bus, int64_t timeout_us, struct error *err);
bool nats_bus_create(struct bus *bus, int64_t timeout_us, bool *made, struct error *err);
bool nats_bus_publish(struct bus *bus, struct arena *arena, const struct bus_publish *publish,
                      struct bus_receipt *receipts, struct error *err);
bool nats_bus_subscribe(struct bus *bus, struct str group, const struct bus_flow *flow,
                        struct error *err);
bool nats_bus_poll(struct bus *bus, struct arena *arena, const struct bus_poll *poll,
                   struct bus_delivery_list *list, struct error *err);
bool nats_bus_settle(struct bus *bus, const struct bus_settlement *settlements, size_t count,
                     struct error *err);
bool nats_bus_seek(struct bus *bus, int64_t at_us, struct error *err);
bool nats_bus_lag(struct bus *bus, struct bus_lag *lag, struct error *err);
bool nats_bus_forget(struct bus *bus, struct error *err);
void nats_reader_release(struct nats_reader *reader);

/* Something of the queue that does not answer a publish: a delivery waits to be handed out, the end
 * of a request ends it, everything else is freed. */
void nats_reader_take(struct nats_bus *bus, struct nats_item *item);

/* The last message of a lane's subject: its sequence (0: there is none) and its owner's epoch. */
struct nats_last {
    int64_t sequence;
    int64_t epoch;
};
bool nats_bus_last(struct nats_bus *bus, int64_t lane, const struct nats_deadline *deadline,
                   struct nats_last *last, struct error *err) MUST_CHECK;

/* The number of an answer's subject, "PREFIX<kind>-<call>-<index>"; false when it is not of this
 * kind and call. */
bool nats_bus_index(const struct nats_bus *bus, const natsMsg *msg, char kind, size_t *index);

/* The names of the headers above. */
#define NATS_HEADER_ID "Nats-Msg-Id"
#define NATS_HEADER_TYPE "Content-Type"
#define NATS_HEADER_KEY "Patra-Key"
#define NATS_HEADER_VERSION "Patra-Version"
#define NATS_HEADER_EPOCH "Patra-Epoch"
#define NATS_HEADER_STREAM "Nats-Expected-Stream"
#define NATS_HEADER_LAST "Nats-Expected-Last-Subject-Sequence"

#endif
