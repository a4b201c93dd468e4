/* Payloads that are stored packed: who reads a record gets what was received, beside rows that are
 * not packed, and whatever cannot be unpacked is an error that names the record. */
#include <stdio.h>
#include <string.h>

#include "adapter/pack/pack.h"
#include "contract.h"
#include "engine/archive/payload_pack.h"
#include "port/store_expr.h"
#include "port/store_health.h"
#include "port/store_record_read.h"
#include "rows.h"

#define SOURCE STR("crossref")
#define ENDPOINT STR("works")

static struct record_context context(void)
{
    return (struct record_context){ .source = SOURCE,
                                    .endpoint = ENDPOINT,
                                    .expr_hash = STR(HASH_A),
                                    .observed_us = NOW_US,
                                    .now_us = NOW_US };
}

/* What the records of an endpoint look like: much in common, and something of its own. */
static struct str payload_of(int number)
{
    return arena_printf(contract_arena(),
                        "{\"DOI\":\"10.5555/%d\",\"publisher\":\"A House of Learning\",\"type\":"
                        "\"journal-article\",\"title\":[\"On the %d ways of counting to %d\"],"
                        "\"container-title\":[\"Annals of Enumeration\"],\"issue\":\"%d\","
                        "\"member\":\"78\",\"language\":\"en\",\"score\":%d}",
                        number, number * 7919 % 1000, number * 31, number % 12, number);
}

static struct record_write row_of(int number)
{
    const struct str id = arena_printf(contract_arena(), "10.5555/%05d", number);

    return (struct record_write){ .version = 1,
                                  .provider_id = id,
                                  .has_updated = true,
                                  .updated_us = NOW_US - 5,
                                  .observed_us = NOW_US,
                                  .content_hash = STR(HASH_B),
                                  .payload = payload_of(number) };
}

static void write_rows(struct store *store, const struct record_write *rows, size_t count)
{
    const struct record_context in = context();
    struct error err = { 0 };
    bool written;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(rows_write(store, &in, rows, count, &written, &err), err);
    REQUIRE(written, "written");
    REQUIRE_OK(store_commit(store, &err), err);
}

static void begin(struct payload_pack *pack)
{
    struct error err = { 0 };

    REQUIRE_OK(payload_pack_begin(pack, SOURCE, ENDPOINT, NOW_US, &err), err);
}

static struct record_write packed(struct payload_pack *pack, struct record_write row)
{
    struct error err = { 0 };

    REQUIRE_OK(payload_pack_row(pack, contract_arena(), &row, &err), err);
    return row;
}

/* As many plain records as a dictionary is made of, and a packer that has made it. */
static void fill(struct store *store, struct payload_pack *pack)
{
    struct record_write *rows = ARENA_ARRAY(contract_arena(), struct record_write, PAYLOAD_SAMPLES);

    payload_pack_init(pack, store, body_packer_open);
    for (int i = 0; i < PAYLOAD_SAMPLES; i++)
        rows[i] = row_of(i);
    write_rows(store, rows, PAYLOAD_SAMPLES);
    begin(pack);
    REQUIRE(pack->dictionary.id > 0, "a dictionary was made");
}

/* One packed record beside the plain ones. */
static void fill_with_one(struct store *store, struct payload_pack *pack)
{
    struct record_write row;

    fill(store, pack);
    row = packed(pack, row_of(PAYLOAD_SAMPLES));
    CHECK_EQ(row.dictionary_id, pack->dictionary.id, "packed");
    CHECK(row.payload.len < payload_of(PAYLOAD_SAMPLES).len / 2, "and small");
    write_rows(store, &row, 1);
}

static bool try_get(struct store *store, int number, struct stored_record *record,
                    struct error *err)
{
    const struct record_key key = { SOURCE, ENDPOINT, row_of(number).provider_id };
    bool found = true;
    const bool ok = store_record_get(store, contract_arena(), &key, record, &found, err);

    CHECK(found, "it is there");
    return ok;
}

static struct stored_record get(struct store *store, int number)
{
    struct stored_record record = { 0 };
    struct error err = { 0 };

    REQUIRE_OK(try_get(store, number, &record, &err), err);
    return record;
}

static bool walk_all(struct store *store, bool with_payload, struct record_taker *taker,
                     struct record_entry_list *list, struct error *err)
{
    return store_record_walk(store, contract_arena(),
                             &(struct record_walk){ .source = SOURCE,
                                                    .with_payload = with_payload,
                                                    .limit = 2 * PAYLOAD_SAMPLES,
                                                    .taker = taker },
                             list, err);
}

struct counter {
    struct record_taker taker; /* first */
    int number;
};

static bool take(struct record_taker *taker, const struct record_entry *entry, struct error *err)
{
    struct counter *counter = (struct counter *)taker;

    (void)err;
    CHECK(str_eq(entry->payload, payload_of(counter->number)), "handed over as received");
    counter->number++;
    return true;
}

