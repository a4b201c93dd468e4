/* Reading a bus file, and its stored form. */
#include "spec/bus.h"

#include <assert.h>

#include "base/suggest.h"
#include "data/json_canonical.h"
#include "data/json_write.h"
#include "spec/bus_check.h"
#include "spec/bus_setting.h"
#include "spec/node.h"
#include "spec/setting_member.h"
#include "spec/setting_value.h"

enum { NAMES_MAX = 64 };

struct walk {
    struct arena *arena;
    struct fault_list *faults;
    struct str file;
    struct bus_spec *spec;
    struct bus_marks *marks;
};

/* ---- keys ---- */

/* The names that may stand in a group ("" is the top), for suggestions. */
static size_t names_in(struct arena *arena, struct str group, const char *names[NAMES_MAX])
{
    size_t count = 0;

    if (group.len == 0)
        names[count++] = "bus";
    for (size_t i = 0; i < BUS_SETTING_COUNT && count < NAMES_MAX; i++) {
        struct str rest = str_of(BUS_SETTINGS[i].setting.path);
        struct str name;

        if (group.len > 0 && !(str_starts(rest, group) && rest.data[group.len] == '.'))
            continue;
        rest = str_slice(rest, group.len > 0 ? group.len + 1 : 0, rest.len);
        name = arena_copy(arena, str_cut(&rest, '.'));
        if (name.data != NULL)
            names[count++] = name.data;
    }
    return count;
}

static void report_unknown(struct walk *walk, struct str group, const struct node_entry *entry,
                           struct str field)
{
    const char *names[NAMES_MAX];
    const size_t count = names_in(walk->arena, group, names);
    const char *near = suggest(entry->key, names, count);

    fault_error(walk->faults, "bus.key.unknown", entry->at, "%.*s is not a known key",
                STR_ARG(field));
    if (near != NULL)
        fault_hint(walk->faults, "did you mean %s?", near);
    else
        fault_hint(walk->faults, "docs/buses.md lists all settings");
}

static void read_setting(struct walk *walk, const struct bus_setting *row, const struct node *node)
{
    const struct value_reader reader = { walk->arena, walk->faults, walk->file,
                                         str_of(row->setting.path), &row->setting };
    struct bus_mark *mark = &walk->marks->items[row - BUS_SETTINGS];
    struct registry_value value;

    mark->at = node->at;
    mark->is_given = true;
    mark->is_broken = !setting_read(&reader, node, &value);
    if (!mark->is_broken && !setting_put(walk->arena, &row->setting, &value, walk->spec))
        walk->faults->failed = true;
}

static void read_group(struct walk *walk, struct str group, const struct node *map)
{
    if (map->is_broken)
        return;
    if (map->kind != NODE_MAP) {
        fault_error(walk->faults, "bus.type", map->at, "%.*s must be a map of settings",
                    STR_ARG(group));
        return;
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];
        const struct str path =
            arena_printf(walk->arena, "%.*s.%.*s", STR_ARG(group), STR_ARG(entry->key));
        const struct bus_setting *row = bus_setting_find(path);

        if (path.data == NULL)
            walk->faults->failed = true;
        else if (row != NULL)
            read_setting(walk, row, entry->value);
        else
            report_unknown(walk, group, entry, path);
    }
}

/* The name is a key of its own, "bus", as "source" is in source files. */
static void read_name(struct walk *walk, const struct node *node)
{
    static const struct setting NAME = { .path = "bus", .type = SETTING_NAME };
    const struct value_reader reader = { walk->arena, walk->faults, walk->file, STR_INIT("bus"),
                                         &NAME };
    struct registry_value value;

    walk->marks->name = node->at;
    walk->marks->has_name = true;
    if (setting_read(&reader, node, &value))
        walk->spec->name = value.text;
}

static void read_top(struct walk *walk, const struct node *map)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];
        const struct bus_setting *row = bus_setting_find(entry->key);

        if (str_eq(entry->key, STR("bus")))
            read_name(walk, entry->value);
        else if (row != NULL)
            read_setting(walk, row, entry->value);
        else if (bus_setting_is_group(entry->key))
            read_group(walk, entry->key, entry->value);
        else
            report_unknown(walk, (struct str){ 0 }, entry, entry->key);
    }
}

static struct setting setting_of_type(const struct bus_setting *row, enum bus_type type)
{
    struct setting setting = row->setting;

    if ((row->other.types & (1U << type)) != 0)
        setting.builtin = row->other.builtin;
    return setting;
}

/* Defaults of what this type of bus has. */
static void fill_defaults(struct walk *walk)
{
    for (size_t i = 0; i < BUS_SETTING_COUNT; i++) {
        const struct bus_setting *row = &BUS_SETTINGS[i];
        const struct setting setting = setting_of_type(row, walk->spec->type);
        struct registry_value value;

        if (walk->marks->items[i].is_given || !bus_setting_is_for(row, walk->spec->type))
            continue;
        if (!setting_builtin(walk->arena, &setting, &value) ||
            !setting_put(walk->arena, &setting, &value, walk->spec))
            walk->faults->failed = true;
    }
}

