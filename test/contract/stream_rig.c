/* Records to be written, a sequencer that publishes their events, and who reads them. */
#include "stream_rig.h"

#include "contract.h"
#include "port/store_record.h"
#include "port/store_stream.h"
#include "rows.h"

static const struct record_context CONTEXT = { .source = STR_INIT("crossref"),
                                               .endpoint = STR_INIT("works"),
                                               .expr_hash = STR_INIT(HASH_A),
                                               .now_us = NOW_US };

static struct str id_of(const char *prefix, int number)
{
    return arena_printf(contract_arena(), "%s%05d", prefix, number);
}

static void write(struct store *store, const struct record_write *writes, size_t count)
{
    struct error err = { 0 };
    bool written;

    REQUIRE_OK(rows_write(store, &CONTEXT, writes, count, &written, &err), err);
    REQUIRE(written, "written");
}

void stream_rig_add(struct store *store, const char *prefix, int count)
{
    struct record_write *writes = ARENA_ARRAY(contract_arena(), struct record_write, (size_t)count);

    REQUIRE(writes != NULL, "memory");
    for (int i = 0; i < count; i++)
        writes[i] = (struct record_write){ .version = 1,
                                           .provider_id = id_of(prefix, i),
                                           .content_hash = STR(HASH_B),
                                           .payload = STR("x") };
    write(store, writes, (size_t)count);
}

int64_t stream_rig_write(struct store *store, const char *prefix, int count)
{
    struct stream_status status;
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    stream_rig_add(store, prefix, count);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_stream_status(store, contract_arena(), &status, &err), err);
    return status.last_id;
}

void stream_rig_change(struct store *store, const char *prefix, int number)
{
    const struct str id = id_of(prefix, number);
    struct record_state state;
    struct record_write change;
    struct error err = { 0 };

    REQUIRE_OK(store_record_check(store, contract_arena(), &CONTEXT, (struct record_ids){ &id, 1 },
                                  &state, &err),
               err);
    change = (struct record_write){ .id = state.id,
                                    .version = state.version + 1,
                                    .provider_id = id,
                                    .content_hash = STR(HASH_B),
                                    .payload = STR("y") };
    write(store, &change, 1);
}

void stream_rig_change_often(struct store *store, const char *prefix, int number, int times)
{
    struct error err = { 0 };

    for (int i = 0; i < times; i++) {
        REQUIRE_OK(store_begin(store, &err), err);
        stream_rig_change(store, prefix, number);
        REQUIRE_OK(store_commit(store, &err), err);
    }
}

struct sequencer *stream_rig_sequencer(struct store *store, const char *owner)
{
    struct sequencer *sequencer;
    struct error err = { 0 };

    REQUIRE_OK(sequencer_open(&sequencer, store,
                              &(struct sequencer_settings){ .owner = str_of(owner) }, &err),
               err);
    return sequencer;
}

struct sequencer_round stream_rig_round(struct sequencer *sequencer, int64_t now_us)
{
    struct sequencer_round round;
    struct error err = { 0 };

    REQUIRE_OK(sequencer_round(sequencer, now_us, &round, &err), err);
    return round;
}

void stream_rig_publish(struct store *store, int64_t now_us)
{
    struct sequencer *sequencer = stream_rig_sequencer(store, "sequencer");
    struct error err = { 0 };

    while (stream_rig_round(sequencer, now_us).appended > 0)
        continue;
    REQUIRE_OK(sequencer_release(sequencer, &err), err);
    sequencer_close(sequencer);
}

struct subscription stream_rig_subscribe(struct store *store, struct str name,
                                         enum subscription_kind kind,
                                         enum subscription_policy policy)
{
    const struct subscription_apply apply = { .name = name,
                                              .kind = kind,
                                              .spec = STR("{}"),
                                              .spec_hash = STR(HASH_A),
                                              .policy = policy,
                                              .applied_by = STR("ann"),
                                              .now_us = NOW_US };
    struct subscription_applied applied;
    struct subscription subscription;
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_subscription_apply(store, &apply, &applied, &err), err);
    REQUIRE_OK(store_subscription_find(store, contract_arena(), name, &subscription, &found, &err),
               err);
    REQUIRE(found, "what was applied");
    return subscription;
}
