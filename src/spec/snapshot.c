/* From the values in effect to the snapshot's canonical JSON and its hashes. */
#include "spec/snapshot.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "data/json_canonical.h"
#include "data/json_write.h"
#include "spec/setting_value.h"

enum part { PART_ALL, PART_QUERY, PART_MAPPING };

struct maker {
    struct arena *arena;
    struct json_writer w;
    struct buf out;
    struct resolution in;
    enum part part;
};

/* ---- one value ---- */

static void write_name(struct maker *maker, const struct setting *setting)
{
    char member[SETTING_MEMBER_MAX];

    json_write_name(&maker->w, setting_member(setting, member));
}

static void write_value(struct maker *maker, const struct setting *setting,
                        const struct registry_value *value)
{
    switch (setting_storage(setting)) {
    case REGISTRY_TEXT:
        json_write_str(&maker->w, value->text);
        break;
    case REGISTRY_INT:
    case REGISTRY_DURATION:
        json_write_i64(&maker->w, value->number);
        break;
    case REGISTRY_REAL:
        json_write_double(&maker->w, value->real);
        break;
    case REGISTRY_BOOL:
        json_write_bool(&maker->w, value->number != 0);
        break;
    case REGISTRY_JSON:
        json_write_raw(&maker->w, value->text);
        break;
    }
}

static bool is_wanted(const struct maker *maker, const struct setting *setting)
{
    switch (maker->part) {
    case PART_ALL:
        break;
    case PART_QUERY:
        return setting->is_proto;
    case PART_MAPPING:
        return setting->is_mapping;
    }
    return !setting->is_about;
}

/* ---- sets ---- */

/* The settings of a member, with their defaults. */
static bool write_member(struct maker *maker, const struct setting_set *set,
                         const struct registry_row *row, struct error *err)
{
    const struct setting *setting = NULL;
    struct registry_value value;

    while ((setting = setting_set_next(set, setting)) != NULL) {
        value = row->values[setting_column(setting)];
        if (!value.is_set && !setting_builtin(maker->arena, setting, &value))
            return arena_error(maker->arena, err);
        if (!value.is_set || !is_wanted(maker, setting))
            continue;
        write_name(maker, setting);
        write_value(maker, setting, &value);
    }
    return true;
}

static bool write_row(struct maker *maker, const struct setting_set *set,
                      const struct registry_row *row, struct error *err)
{
    const struct setting *first = setting_set_next(set, NULL);
    const struct str name = str_slice(row->key, setting_key_prefix(first).len, row->key.len);

    if (set->layout == SET_TEXTS) {
        assert(first->is_short);
        json_write_member_str(&maker->w, name, row->values[setting_column(first)].text);
        return true;
    }
    if (set->layout == SET_MAP)
        json_write_name(&maker->w, name);
    json_write_object(&maker->w);
    if (set->layout == SET_LIST)
        json_write_member_str(&maker->w, STR("name"), name);
    if (!write_member(maker, set, row, err))
        return false;
    json_write_end(&maker->w);
    return true;
}

static bool write_set(struct maker *maker, const struct setting_set *set, struct error *err)
{
    struct row_list rows;

    if (!resolution_rows(maker->arena, &maker->in, row_filter_of(set), &rows, err))
        return false;
    if (!is_wanted(maker, setting_set_next(set, NULL)))
        rows.count = 0;
    if (set->layout == SET_LIST || set->layout == SET_RULES)
        json_write_array(&maker->w);
    else
        json_write_object(&maker->w);
    for (size_t i = 0; i < rows.count; i++) {
        if (!write_row(maker, set, rows.items[i], err))
            return false;
    }
    json_write_end(&maker->w);
    return true;
}

/* Whether what was written so far mentions params.NAME. A longer name that begins so counts as
 * well: a parameter too many is harmless. */
static bool is_used(struct maker *maker, struct str name, bool *used, struct error *err)
{
    const struct str written = buf_str(&maker->out);
    const struct str use = arena_printf(maker->arena, "params.%.*s", STR_ARG(name));

    if (use.data == NULL)
        return arena_error(maker->arena, err);
    *used = str_find(written, use) < written.len;
    return true;
}

/* A trigger's value of a parameter replaces the file's. */
static bool write_param(struct maker *maker, const struct registry_row *row, struct str name,
                        struct error *err)
{
    const struct setting_set *set = setting_set(AT_SOURCE, STR("params"));
    const struct override *override = resolution_param(&maker->in, name);
    const struct selected *selected = selected_find(&maker->in.source->selected, name);
    struct registry_row shown = *row;
    const int column = setting_column(setting_find(AT_SOURCE, STR("params.*.selects")));

    json_write_name(&maker->w, name);
    json_write_object(&maker->w);
    if (override != NULL) {
        json_write_member_str(&maker->w, STR("value"), override->value);
    } else {
        if (selected != NULL) { /* the hash takes the place of `true` */
            shown.values = ARENA_ARRAY(maker->arena, struct registry_value,
                                       registry_table(row->table)->column_count);
            if (shown.values == NULL)
                return arena_error(maker->arena, err);
            memcpy(shown.values, row->values,
                   registry_table(row->table)->column_count * sizeof(*row->values));
            shown.values[column].is_set = false;
            json_write_member_str(&maker->w, STR("selects"), str_of(selected->hash));
        }
        if (!write_member(maker, set, &shown, err))
            return false;
    }
    json_write_end(&maker->w);
    return true;
}

