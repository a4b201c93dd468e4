/* Reading the file of a foreign outbox, and its stored form. */
#include "spec/import.h"

#include <assert.h>
#include <stddef.h>

#include "base/instant.h"
#include "base/suggest.h"
#include "data/json_canonical.h"
#include "data/json_write.h"
#include "spec/node.h"
#include "spec/setting_member.h"
#include "spec/setting_value.h"

/* clang-format off */
#define KIND_OF(member)                                \
    _Generic(((struct import_spec *)NULL)->member,     \
             int64_t: SPEC_I64,                        \
             unsigned: SPEC_WORD,                      \
             struct str: SPEC_STR)
/* clang-format on */
#define INTO(member)                                                    \
    {                                                                   \
        KIND_OF(member), .offset = offsetof(struct import_spec, member) \
    }
#define COLUMN(name, default, text)                                                             \
    {                                                                                           \
        "columns." #name, .type = SETTING_TEXT, .builtin = default, .into = INTO(columns.name), \
                          .help = text                                                          \
    }

/* In the order of the manual. */
static const struct setting SETTINGS_OF_IMPORT[] = {
    { "outbox", .type = SETTING_NAME, .into = INTO(name), .is_required = true,
      .help = "The name of the import." },
    { "description", .type = SETTING_TEXT, .into = INTO(description),
      .help = "Whose it is, for lists." },
    { "database", .type = SETTING_VALUE, .into = INTO(database), .is_required = true,
      .help = "Where its address is (postgresql://...): env:NAME or file:PATH; `store` is the "
              "store's own database." },
    { "table", .type = SETTING_TEXT, .builtin = "app_outbox", .into = INTO(table),
      .help = "The table, with its schema where it is not in the search path: shop.app_outbox." },
    { "payload", .type = SETTING_CODE, .builtin = "json", .codes = &IMPORT_PAYLOAD_CODES,
      .into = INTO(payload), .help = "What payloads are: `json` or `bytes`." },
    { "late", .type = SETTING_CODE, .builtin = "refuse", .codes = &IMPORT_LATE_CODES,
      .into = INTO(late),
      .help = "What becomes of a version that is committed after a higher one was imported: "
              "`refuse` or `take`." },
    { "type_prefix", .type = SETTING_TEXT, .into = INTO(type_prefix),
      .help = "Written before aggregate types, so that those of two services differ: `shop/`." },
    { "page", .type = SETTING_INT, .builtin = "500", .min = 1, .max = 10000, .into = INTO(page),
      .help = "How many rows are read at once." },
    { "poll", .type = SETTING_DURATION, .builtin = "1s", .min = 5 * US_PER_MS,
      .max = 3600.0 * US_PER_SECOND, .into = INTO(poll_us),
      .help = "The longest pause between two looks at the table; the shortest is 5 ms." },
    COLUMN(id, "id", "The event's id; a UUID is kept as the event's id."),
    COLUMN(aggregate_type, "aggregate_type", "What changed: video."),
    COLUMN(aggregate_id, "aggregate_id", "Which one: what order is kept by."),
    COLUMN(event_type, "event_type", "What happened: VideoPublished."),
    COLUMN(version, "version", "The number of the change, growing within an aggregate."),
    COLUMN(schema_version, "schema_version", "The payload's; without the column it is 1."),
    COLUMN(payload, "payload", "jsonb, json, text or bytea; published as it is."),
    COLUMN(occurred_at, "occurred_at", "When it happened; the order of looking, nothing else."),
    COLUMN(published_at, "published_at", "Set when the event is imported."),
    COLUMN(publish_attempts, "publish_attempts", "Counts refusals of a row."),
    COLUMN(next_retry_at, "next_retry_at", "When a refused row is looked at again."),
    COLUMN(last_error, NULL, "Where the reason of a refusal is written; not without this."),
};
enum { ROWS = sizeof(SETTINGS_OF_IMPORT) / sizeof(SETTINGS_OF_IMPORT[0]) };

static const struct str GROUP = STR_INIT("columns");

