/* The walk through a file, led by the table of settings. At each key there are four cases:
 *
 *      http:                 a group: continue below it
 *        base_url: ...       a setting: its value goes into a column of a row
 *      query:                a set: the author names its members, each is a row
 *        rows: ...
 *      qeury: ...            none of these: a fault, with the name that was probably meant
 *
 * A row is made for its first value.
 */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "spec/setting_value.h"
#include "spec/source.h"
#include "spec/source_template.h"

enum { FIELD_MAX = 256, NAMES_MAX = 128 };

struct walk {
    struct arena *arena;
    struct fault_list *faults;
    struct source *source;
    size_t row_capacity;
};

struct place { /* the current place in the file, and so in the tables */
    enum setting_level level;
    struct str endpoint;
    struct str name;    /* the author's: of an operation, a parameter, a rule */
    int32_t position;   /* of the row in its set */
    struct str path;    /* as in the table of settings: "query.*" */
    struct str field;   /* as in messages: "endpoints.works.query.rows" */
    struct mark at;     /* of the key that led here */
    struct mark row_at; /* of the key that begins the row: a group, a member, an endpoint */
};

static struct str no_memory(struct walk *walk)
{
    walk->faults->failed = true;
    return STR("");
}

static struct str joined(struct walk *walk, struct str left, struct str right)
{
    struct str both;

    if (left.len == 0)
        return right;
    both = arena_printf(walk->arena, "%.*s.%.*s", STR_ARG(left), STR_ARG(right));
    return both.data != NULL ? both : no_memory(walk);
}

/* ---- rows ---- */

static bool grow_rows(struct walk *walk)
{
    struct registry_source *registry = &walk->source->registry;
    const size_t old = walk->row_capacity, capacity = old > 0 ? 2 * old : 32;
    struct registry_row *rows =
        arena_grow(walk->arena, registry->rows, old * sizeof(*rows), capacity * sizeof(*rows));
    struct source_mark *marks = arena_grow(walk->arena, walk->source->marks, old * sizeof(*marks),
                                           capacity * sizeof(*marks));

    if (rows == NULL || marks == NULL) { /* the old ones stay: reading goes on to the end */
        walk->faults->failed = true;
        return false;
    }
    registry->rows = rows;
    walk->source->marks = marks;
    walk->row_capacity = capacity;
    return true;
}

static bool new_row(struct walk *walk, enum registry_table_id table, struct str key,
                    const struct place *place, size_t *index)
{
    struct registry_source *registry = &walk->source->registry;
    const size_t columns = registry_table(table)->column_count;
    struct registry_row *row;
    struct source_mark *mark;

    if (registry->count == SOURCE_ROWS_MAX) {
        fault_error(walk->faults, "spec.limit", place->at,
                    "%.*s is one row too many: a source has at most %d", STR_ARG(place->field),
                    SOURCE_ROWS_MAX);
        return false;
    }
    if (registry->count == walk->row_capacity && !grow_rows(walk))
        return false;
    row = &registry->rows[registry->count];
    mark = &walk->source->marks[registry->count];
    *row = (struct registry_row){
        .table = table, .endpoint = place->endpoint, .key = key, .position = place->position
    };
    row->values = ARENA_ARRAY(walk->arena, struct registry_value, columns);
    mark->at = place->row_at;
    mark->nodes = (const struct node **)arena_alloc_array(walk->arena, columns, sizeof(void *));
    if (row->values == NULL || mark->nodes == NULL) {
        walk->faults->failed = true;
        return false;
    }
    *index = registry->count++;
    return true;
}

/* The row of this place; it is made if it does not exist. */
static bool row_for(struct walk *walk, enum registry_table_id table, struct str key,
                    const struct place *place, size_t *index)
{
    const struct registry_row *row = source_row(walk->source, table, place->endpoint, key);

    if (row == NULL)
        return new_row(walk, table, key, place, index);
    *index = (size_t)(row - walk->source->registry.rows);
    return true;
}

static struct str key_for(struct walk *walk, const struct setting *setting,
                          const struct place *place)
{
    struct str key;

    if (place->level == AT_OPERATION)
        return place->name;
    key = setting_key(walk->arena, setting, place->name);
    return key.data != NULL ? key : no_memory(walk);
}

