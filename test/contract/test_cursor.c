/* Cursors: only forward, by compare-and-set; events once. */
#include <string.h>

#include "contract.h"
#include "rows.h"

static struct cursor_move move_to(struct cursor_value to)
{
    return (struct cursor_move){
        .to = to, .lineage = { 1, 2, 3, 4, 5, 6 }, .expr_hash = STR(HASH_B), .now_us = NOW_US
    };
}

static struct cursor_value at(int64_t instant_us)
{
    return (struct cursor_value){ .type = CURSOR_TIME, .instant_us = instant_us };
}

static struct cursor_value text(enum cursor_type type, const char *word)
{
    return (struct cursor_value){ .type = type, .text = str_of(word) };
}

/* Loads, moves, and returns whether it moved. */
static bool moves(struct store *store, struct cursor_value to)
{
    const struct cursor_name name = rows_cursor_name();
    const struct cursor_move move = move_to(to);
    struct cursor cursor;
    struct error err = { 0 };
    bool found, moved = false;

    REQUIRE_OK(store_cursor_load(store, contract_arena(), &name, &cursor, &found, &err), err);
    REQUIRE_OK(store_cursor_move(store, &cursor, &move, &moved, &err), err);
    return moved;
}

static struct cursor current(struct store *store)
{
    const struct cursor_name name = rows_cursor_name();
    struct cursor cursor;
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_cursor_load(store, contract_arena(), &name, &cursor, &found, &err), err);
    return cursor;
}

TEST(a_cursor_is_made_and_moves_only_forward)
{
    struct store *store = contract_store();
    struct cursor cursor = current(store);

    CHECK_EQ(cursor.id, 0, "none yet");
    CHECK_STR(cursor.name.source, STR("crossref"), "but named");
    CHECK(moves(store, at(NOW_US)), "made");
    CHECK(!moves(store, at(NOW_US)), "not to where it is");
    CHECK(!moves(store, at(NOW_US - 1)), "not back");
    CHECK(moves(store, at(NOW_US + 1)), "a microsecond forward");
    cursor = current(store);
    CHECK(cursor.id > 0, "an id");
    CHECK_EQ(cursor.value.instant_us, NOW_US + 1, "value");
    CHECK_EQ(cursor.version, 2, "version");
    CHECK_EQ(cursor.lineage.schedule_instance_id, 1, "lineage");
    CHECK_EQ(cursor.lineage.batch_id, 6, "lineage");
    CHECK_STR(cursor.expr_hash, STR(HASH_B), "expression");
    CHECK_EQ(cursor.updated_us, NOW_US, "when");
    contract_end();
}

TEST(the_second_of_two_writers_does_not_move_a_cursor)
{
    struct store *store = contract_store();
    const struct cursor_name name = rows_cursor_name();
    struct cursor_move move = move_to(at(NOW_US));
    struct cursor none = current(store), old;
    struct error err = { 0 };
    bool moved = true;

    REQUIRE_OK(store_cursor_move(store, &none, &move, &moved, &err), err);
    CHECK(moved, "made");
    move.to.instant_us = NOW_US + 100;
    REQUIRE_OK(store_cursor_move(store, &none, &move, &moved, &err), err);
    CHECK(!moved, "made by somebody else meanwhile");
    old = current(store);
    move.to.instant_us = NOW_US + 10;
    REQUIRE_OK(store_cursor_move(store, &old, &move, &moved, &err), err);
    CHECK(moved, "the first");
    move.to.instant_us = NOW_US + 20;
    REQUIRE_OK(store_cursor_move(store, &old, &move, &moved, &err), err);
    CHECK(!moved, "the second, though it would be forward");
    CHECK_EQ(current(store).value.instant_us, NOW_US + 10, "value");
    (void)name;
    contract_end();
}