struct place {
    struct mark at;
    bool is_given;
    bool is_broken;
};

struct walk {
    struct arena *arena;
    struct fault_list *faults;
    struct str file;
    struct import_spec *spec;
    struct place places[ROWS];
};

/* ---- keys ---- */

static const struct setting *find(struct str path)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (str_eq(str_of(SETTINGS_OF_IMPORT[i].path), path))
            return &SETTINGS_OF_IMPORT[i];
    }
    return NULL;
}

static void report_unknown(struct walk *walk, const struct node_entry *entry, struct str path)
{
    const char *names[ROWS];
    const char *near;

    for (size_t i = 0; i < ROWS; i++)
        names[i] = SETTINGS_OF_IMPORT[i].path;
    near = suggest(path, names, ROWS);
    fault_error(walk->faults, "import.key.unknown", entry->at, "%.*s is not a known key",
                STR_ARG(path));
    if (near != NULL)
        fault_hint(walk->faults, "did you mean %s?", near);
    else
        fault_hint(walk->faults, "docs/foreign-outboxes.md lists all settings");
}

static void read_setting(struct walk *walk, const struct setting *row, const struct node *node)
{
    const struct value_reader reader = { walk->arena, walk->faults, walk->file, str_of(row->path),
                                         row };
    struct place *place = &walk->places[row - SETTINGS_OF_IMPORT];
    struct registry_value value = { 0 };

    place->at = node->at;
    place->is_given = true;
    place->is_broken = !setting_read(&reader, node, &value);
    if (!place->is_broken && !setting_put(walk->arena, row, &value, walk->spec))
        walk->faults->failed = true;
}

static void read_map(struct walk *walk, struct str group, const struct node *map)
{
    if (map->is_broken)
        return;
    if (map->kind != NODE_MAP) {
        fault_error(walk->faults, "import.type", map->at, "%.*s must be a map of settings",
                    STR_ARG(group.len > 0 ? group : STR("the file")));
        return;
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];
        const struct str path = group.len == 0 ? entry->key
                                               : arena_printf(walk->arena, "%.*s.%.*s",
                                                              STR_ARG(group), STR_ARG(entry->key));
        const struct setting *row = find(path);

        if (path.data == NULL)
            walk->faults->failed = true;
        else if (row != NULL)
            read_setting(walk, row, entry->value);
        else if (group.len == 0 && str_eq(entry->key, GROUP))
            read_map(walk, GROUP, entry->value);
        else
            report_unknown(walk, entry, path);
    }
}

static void fill_defaults(struct walk *walk)
{
    for (size_t i = 0; i < ROWS; i++) {
        const struct setting *row = &SETTINGS_OF_IMPORT[i];
        struct registry_value value;

        if (walk->places[i].is_given)
            continue;
        if (row->is_required)
            fault_error(walk->faults, "import.missing", (struct mark){ 0 }, "%s is missing",
                        row->path);
        else if (!setting_builtin(walk->arena, row, &value) ||
                 !setting_put(walk->arena, row, &value, walk->spec))
            walk->faults->failed = true;
    }
}

/* ---- what the values say together ---- */

static struct mark place_of(const struct walk *walk, const char *path)
{
    return walk->places[find(str_of(path)) - SETTINGS_OF_IMPORT].at;
}

/* An address in the file would be a password in a file and in the store. */
static void check_database(struct walk *walk)
{
    const struct str database = walk->spec->database;

    if (database.len == 0 || str_eq(database, IMPORT_OWN_DATABASE) ||
        setting_is_reference(database))
        return;
    fault_error(walk->faults, "import.database", place_of(walk, "database"),
                "database must be env:NAME, file:PATH or store");
    fault_hint(walk->faults, "write the address into an environment variable or a file");
}

static void check_table(struct walk *walk)
{
    const struct str table = walk->spec->table;
    const size_t dot = str_find_char(table, '.');

    if (dot > 0 && dot + 1 != table.len && table.len <= 2 * 63 + 1)
        return;
    fault_error(walk->faults, "import.table", place_of(walk, "table"),
                "table must be a table's name, or schema.table");
}

