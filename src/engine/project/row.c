/* One event as a row of a table: what it does, its columns, its children. */
#include <assert.h>
#include <string.h>

#include "base/instant.h"
#include "base/quote.h"
#include "data/json_storable.h"
#include "engine/fetch/field.h"
#include "engine/project/projector.h"

enum { VALUE_BYTES_MAX = 16 << 20, INSTANT_BYTES = 27 };

/* The dates of events have ISO forms: there are no formats of their own. */
static const struct spec_response NO_FORMATS;

/* ---- the event ---- */

bool projector_parse(struct arena *arena, struct projector_event *event, struct error *err)
{
    struct str text;

    if (event->is_parsed)
        return true;
    text = arena_printf(arena, "[%.*s]", STR_ARG(event->event->body));
    if (text.data == NULL)
        return arena_error(arena, err);
    event->document = (struct document){ .format = RESPONSE_JSON };
    if (!json_parse(&event->document.json, arena, text, err))
        return arena->failed
                   ? arena_error(arena, err)
                   : error_set(err, ERROR_DATA, "projection.body", "the event is not JSON");
    event->root = json_at(&event->document.json, json_root(&event->document.json), 0);
    event->is_parsed = json_exists(event->root);
    return event->is_parsed ||
           error_set(err, ERROR_DATA, "projection.body", "the event has no body");
}

/* An event whose path or template cannot be followed is bad data, whatever the cause. */
static bool is_data(struct error *err)
{
    err->level = ERROR_DATA;
    err->code = "projection.value";
    return false;
}

static bool is_chosen(const struct projector_source *source, struct arena *arena,
                      struct projector_event *event, bool *chosen, struct error *err)
{
    const struct json_doc *doc = &event->document.json;
    struct json_node found;

    *chosen = true;
    if (source->where == NULL)
        return true;
    if (!projector_parse(arena, event, err))
        return false;
    if (!jsonpath_first(source->where, arena, (struct jsonpath_target){ doc, json_root(doc), NULL },
                        &found, err))
        return arena->failed ? false : is_data(err);
    *chosen = json_exists(found);
    return true;
}

bool projector_judge(const struct projector_table *table, struct arena *arena,
                     struct projector_event *event, struct projector_deed *deed, struct error *err)
{
    const struct project_event *it = event->event;
    const struct projection_source *source =
        projection_source_of(table->table, it->aggregate_type, it->event_type);
    const struct projector_source *compiled;
    enum projection_effect effect;
    bool chosen;

    *deed = (struct projector_deed){ 0 };
    if (source == NULL)
        return true;
    compiled = &table->sources[source - table->table->sources];
    effect = projection_effect_of(source, it->event_type);
    if (!is_chosen(compiled, arena, event, &chosen, err))
        return false;
    if (!chosen && effect != PROJECTION_REPLACE)
        return true;
    deed->source = compiled;
    if (!chosen)
        deed->change = SINK_ERASE; /* a state that the table does not show */
    else if (effect == PROJECTION_REPLACE)
        deed->change = SINK_REPLACE;
    else if (effect == PROJECTION_DELETE && table->table->on_delete == PROJECTION_ERASE)
        deed->change = SINK_ERASE;
    else
        deed->change = SINK_PARTIAL;
    deed->is_deleted = deed->change == SINK_PARTIAL && effect == PROJECTION_DELETE;
    return true;
}

/* ---- values ---- */

struct making { /* the columns of a row or of a child's */
    struct arena *arena;
    const struct projector_event *event;
    struct json_node root; /* what $ is */
    const struct projection_column *columns;
    size_t count;
    const struct projector_value *values;
    const struct projection_value *texts; /* of the values, for messages */
    bool is_whole;                        /* every column is made; else what the event has */
    struct sink_cell *cells;
    uint64_t given;
    struct error *err;
};

/* Six digits, so that texts sort like instants. */
static struct str instant_text(struct arena *arena, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    const size_t len = instant_format(at_us, text);

    return len < INSTANT_BYTES ? arena_printf(arena, "%.*s.000000Z", (int)len - 1, text)
                               : arena_copy(arena, (struct str){ text, len });
}

