/* cloud_event: the context of an event by CloudEvents 1.0, and its JSON form.
 *
 *      id, source       the event's id; where it happened: "/patra/crossref/works"
 *      type, subject    the event's type; the aggregate's id
 *      time             when it occurred
 *      datacontenttype  of the body
 *      partitionkey     the aggregate's id (an extension of CloudEvents)
 *      version, schemaversion, aggregatetype    extensions of ours: a text, a number, a text
 *
 * `version` is a text because a CloudEvents integer has 32 bits. Texts may not have control
 * characters or code points that are none: these are percent-encoded. Such an id is exact in the
 * body.
 */
#ifndef PATRA_ENGINE_MESSAGE_CLOUD_EVENT_H
#define PATRA_ENGINE_MESSAGE_CLOUD_EVENT_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct cloud_context {
    struct str id;
    struct str source; /* what it begins with */
    struct str type;
    struct str aggregate_type;
    struct str aggregate_id;
    int64_t version;
    int64_t schema_version;
    int64_t at_us;
    struct str content_type; /* of the data */
};

/* A context attribute: `is_number` says how JSON writes it. */
struct cloud_attribute {
    struct str name;
    struct str value;
    bool is_number;
};

enum { CLOUD_ATTRIBUTES_MAX = 11 };
struct cloud_attributes {
    struct cloud_attribute items[CLOUD_ATTRIBUTES_MAX];
    size_t count;
};

bool cloud_event_attributes(struct arena *arena, const struct cloud_context *context,
                            struct cloud_attributes *attributes, struct error *err) MUST_CHECK;

/* The structured form. Data that is JSON is written as it is, other data in base 64. */
bool cloud_event_json(struct arena *arena, const struct cloud_attributes *attributes,
                      struct str data, bool is_json, struct str *json,
                      struct error *err) MUST_CHECK;

/* Whether it is a URI reference that a path can be added to. */
bool cloud_event_source_ok(struct str source);

#endif