TEST(numbers_are_compared_as_numbers)
{
    struct store *store = contract_store();
    struct cursor_move move = move_to(text(CURSOR_ID, "12x"));
    struct cursor cursor = current(store);
    struct error err = { 0 };
    bool moved;

    CHECK(!store_cursor_move(store, &cursor, &move, &moved, &err), "not a number");
    CHECK_EQ(err.level, ERROR_REQUEST, "not a number");
    CHECK(moves(store, text(CURSOR_ID, "009")), "nine");
    CHECK_STR(current(store).value.text, STR("9"), "without its zeros");
    CHECK(moves(store, text(CURSOR_ID, "10")), "ten is above nine");
    CHECK(!moves(store, text(CURSOR_ID, "0010")), "the same");
    CHECK(!moves(store, text(CURSOR_ID, "9")), "back");
    CHECK(moves(store, text(CURSOR_ID, "99999999999999999999999999999999999998")), "38 digits");
    CHECK(moves(store, text(CURSOR_ID, "99999999999999999999999999999999999999")), "one more");
    CHECK_STR(current(store).value.text, STR("99999999999999999999999999999999999999"), "exact");
    CHECK(!moves(store, at(NOW_US)), "a cursor keeps its type");
    contract_end();
}

TEST(tokens_are_only_told_apart)
{
    struct store *store = contract_store();

    CHECK(moves(store, text(CURSOR_TOKEN, "zzz")), "made");
    CHECK(!moves(store, text(CURSOR_TOKEN, "zzz")), "the same");
    CHECK(moves(store, text(CURSOR_TOKEN, "aaa")), "another");
    CHECK_STR(current(store).value.text, STR("aaa"), "value");
    contract_end();
}

TEST(namespaces_have_cursors_of_their_own)
{
    struct store *store = contract_store();
    struct cursor_name name = rows_cursor_name();
    const struct cursor_move move = move_to(at(NOW_US));
    struct cursor cursor;
    struct cursor_list list;
    struct error err = { 0 };
    bool found, moved;

    CHECK(moves(store, at(NOW_US + 5)), "HARVEST");
    for (size_t i = 0; i < OPERATION_CODES.count; i++) {
        name.operation = (enum operation)i;
        name.scope = NAMESPACE_CUSTOM;
        name.source = i == 0 ? STR("Zenodo") : STR("crossref");
        REQUIRE_OK(store_cursor_load(store, contract_arena(), &name, &cursor, &found, &err), err);
        CHECK(!found, "not made yet");
        REQUIRE_OK(store_cursor_move(store, &cursor, &move, &moved, &err), err);
        CHECK(moved, "made");
    }
    CHECK_EQ(current(store).value.instant_us, NOW_US + 5, "HARVEST is where it was");
    REQUIRE_OK(store_cursor_list(store, contract_arena(), STR(""), &list, &err), err);
    REQUIRE(list.count == 1 + OPERATION_CODES.count, "all");
    CHECK_STR(list.items[0].name.source, STR("Zenodo"), "bytewise order");
    CHECK_EQ(list.items[1].name.operation, OPERATION_BACKFILL, "then by the operation's word");
    REQUIRE_OK(store_cursor_list(store, contract_arena(), STR("crossref"), &list, &err), err);
    CHECK_EQ(list.count, OPERATION_CODES.count, "of one source");
    contract_end();
}

TEST(observed_values_are_kept_until_replaced)
{
    struct store *store = contract_store();
    struct cursor_move move = move_to(at(NOW_US));
    struct cursor cursor = current(store);
    struct error err = { 0 };
    bool moved;

    move.observed_max = STR("2026-02-03");
    REQUIRE_OK(store_cursor_move(store, &cursor, &move, &moved, &err), err);
    CHECK(moves(store, at(NOW_US + 1)), "without an observation");
    CHECK_STR(current(store).observed_max, STR("2026-02-03"), "the old one stands");
    contract_end();
}

static struct cursor_event event_of(int64_t number)
{
    return (struct cursor_event){ .name = rows_cursor_name(),
                                  .direction = DIRECTION_FORWARD,
                                  .reason = CURSOR_EVENT_ADVANCE,
                                  .has_prev = number > 1,
                                  .prev = at(NOW_US + number - 1),
                                  .next = at(NOW_US + number),
                                  .window = { NOW_US, NOW_US + number },
                                  .observed_max = STR("seen"),
                                  .idempotent_key =
                                      arena_printf(contract_arena(), "e%" PRId64, number),
                                  .lineage = { 6, 5, 4, 3, 2, 1 },
                                  .expr_hash = STR(HASH_B),
                                  .remarks = STR("{}"),
                                  .created_us = NOW_US + number };
}