TEST(every_reader_gets_payloads_as_they_were_received)
{
    struct store *store = contract_store();
    struct record_changed change = { .endpoint = ENDPOINT, .version = 1 };
    const struct record_changed_list changes = { &change, 1 };
    struct counter counter = { .taker = { take } };
    struct health_payload_list health;
    struct stored_record_list records;
    struct record_entry_list list;
    struct payload_pack pack;
    struct record_entry entry;
    struct error err = { 0 };

    fill_with_one(store, &pack);
    CHECK(str_eq(get(store, PAYLOAD_SAMPLES).payload, payload_of(PAYLOAD_SAMPLES)), "packed");
    CHECK_STR(get(store, PAYLOAD_SAMPLES).content_hash, STR(HASH_B), "the hash stays");
    CHECK(str_eq(get(store, 7).payload, payload_of(7)), "not packed");
    CHECK(
        str_eq(get(contract_another(store), PAYLOAD_SAMPLES).payload, payload_of(PAYLOAD_SAMPLES)),
        "another session");
    REQUIRE_OK(walk_all(store, true, NULL, &list, &err), err);
    REQUIRE(list.count == PAYLOAD_SAMPLES + 1, "all");
    for (size_t i = 0; i < list.count; i++)
        CHECK(str_eq(list.items[i].payload, payload_of((int)i)), "walked over");
    REQUIRE_OK(walk_all(store, false, NULL, &list, &err), err);
    CHECK_EQ(list.items[PAYLOAD_SAMPLES].bytes, (int64_t)payload_of(PAYLOAD_SAMPLES).len,
             "its size is that of what was received");
    CHECK_EQ(list.items[PAYLOAD_SAMPLES].payload.len, 0, "not asked for");
    REQUIRE_OK(walk_all(store, true, &counter.taker, &list, &err), err);
    CHECK_EQ(counter.number, PAYLOAD_SAMPLES + 1, "handed over");
    change.provider_id = row_of(PAYLOAD_SAMPLES).provider_id;
    REQUIRE_OK(store_record_as_of(store, contract_arena(), SOURCE, &changes, &entry, &err), err);
    CHECK(str_eq(entry.payload, payload_of(PAYLOAD_SAMPLES)), "as of a change");
    REQUIRE_OK(store_expr_records(store, contract_arena(),
                                  &(struct expr_page){ .source = SOURCE,
                                                       .endpoint = ENDPOINT,
                                                       .expr_hash = STR(HASH_A),
                                                       .limit = 2 * PAYLOAD_SAMPLES },
                                  &records, &err),
               err);
    REQUIRE(records.count == PAYLOAD_SAMPLES + 1, "of an expression");
    CHECK(str_eq(records.items[PAYLOAD_SAMPLES].payload, payload_of(PAYLOAD_SAMPLES)), "as well");
    REQUIRE_OK(
        store_health_payloads(store, contract_arena(), 0, 2 * PAYLOAD_SAMPLES, &health, &err), err);
    REQUIRE(health.count == PAYLOAD_SAMPLES + 1, "to be checked");
    CHECK(str_eq(health.items[PAYLOAD_SAMPLES].payload, payload_of(PAYLOAD_SAMPLES)), "its hash");
    payload_pack_release(&pack);
    contract_end();
}

TEST(packing_is_switched_off_and_on_with_any_change)
{
    struct store *store = contract_store();
    struct payload_pack pack;
    struct record_write row;
    struct stored_record record;

    fill_with_one(store, &pack);
    for (int version = 2; version <= 5; version++) {
        record = get(store, PAYLOAD_SAMPLES);
        row = row_of(PAYLOAD_SAMPLES);
        row.id = record.id;
        row.version = version;
        row.payload = payload_of(PAYLOAD_SAMPLES + version);
        if (version % 2 == 1)
            row = packed(&pack, row);
        CHECK_EQ(row.dictionary_id > 0, version % 2, "packed or not");
        write_rows(store, &row, 1);
        CHECK(str_eq(get(store, PAYLOAD_SAMPLES).payload, payload_of(PAYLOAD_SAMPLES + version)),
              "as received");
    }
    payload_pack_release(&pack);
    contract_end();
}

TEST(what_would_not_become_smaller_stays_as_received)
{
    struct store *store = contract_store();
    struct payload_pack pack;
    struct record_write row;
    char noise[300];
    uint32_t state = 1;

    fill(store, &pack);
    for (size_t i = 0; i < sizeof(noise); i++) {
        state = state * 1664525 + 1013904223;
        noise[i] = (char)(state >> 24);
    }
    row = row_of(PAYLOAD_SAMPLES);
    row.payload = (struct str){ noise, sizeof(noise) };
    CHECK_EQ(packed(&pack, row).dictionary_id, 0, "noise");
    row.payload = STR("");
    CHECK_EQ(packed(&pack, row).dictionary_id, 0, "nothing");
    payload_pack_release(&pack);
    contract_end();
}