/* The query has the parameters that it uses. One that is only in the User-Agent selects nothing. */
static bool write_params(struct maker *maker, struct error *err)
{
    const struct registry_row *row = NULL;

    json_write_name(&maker->w, STR("params"));
    json_write_object(&maker->w);
    while ((row = source_next(maker->in.source, REGISTRY_PARAM, STR(""), STR("PARAM:"), row)) !=
           NULL) {
        const struct str name = str_slice(row->key, 6, row->key.len);
        bool used = true;

        if ((maker->part == PART_QUERY && !is_used(maker, name, &used, err)) ||
            (used && !write_param(maker, row, name, err)))
            return false;
    }
    json_write_end(&maker->w);
    return true;
}

/* Left out where there are none. */
static bool write_credentials(struct maker *maker, struct error *err)
{
    const struct setting_set *set = setting_set(AT_SOURCE, STR("credentials"));
    const struct str prefix = STR("CREDENTIAL:");
    const struct source *source = maker->in.source;
    const struct registry_row *row =
        source_next(source, REGISTRY_CREDENTIAL, STR(""), prefix, NULL);

    if (row == NULL)
        return true;
    json_write_name(&maker->w, STR("credentials"));
    json_write_object(&maker->w);
    for (; row != NULL; row = source_next(source, REGISTRY_CREDENTIAL, STR(""), prefix, row)) {
        if (!write_row(maker, set, row, err))
            return false;
    }
    json_write_end(&maker->w);
    return true;
}

/* ---- groups ---- */

static struct str below(struct maker *maker, struct str path, struct str part, struct error *err)
{
    struct str both;

    if (path.len == 0)
        return part;
    both = arena_printf(maker->arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(part));
    if (both.data == NULL)
        (void)arena_error(maker->arena, err);
    return both;
}

static bool write_group(struct maker *maker, enum setting_level level, struct str path,
                        struct error *err);

/* A group is an object, even an empty one: hashes cover it. */
static bool write_object(struct maker *maker, enum setting_level level, struct str path,
                         struct error *err)
{
    json_write_object(&maker->w);
    if (!write_group(maker, level, path, err))
        return false;
    if (str_eq(path, STR("window"))) { /* promises, not settings; the fingerprint covers them */
        json_write_member_str(&maker->w, STR("bounds"), STR("[from,to)"));
        json_write_member_str(&maker->w, STR("timezone"), STR("UTC"));
    }
    json_write_end(&maker->w);
    return true;
}

/* Everything below a path: settings, groups and sets. The order does not matter, the canonical form
 * sorts. */
static bool write_group(struct maker *maker, enum setting_level level, struct str path,
                        struct error *err)
{
    const struct setting *setting = NULL;
    struct str part, child;

    while ((setting = setting_next(level, path, setting, &part)) != NULL) {
        const struct resolved *resolved = &maker->in.values[setting - SETTINGS];

        child = below(maker, path, part, err);
        if (child.data == NULL)
            return false;
        if (str_eq(str_of(setting->path), child)) {
            if (!resolved->value.is_set || !is_wanted(maker, setting))
                continue;
            write_name(maker, setting);
            write_value(maker, setting, &resolved->value);
            continue;
        }
        if (maker->in.is_detail && !setting_is_in_detail(setting))
            continue;
        json_write_name(&maker->w, part);
        if (setting_is_set(level, child) ? !write_set(maker, setting_set(level, child), err)
                                         : !write_object(maker, level, child, err))
            return false;
    }
    return true;
}

static bool write_operation(struct maker *maker, struct error *err)
{
    json_write_name(&maker->w, STR("operation"));
    json_write_object(&maker->w);
    json_write_member_str(&maker->w, STR("name"), maker->in.operation->key);
    if (!write_group(maker, AT_OPERATION, STR(""), err))
        return false;
    json_write_end(&maker->w);
    return true;
}

/* ---- the whole ---- */

static bool write_detail(struct maker *maker, const struct resolve_request *request,
                         struct str endpoint, struct error *err)
{
    struct resolve_request detail = *request;

    detail.endpoint = endpoint;
    detail.is_detail = true;
    if (!resolve(maker->arena, &detail, &maker->in, err))
        return false;
    json_write_name(&maker->w, STR("detail"));
    json_write_object(&maker->w);
    json_write_member_str(&maker->w, STR("endpoint"), endpoint);
    if (!write_group(maker, AT_ENDPOINT, STR(""), err))
        return false;
    json_write_end(&maker->w);
    return true;
}

static void write_names(struct maker *maker, const struct resolve_request *request)
{
    json_write_object(&maker->w);
    json_write_member_i64(&maker->w, STR("version"), SNAPSHOT_VERSION);
    json_write_member_str(&maker->w, STR("source"), request->source->registry.code);
    json_write_member_str(&maker->w, STR("endpoint"), request->endpoint);
}