TEST(an_event_is_added_once_and_read_in_pages)
{
    struct store *store = contract_store();
    const struct cursor_name name = rows_cursor_name();
    struct cursor_event_list list;
    struct cursor_fold fold;
    struct error err = { 0 };
    int64_t after_id = 0;
    bool added = false;

    for (int64_t i = 1; i <= 25; i++) {
        struct cursor_event event = event_of(i);

        REQUIRE_OK(store_cursor_event_add(store, &event, &added, &err), err);
        CHECK(added, "new");
        REQUIRE_OK(store_cursor_event_add(store, &event, &added, &err), err);
        CHECK(!added, "the same once more");
        event.idempotent_key = arena_printf(contract_arena(), "other%" PRId64, i);
        event.name.operation = OPERATION_BACKFILL;
        event.direction = DIRECTION_BACKFILL;
        REQUIRE_OK(store_cursor_event_add(store, &event, &added, &err), err);
        CHECK(added, "of another namespace");
    }
    cursor_fold_init(&fold, CURSOR_TIME);
    do {
        REQUIRE_OK(store_cursor_event_list(store, contract_arena(), &name,
                                           (struct store_page){ .after = after_id, .limit = 10 },
                                           &list, &err),
                   err);
        for (size_t i = 0; i < list.count; i++) {
            const struct cursor_event *event = &list.items[i];

            CHECK(event->id > after_id, "ascending");
            after_id = event->id;
            cursor_fold_add(&fold, event->has_prev ? &event->prev : NULL, &event->next);
        }
    } while (list.count > 0);
    CHECK_EQ(fold.event_count, 25, "each once");
    CHECK_EQ(fold.instant_us, NOW_US + 25, "replayed");
    CHECK_EQ(fold.gap_count, 0, "without a gap");
    REQUIRE_OK(store_cursor_event_last(store, contract_arena(), &name, 3, &list, &err), err);
    REQUIRE(list.count == 3, "the last three");
    for (int64_t i = 0; i < 3; i++)
        CHECK_EQ(list.items[i].next.instant_us, NOW_US + 25 - i, "the newest first");
    contract_end();
}

TEST(an_event_comes_back_whole)
{
    static const struct {
        enum cursor_type type;
        const char *prev;
        const char *next;
    } cases[] = { { CURSOR_TIME, NULL, NULL },
                  { CURSOR_ID, "0", "99999999999999999999999999999999999999" },
                  { CURSOR_TOKEN, "b", "a" },
                  { CURSOR_ID, "99", "7" } };
    struct store *store = contract_store();
    struct error err = { 0 };
    bool added;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cursor_event event = event_of(7), *read;
        struct cursor_event_list list;

        event.reason = (enum cursor_event_reason)i;
        event.name.cursor_key = code_of(&CURSOR_EVENT_REASON_CODES, (int)event.reason);
        event.idempotent_key = event.name.cursor_key;
        if (cases[i].type != CURSOR_TIME) {
            event.prev = text(cases[i].type, cases[i].prev);
            event.next = text(cases[i].type, cases[i].next);
            event.window = (struct window){ 0, 0 };
        }
        REQUIRE_OK(store_cursor_event_add(store, &event, &added, &err), err);
        REQUIRE_OK(store_cursor_event_list(store, contract_arena(), &event.name,
                                           (struct store_page){ .limit = 10 }, &list, &err),
                   err);
        REQUIRE(list.count == 1, "one");
        read = &list.items[0];
        CHECK(cursor_value_eq(&read->prev, &event.prev), "prev");
        CHECK(cursor_value_eq(&read->next, &event.next), "next");
        CHECK(read->has_prev, "prev");
        CHECK_EQ(read->reason, event.reason, "reason");
        CHECK_EQ(read->direction, event.direction, "direction");
        CHECK_EQ(read->window.from_us, event.window.from_us, "window");
        CHECK_EQ(read->window.to_us, event.window.to_us, "window");
        CHECK_STR(read->observed_max, event.observed_max, "observed");
        CHECK_STR(read->idempotent_key, event.idempotent_key, "key");
        CHECK_EQ(memcmp(&read->lineage, &event.lineage, sizeof(event.lineage)), 0, "lineage");
        CHECK_STR(read->expr_hash, event.expr_hash, "expression");
        CHECK_EQ(read->created_us, event.created_us, "when");
    }
    contract_end();
}