/* The name that a setting of a column gives; empty: none. */
static struct str column_of(const struct walk *walk, size_t row)
{
    const struct setting *setting = &SETTINGS_OF_IMPORT[row];

    if (!str_starts(str_of(setting->path), GROUP))
        return (struct str){ 0 };
    return *(const struct str *)((const char *)walk->spec + setting->into.offset);
}

/* Two settings that name one column would read it twice, or write what they read. */
static void check_columns(struct walk *walk)
{
    for (size_t i = 0; i < ROWS; i++) {
        const struct str one = column_of(walk, i);

        if (one.len == 0)
            continue;
        if (one.len > 63)
            fault_error(walk->faults, "import.column", walk->places[i].at,
                        "%s has more than 63 bytes, which no column's name has",
                        SETTINGS_OF_IMPORT[i].path);
        for (size_t k = 0; k < i; k++) {
            if (str_eq(column_of(walk, k), one))
                fault_error(walk->faults, "import.column", walk->places[i].at,
                            "%s and %s are the same column", SETTINGS_OF_IMPORT[i].path,
                            SETTINGS_OF_IMPORT[k].path);
        }
    }
}

bool import_read(struct arena *arena, struct str file, struct fault_list *faults,
                 struct import_spec *spec)
{
    struct walk walk = { arena, faults, file, spec, { { { 0 }, false, false } } };
    const size_t before = faults->errors;
    const struct node *tree;

    *spec = (struct import_spec){ 0 };
    if (file.len > IMPORT_FILE_BYTES_MAX) {
        fault_error(faults, "import.limit", (struct mark){ 0 },
                    "the file of an outbox has at most %d bytes", IMPORT_FILE_BYTES_MAX);
        return false;
    }
    tree = node_read(arena, file, faults);
    if (tree == NULL)
        return false;
    read_map(&walk, (struct str){ 0 }, tree);
    if (tree->kind == NODE_MAP) {
        fill_defaults(&walk);
        check_database(&walk);
        check_table(&walk);
        check_columns(&walk);
    }
    return faults->errors == before && !faults->failed;
}

/* ---- the stored form ---- */

static void write_settings(struct json_writer *w, struct arena *arena,
                           const struct import_spec *spec)
{
    struct setting_writer writer = { .arena = arena, .w = w };

    for (size_t i = 0; i < ROWS; i++)
        setting_writer_add(&writer, &SETTINGS_OF_IMPORT[i], spec);
    setting_writer_end(&writer);
}

bool import_compile(struct arena *arena, const struct import_spec *spec, struct import_text *text,
                    struct error *err)
{
    struct json_writer w;
    struct hash_sum sum;
    struct buf out;

    buf_init(&out, arena, (size_t)4 * IMPORT_FILE_BYTES_MAX);
    json_writer_init(&w, &out);
    json_write_object(&w);
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

bool import_load(struct arena *arena, struct str json, struct import_spec *spec, struct error *err)
{
    struct fault_list faults;

    fault_list_init(&faults, arena);
    if (import_read(arena, json, &faults, spec))
        return true;
    if (faults.failed)
        return arena_error(arena, err);
    return error_set(err, ERROR_FATAL, "import.spec",
                     "the stored description of the outbox is not valid: %.*s",
                     STR_ARG(faults.count > 0 ? faults.items[0].message : STR("no reason")));
}

/* ---- for people ---- */

void import_manual_write(struct buf *out)
{
    buf_add(out, STR("| setting | default | meaning |\n|---|---|---|\n"));
    for (size_t i = 0; i < ROWS; i++) {
        const struct setting *row = &SETTINGS_OF_IMPORT[i];

        buf_printf(out, "| `%s` | ", row->path);
        if (row->builtin != NULL)
            buf_printf(out, "`%s`", row->builtin);
        else if (row->is_required)
            buf_add(out, STR("required"));
        buf_printf(out, " | %s |\n", row->help);
    }
}