/* A value that cannot be read leaves its node: checks then know that it was not forgotten, and do
 * not report faults that only follow from it. */
static void read_setting(struct walk *walk, const struct setting *setting, const struct node *node,
                         const struct place *place)
{
    const struct value_reader reader = { walk->arena, walk->faults, walk->source->file,
                                         place->field, setting };
    const int column = setting_column(setting);
    struct registry_value value;
    size_t index;

    (void)setting_read(&reader, node, &value);
    if (!row_for(walk, setting->table, key_for(walk, setting, place), place, &index))
        return;
    value.is_template = value.is_set && node->is_template;
    walk->source->registry.rows[index].values[column] = value;
    walk->source->marks[index].nodes[column] = node;
}

/* ---- keys ---- */

static size_t names_at(const struct place *place, const char *names[NAMES_MAX],
                       char texts[NAMES_MAX][SETTING_NAME_MAX])
{
    const struct setting *setting = NULL;
    size_t count = 0;
    struct str part;

    if (place->level == AT_SOURCE && place->path.len == 0) {
        names[count++] = "source";
        names[count++] = "endpoints";
        names[count++] = "operations";
    }
    while (count < NAMES_MAX &&
           (setting = setting_next(place->level, place->path, setting, &part)) != NULL) {
        memcpy(texts[count], part.data, part.len);
        texts[count][part.len] = '\0';
        names[count] = texts[count];
        count++;
    }
    return count;
}

/* The same key elsewhere: under another group, or at another level. */
static const struct setting *found_elsewhere(struct str key)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (strchr(SETTINGS[i].path, '*') == NULL && str_eq(setting_name(&SETTINGS[i]), key))
            return &SETTINGS[i];
    }
    return NULL;
}

static void report_unknown(struct walk *walk, const struct place *place, struct str key)
{
    char texts[NAMES_MAX][SETTING_NAME_MAX];
    const char *names[NAMES_MAX];
    const size_t count = names_at(place, names, texts);
    const char *near = suggest(key, names, count);
    const struct setting *other = found_elsewhere(key);

    fault_error(walk->faults, "spec.key.unknown", place->at, "%.*s is not a known key",
                STR_ARG(place->field));
    if (near != NULL)
        fault_hint(walk->faults, "did you mean %s?", near);
    else if (other != NULL)
        fault_hint(walk->faults, "its place is %s%s",
                   (other->at & AT_SOURCE) != 0     ? ""
                   : (other->at & AT_ENDPOINT) != 0 ? "endpoints.NAME."
                                                    : "operations.NAME.",
                   other->path);
    else if (count > 0)
        fault_hint(walk->faults, "known keys here: %s%s%s%s%s%s", names[0], count > 1 ? ", " : "",
                   count > 1 ? names[1] : "", count > 2 ? ", " : "", count > 2 ? names[2] : "",
                   count > 3 ? " and more; see docs/source-format.md" : "");
}

/* What a group, set, endpoint or operation is written as. */
static bool must_be_map(struct walk *walk, const struct place *place, const struct node *node)
{
    if (node->is_broken)
        return false;
    if (node->kind == NODE_MAP)
        return true;
    fault_error(walk->faults, "spec.type", node->at, "%.*s must be a map", STR_ARG(place->field));
    fault_hint(walk->faults, "write its keys below it, indented, or as { key: value }");
    return false;
}

static bool is_good_name(const struct setting *setting, struct str name)
{
    const struct str key = setting->key != NULL ? str_of(setting->key) : STR("*");

    if (str_starts(key, STR("QUERY:")) || str_starts(key, STR("FORM:")))
        return name.len > 0 && name.len <= (size_t)2 * SETTING_NAME_MAX;
    if (str_starts(key, STR("HEADER:")))
        return setting_is_header(name);
    return setting_is_name(name) && str_find_char(name, '-') == name.len;
}

/* ---- the walk ---- */

static void read_map(struct walk *walk, const struct node *map, const struct place *place);