static struct str date_text(struct arena *arena, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    (void)instant_format(at_us, text);
    return arena_copy(arena, (struct str){ text, 10 });
}

static bool text_of(const struct making *m, const struct field_found *found, struct str *text)
{
    *text = found->text;
    if (found->doc == NULL)
        return true;
    if (json_type(found->doc, found->node) != JSON_STRING) {
        *text = json_raw(found->doc, found->node);
        return true;
    }
    return json_string(found->doc, found->node, m->arena, text, m->err);
}

static bool json_of(const struct making *m, const struct field_value *value, struct str *text)
{
    struct json_writer w;
    struct buf out;

    if (value->found.doc != NULL)
        return json_storable(m->arena, json_raw(value->found.doc, value->found.node), text, m->err);
    buf_init(&out, m->arena, VALUE_BYTES_MAX);
    json_writer_init(&w, &out);
    json_write_str(&w, value->found.text);
    if (!buf_ok(&out, m->err))
        return false;
    json_writer_finish(&w);
    *text = buf_str(&out);
    return true;
}

static bool set_cell(const struct making *m, const struct field_value *value,
                     struct sink_cell *cell)
{
    cell->is_set = true;
    cell->i64 = value->i64;
    switch (value->type) {
    case FIELD_INTEGER:
    case FIELD_BOOLEAN:
        return true;
    case FIELD_NUMBER:
        cell->text = value->text;
        return true;
    case FIELD_INSTANT:
        cell->text = instant_text(m->arena, value->i64);
        break;
    case FIELD_DATE:
        cell->text = date_text(m->arena, value->i64);
        break;
    case FIELD_JSON:
        return json_of(m, value, &cell->text);
    case FIELD_ANY:
    case FIELD_TEXT:
        return text_of(m, &value->found, &cell->text);
    }
    return cell->text.data != NULL || arena_error(m->arena, m->err);
}

static bool misfit(const struct making *m, size_t i, struct str what)
{
    const struct projection_column *column = &m->columns[i];

    const struct str from = m->texts[i].path.len > 0 ? m->texts[i].path : m->texts[i].template;

    return error_set(m->err, ERROR_DATA, "projection.value", "column %.*s (%.*s): %s is not %.*s",
                     STR_ARG(column->name), STR_ARG(from), QUOTE(what),
                     STR_ARG(code_of(&FIELD_TYPE_CODES, (int)column->type)));
}

/* A text without the quotes of JSON: it gets some where it is printed. */
static struct str shown(const struct json_doc *doc, struct json_node node)
{
    return json_type(doc, node) == JSON_STRING ? json_string_raw(doc, node) : json_raw(doc, node);
}

/* A text, a number or the like: what most columns are. */
static bool read_scalar(const struct making *m, size_t i, const struct field_found *found)
{
    struct field_value value;
    enum field_fit fit;

    if (!field_value_read(&NO_FORMATS, m->columns[i].type, found, m->arena, &value, &fit, m->err))
        return false;
    if (fit == FIELD_MISFIT)
        return misfit(m, i, found->doc != NULL ? shown(found->doc, found->node) : found->text);
    return fit == FIELD_BLANK || set_cell(m, &value, &m->cells[i]);
}

static bool set_list(const struct making *m, const struct field_values *values,
                     const struct spec_field *field, struct sink_cell *cell)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, m->arena, VALUE_BYTES_MAX);
    json_writer_init(&w, &out);
    field_write(values, field, &w);
    if (!buf_ok(&out, m->err))
        return false;
    json_writer_finish(&w);
    cell->is_set = true;
    return json_storable(m->arena, buf_str(&out), &cell->text, m->err);
}

/* Everything that the path finds, as sources read their fields (engine/fetch/field.h). */
static bool read_field(const struct making *m, size_t i)
{
    const struct document_path path = { .json = m->values[i].path };
    const struct spec_field field = { .type = m->columns[i].type,
                                      .is_list = m->columns[i].is_list };
    const struct field_reading reading = { &NO_FORMATS, &field, &path };
    const struct document_place place = { .document = &m->event->document,
                                          .node.json = m->root,
                                          .arena = m->arena };
    struct field_values values;

    if (!field_read(&place, &reading, &values, m->err))
        return m->arena->failed ? false : is_data(m->err);
    if (values.misfit.data != NULL)
        return misfit(m, i, values.misfit);
    if (!values.is_there)
        return true;
    return field.is_list ? set_list(m, &values, &field, &m->cells[i])
                         : set_cell(m, &values.items[0], &m->cells[i]);
}