/* The endpoint whose responses are the records, and how they are read. */
static bool write_mapping(struct maker *maker, const struct resolve_request *request,
                          struct error *err)
{
    write_names(maker, request);
    if (!write_group(maker, AT_ENDPOINT, STR(""), err))
        return false;
    json_write_end(&maker->w);
    return true;
}

/* By page, slices reach to the last page that the source allows: fewer pages are fewer records. */
static void write_last_page(struct maker *maker)
{
    if (maker->part == PART_QUERY && resolution_code(&maker->in, "slice.by") == SLICE_PAGE)
        json_write_member_i64(&maker->w, STR("pages"),
                              resolution_number(&maker->in, "page.max_pages"));
}

/* Parameters come last: what uses them has been written then. */
static bool write_all(struct maker *maker, const struct resolve_request *request,
                      struct str details, struct error *err)
{
    struct resolution first = maker->in;

    write_names(maker, request);
    write_last_page(maker);
    if (maker->part == PART_ALL && (!write_operation(maker, err) || !write_credentials(maker, err)))
        return false;
    if (!write_group(maker, AT_ENDPOINT, STR(""), err))
        return false;
    if (details.len > 0 && !write_detail(maker, request, details, err))
        return false;
    maker->in = first;
    if (!write_params(maker, err))
        return false;
    json_write_end(&maker->w);
    return true;
}

static bool make(struct arena *arena, const struct resolve_request *request, enum part part,
                 struct str *json, struct error *err)
{
    struct maker maker = { .arena = arena, .part = part };
    struct resolve_request of = *request;
    struct str details;

    buf_init(&maker.out, arena, SNAPSHOT_BYTES_MAX);
    json_writer_init(&maker.w, &maker.out);
    if (!resolve(arena, request, &maker.in, err))
        return false;
    details = resolution_text(&maker.in, "details.endpoint");
    if (part == PART_MAPPING) { /* the same, whether details are listed first or requested by id */
        of.endpoint = details.len > 0 ? details : request->endpoint;
        of.is_detail = true;
        if (!resolve(arena, &of, &maker.in, err))
            return false;
    }
    if (part == PART_MAPPING ? !write_mapping(&maker, &of, err)
                             : !write_all(&maker, request, details, err))
        return false;
    json_writer_finish(&maker.w);
    return buf_ok(&maker.out, err) && json_canonical_text(arena, buf_str(&maker.out), json, err);
}

static bool hex_of(struct str json, char hex[HASH_HEX_MAX], struct error *err)
{
    struct hash_sum sum;

    if (!hash_of(json, &sum, err))
        return false;
    hash_hex(&sum, hex);
    return true;
}

static bool make_hashes(struct arena *arena, const struct resolve_request *request,
                        struct snapshot *snapshot, struct error *err)
{
    struct str query, mapping;

    return make(arena, request, PART_QUERY, &query, err) &&
           make(arena, request, PART_MAPPING, &mapping, err) &&
           hex_of(snapshot->json, snapshot->fingerprint, err) &&
           hex_of(query, snapshot->query_hash, err) &&
           hex_of(mapping, snapshot->mapping_hash, err) &&
           expr_hash_of(str_of(snapshot->query_hash), str_of(snapshot->mapping_hash),
                        snapshot->expr_proto_hash, err);
}

bool expr_hash_of(struct str query_hash, struct str mapping_hash, char hex[HASH_HEX_MAX],
                  struct error *err)
{
    char both[2 * HASH_HEX_MAX + 32];
    const int len = snprintf(both, sizeof(both), "{\"mapping\":\"%.*s\",\"query\":\"%.*s\"}",
                             STR_ARG(mapping_hash), STR_ARG(query_hash));

    assert(len > 0 && (size_t)len < sizeof(both));
    return hex_of((struct str){ both, (size_t)len }, hex, err);
}

bool snapshot_make(struct arena *arena, const struct snapshot_request *request,
                   struct snapshot *snapshot, struct error *err)
{
    const struct setting *target = setting_find(AT_OPERATION, STR("endpoint"));
    struct resolve_request resolve_request = { .source = request->source,
                                               .overrides = request->overrides };
    const struct registry_row *operation =
        source_find_operation(request->source, request->operation);

    if (operation == NULL)
        return source_lacks_operation(request->source, request->operation, err);
    resolve_request.operation = operation;
    resolve_request.endpoint = operation->values[setting_column(target)].text;
    if (source_row(request->source, REGISTRY_ENDPOINT, resolve_request.endpoint, STR("")) == NULL)
        return error_set(err, ERROR_REQUEST, "spec.snapshot", "operation %.*s has no endpoint",
                         STR_ARG(operation->key));
    if (!make(arena, &resolve_request, PART_ALL, &snapshot->json, err) ||
        !make_hashes(arena, &resolve_request, snapshot, err))
        return error_wrap(err, "snapshot of %.*s %.*s", STR_ARG(request->source->registry.code),
                          STR_ARG(operation->key));
    return true;
}