TEST(a_dictionary_is_made_of_enough_records_and_the_newest_is_used)
{
    static const struct dictionary_key key = { STR_INIT("crossref"), STR_INIT("works"), true };
    struct store *store = contract_store();
    struct archive_dictionary first;
    struct payload_pack pack, other;
    struct record_write row = row_of(0);
    struct error err = { 0 };
    bool found;

    payload_pack_init(&pack, store, body_packer_open);
    write_rows(store, &row, 1);
    begin(&pack);
    CHECK_EQ(pack.dictionary.id, 0, "one record is not enough");
    CHECK_EQ(packed(&pack, row).dictionary_id, 0, "so it stays as received");
    payload_pack_release(&pack);
    contract_end();

    store = contract_store();
    fill(store, &pack);
    payload_pack_init(&other, store, body_packer_open);
    begin(&other);
    CHECK_EQ(other.dictionary.id, pack.dictionary.id, "of all who pack");
    REQUIRE_OK(store_archive_dictionary_get(store, contract_arena(), pack.dictionary.id, &first,
                                            &found, &err),
               err);
    REQUIRE_OK(store_archive_dictionary_add(store, &key, first.bytes, NOW_US + 1, &err), err);
    begin(&pack);
    CHECK(pack.dictionary.id > first.id, "the newest");
    row = packed(&pack, row_of(PAYLOAD_SAMPLES));
    write_rows(store, &row, 1);
    CHECK(str_eq(get(store, PAYLOAD_SAMPLES).payload, payload_of(PAYLOAD_SAMPLES)), "as received");
    payload_pack_release(&other);
    payload_pack_release(&pack);
    contract_end();
}

static void is_refused(struct store *store, const char *label)
{
    struct counter counter = { .taker = { take } };
    struct health_payload_list health;
    struct record_entry_list list;
    struct stored_record record;
    struct error err = { 0 };

    CHECK(!try_get(store, PAYLOAD_SAMPLES, &record, &err), label);
    CHECK_STR(str_of(err.code), STR("pack.broken"), label);
    CHECK_EQ(err.level, ERROR_FATAL, label);
    CHECK(strstr(err.text, "10.5555/01000") != NULL, "and which record it is");
    CHECK(!walk_all(store, true, NULL, &list, &err), label);
    CHECK(!walk_all(store, true, &counter.taker, &list, &err), label);
    CHECK_EQ(counter.number, PAYLOAD_SAMPLES, "it is not handed over");
    CHECK(strstr(err.text, "10.5555/01000") != NULL, "and which record it is");
    CHECK(str_eq(get(store, 7).payload, payload_of(7)), "others are read");
    REQUIRE_OK(
        store_health_payloads(store, contract_arena(), 0, 2 * PAYLOAD_SAMPLES, &health, &err), err);
    CHECK(health.items[PAYLOAD_SAMPLES].is_broken, "found by a check");
    CHECK(!health.items[7].is_broken, "the only one");
}

TEST(what_cannot_be_unpacked_is_an_error_that_names_the_record)
{
    const char *dsn = contract_ready_database();
    struct store *store = contract_open(dsn);
    struct payload_pack pack;

    fill_with_one(store, &pack);
    contract_sql(dsn, "UPDATE ing_record_content SET payload = substr(payload, 1, 20)"
                      " WHERE dictionary_id IS NOT NULL");
    is_refused(store, "cut off");
    contract_sql(dsn, "UPDATE ing_record_content SET payload = (SELECT p.payload FROM"
                      " ing_record_content AS p WHERE p.dictionary_id IS NULL LIMIT 1)"
                      " WHERE dictionary_id IS NOT NULL");
    is_refused(store, "not packed at all");
    contract_sql(dsn, "UPDATE ing_record_content SET dictionary_id = 999999"
                      " WHERE dictionary_id IS NOT NULL");
    is_refused(store, "without its dictionary");
    payload_pack_release(&pack);
    store_close(store);
    contract_end();
}

static bool no_packer(struct body_packer **packer, struct error *err)
{
    *packer = NULL;
    return error_set(err, ERROR_FATAL, "module.missing", "patra-pack.so is not installed");
}

TEST(without_what_unpacks_them_packed_records_are_not_read)
{
    struct store *store = contract_store(), *bare;
    struct stored_record record;
    struct payload_pack pack;
    struct error err = { 0 };

    fill_with_one(store, &pack);
    bare = contract_another(store);
    bare->packer_open = no_packer;
    CHECK(!try_get(bare, PAYLOAD_SAMPLES, &record, &err), "refused");
    CHECK_STR(str_of(err.code), STR("module.missing"), "and why");
    CHECK(strstr(err.text, "10.5555/01000") != NULL, "and which record it is");
    CHECK(str_eq(get(bare, 7).payload, payload_of(7)), "others are read");
    payload_pack_release(&pack);
    contract_end();
}
