/* The versions of a record: what changed with each, who brought it, and where its event is. */
#include "data/json.h"
#include "view/why_internal.h"

static struct str text_of(const struct json_doc *doc, const char *name, struct arena *arena)
{
    const struct json_node node = json_get(doc, json_root(doc), str_of(name));
    struct error ignored;
    struct str text;

    return json_type(doc, node) == JSON_STRING && json_string(doc, node, arena, &text, &ignored)
               ? text
               : STR("");
}

/* Members of `a` that `b` does not have; with_values: or has with another value. */
static bool add_differing(struct arena *arena, struct why_names *names, const struct json_doc *a,
                          const struct json_doc *b, bool with_values, struct error *err)
{
    const struct json_node other = json_get(b, json_root(b), STR("fields"));
    struct json_iter it = json_each(a, json_get(a, json_root(a), STR("fields")));

    while (json_next(&it)) {
        struct json_node same;
        struct str name, *place;

        if (!json_string(a, it.name, arena, &name, err))
            return false;
        same = json_get(b, other, name);
        if (json_exists(same) && (!with_values || str_eq(json_raw(a, it.value), json_raw(b, same))))
            continue;
        place = LIST_ADD(arena, names);
        if (place == NULL)
            return arena_error(arena, err);
        *place = name;
    }
    return true;
}

/* Bodies are what engine/event/record_event.h says; the database is outside of the program. */
static bool compare(struct arena *arena, struct why_version *version,
                    const struct why_version *before, struct error *err)
{
    struct json_doc new, old;

    if (!json_parse(&new, arena, version->event.event.body, err) ||
        !json_parse(&old, arena, before->event.event.body, err))
        return error_wrap(err, "event %.*s", STR_ARG(version->event.event.event_id));
    version->has_before = true;
    version->is_same_date =
        version->updated.len > 0 && str_eq(version->updated, before->updated) &&
        str_eq(text_of(&new, "providerVersion", arena), text_of(&old, "providerVersion", arena));
    return add_differing(arena, &version->changed, &new, &old, true, err) &&
           add_differing(arena, &version->changed, &old, &new, false, err);
}

static bool read_body(struct arena *arena, struct why_version *version, struct error *err)
{
    struct json_doc doc;

    if (!json_parse(&doc, arena, version->event.event.body, err))
        return error_wrap(err, "event %.*s", STR_ARG(version->event.event.event_id));
    version->updated = text_of(&doc, "updatedAt", arena);
    version->merged_into = text_of(&doc, "mergedInto", arena);
    (void)json_bool(&doc, json_get(&doc, json_root(&doc), STR("rederived")),
                    &version->is_rederived);
    return !arena->failed || arena_error(arena, err);
}

static bool add_version(const struct view_reader *reader, struct view_why *why,
                        const struct trace_event *event, struct error *err)
{
    struct why_version *version = LIST_ADD(reader->arena, &why->versions);

    if (version == NULL)
        return arena_error(reader->arena, err);
    version->event = *event;
    if (why->is_foreign) /* its body is the other service's own */
        return true;
    return read_body(reader->arena, version, err) &&
           (event->event.batch_id == 0 ||
            store_trace_request(reader->store, reader->arena, event->event.batch_id,
                                &version->request, &version->has_request, err));
}

/* An event that is gone was read by everybody before it went; one up to the horizon is in the
 * stream, also where its position was not found. */
static bool is_in_stream(const struct view_why *why)
{
    const struct trace_event *newest = why_newest_event(why);

    return newest == NULL || newest->pos > 0 || newest->id <= why->sequencer.horizon_id;
}

/* A version is observed before it is written, and checked when it is. Who confirms it later moves
 * both; who has something older, or nothing, moves only the second. */
static bool is_older_kept(const struct view_why *why)
{
    const struct stored_record *record = &why->record;
    const struct outbox_event *newest =
        why->versions.count > 0 ? &why->versions.items[0].event.event : NULL;

    return newest != NULL && newest->version == record->version &&
           record->observed_us <= newest->occurred_us && record->checked_us > newest->occurred_us;
}

static bool read_events(const struct view_reader *reader, const struct view_why *why,
                        struct trace_event_list *events, struct error *err)
{
    return why->is_foreign ? store_trace_foreign(reader->store, reader->arena, why->aggregate_type,
                                                 why->key.provider_id, WHY_ROWS_MAX, events, err)
                           : store_trace_events(reader->store, reader->arena, why->record.id,
                                                WHY_ROWS_MAX, events, err);
}

bool why_versions_read(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    struct trace_event_list events;

    if (!store_trace_sequencer(reader->store, reader->arena, &why->sequencer, err) ||
        !read_events(reader, why, &events, err))
        return false;
    for (size_t i = 0; i < events.count; i++) {
        if (!add_version(reader, why, &events.items[i], err))
            return false;
    }
    for (size_t i = 0; !why->is_foreign && i + 1 < why->versions.count; i++) {
        struct why_version *version = &why->versions.items[i];
        const struct why_version *before = &why->versions.items[i + 1];

        if (before->event.event.version == version->event.event.version - 1 &&
            !compare(reader->arena, version, before, err))
            return false;
    }
    why->versions.is_full = events.count == WHY_ROWS_MAX;
    why->is_sequenced = is_in_stream(why);
    why->is_older_kept = !why->is_foreign && is_older_kept(why);
    return true;
}
