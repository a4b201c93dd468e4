/* Where the tables of projections are: the store, other databases, what is remembered there. */
#include <string.h>
#include <unistd.h>

#include "adapter/sink_open.h"
#include "adapter/store_open.h"
#include "core/lane.h"
#include "sink_rig.h"
#include "sink_things.h"
#include "sql.h"

TEST(what_is_remembered_of_a_projection_is_found_again)
{
    struct sink_projection projection;
    struct sink_rig rig;
    bool found;

    sink_rig_begin(&rig, THINGS_MARKED);
    REQUIRE_OK(store_sink_find(rig.sink, &rig.arena, STR("things"), &projection, &found, &rig.err),
               rig.err);
    REQUIRE(found, "by its name");
    CHECK_STR(projection.json, rig.text.json, "its spec");
    CHECK_STR(projection.hash, str_of(rig.text.hash), "and hash");
    CHECK_EQ(projection.applied_us, NOW_US, "when");
    REQUIRE_OK(store_sink_set_rebuild(rig.sink, STR("things"), STR("{}"), &found, &rig.err),
               rig.err);
    REQUIRE_OK(store_sink_find(rig.sink, &rig.arena, STR("things"), &projection, &found, &rig.err),
               rig.err);
    CHECK_STR(projection.rebuild, STR("{}"), "how far");
    REQUIRE_OK(store_sink_find(rig.sink, &rig.arena, STR("x"), &projection, &found, &rig.err),
               rig.err);
    CHECK(!found, "another name");
    sink_rig_end(&rig);
}

static bool no_secret(struct secret_source *source, struct str reference, struct secret *secret,
                      struct error *err)
{
    const char *address = (const char *)(source + 1);

    (void)reference;
    (void)err;
    secret->len = strlen(address);
    memcpy(secret->bytes, address, secret->len);
    return true;
}

TEST(another_database_gets_the_tables_that_a_reader_needs)
{
    struct {
        struct secret_source source;
        char address[1024];
    } secrets = { .source = { no_secret } };
    const struct offset_key key = { STR("patra"), STR("things") };
    struct sink_join join = { .key = key, .now_us = NOW_US };
    struct offset_lane_list lanes;
    struct sink_inbox inbox = { .group = STR("patra/things"), .now_us = NOW_US };
    const struct sink_receipt receipts[] = {
        { STR_INIT("019b0000-0000-7000-8000-00000000000b"), 1, 2 },
        { STR_INIT("019b0000-0000-7000-8000-00000000000a"), 1, 1 },
    };
    struct store *sink;
    struct error err;
    int64_t removed;
    bool is_new[2];

    (void)snprintf(secrets.address, sizeof(secrets.address), "%s", contract_new_database());
    REQUIRE_OK(sink_open(NULL, STR("env:ADDRESS"), &secrets.source, NOW_US, &sink, &err), err);
    join.before[5] = 17;
    REQUIRE_OK(store_sink_join(sink, &join, &err), err);
    join.before[5] = 18;
    REQUIRE_OK(store_sink_join(sink, &join, &err), err);
    REQUIRE_OK(store_offset_claim(sink, contract_arena(),
                                  &(struct offset_claim){ key, STR("me"), NOW_US, NOW_US + 1, 64 },
                                  &lanes, &err),
               err);
    REQUIRE(lanes.count == OUTBOX_LANES, "every lane");
    CHECK_EQ(lanes.items[5].pos, 17, "those that are there stay");
    inbox.items = receipts;
    inbox.count = 1;
    REQUIRE_OK(store_begin(sink, &err), err);
    REQUIRE_OK(store_sink_inbox(sink, &inbox, is_new, &err), err);
    CHECK(is_new[0], "the first time");
    inbox.count = 2;
    REQUIRE_OK(store_sink_inbox(sink, &inbox, is_new, &err), err);
    CHECK(!is_new[0] && is_new[1], "each by itself");
    REQUIRE_OK(store_commit(sink, &err), err);
    REQUIRE_OK(store_sink_inbox_prune(sink, inbox.group, NOW_US, 10, &removed, &err), err);
    CHECK_EQ(removed, 0, "not before it is old");
    REQUIRE_OK(store_sink_inbox_prune(sink, inbox.group, NOW_US + 1, 1, &removed, &err), err);
    CHECK_EQ(removed, 1, "up to the limit");
    store_close(sink);
    REQUIRE_OK(sink_open(NULL, STR("env:ADDRESS"), &secrets.source, NOW_US, &sink, &err), err);
    store_close(sink);
    contract_end();
}

TEST(a_store_is_a_sink_of_others_too)
{
    struct {
        struct secret_source source;
        char address[1024];
    } secrets = { .source = { no_secret } };
    struct sink_projection projection;
    struct store *sink;
    struct error err;
    bool found;

    (void)snprintf(secrets.address, sizeof(secrets.address), "%s",
                   contract_migrated(contract_new_database()));
    REQUIRE_OK(sink_open(NULL, STR("env:ADDRESS"), &secrets.source, NOW_US, &sink, &err), err);
    REQUIRE_OK(store_sink_find(sink, contract_arena(), STR("x"), &projection, &found, &err), err);
    store_close(sink);
    contract_end();
}

/* However it is named: the address again, or another name of the same file. */
TEST(the_store_itself_is_no_other_database)
{
    struct {
        struct secret_source source;
        char address[1024];
    } secrets = { .source = { no_secret } };
    const char *const own = contract_migrated(contract_new_database());
    struct store *store, *sink;
    struct error err = { 0 };
    char link_path[1000];

    (void)snprintf(secrets.address, sizeof(secrets.address), "%s", own);
    REQUIRE_OK(store_open(str_of(own), NULL, &store, &err), err);
    CHECK(!sink_open(store, STR("env:ADDRESS"), &secrets.source, NOW_US, &sink, &err),
          "the same address");
    CHECK_STR(str_of(err.code), STR("projection.database"), err.text);
    CHECK(strstr(err.text, "write database: store") != NULL, err.text);
    if (store_dsn_kind(str_of(own)) == STORE_SQLITE) {
        (void)snprintf(link_path, sizeof(link_path), "%s-again", own);
        REQUIRE(link(own, link_path) == 0, "a second name");
        (void)snprintf(secrets.address, sizeof(secrets.address), "%s", link_path);
        CHECK(!sink_open(store, STR("env:ADDRESS"), &secrets.source, NOW_US, &sink, &err),
              "the same file");
        CHECK_STR(str_of(err.code), STR("projection.database"), err.text);
        (void)unlink(link_path);
    }
    (void)snprintf(secrets.address, sizeof(secrets.address), "%s", contract_new_database());
    REQUIRE_OK(sink_open(store, STR("env:ADDRESS"), &secrets.source, NOW_US, &sink, &err), err);
    store_close(sink);
    store_close(store);
    contract_end();
}
