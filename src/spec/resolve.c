/* What is in effect: the default, then rows from general to specific, then the trigger. */
#include "spec/resolve.h"

#include <assert.h>
#include <string.h>

#include "base/known_names.h"
#include "spec/setting_value.h"

const char *origin_name(enum origin origin)
{
    static const char *const names[] = {
        [ORIGIN_BUILTIN] = "built-in", [ORIGIN_SOURCE] = "source",   [ORIGIN_ENDPOINT] = "endpoint",
        [ORIGIN_CONFIG] = "config",    [ORIGIN_TRIGGER] = "trigger",
    };

    assert((size_t)origin < ARRAY_LEN(names));
    return names[origin];
}

/* ---- operations ---- */

static struct str text_in(const struct registry_row *row, const char *column)
{
    const struct registry_value *value = &row->values[registry_column(row->table, str_of(column))];

    return value->is_set ? value->text : (struct str){ 0 };
}

int source_operation_code(const struct registry_row *operation)
{
    const struct str word = text_in(operation, "operation");

    return code_find_written(&OPERATION_CODES, word.len > 0 ? word : operation->key);
}

const struct registry_row *source_find_operation(const struct source *source, struct str name)
{
    const struct registry_row *row = source_row(source, REGISTRY_OPERATION, STR(""), name);
    const struct registry_row *only = NULL, *next = NULL;
    const int code = code_find_written(&OPERATION_CODES, name);

    if (row != NULL || code < 0)
        return row;
    while ((next = source_next_operation(source, next)) != NULL) {
        if (source_operation_code(next) != code)
            continue;
        if (only != NULL)
            return NULL; /* ambiguous */
        only = next;
    }
    return only;
}

/* ---- defaults ---- */

static bool set_builtin(struct arena *arena, const struct resolution *resolution,
                        const struct setting *setting, struct resolved *resolved, struct error *err)
{
    *resolved = (struct resolved){ .origin = ORIGIN_BUILTIN };
    if (setting->derive != NULL)
        resolved->value = setting->derive(resolution);
    else if (!setting_builtin(arena, setting, &resolved->value))
        return arena_error(arena, err);
    return true;
}

/* ---- rows ---- */

/* A value that could not be read still hides the more general ones: a row, and no value. */
static void set_from_row(const struct source *source, const struct setting *setting,
                         const struct registry_row *row, enum origin origin,
                         struct resolved *resolved)
{
    const int column = setting_column(setting);

    if (row != NULL && (row->values[column].is_set || source_is_broken(source, row, column)))
        *resolved = (struct resolved){ row->values[column], origin, row };
}

static void set_from_rows(const struct resolution *resolution, const struct setting *setting,
                          struct resolved *resolved)
{
    const struct source *source = resolution->source;
    const struct str key = setting->key != NULL ? str_of(setting->key) : STR("");
    const bool is_definition = setting->table == REGISTRY_ENDPOINT;

    if ((setting->at & AT_OPERATION) != 0) {
        set_from_row(source, setting, resolution->operation, ORIGIN_CONFIG, resolved);
        return;
    }
    if ((setting->at & AT_SOURCE) != 0)
        set_from_row(source, setting, source_row(source, setting->table, STR(""), key),
                     ORIGIN_SOURCE, resolved);
    if ((setting->at & AT_ENDPOINT) != 0)
        set_from_row(source, setting, source_row(source, setting->table, resolution->endpoint, key),
                     is_definition ? ORIGIN_ENDPOINT : ORIGIN_CONFIG, resolved);
}

/* ---- the trigger ---- */

static const struct setting *find_override(struct str path)
{
    const struct setting *setting = setting_find(AT_ENDPOINT, path);

    if (setting == NULL)
        setting = setting_find(AT_OPERATION, path);
    if (setting == NULL && str_starts(path, STR("params.")))
        setting = setting_find(AT_SOURCE, STR("params.*.value"));
    return setting;
}

static bool fail_unknown(struct str path, struct error *err)
{
    struct known_names known = { .count = 0 };
    const char *near;

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (SETTINGS[i].is_override && strchr(SETTINGS[i].path, '*') == NULL)
            known_names_add(&known, str_of(SETTINGS[i].path));
    }
    near = known_names_near(&known, path);
    return error_set(err, ERROR_REQUEST, "spec.override", "there is no setting %.*s%s%s%s",
                     STR_ARG(path), near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                     near != NULL ? "?" : "");
}

/* "params.NAME", of a parameter that the source has: another would change nothing. */
static bool has_param(const struct source *source, struct str path)
{
    const struct str name = str_slice(path, 7, path.len);
    const struct registry_row *row = NULL;

    while ((row = source_next(source, REGISTRY_PARAM, STR(""), STR("PARAM:"), row)) != NULL) {
        if (str_eq(str_slice(row->key, 6, row->key.len), name))
            return true;
    }
    return false;
}

static bool read_override(struct arena *arena, const struct setting *setting,
                          const struct override *override, struct registry_value *value,
                          struct error *err)
{
    struct fault_list faults;
    const struct value_reader reader = { arena, &faults, { 0 }, override->path, setting };

    fault_list_init(&faults, arena);
    if (setting_read_text(&reader, override->value, value))
        return true;
    if (faults.failed || faults.count == 0)
        return arena_error(arena, err);
    return error_set(err, ERROR_REQUEST, "spec.override", "%.*s%s%.*s",
                     STR_ARG(faults.items[0].message), faults.items[0].hint.len > 0 ? ": " : "",
                     STR_ARG(faults.items[0].hint));
}

