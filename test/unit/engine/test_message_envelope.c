/* Tests: the wire event, byte for byte, whichever row its members come from. The expected texts are
 * written by hand from engine/event/record_event.h. */
#include "engine/message/envelope.h"

#include "test.h"

static struct arena arena;

static struct stored_event stored_of(const char *type, const char *body)
{
    return (struct stored_event){
        .event = { .event_id = STR("019b0000-0000-7000-8000-000000000001"),
                   .event_type = str_of(type),
                   .version = 3,
                   .schema_version = 1,
                   .occurred_us = INT64_C(1767225600500000),
                   .body = str_of(body) },
        .source = STR("crossref"),
        .endpoint = STR("works"),
        .provider_id = STR("10.1/\"x"),
        .expr_hash = STR("e1"),
        .lineage = { 1, 2, 3, 4, 5, 6 },
    };
}

#define WIRE(type, rest)                                                                \
    "{\"eventId\":\"019b0000-0000-7000-8000-000000000001\",\"eventType\":\"" type "\"," \
    "\"schemaVersion\":1,\"occurredAt\":\"2026-01-01T00:00:00.500000Z\"," rest

static const struct {
    const char *label, *type, *body, *wire;
} cases[] = {
    { "a change", "RecordUpdated",
      "{\"updatedAt\":\"2026-01-01T00:00:00Z\",\"providerVersion\":\"2\",\"contentHash\":\"c\","
      "\"fields\":{\"t\":\"a\\nb\",\"n\":1.50}}",
      WIRE("RecordUpdated",
           "\"source\":\"crossref\",\"endpoint\":\"works\",\"id\":\"10.1/\\\"x\",\"version\":3,"
           "\"updatedAt\":\"2026-01-01T00:00:00Z\",\"providerVersion\":\"2\",\"deleted\":false,"
           "\"contentHash\":\"c\",\"exprHash\":\"e1\",\"fields\":{\"t\":\"a\\nb\",\"n\":1.50},"
           "\"lineage\":{\"scheduleInstanceId\":1,\"planId\":2,\"sliceId\":3,\"taskId\":4,"
           "\"runId\":5,"
           "\"batchId\":6}}") },
    { "a deletion", "RecordDeleted", "{\"mergedInto\":\"b\",\"contentHash\":\"c\"}",
      WIRE("RecordDeleted",
           "\"source\":\"crossref\",\"endpoint\":\"works\",\"id\":\"10.1/\\\"x\",\"version\":3,"
           "\"deleted\":true,\"mergedInto\":\"b\",\"contentHash\":\"c\",\"exprHash\":\"e1\","
           "\"lineage\":{\"scheduleInstanceId\":1,\"planId\":2,\"sliceId\":3,\"taskId\":4,"
           "\"runId\":5,"
           "\"batchId\":6}}") },
    { "read again by another mapping", "RecordUpdated",
      "{\"contentHash\":\"c\",\"fields\":{},\"exprHash\":\"e2\",\"rederived\":true}",
      WIRE("RecordUpdated",
           "\"source\":\"crossref\",\"endpoint\":\"works\",\"id\":\"10.1/\\\"x\",\"version\":3,"
           "\"deleted\":false,\"contentHash\":\"c\",\"exprHash\":\"e2\",\"fields\":{},"
           "\"rederived\":true,\"lineage\":{\"scheduleInstanceId\":1,\"planId\":2,\"sliceId\":3,"
           "\"taskId\":4,\"runId\":5,\"batchId\":6}}") },
    { "out of quarantine, of no batch; with the whole record", "RecordCreated",
      "{\"contentHash\":\"c\",\"fields\":{},\"payload\":[1, 2],\"exprHash\":\"e2\","
      "\"lineage\":{\"planId\":9}}",
      WIRE("RecordCreated",
           "\"source\":\"crossref\",\"endpoint\":\"works\",\"id\":\"10.1/\\\"x\",\"version\":3,"
           "\"deleted\":false,\"contentHash\":\"c\",\"exprHash\":\"e2\",\"fields\":{},"
           "\"payload\":[1, 2],\"lineage\":{\"planId\":9}}") },
};

TEST(the_wire_event_is_the_same_wherever_its_members_come_from)
{
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct stored_event stored = stored_of(cases[i].type, cases[i].body);
        struct error err = { 0 };
        struct str json = { 0 };

        REQUIRE_OK(envelope_make(&arena, &stored, &json, &err), err);
        CHECK_STR(json, str_of(cases[i].wire), cases[i].label);
    }
    arena_release(&arena);
}

TEST(a_body_that_is_no_object_is_told)
{
    static const char *const bodies[] = { "", "{", "[]", "1", "{\"a\":1}x" };

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        const struct stored_event stored = stored_of("RecordUpdated", bodies[i]);
        struct error err = { 0 };
        struct str json;

        CHECK(!envelope_make(&arena, &stored, &json, &err), bodies[i]);
        CHECK_STR(str_of(err.code), STR("event.body"), err.text);
        CHECK_EQ(err.level, ERROR_DATA, bodies[i]);
    }
    arena_release(&arena);
}