static void report_missing(struct walk *walk, const struct node *map, const struct place *place)
{
    const struct setting *setting = NULL;
    struct str part, path;

    while ((setting = setting_next(place->level, place->path, setting, &part)) != NULL) {
        path = joined(walk, place->path, part);
        if (!setting->is_required || !str_eq(str_of(setting->path), path) ||
            node_get(map, part) != NULL)
            continue;
        fault_error(walk->faults, "spec.key.missing", place->at, "%.*s.%.*s is missing",
                    STR_ARG(place->field), STR_ARG(part));
        fault_hint(walk->faults, "%s", setting->help);
    }
}

/* One member of a set; `place` is the member's. */
static void read_member(struct walk *walk, const struct node *node, const struct place *place)
{
    const struct setting *shorthand = setting_short(place->level, place->path);
    struct str part;

    if (node->is_broken)
        return;
    if (node->kind == NODE_SCALAR && shorthand != NULL) {
        read_setting(walk, shorthand, node, place);
        return;
    }
    if (!must_be_map(walk, place, node))
        return;
    if (node->count == 0) {
        fault_error(walk->faults, "spec.type", node->at, "%.*s is empty", STR_ARG(place->field));
        fault_hint(walk->faults, "%s", setting_next(place->level, place->path, NULL, &part)->help);
        return;
    }
    read_map(walk, node, place);
    report_missing(walk, node, place);
}

static void read_list_set(struct walk *walk, const struct node *node, const struct place *place)
{
    struct place member = *place;
    char name[24];

    if (node->kind == NODE_MAP) {
        member.name = STR("0");
        read_member(walk, node, &member);
        return;
    }
    if (node->kind != NODE_LIST) {
        fault_error(walk->faults, "spec.type", node->at, "%.*s must be a list of rules",
                    STR_ARG(place->field));
        fault_hint(walk->faults, "start each rule with '- '");
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        (void)snprintf(name, sizeof(name), "%zu", i);
        member.name = arena_copy(walk->arena, str_of(name));
        member.position = (int32_t)i;
        member.at = member.row_at = node->entries[i].at;
        member.field = arena_printf(walk->arena, "%.*s[%s]", STR_ARG(place->field), name);
        if (member.name.data == NULL || member.field.data == NULL) {
            walk->faults->failed = true;
            return;
        }
        read_member(walk, node->entries[i].value, &member);
    }
}

static void read_set(struct walk *walk, const struct node *node, const struct place *place)
{
    struct place member = *place;
    struct str part;
    const struct setting *first;

    member.path = joined(walk, place->path, STR("*"));
    first = setting_next(place->level, member.path, NULL, &part);
    if (first == NULL || node->is_broken)
        return;
    if (first->is_list) {
        read_list_set(walk, node, &member);
        return;
    }
    if (!must_be_map(walk, place, node))
        return;
    for (size_t i = 0; i < node->count; i++) {
        member.name = node->entries[i].key;
        member.position = (int32_t)i;
        member.at = member.row_at = node->entries[i].at;
        member.field = joined(walk, place->field, member.name);
        if (is_good_name(first, member.name)) {
            read_member(walk, node->entries[i].value, &member);
            continue;
        }
        fault_error(walk->faults, "spec.name", member.at, "%.*s is not a valid name",
                    STR_ARG(member.field));
        fault_hint(walk->faults, "use letters, digits and _, starting with a letter");
    }
}

/* A key like this could be mistaken for a path of the table. */
static bool is_star_or_dotted(struct str key)
{
    return str_find_char(key, '*') < key.len || str_find_char(key, '.') < key.len;
}

static void read_key(struct walk *walk, const struct node_entry *entry, const struct place *parent)
{
    struct place place = *parent;
    const struct setting *setting = NULL;

    place.at = entry->at;
    if (parent->path.len == 0 && parent->level != AT_OPERATION)
        place.row_at = entry->at;
    place.path = joined(walk, parent->path, entry->key);
    place.field = joined(walk, parent->field, entry->key);
    if (!is_star_or_dotted(entry->key))
        setting = setting_find(place.level, place.path);
    if (setting != NULL)
        read_setting(walk, setting, entry->value, &place);
    else if (is_star_or_dotted(entry->key) || !setting_is_group(place.level, place.path)) {
        place.path = parent->path;
        report_unknown(walk, &place, entry->key);
    } else if (setting_is_set(place.level, place.path))
        read_set(walk, entry->value, &place);
    else if (must_be_map(walk, &place, entry->value))
        read_map(walk, entry->value, &place);
}