/* Whether there is something at the path, be it null. */
static bool is_there(const struct making *m, const struct jsonpath *path, bool *there)
{
    const struct json_doc *doc = &m->event->document.json;
    struct json_node found;

    if (jsonpath_is_singular(path))
        found = jsonpath_get(path, doc, m->root);
    else if (!jsonpath_first(path, m->arena, (struct jsonpath_target){ doc, m->root, NULL }, &found,
                             m->err))
        return m->arena->failed ? false : is_data(m->err);
    *there = json_exists(found);
    return true;
}

static bool read_path(struct making *m, size_t i)
{
    const struct json_doc *doc = &m->event->document.json;
    const struct jsonpath *path = m->values[i].path;
    bool there = false;

    if (jsonpath_is_singular(path) && !m->columns[i].is_list) {
        const struct json_node node = jsonpath_get(path, doc, m->root);
        const enum json_type type = json_type(doc, node);

        if (type == JSON_NONE)
            return true;
        m->given |= UINT64_C(1) << i;
        if (type == JSON_NULL)
            return true;
        if (type != JSON_ARRAY)
            return read_scalar(m, i, &(struct field_found){ .doc = doc, .node = node });
    }
    if (!is_there(m, path, &there))
        return false;
    m->given |= there ? UINT64_C(1) << i : 0;
    return read_field(m, i);
}

/* ---- templates ---- */

static size_t column_of(const struct making *m, struct str name)
{
    size_t i = 0;

    while (i < m->count && !str_eq(m->columns[i].name, name))
        i++;
    assert(i < m->count); /* spec/projection_check.h */
    return i;
}

static bool list_value(const struct making *m, struct str json, struct template_value *value)
{
    struct str *items;
    struct json_doc doc;
    size_t count;

    if (!json_parse(&doc, m->arena, json, m->err))
        return false;
    count = json_count(&doc, json_root(&doc));
    items = ARENA_ARRAY(m->arena, struct str, count);
    if (items == NULL)
        return arena_error(m->arena, m->err);
    for (struct json_iter it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        items[it.index] = json_raw(&doc, it.value);
        if (json_type(&doc, it.value) == JSON_STRING &&
            !json_string(&doc, it.value, m->arena, &items[it.index], m->err))
            return false;
    }
    *value = (struct template_value){ .type = TEMPLATE_LIST, .items = items, .count = count };
    return true;
}

static bool column_value(const struct making *m, struct str name, struct template_value *value)
{
    const size_t i = column_of(m, name);
    const struct sink_cell *cell = &m->cells[i];

    *value = (struct template_value){ 0 };
    if (!cell->is_set)
        return true;
    if (m->columns[i].is_list)
        return list_value(m, cell->text, value);
    switch (m->columns[i].type) {
    case FIELD_INTEGER:
        *value = (struct template_value){ .type = TEMPLATE_INT, .number = cell->i64 };
        return true;
    case FIELD_BOOLEAN:
        *value = (struct template_value){ .type = TEMPLATE_TEXT,
                                          .text = cell->i64 != 0 ? STR("true") : STR("false") };
        return true;
    case FIELD_INSTANT:
        *value = (struct template_value){ .type = TEMPLATE_INSTANT, .number = cell->i64 };
        return true;
    default:
        *value = (struct template_value){ .type = TEMPLATE_TEXT, .text = cell->text };
        return true;
    }
}

static void event_value(const struct project_event *event, struct str name,
                        struct template_value *value)
{
    const struct {
        struct str name;
        struct template_value value;
    } values[] = {
        { STR_INIT("id"), { .type = TEMPLATE_TEXT, .text = event->event_id } },
        { STR_INIT("type"), { .type = TEMPLATE_TEXT, .text = event->event_type } },
        { STR_INIT("aggregate_type"), { .type = TEMPLATE_TEXT, .text = event->aggregate_type } },
        { STR_INIT("aggregate_id"), { .type = TEMPLATE_TEXT, .text = event->aggregate_id } },
        { STR_INIT("version"), { .type = TEMPLATE_INT, .number = event->version } },
        { STR_INIT("occurred_at"), { .type = TEMPLATE_INSTANT, .number = event->occurred_us } },
        { STR_INIT("body"), { .type = TEMPLATE_TEXT, .text = event->body } },
    };

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        if (str_eq(values[i].name, name))
            *value = values[i].value;
    }
}

