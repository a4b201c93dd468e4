/* Rows become events; each is judged by what is before it. */
#include "engine/import/import_row.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/uuid.h"
#include "core/lane.h"
#include "core/limits.h"
#include "data/hash.h"
#include "data/json.h"
#include "engine/import/import.h"

enum { SCHEMA_VERSION_MAX = 32767 };

/* ---- the event's id ---- */

static bool is_uuid(struct str text)
{
    if (text.len != UUID_TEXT_MAX - 1)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (is_dash ? text.data[i] != '-' : !hex_is_digit(text.data[i]))
            return false;
    }
    return true;
}

/* Of the outbox' name and the row's id, so that it is the same whenever it is made: version 8 of
 * RFC 9562. */
static bool make_id(struct arena *arena, struct str name, struct str id, char *text,
                    struct error *err)
{
    const struct str all =
        arena_printf(arena, "patra import %.*s %.*s", STR_ARG(name), STR_ARG(id));
    struct hash_sum sum;
    struct uuid uuid;

    if (all.data == NULL)
        return arena_error(arena, err);
    if (!hash_of(all, &sum, err))
        return false;
    memcpy(uuid.bytes, sum.bytes, sizeof(uuid.bytes));
    uuid.bytes[6] = (unsigned char)(0x80 | (uuid.bytes[6] & 0x0F));
    uuid.bytes[8] = (unsigned char)(0x80 | (uuid.bytes[8] & 0x3F));
    uuid_format(uuid, text);
    return true;
}