bool bus_read(struct arena *arena, struct str file, struct fault_list *faults,
              struct bus_spec *spec)
{
    struct bus_marks marks = { .items = ARENA_ARRAY(arena, struct bus_mark, BUS_SETTING_COUNT) };
    struct walk walk = { arena, faults, file, NULL, &marks };
    const size_t before = faults->errors;
    const struct node *tree;

    *spec = (struct bus_spec){ 0 };
    walk.spec = spec;
    if (marks.items == NULL || file.len > BUS_FILE_BYTES_MAX) {
        faults->failed |= marks.items == NULL;
        fault_error(faults, "bus.limit", (struct mark){ 0 }, "a bus file has at most %d bytes",
                    BUS_FILE_BYTES_MAX);
        return false;
    }
    tree = node_read(arena, file, faults);
    if (tree == NULL)
        return false;
    if (tree->kind != NODE_MAP) {
        fault_error(faults, "bus.type", tree->at, "a bus file must be a map of settings");
        return false;
    }
    read_top(&walk, tree);
    fill_defaults(&walk);
    bus_check(spec, &marks, faults);
    return faults->errors == before && !faults->failed;
}

/* ---- the stored form ---- */

static void write_settings(struct json_writer *w, struct arena *arena, const struct bus_spec *spec)
{
    struct setting_writer writer = { .arena = arena, .w = w };

    for (size_t i = 0; i < BUS_SETTING_COUNT; i++) {
        if (bus_setting_is_for(&BUS_SETTINGS[i], spec->type))
            setting_writer_add(&writer, &BUS_SETTINGS[i].setting, spec);
    }
    setting_writer_end(&writer);
}

bool bus_compile(struct arena *arena, const struct bus_spec *spec, struct bus_text *text,
                 struct error *err)
{
    struct json_writer w;
    struct hash_sum sum;
    struct buf out;

    buf_init(&out, arena, (size_t)4 * BUS_FILE_BYTES_MAX);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_member_str(&w, STR("bus"), spec->name);
    write_settings(&w, arena, spec);
    json_write_end(&w);
    if (!buf_ok(&out, err))
        return false;
    json_writer_finish(&w);
    if (!json_canonical_text(arena, buf_str(&out), &text->json, err) ||
        !hash_of(text->json, &sum, err))
        return false;
    hash_hex(&sum, text->hash);
    return true;
}

bool bus_load(struct arena *arena, struct str json, struct bus_spec *spec, struct error *err)
{
    struct fault_list faults;
    struct bus_text again;

    fault_list_init(&faults, arena);
    if (!bus_read(arena, json, &faults, spec)) {
        const struct str first = faults.count > 0 ? faults.items[0].message : STR("no reason");

        if (faults.failed)
            return arena_error(arena, err);
        return error_set(err, ERROR_FATAL, "bus.spec",
                         "the stored description of the bus is not valid: %.*s", STR_ARG(first));
    }
    if (!bus_compile(arena, spec, &again, err))
        return false;
    return str_eq(again.json, json) ||
           error_set(err, ERROR_FATAL, "bus.spec",
                     "the stored description of the bus %.*s is not what patra writes: apply its "
                     "file again",
                     STR_ARG(spec->name));
}

/* ---- for people ---- */

static bool same(const struct registry_value *a, const struct registry_value *b)
{
    return a->is_set == b->is_set && a->number == b->number && str_eq(a->text, b->text);
}

size_t bus_diff(struct arena *arena, const struct bus_spec *old, const struct bus_spec *new,
                struct buf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < BUS_SETTING_COUNT; i++) {
        const struct bus_setting *row = &BUS_SETTINGS[i];
        struct registry_value before = { 0 }, after = { 0 };

        if ((old != NULL && bus_setting_is_for(row, old->type) &&
             !setting_get(arena, &row->setting, old, &before)) ||
            (bus_setting_is_for(row, new->type) && !setting_get(arena, &row->setting, new, &after)))
            out->failed = true;
        if (same(&before, &after))
            continue;
        count++;
        buf_printf(out, "%c %s: ",
                   !before.is_set  ? '+'
                   : !after.is_set ? '-'
                                   : '~',
                   row->setting.path);
        if (before.is_set)
            setting_print(&row->setting, &before, out);
        if (before.is_set && after.is_set)
            buf_add(out, STR(" -> "));
        if (after.is_set)
            setting_print(&row->setting, &after, out);
        buf_add_char(out, '\n');
    }
    return count;
}

void bus_print(struct arena *arena, const struct bus_spec *spec, struct buf *out)
{
    struct str group = { 0 };

    buf_printf(out, "bus: %.*s\n", STR_ARG(spec->name));
    for (size_t i = 0; i < BUS_SETTING_COUNT; i++) {
        const struct bus_setting *row = &BUS_SETTINGS[i];
        const struct str name = setting_name(&row->setting);
        struct registry_value value;

        if (!bus_setting_is_for(row, spec->type))
            continue;
        if (!setting_get(arena, &row->setting, spec, &value))
            out->failed = true;
        if (!value.is_set)
            continue;
        if (!str_eq(group, setting_group(&row->setting))) {
            group = setting_group(&row->setting);
            if (group.len > 0)
                buf_printf(out, "%.*s:\n", STR_ARG(group));
        }
        buf_printf(out, "%s%.*s: ", group.len > 0 ? "  " : "", STR_ARG(name));
        setting_print(&row->setting, &value, out);
        buf_add_char(out, '\n');
    }
}