/* ---- what only a person or a repair does ---- */

TEST(a_cursor_that_is_set_may_go_back_but_not_past_another_writer)
{
    struct store *store = contract_store();
    struct cursor_move move = move_to(at(NOW_US - 10));
    struct cursor cursor;
    struct error err = { 0 };
    bool moved = false;

    CHECK(moves(store, at(NOW_US)), "made");
    cursor = current(store);
    REQUIRE_OK(store_cursor_set(store, &cursor, &move, &moved, &err), err);
    CHECK(moved, "back");
    CHECK_EQ(current(store).value.instant_us, NOW_US - 10, "value");
    CHECK_EQ(current(store).version, 2, "a version as any");
    REQUIRE_OK(store_cursor_set(store, &cursor, &move, &moved, &err), err);
    CHECK(!moved, "by a writer that has not read it since");
    move.to = text(CURSOR_ID, "1");
    cursor = current(store);
    REQUIRE_OK(store_cursor_set(store, &cursor, &move, &moved, &err), err);
    CHECK(!moved, "a cursor keeps its type");
    contract_end();
}

TEST(a_cursor_that_was_lost_is_made_with_versions_of_its_own)
{
    struct store *store = contract_store();
    const struct cursor_move move = move_to(at(NOW_US));
    struct cursor cursor = current(store);
    struct error err = { 0 };
    bool moved = false;

    cursor.version = 7;
    REQUIRE_OK(store_cursor_set(store, &cursor, &move, &moved, &err), err);
    CHECK(moved, "made");
    CHECK_EQ(current(store).version, 8, "after all versions before");
    contract_end();
}

TEST(what_was_seen_is_noted_without_a_move)
{
    struct store *store = contract_store();
    struct cursor cursor;
    struct error err = { 0 };

    CHECK(moves(store, at(NOW_US)), "made");
    cursor = current(store);
    REQUIRE_OK(store_cursor_observe(store, &cursor, STR("2026-01-02T00:00:00Z"), &err), err);
    CHECK_STR(current(store).observed_max, STR("2026-01-02T00:00:00Z"), "seen");
    CHECK_EQ(current(store).version, 1, "not moved");
    contract_end();
}

TEST(namespaces_are_those_of_cursors_and_of_events)
{
    struct store *store = contract_store();
    struct cursor_event event = event_of(1);
    struct cursor_name_list list;
    struct error err = { 0 };
    bool added;

    CHECK(moves(store, at(NOW_US)), "a cursor without events");
    event.name.operation = OPERATION_BACKFILL;
    REQUIRE_OK(store_cursor_event_add(store, &event, &added, &err), err);
    event.idempotent_key = STR("second");
    REQUIRE_OK(store_cursor_event_add(store, &event, &added, &err), err);
    event.idempotent_key = STR("third");
    event.name.operation = OPERATION_HARVEST;
    REQUIRE_OK(store_cursor_event_add(store, &event, &added, &err), err);
    event.idempotent_key = STR("fourth");
    event.name.source = STR("pubmed");
    REQUIRE_OK(store_cursor_event_add(store, &event, &added, &err), err);
    REQUIRE_OK(store_cursor_names(store, contract_arena(), STR(""), &list, &err), err);
    REQUIRE(list.count == 3, "each once");
    CHECK_EQ(list.items[0].operation, OPERATION_BACKFILL, "by name");
    CHECK_EQ(list.items[1].operation, OPERATION_HARVEST, "by name");
    CHECK_STR(list.items[2].source, STR("pubmed"), "by name");
    CHECK_STR(list.items[0].namespace_key, event.name.namespace_key, "whole");
    REQUIRE_OK(store_cursor_names(store, contract_arena(), STR("pubmed"), &list, &err), err);
    CHECK_EQ(list.count, 1, "of one source");
    contract_end();
}
