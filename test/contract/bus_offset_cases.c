/* How far consumers of buses are: where their tables are. */
#include "contract.h"
#include "port/store_bus_offset.h"
#include "port/store_sink.h"
#include "sql.h"

static void save_places(struct store *sink, const struct bus_place *places, size_t count,
                        int64_t now_us)
{
    const struct bus_offset_save save = { STR("works/things"), STR("me"), now_us, places, count };
    struct error err = { 0 };

    REQUIRE_OK(store_begin(sink, &err), err);
    REQUIRE_OK(store_bus_offset_save(sink, &save, &err), err);
    REQUIRE_OK(store_commit(sink, &err), err);
}

TEST(offsets_of_a_bus_add_up_and_are_moved)
{
    static const struct bus_place FIRST[] = { { 3, 2, STR_INIT("b"), STR_INIT("17"), NOW_US + 5 },
                                              { 60, 1, STR_INIT("c"), STR_INIT("18"), NOW_US } };
    static const struct bus_place LATE[] = { { 3, 4, STR_INIT("a"), STR_INIT("16"), NOW_US + 4 } };
    static const struct bus_place NEW[] = { { 3, 1, STR_INIT("d"), STR_INIT("19"), NOW_US + 6 } };
    const struct sink_receipt receipt = { STR("019b0000-0000-7000-8000-00000000000b"), 3, 0 };
    const struct sink_inbox inbox = { STR("things"), &receipt, 1, NOW_US };
    struct bus_offset_move move = { .name = STR("works/things"),
                                    .inbox = STR("things"),
                                    .to_us = NOW_US - 1,
                                    .forget_us = NOW_US + 1,
                                    .to_text = STR("there"),
                                    .reason = STR("a test"),
                                    .by = STR("me"),
                                    .now_us = NOW_US + 9 };
    const char *dsn = contract_migrated(contract_new_database());
    struct store *sink = contract_open(dsn);
    struct bus_offset_list list;
    struct error err = { 0 };
    int64_t events;
    bool is;

    save_places(sink, FIRST, 2, NOW_US + 7);
    save_places(sink, LATE, 1, NOW_US + 8);
    REQUIRE_OK(store_bus_offset_list(sink, contract_arena(), &list, &err), err);
    REQUIRE(list.count == 2, "a row per lane");
    CHECK_EQ(list.items[0].newest.lane, 3, "by lane");
    CHECK_EQ(list.items[0].newest.events, 6, "they add up");
    CHECK_STR(list.items[0].newest.event_id, STR("b"), "the newest stays");
    CHECK_STR(list.items[0].newest.bus_id, STR("17"), "with its name");
    CHECK_EQ(list.items[0].newest.published_us, NOW_US + 5, "and its time");
    CHECK_EQ(list.items[0].updated_us, NOW_US + 8, "the last one counts here");
    save_places(sink, NEW, 1, NOW_US + 9);
    REQUIRE_OK(store_bus_offset_list(sink, contract_arena(), &list, &err), err);
    CHECK_STR(list.items[0].newest.event_id, STR("d"), "a newer one");
    CHECK_STR(list.items[1].newest.event_id, STR("c"), "each lane by itself");
    REQUIRE_OK(store_begin(sink, &err), err);
    REQUIRE_OK(store_sink_inbox(sink, &inbox, &is, &err), err);
    REQUIRE_OK(store_commit(sink, &err), err);
    REQUIRE_OK(store_bus_offset_has(sink, STR("things"), receipt.event_id, &is, &err), err);
    CHECK(is, "it was received");
    REQUIRE_OK(store_bus_offset_has(sink, STR("other"), receipt.event_id, &is, &err), err);
    CHECK(!is, "not by others");
    REQUIRE_OK(store_bus_offset_received(sink, STR("things"), NOW_US, &events, &err), err);
    CHECK_EQ(events, 1, "since then");
    REQUIRE_OK(store_bus_offset_received(sink, STR("things"), NOW_US + 1, &events, &err), err);
    CHECK_EQ(events, 0, "not since later");
    REQUIRE_OK(store_bus_offset_move(sink, &move, &err), err);
    REQUIRE_OK(store_bus_offset_has(sink, STR("things"), receipt.event_id, &is, &err), err);
    CHECK(is, "older than what is forgotten");
    move.forget_us = NOW_US;
    REQUIRE_OK(store_bus_offset_move(sink, &move, &err), err);
    REQUIRE_OK(store_bus_offset_has(sink, STR("things"), receipt.event_id, &is, &err), err);
    CHECK(!is, "forgotten");
    REQUIRE_OK(store_bus_offset_list(sink, contract_arena(), &list, &err), err);
    CHECK_EQ(list.items[0].newest.published_us, NOW_US - 1, "moved");
    CHECK_EQ(sql_number(dsn, "SELECT count(*) FROM ing_offset_reset WHERE reset_by = 'me' AND"
                             " reason = 'a test' AND new_message_id = 'there' AND"
                             " old_pos = new_pos"),
             4, "a row per lane and move");
    move.name = STR("works/nothing");
    REQUIRE_OK(store_bus_offset_move(sink, &move, &err), err);
    CHECK_EQ(sql_number(dsn, "SELECT count(*) FROM ing_offset_reset WHERE old_pos IS NULL"), 1,
             "also before anything was applied");
    store_close(sink);
    contract_end();
}