static bool give_id(struct import_row *row, struct arena *arena, struct str name, struct error *err)
{
    char *text = arena_alloc(arena, UUID_TEXT_MAX);

    if (text == NULL)
        return arena_error(arena, err);
    if (is_uuid(row->row->id)) {
        for (size_t i = 0; i < row->row->id.len; i++) {
            const char c = row->row->id.data[i];

            text[i] = (char)(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
        }
        text[UUID_TEXT_MAX - 1] = '\0';
    } else if (!make_id(arena, name, row->row->id, text, err)) {
        return false;
    }
    row->event.event.event_id = str_of(text);
    return true;
}

/* ---- the event ---- */

static void refuse(struct import_row *row, struct str reason)
{
    row->verdict = IMPORT_REFUSE;
    row->reason = reason;
}

static bool is_key(struct str text)
{
    return text.len > 0 && text.len <= IMPORT_KEY_MAX;
}

/* What no later look changes, unless the row changes. */
static void judge_alone(struct import_row *row, struct arena *arena, const struct import_spec *spec)
{
    const struct foreign_row *from = row->row;

    if (!is_key(from->aggregate_type) || !is_key(row->event.aggregate_type))
        refuse(row, STR("the aggregate's type is empty or longer than 1024 bytes"));
    else if (!is_key(from->aggregate_id))
        refuse(row, STR("the aggregate's id is empty or longer than 1024 bytes"));
    else if (!is_key(from->event_type))
        refuse(row, STR("the event's type is empty or longer than 1024 bytes"));
    else if (!from->has_version || from->version < 1)
        refuse(row, STR("the version is not 1 or higher"));
    else if (from->schema_version < 1 || from->schema_version > SCHEMA_VERSION_MAX)
        refuse(row, STR("the schema version is not between 1 and 32767"));
    else if (!from->has_occurred)
        refuse(row, STR("the time at which it occurred is missing"));
    else if (!from->has_payload)
        refuse(row, STR("the payload is missing"));
    else if (from->payload_bytes > EVENT_BYTES_MAX)
        refuse(row, arena_printf(arena, "the payload has %" PRId64 " bytes, more than %" PRId64,
                                 from->payload_bytes, (int64_t)EVENT_BYTES_MAX));
    else if (spec->payload == IMPORT_PAYLOAD_JSON && !json_is_valid(from->payload))
        refuse(row, STR("the payload is not JSON"));
}

bool import_row_make(struct import_row *row, struct arena *arena, const struct import_spec *spec,
                     struct error *err)
{
    const struct foreign_row *from = row->row;
    struct foreign_event *event = &row->event;

    row->verdict = IMPORT_TAKE;
    *event = (struct foreign_event){ .aggregate_type = from->aggregate_type,
                                     .aggregate_id = from->aggregate_id,
                                     .event = { .event_type = from->event_type,
                                                .version = from->version,
                                                .schema_version = from->schema_version,
                                                .occurred_us = from->occurred_us,
                                                .body = from->payload } };
    if (spec->type_prefix.len > 0)
        event->aggregate_type = arena_printf(arena, "%.*s%.*s", STR_ARG(spec->type_prefix),
                                             STR_ARG(from->aggregate_type));
    if (!give_id(row, arena, spec->name, err))
        return false;
    event->event.lane = lane_of(event->aggregate_type, event->aggregate_id);
    judge_alone(row, arena, spec);
    return !arena->failed || arena_error(arena, err);
}

/* ---- order ---- */

static int order(struct str a, struct str b)
{
    const size_t len = a.len < b.len ? a.len : b.len;
    const int found = len > 0 ? memcmp(a.data, b.data, len) : 0;

    return found != 0 ? found : (a.len > b.len) - (a.len < b.len);
}

int import_key_order(const struct foreign_event *a, const struct foreign_event *b)
{
    const int found = order(a->aggregate_type, b->aggregate_type);

    return found != 0 ? found : order(a->aggregate_id, b->aggregate_id);
}

static bool has_key(const struct import_row *row)
{
    return row->row->aggregate_type.len > 0 && row->row->aggregate_id.len > 0 &&
           row->row->has_version;
}

static int by_key_and_version(const void *a, const void *b)
{
    const struct import_row *left = a, *right = b;
    const int64_t v = left->event.event.version, w = right->event.event.version;
    int found;

    if (has_key(left) != has_key(right))
        return has_key(left) ? 1 : -1;
    found = import_key_order(&left->event, &right->event);
    if (found != 0)
        return found;
    return v != w ? (v > w) - (v < w) : order(left->row->id, right->row->id);
}

void import_rows_sort(struct import_row *rows, size_t count)
{
    if (count > 0)
        qsort(rows, count, sizeof(rows[0]), by_key_and_version);
}

/* ---- judging ---- */

struct judging {
    struct arena *arena;
    enum import_late late;
    const struct import_gaps *gaps;
    const struct import_row *before; /* of the same aggregate; NULL: none */
    int64_t last_version;            /* imported, or taken before this row */
    bool is_closed;                  /* nothing more of the aggregate is taken */
    enum import_verdict closed_by;
    struct str closed_reason;
};

/* Why it is none of the versions that are to come; empty: it is one. Higher ones need not wait for
 * it. */
static struct str apart(struct judging *j, const struct import_row *row)
{
    const int64_t version = row->event.event.version;

    if (row->place.event_id.len > 0)
        return arena_printf(j->arena, "version %" PRId64 " was imported with the id %.*s", version,
                            STR_ARG(row->place.event_id));
    if (j->before != NULL && j->before->event.event.version == version)
        return arena_printf(j->arena, "version %" PRId64 " is there twice", version);
    if (version < j->last_version && j->late == IMPORT_LATE_REFUSE)
        return arena_printf(j->arena, "version %" PRId64 " came after %" PRId64 " was imported",
                            version, j->last_version);
    return (struct str){ 0 };
}

static void close_key(struct judging *j, const struct import_row *row)
{
    j->is_closed = true;
    j->closed_by = row->verdict == IMPORT_GAP ? IMPORT_GAP : IMPORT_WAIT;
    j->closed_reason =
        arena_printf(j->arena, "waits for version %" PRId64, row->event.event.version);
}

/* A refusal, unless it was refused before and its time has not come. */
static void refuse_if_due(struct import_row *row, struct str reason)
{
    refuse(row, reason);
    if (!row->row->is_due)
        row->verdict = IMPORT_WAIT;
}

static bool is_gap(const struct judging *j, const struct import_row *row)
{
    return row->event.event.version > j->last_version + 1 &&
           !j->gaps->is_settled(j->gaps->context, row);
}

static void judge_one(struct judging *j, struct import_row *row)
{
    const struct str event_id = row->event.event.event_id;
    struct str reason;

    if (row->place.event_id.len > 0 && str_eq(row->place.event_id, event_id)) {
        row->verdict = IMPORT_REPEAT;
        return;
    }
    reason = apart(j, row);
    if (reason.len > 0) {
        refuse_if_due(row, reason);
        return;
    }
    if (j->is_closed) {
        row->verdict = j->closed_by;
        row->reason = j->closed_reason;
        return;
    }
    if (row->verdict == IMPORT_REFUSE)
        refuse_if_due(row, row->reason);
    else if (!row->row->is_due && row->row->attempts > 0)
        row->verdict = IMPORT_WAIT; /* refused before */
    else if (is_gap(j, row))
        row->verdict = IMPORT_GAP;
    if (row->verdict != IMPORT_TAKE)
        close_key(j, row);
    else if (row->event.event.version > j->last_version)
        j->last_version = row->event.event.version;
}

bool import_rows_judge(struct import_row *rows, size_t count, struct arena *arena,
                       enum import_late late, const struct import_gaps *gaps, struct error *err)
{
    struct judging j = { .arena = arena, .late = late, .gaps = gaps };

    for (size_t i = 0; i < count; i++) {
        struct import_row *row = &rows[i];

        if (!has_key(row)) {
            refuse_if_due(row, row->reason);
            continue;
        }
        if (i == 0 || !has_key(&rows[i - 1]) ||
            import_key_order(&rows[i - 1].event, &row->event) != 0) {
            j.before = NULL;
            j.last_version = row->place.last_version;
            j.is_closed = false;
        }
        judge_one(&j, row);
        j.before = row;
    }
    return !arena->failed || arena_error(arena, err);
}