static bool resolve(void *context, struct arena *arena, const struct template_use *variable,
                    struct template_value *value, struct error *err)
{
    const struct making *m = context;

    (void)arena;
    (void)err;
    *value = (struct template_value){ 0 };
    if (variable->scope == TEMPLATE_COLUMN)
        return column_value(m, variable->name, value);
    event_value(m->event->event, variable->name, value);
    return true;
}

/* In a partial event, a column is computed when one of those that it is made of is given. */
static bool is_computed(const struct making *m, const struct template *template)
{
    bool has_columns = false;

    for (const struct template_use *use = template->uses; use != NULL; use = use->next) {
        if (use->is_function || use->scope != TEMPLATE_COLUMN)
            continue;
        has_columns = true;
        if ((m->given & (UINT64_C(1) << column_of(m, use->name))) != 0)
            return true;
    }
    return m->is_whole || !has_columns;
}

static bool compute(struct making *m, size_t i)
{
    const struct template *template = m->values[i].template;
    const struct template_resolver resolver = { .context = m, .resolve = resolve };
    const struct template_request request = { .resolver = &resolver,
                                              .parameter = m->columns[i].name,
                                              .place = TEMPLATE_RAW,
                                              .null_policy = template->is_single
                                                                 ? TEMPLATE_NULL_OMIT
                                                                 : TEMPLATE_NULL_EMPTY,
                                              .bytes_max = VALUE_BYTES_MAX };
    struct template_result result;

    if (!is_computed(m, template))
        return true;
    m->given |= UINT64_C(1) << i;
    if (!template_render(template, m->arena, &request, &result, m->err))
        return m->arena->failed ? false : is_data(m->err);
    return result.is_omitted || read_scalar(m, i, &(struct field_found){ .text = result.text });
}

/* ---- rows ---- */

static bool make_cell(struct making *m, size_t i)
{
    if (m->values[i].path != NULL ? !read_path(m, i)
                                  : m->values[i].template != NULL && !compute(m, i))
        return false;
    return !m->cells[i].is_set || store_text_ok(m->cells[i].text) ||
           error_set(m->err, ERROR_DATA, "projection.value", "column %.*s: the text has a NUL",
                     STR_ARG(m->columns[i].name));
}

/* Paths first: templates are made of what they found. */
static bool make_cells(struct making *m)
{
    memset(m->cells, 0, m->count * sizeof(*m->cells));
    for (int is_template = 0; is_template <= 1; is_template++) {
        for (size_t i = 0; i < m->count; i++) {
            if ((m->values[i].template != NULL) != is_template)
                continue;
            if (!make_cell(m, i))
                return false;
        }
    }
    return true;
}

/* `given` has a bit for each column that the row gets. */
static bool check_null(const struct making *m, uint64_t given)
{
    for (size_t i = 0; i < m->count; i++) {
        if (m->columns[i].not_null && !m->cells[i].is_set && (given & (UINT64_C(1) << i)) != 0)
            return error_set(
                m->err, ERROR_DATA, "projection.value",
                "column %.*s (%.*s) may not be NULL, and the event has no value for it",
                STR_ARG(m->columns[i].name), STR_ARG(m->texts[i].path));
    }
    return true;
}

static bool in_child(struct error *err, struct str name, size_t row)
{
    return error_wrap(err, "%.*s, row %zu", STR_ARG(name), row + 1);
}

/* The elements that a path finds; of an array at its end, what is in it. */
static bool find_elements(struct arena *arena, const struct projector_event *event,
                          const struct jsonpath *each, struct jsonpath_nodes *nodes,
                          struct error *err)
{
    const struct json_doc *doc = &event->document.json;
    struct jsonpath_nodes found;
    size_t count = 0;

