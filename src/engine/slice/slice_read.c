/* The slice_spec of a slice's row as a struct. */
#include "engine/slice/slice_read.h"

#include <inttypes.h>

#include "base/instant.h"
#include "core/cursor.h"
#include "data/date.h"
#include "data/json.h"

struct reading {
    struct json_doc doc;
    struct arena *arena;
    bool ok;
};

static struct json_node member(const struct reading *in, struct json_node object, const char *name)
{
    return json_get(&in->doc, object, str_of(name));
}

static int64_t number(const struct reading *in, struct json_node object, const char *name,
                      int64_t absent)
{
    int64_t value;

    return json_i64(&in->doc, member(in, object, name), &value) ? value : absent;
}

/* Texts of this row have no escapes: dates and digits. */
static struct str text(struct reading *in, struct json_node object, const char *name)
{
    const struct json_node node = member(in, object, name);

    if (json_type(&in->doc, node) == JSON_STRING)
        return json_string_raw(&in->doc, node);
    in->ok = false;
    return (struct str){ 0 };
}

static int64_t instant(struct reading *in, struct json_node object, const char *name)
{
    struct error ignored; /* reported as one: the row is unreadable */
    struct date date = { 0 };

    if (!date_parse(date_format_find(STR("rfc3339")), text(in, object, name), &date, &ignored))
        in->ok = false;
    return date.at_us;
}

/* Ids may be larger than JSON's exact numbers, so they are texts. */
static int64_t id_number(struct reading *in, struct json_node object, const char *name)
{
    int64_t value = 0;

    if (!str_to_i64(text(in, object, name), &value))
        in->ok = false;
    return value;
}

/* A slice that was cut by ids; an end that is missing is open. */
static void read_part(struct reading *in, struct json_node bounds, struct id_range *part)
{
    const struct json_node id = member(in, bounds, "id");

    if (json_type(&in->doc, id) != JSON_OBJECT)
        return;
    *part = (struct id_range){ ID_LOWEST, ID_HIGHEST };
    if (json_type(&in->doc, member(in, id, "from")) != JSON_NONE)
        part->from = id_number(in, id, "from");
    if (json_type(&in->doc, member(in, id, "to")) != JSON_NONE)
        part->to = id_number(in, id, "to");
    in->ok = in->ok && id_range_is_valid(*part);
}

static void read_time(struct reading *in, struct json_node root, struct slice *slice)
{
    const struct json_node query = member(in, root, "query");
    bool needs_filter = false;

    slice->query.window.from_us = instant(in, query, "from");
    slice->query.window.to_us = instant(in, query, "to");
    slice->query.keep.from_us = instant(in, query, "keepFrom");
    slice->query.keep.to_us = instant(in, query, "keepTo");
    if (!json_bool(&in->doc, member(in, query, "clientFilter"), &needs_filter))
        in->ok = false;
    slice->query.needs_filter = needs_filter;
}

static void read_ids(struct reading *in, struct json_node bounds, struct slice_ids *ids)
{
    const struct json_node id = member(in, bounds, "id");
    const int64_t buckets = number(in, id, "hashBuckets", 0);
    const int64_t bucket = number(in, id, "hashBucket", 0);

    if (buckets != 0) {
        in->ok = in->ok && buckets <= UINT32_MAX && bucket >= 0 && bucket < buckets;
        ids->slicing = ID_SLICING_HASH;
        ids->bucket_count = (uint32_t)buckets;
        ids->bucket = (uint32_t)bucket;
        return;
    }
    ids->slicing = ID_SLICING_RANGE;
    ids->from = id_number(in, id, "from");
    ids->to = id_number(in, id, "to");
    in->ok = in->ok && ids->from < ids->to;
}

/* A token may have escapes; data NULL where there is none. */
static struct str decoded(struct reading *in, struct json_node object, const char *name)
{
    const struct json_node node = member(in, object, name);
    struct str text = { NULL, 0 };
    struct error ignored; /* reported as one: the row is unreadable */

    if (!json_exists(node))
        return text;
    if (json_type(&in->doc, node) != JSON_STRING ||
        !json_string(&in->doc, node, in->arena, &text, &ignored))
        in->ok = false;
    else if (text.data == NULL)
        text = STR("");
    return text;
}

static void read_feed(struct reading *in, struct json_node bounds, struct slice_feed *feed)
{
    const struct json_node node = member(in, bounds, "feed");
    const int type = code_find(&CURSOR_TYPE_CODES, text(in, node, "type"));

    *feed = (struct slice_feed){ .type = (enum cursor_type)type,
                                 .after = decoded(in, node, "after"),
                                 .cursor = decoded(in, node, "cursor") };
    in->ok = in->ok && (type == CURSOR_ID || type == CURSOR_TOKEN);
    feed->has_bridge = json_exists(member(in, node, "bridge"));
    if (feed->has_bridge)
        feed->bridge_us = instant(in, node, "bridge");
    if (type == CURSOR_ID)
        in->ok = in->ok && (feed->after.data == NULL || cursor_id_is_valid(feed->after)) &&
                 (feed->cursor.data == NULL || cursor_id_is_valid(feed->cursor));
}

static void read_all(struct reading *in, struct slice *slice, struct slice_limits *limits)
{
    const struct json_node root = json_root(&in->doc);
    const struct json_node bounds = member(in, root, "bounds");
    const struct json_node budget = member(in, root, "budget");
    const struct json_node telemetry = member(in, root, "telemetry");

    slice->expected_records = number(in, telemetry, "totalEstimated", SLICE_UNKNOWN);
    slice->expected_requests = number(in, telemetry, "requestsExpected", SLICE_UNKNOWN);
    limits->requests_max = number(in, budget, "maxRequests", 0);
    if (limits->requests_max < 0 ||
        __builtin_mul_overflow(number(in, budget, "maxDurationSec", 0), US_PER_SECOND,
                               &limits->duration_max_us) ||
        limits->duration_max_us < 0)
        in->ok = false;
    switch (slice->dimension) {
    case SLICE_TIME:
        read_time(in, root, slice);
        read_part(in, bounds, &slice->part);
        break;
    case SLICE_PAGE:
        slice->pages.from = number(in, member(in, bounds, "page"), "fromPage", -1);
        slice->pages.to = number(in, member(in, bounds, "page"), "toPage", -1);
        in->ok = in->ok && slice->pages.from >= 0 && slice->pages.from < slice->pages.to;
        break;
    case SLICE_ID:
        read_ids(in, bounds, &slice->ids);
        break;
    case SLICE_FEED:
        read_feed(in, bounds, &slice->feed);
        break;
    case SLICE_FILE:
        slice->file = decoded(in, member(in, bounds, "file"), "name");
        in->ok = in->ok && slice->file.data != NULL;
        break;
    }
}

bool slice_read(struct arena *arena, const struct plan *plan, const struct plan_slice *row,
                struct slice *slice, struct slice_limits *limits, struct error *err)
{
    struct reading in = { .arena = arena, .ok = true };

    *slice = (struct slice){
        .dimension = row->dimension,
        .window = row->dimension == SLICE_TIME ? row->window : plan->window,
        .number = row->number - 1,
    };
    *limits = (struct slice_limits){ 0 };
    if (json_parse(&in.doc, arena, row->spec, err))
        read_all(&in, slice, limits);
    else
        in.ok = false;
    if (in.ok && (row->dimension != SLICE_TIME || window_is_valid(slice->window)))
        return true;
    return error_set(err, ERROR_FATAL, "slice.unreadable",
                     "slice %" PRId64 ": this patra cannot read its slice_spec", row->id);
}