static void read_map(struct walk *walk, const struct node *map, const struct place *place)
{
    for (size_t i = 0; i < map->count; i++)
        read_key(walk, &map->entries[i], place);
}

/* endpoints: and operations:, where each entry is a level of its own. */
static void read_level(struct walk *walk, const struct node *map, enum setting_level level,
                       struct str field)
{
    const bool is_endpoint = level == AT_ENDPOINT;
    struct place place = { .level = level, .field = field, .at = map->at };
    size_t row;

    if (!must_be_map(walk, &place, map))
        return;
    for (size_t i = 0; i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];

        place.position = (int32_t)i;
        place.at = place.row_at = entry->at;
        place.field = joined(walk, field, entry->key);
        place.name = is_endpoint ? STR("") : entry->key;
        place.endpoint = is_endpoint ? entry->key : STR("");
        if (!setting_is_name(entry->key)) {
            fault_error(walk->faults, "spec.name", entry->at, "%.*s is not a valid name",
                        STR_ARG(place.field));
            fault_hint(walk->faults, "use letters, digits, - and _, starting with a letter");
            continue;
        }
        if (!must_be_map(walk, &place, entry->value) ||
            !row_for(walk, is_endpoint ? REGISTRY_ENDPOINT : REGISTRY_OPERATION, place.name, &place,
                     &row))
            continue;
        place.position = 0;
        read_map(walk, entry->value, &place);
        report_missing(walk, entry->value, &place);
    }
}

static void read_code(struct walk *walk, const struct node *root)
{
    const struct node *node = node_get(root, STR("source"));

    walk->source->at = root->at;
    if (node == NULL) {
        fault_error(walk->faults, "spec.key.missing", root->at, "source is missing");
        fault_hint(walk->faults,
                   "write the source's code, under which its data is stored: 'source: crossref'");
        return;
    }
    walk->source->at = node->at;
    if (!node->is_broken && node->kind == NODE_SCALAR && setting_is_name(node->text)) {
        walk->source->registry.code = node->text;
        return;
    }
    fault_error(walk->faults, "spec.name", node->at, "source is not a valid name");
    fault_hint(walk->faults,
               "use letters, digits, - and _, starting with a letter, at most %d characters",
               SETTING_NAME_MAX);
}

static void read_root(struct walk *walk, const struct node *root)
{
    struct place place = { .level = AT_SOURCE, .endpoint = STR(""), .name = STR("") };
    size_t row;

    place.at = place.row_at = root->at;
    read_code(walk, root);
    if (!row_for(walk, REGISTRY_PROVENANCE, STR(""), &place, &row))
        return;
    for (size_t i = 0; i < root->count; i++) {
        const struct node_entry *entry = &root->entries[i];

        if (str_eq(entry->key, STR("endpoints")))
            read_level(walk, entry->value, AT_ENDPOINT, entry->key);
        else if (str_eq(entry->key, STR("operations")))
            read_level(walk, entry->value, AT_OPERATION, entry->key);
        else if (!str_eq(entry->key, STR("source")))
            read_key(walk, entry, &place);
    }
}

bool source_read(struct arena *arena, const struct source_text *text, struct fault_list *faults,
                 struct source *source)
{
    struct walk walk = { .arena = arena, .faults = faults, .source = source };
    const struct node *root, *template;

    *source = (struct source){ .file = text->file };
    root = node_read(arena, text->file, faults);
    if (root == NULL)
        return false;
    if (root->kind != NODE_MAP) {
        fault_error(faults, "spec.type", root->at, "the file must be a map");
        fault_hint(faults, "start it with 'source: CODE'");
        return false;
    }
    root = source_template_apply(arena, root, faults);
    if (root == NULL)
        return false;
    template = node_get(root, STR("template"));
    root = edit_apply(arena, root, text->edits, faults);
    if (root == NULL)
        return false;
    if (node_get(root, STR("template")) != template) {
        fault_error(faults, "edit.path", source->at, "--set cannot change the template");
        fault_hint(faults, "write it in the file; the template's settings can be set one by one");
    }
    read_root(&walk, root);
    return faults->errors == 0 && !faults->failed;
}