static bool set_override(struct arena *arena, struct resolution *resolution,
                         const struct override *override, struct error *err)
{
    const struct setting *setting = find_override(override->path);
    struct registry_value value;

    if (setting == NULL)
        return fail_unknown(override->path, err);
    if (str_starts(override->path, STR("params.")) &&
        !has_param(resolution->source, override->path))
        return source_lacks_param(resolution->source,
                                  str_slice(override->path, 7, override->path.len), err);
    if (!setting->is_override)
        return error_set(err, ERROR_REQUEST, "spec.override", "%.*s cannot be set by a trigger",
                         STR_ARG(override->path));
    if (!read_override(arena, setting, override, &value, err))
        return false;
    /* A trigger could otherwise send any variable of the process to the source. */
    if (setting->type == SETTING_VALUE && setting_is_reference(override->value))
        return error_set(err, ERROR_REQUEST, "spec.override",
                         "%.*s must be a text, not a reference, when a trigger sets it",
                         STR_ARG(override->path));
    if (str_starts(override->path, STR("params.")) ||
        (resolution->is_detail &&
         (str_starts(override->path, STR("page.")) || str_starts(override->path, STR("window.")))))
        return true;
    resolution->values[setting - SETTINGS] =
        (struct resolved){ .value = value, .origin = ORIGIN_TRIGGER };
    return true;
}

bool resolve(struct arena *arena, const struct resolve_request *request,
             struct resolution *resolution, struct error *err)
{
    *resolution = (struct resolution){
        .source = request->source,
        .endpoint = request->endpoint,
        .operation = request->operation,
        .overrides = request->overrides.items,
        .override_count = request->overrides.count,
        .is_detail = request->is_detail,
        .values = ARENA_ARRAY(arena, struct resolved, SETTING_COUNT),
    };
    if (resolution->values == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (strchr(SETTINGS[i].path, '*') != NULL)
            continue;
        if (!set_builtin(arena, resolution, &SETTINGS[i], &resolution->values[i], err))
            return false;
        set_from_rows(resolution, &SETTINGS[i], &resolution->values[i]);
    }
    for (size_t i = 0; i < resolution->override_count; i++) {
        if (!set_override(arena, resolution, &resolution->overrides[i], err))
            return false;
    }
    return true;
}

/* ---- lookups ---- */

const struct resolved *resolution_get(const struct resolution *resolution, const char *path)
{
    const struct setting *setting = setting_find(AT_ENDPOINT, str_of(path));

    if (setting == NULL)
        setting = setting_find(AT_OPERATION, str_of(path));
    assert(setting != NULL);
    return &resolution->values[setting - SETTINGS];
}

int64_t resolution_number(const struct resolution *resolution, const char *path)
{
    return resolution_get(resolution, path)->value.number;
}

bool resolution_bool(const struct resolution *resolution, const char *path)
{
    return resolution_get(resolution, path)->value.number != 0;
}

struct str resolution_text(const struct resolution *resolution, const char *path)
{
    return resolution_get(resolution, path)->value.text;
}

int resolution_code(const struct resolution *resolution, const char *path)
{
    const struct resolved *resolved = resolution_get(resolution, path);
    const struct setting *setting = &SETTINGS[resolved - resolution->values];

    assert(setting->codes != NULL);
    return resolved->value.is_set ? code_find(setting->codes, resolved->value.text) : -1;
}

const struct override *resolution_param(const struct resolution *resolution, struct str name)
{
    const struct override *found = NULL;

    for (size_t i = 0; i < resolution->override_count; i++) {
        const struct str path = resolution->overrides[i].path;

        if (str_starts(path, STR("params.")) && str_eq(str_slice(path, 7, path.len), name))
            found = &resolution->overrides[i];
    }
    return found;
}

/* ---- rows that authors name ---- */

static bool is_same_name(const struct registry_row *a, const struct registry_row *b)
{
    /* Header names ignore case: an endpoint's accept replaces the source's Accept. */
    return str_starts(a->key, STR("HEADER:")) ? str_eq_nocase(a->key, b->key)
                                              : str_eq(a->key, b->key);
}

static void put_row(struct row_list *rows, const struct registry_row *row, bool replaces)
{
    for (size_t i = 0; replaces && i < rows->count; i++) {
        if (is_same_name(rows->items[i], row)) {
            rows->items[i] = row;
            return;
        }
    }
    rows->items[rows->count++] = row;
}

struct row_filter row_filter_of(const struct setting_set *set)
{
    const struct setting *first = setting_set_next(set, NULL);

    return (struct row_filter){ first->table, setting_key_prefix(first), set->layout == SET_RULES };
}

bool resolution_rows(struct arena *arena, const struct resolution *resolution,
                     struct row_filter filter, struct row_list *rows, struct error *err)
{
    const bool are_rules = filter.are_rules;
    const struct str places[] = { are_rules ? resolution->endpoint : STR(""),
                                  are_rules ? STR("") : resolution->endpoint };
    const struct registry_row *row;

    rows->count = 0;
    rows->items = (const struct registry_row **)arena_alloc_array(
        arena, resolution->source->registry.count, sizeof(void *));
    if (rows->items == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        for (row = NULL; (row = source_next(resolution->source, filter.table, places[i],
                                            filter.prefix, row)) != NULL;) {
            if (row->key.len > 0)
                put_row(rows, row, !are_rules);
        }
    }
    return true;
}
