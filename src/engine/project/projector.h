/* projector: a spec with its paths and templates compiled, and one event as rows. Internal to
 * project/. */
#ifndef PATRA_ENGINE_PROJECT_PROJECTOR_H
#define PATRA_ENGINE_PROJECT_PROJECTOR_H

#include "data/jsonpath.h"
#include "data/template.h"
#include "engine/fetch/document.h"
#include "engine/project/project.h"

struct projector_value { /* one of both, or none */
    const struct jsonpath *path;
    const struct template *template;
};

struct projector_child {
    const struct jsonpath *each; /* NULL: these events have no such rows */
    const struct projector_value *values;
    const struct projection_value *texts; /* of the values */
};

struct projector_source {
    const struct jsonpath *where; /* over [event]; NULL: all */
    const struct projector_value *values;
    const struct projection_value *texts; /* of the values */
    const struct projector_child *children;
};

struct projector_table {
    const struct projection_table *table;
    const struct projector_source *sources;
};

struct projector {
    const struct projection_spec *spec;
    const struct projector_table *tables;
};

/* An event with its JSON, parsed as the only element of an array: a filter is run on that. */
struct projector_event {
    const struct project_event *event;
    struct document document;
    struct json_node root; /* the event itself */
    bool is_parsed;
};

/* L3 "projection.body". */
bool projector_parse(struct arena *arena, struct projector_event *event,
                     struct error *err) MUST_CHECK;

/* What an event does to a table. */
struct projector_deed {
    const struct projector_source *source; /* NULL: nothing */
    enum sink_change change;
    bool is_deleted;
};
bool projector_judge(const struct projector_table *table, struct arena *arena,
                     struct projector_event *event, struct projector_deed *deed,
                     struct error *err) MUST_CHECK;

/* The row of an event that does something. */
bool projector_row(const struct projector_table *table, struct arena *arena,
                   struct projector_event *event, const struct projector_deed *deed,
                   struct sink_row *row, struct error *err) MUST_CHECK;

#endif
