/* Reading the stream over every store: from a position on, within limits, ahead. */
#include "contract.h"
#include "offset_rig.h"
#include "stream_rig.h"

static void check_same(const struct stream_event_list *list, const struct stream_event_list *wanted,
                       const char *label)
{
    CHECK_EQ(list->count, wanted->count, label);
    for (size_t i = 0; i < list->count && i < wanted->count; i++) {
        CHECK_STR(list->items[i].stored.event.event_id, wanted->items[i].stored.event.event_id,
                  label);
        CHECK_EQ(list->items[i].pos, wanted->items[i].pos, label);
    }
}

static void begin_read(struct store *store, const struct stream_read *read)
{
    struct error err = { 0 };

    REQUIRE_OK(store_stream_read_ahead(store, read, &err), err);
}

TEST(what_was_read_ahead_is_what_was_asked_for)
{
    struct store *store = contract_store();
    struct sequencer *sequencer;
    const struct stream_place start = { 7, 0 }, later = { 7, 3 };
    const struct stream_read from_start = { &start, 1, 4, 1 << 20 };
    const struct stream_read from_later = { &later, 1, 4, 1 << 20 };
    struct stream_event_list first, second;
    int64_t ends[OUTBOX_LANES] = { 0 };
    struct error err = { 0 };

    (void)stream_rig_write(store, "a", 1000);
    sequencer = stream_rig_sequencer(store, "sequencer");
    (void)stream_rig_round(sequencer, NOW_US);
    sequencer_close(sequencer);
    first = offset_rig_read(store, &from_start);
    second = offset_rig_read(store, &from_later);
    CHECK(first.count == 4 && second.count == 4, "the lane has as many");

    begin_read(store, &from_start);
    second = offset_rig_read(store, &from_later);
    CHECK_EQ(second.items[0].pos, 4, "another read has its own events");
    first = offset_rig_read(store, &from_start);
    CHECK_EQ(first.items[0].pos, 1, "and what was begun is gone");

    begin_read(store, &from_later);
    begin_read(store, &from_start);
    {
        const struct stream_event_list again = offset_rig_read(store, &from_start);

        check_same(&again, &first, "the last one that was begun");
    }
    begin_read(store, &from_later);
    REQUIRE_OK(store_stream_ends(store, ends, &err), err);
    CHECK(ends[7] >= 7, "another statement in between");
    REQUIRE_OK(store_begin(store, &err), err);
    stream_rig_add(store, "b", 3);
    REQUIRE_OK(store_commit(store, &err), err);
    {
        const struct stream_event_list again = offset_rig_read(store, &from_later);

        check_same(&again, &second, "and a transaction");
    }
    begin_read(store, &from_later);
    contract_end(); /* with a read under way */
}

TEST(a_lane_is_read_from_a_position_up_to_a_count_and_bytes)
{
    struct store *store = contract_store();
    struct stream_place places[OUTBOX_LANES];
    struct stream_read read = { places, OUTBOX_LANES, 1000, 1 << 20 };
    struct stream_event_list all, list;
    struct error err = { 0 };
    int64_t next[OUTBOX_LANES] = { 0 };
    size_t bytes;

    for (int i = 0; i < 3; i++) {
        char prefix[2] = { (char)('a' + i), '\0' };

        (void)stream_rig_write(store, prefix, 200);
        offset_rig_publish(store); /* several parts of each lane */
    }
    REQUIRE_OK(store_begin(store, &err), err);
    stream_rig_change(store, "a", 7);
    REQUIRE_OK(store_commit(store, &err), err);
    offset_rig_publish(store);
    for (int i = 0; i < OUTBOX_LANES; i++)
        places[i] = (struct stream_place){ OUTBOX_LANES - 1 - i, 0 };
    all = offset_rig_read(store, &read);
    CHECK_EQ(all.count, 601, "everything");
    for (size_t i = 0; i < all.count; i++) {
        const struct stream_event *event = &all.items[i];

        CHECK_EQ(event->pos, ++next[event->lane], "without gaps");
        CHECK(i == 0 || event->lane <= all.items[i - 1].lane, "in the order of the places");
        CHECK_STR(event->stored.source, STR("crossref"), "whose");
        CHECK(event->record_id > 0 && event->stored.provider_id.len > 0, "its record");
        CHECK_EQ(event->sequenced_us, NOW_US, "when");
        CHECK_EQ(event->stored.event.event_id.len, 36, "its id");
        CHECK(event->stored.event.body.len > 0, "its body");
    }
    read.lane_max = 2;
    for (int i = 0; i < OUTBOX_LANES; i++)
        places[i].pos = 3;
    list = offset_rig_read(store, &read);
    CHECK_EQ(list.items[0].pos, 4, "after the position");
    CHECK_EQ(list.items[1].pos, 5, "up to a count");
    CHECK(list.count <= (size_t)2 * OUTBOX_LANES, "of each");
    CHECK_EQ(list.items[2].lane, places[1].lane, "then the next place");
    bytes = list.items[0].stored.event.body.len;
    read.bytes_max = (int64_t)bytes;
    CHECK_EQ(offset_rig_read(store, &read).count, 1, "as many as fit");
    read.bytes_max = 1;
    CHECK_EQ(offset_rig_read(store, &read).count, 1, "one at least");
    read.bytes_max = (int64_t)bytes + 1;
    CHECK_EQ(offset_rig_read(store, &read).count, 2, "the one that exceeds it is the last");
    contract_end();
}
