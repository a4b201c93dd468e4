/* Puts the wire event together. */
#include "engine/message/envelope.h"

#include <inttypes.h>

#include "core/limits.h"
#include "data/json_write.h"
#include "engine/event/lineage_json.h"
#include "engine/event/record_event.h"

/* The key and the rest beside the body; a key of 1,024 bytes may be written as six times that. */
enum { ENVELOPE_REST_MAX = 64 << 10 };

struct making {
    const struct stored_event *stored;
    struct json_doc body;
    struct json_writer writer;
};

/* Copies a member of the body; false: it is not there. */
static bool copy(struct making *making, struct str name)
{
    const struct json_node value = json_get(&making->body, json_root(&making->body), name);

    if (!json_exists(value))
        return false;
    json_write_name(&making->writer, name);
    json_write_node(&making->writer, &making->body, value);
    return true;
}

static void write_all(struct making *making)
{
    const struct stored_event *stored = making->stored;
    struct json_writer *w = &making->writer;

    json_write_object(w);
    json_write_member_str(w, STR("eventId"), stored->event.event_id);
    json_write_member_str(w, STR("eventType"), stored->event.event_type);
    json_write_member_i64(w, STR("schemaVersion"), stored->event.schema_version);
    json_write_member_instant(w, STR("occurredAt"), stored->event.occurred_us);
    json_write_member_str(w, STR("source"), stored->source);
    json_write_member_str(w, STR("endpoint"), stored->endpoint);
    json_write_member_str(w, STR("id"), stored->provider_id);
    json_write_member_i64(w, STR("version"), stored->event.version);
    (void)copy(making, STR("updatedAt"));
    (void)copy(making, STR("providerVersion"));
    json_write_member_bool(w, STR("deleted"),
                           str_eq(stored->event.event_type, RECORD_EVENT_DELETED));
    (void)copy(making, STR("mergedInto"));
    (void)copy(making, STR("contentHash"));
    if (!copy(making, STR("exprHash")))
        json_write_member_str(w, STR("exprHash"), stored->expr_hash);
    (void)copy(making, STR("fields"));
    (void)copy(making, STR("payload"));
    (void)copy(making, STR("rederived"));
    if (!copy(making, STR("lineage"))) {
        json_write_name(w, STR("lineage"));
        lineage_json_write(w, &stored->lineage);
    }
    json_write_end(w);
    json_writer_finish(w);
}

bool envelope_make(struct arena *arena, const struct stored_event *stored, struct str *json,
                   struct error *err)
{
    struct making making = { .stored = stored };
    struct error unread;
    struct buf out;

    if (!json_parse(&making.body, arena, stored->event.body, &unread) ||
        json_type(&making.body, json_root(&making.body)) != JSON_OBJECT)
        return arena->failed
                   ? arena_error(arena, err)
                   : error_set(err, ERROR_DATA, "event.body",
                               "the body of version %" PRId64 " of %.*s is not a JSON object",
                               stored->event.version, STR_ARG(stored->provider_id));
    buf_init(&out, arena, (size_t)EVENT_BYTES_MAX + ENVELOPE_REST_MAX);
    json_writer_init(&making.writer, &out);
    write_all(&making);
    *json = buf_str(&out);
    return buf_ok(&out, err);
}