    if (!jsonpath_run(each, arena, (struct jsonpath_target){ doc, event->root, NULL }, &found, err))
        return arena->failed ? false : is_data(err);
    *nodes = found;
    if (!jsonpath_ends_in_name(each))
        return true;
    for (size_t i = 0; i < found.count; i++)
        count += json_type(doc, found.items[i]) == JSON_ARRAY ? json_count(doc, found.items[i]) : 1;
    nodes->items = ARENA_ARRAY(arena, struct json_node, count);
    if (nodes->items == NULL)
        return arena_error(arena, err);
    nodes->count = 0;
    for (size_t i = 0; i < found.count; i++) {
        if (json_type(doc, found.items[i]) == JSON_NULL)
            continue;
        if (json_type(doc, found.items[i]) != JSON_ARRAY) {
            nodes->items[nodes->count++] = found.items[i];
            continue;
        }
        for (struct json_iter it = json_each(doc, found.items[i]); json_next(&it);)
            nodes->items[nodes->count++] = it.value;
    }
    return true;
}

static bool make_child(const struct projection_child *child, const struct projector_child *compiled,
                       struct arena *arena, const struct projector_event *event,
                       struct sink_child_rows *rows, struct error *err)
{
    struct jsonpath_nodes nodes;
    struct sink_cell *cells;

    if (!find_elements(arena, event, compiled->each, &nodes, err))
        return false;
    cells = ARENA_ARRAY(arena, struct sink_cell, nodes.count * child->column_count);
    if (cells == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < nodes.count; i++) {
        struct making m = { .arena = arena,
                            .event = event,
                            .root = nodes.items[i],
                            .columns = child->columns,
                            .count = child->column_count,
                            .values = compiled->values,
                            .texts = compiled->texts,
                            .is_whole = true,
                            .cells = cells + i * child->column_count,
                            .err = err };

        if (!make_cells(&m) || !check_null(&m, UINT64_MAX))
            return in_child(err, child->name, i);
    }
    rows->cells = cells;
    rows->count = nodes.count;
    return true;
}

static bool make_children(const struct projector_table *table, struct arena *arena,
                          const struct projector_event *event, const struct projector_deed *deed,
                          struct sink_row *row, struct error *err)
{
    const struct projection_table *spec = table->table;
    struct sink_child_rows *rows = ARENA_ARRAY(arena, struct sink_child_rows, spec->child_count);

    if (rows == NULL)
        return arena_error(arena, err);
    row->children = rows;
    for (size_t i = 0; i < spec->child_count; i++) {
        const struct projector_child *child = &deed->source->children[i];

        rows[i] = (struct sink_child_rows){ .is_given = deed->change == SINK_REPLACE };
        if (child->each == NULL)
            continue;
        rows[i].is_given |=
            json_exists(jsonpath_head(child->each, &event->document.json, event->root));
        if (rows[i].is_given && !make_child(&spec->children[i], child, arena, event, &rows[i], err))
            return false;
    }
    return true;
}

bool projector_row(const struct projector_table *table, struct arena *arena,
                   struct projector_event *event, const struct projector_deed *deed,
                   struct sink_row *row, struct error *err)
{
    const struct project_event *it = event->event;
    struct making m = { .arena = arena,
                        .event = event,
                        .columns = table->table->columns,
                        .count = table->table->column_count,
                        .values = deed->source->values,
                        .texts = deed->source->texts,
                        .is_whole = deed->change == SINK_REPLACE,
                        .err = err };

    *row = (struct sink_row){ .aggregate_type = it->aggregate_type,
                              .aggregate_id = it->aggregate_id,
                              .version = it->version,
                              .is_deleted = deed->is_deleted };
    if (deed->change == SINK_ERASE)
        return true;
    if (!projector_parse(arena, event, err))
        return false;
    m.root = event->root;
    m.cells = ARENA_ARRAY(arena, struct sink_cell, m.count);
    if (m.cells == NULL)
        return arena_error(arena, err);
    if (!make_cells(&m) || !check_null(&m, deed->change == SINK_REPLACE ? UINT64_MAX : m.given))
        return false;
    row->cells = m.cells;
    row->given = m.given;
    return make_children(table, arena, event, deed, row, err);
}
