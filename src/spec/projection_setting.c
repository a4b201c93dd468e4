/* The tables of the settings of a projection, in the order of the manual, and their members. */
#include "spec/projection_setting.h"

#include <stddef.h>

#include "base/attr.h"
#include "base/instant.h"
#include "spec/manual.h"
#include "spec/projection.h"

/* clang-format off */
#define KIND_OF(owner, member)                         \
    _Generic(((struct owner *)NULL)->member,           \
             bool: SPEC_BOOL,                          \
             int64_t: SPEC_I64,                        \
             unsigned: SPEC_WORD,                      \
             struct str: SPEC_STR)
/* clang-format on */
#define INTO(owner, member)                                              \
    {                                                                    \
        KIND_OF(owner, member), .offset = offsetof(struct owner, member) \
    }
#define INTO_LIST(owner, items, number)                            \
    {                                                              \
        SPEC_TEXTS, .offset = offsetof(struct owner, items),       \
                    .count_offset = offsetof(struct owner, number) \
    }
#define SECONDS(n) ((double)(n)*US_PER_SECOND)
#define MIB(n) ((double)((INT64_C(n)) << 20))

static const struct setting TOP[] = {
    { "projection", .type = SETTING_NAME, .into = INTO(projection_spec, name), .is_required = true,
      .help = "The name of the projection." },
    { "description", .type = SETTING_TEXT, .into = INTO(projection_spec, description),
      .help = "Whom it is for, for lists." },
    { "database", .type = SETTING_TEXT, .builtin = "store", .into = INTO(projection_spec, database),
      .help = "Where the tables are: `store` is the store's own database; env:NAME or file:PATH "
              "say where the address of another one is; anything else is the path of a SQLite "
              "file." },
    { "schema", .type = SETTING_TEXT, .into = INTO(projection_spec, schema),
      .help = "PostgreSQL: the schema of the tables; without it, the first of the search path." },
    { "start", .type = SETTING_CODE, .builtin = "earliest", .codes = &PROJECTION_START_CODES,
      .into = INTO(projection_spec, start),
      .help = "Where a new projection begins in the stream of events." },
    { "on_failure", .type = SETTING_CODE, .builtin = "wait", .codes = &SUBSCRIPTION_POLICY_CODES,
      .into = INTO(projection_spec, on_failure),
      .help = "What an event that cannot be applied means for the later ones of its key." },
    { "retry.first", .type = SETTING_DURATION, .builtin = "1s", .min = SECONDS(0.001),
      .max = SECONDS(3600), .into = INTO(projection_spec, retry_first_us),
      .help = "The wait before such an event is tried again; it doubles from there." },
    { "retry.max", .type = SETTING_DURATION, .builtin = "5m", .min = SECONDS(0.001),
      .max = SECONDS(86400), .into = INTO(projection_spec, retry_max_us),
      .help = "The longest wait." },
    { "retry.attempts", .type = SETTING_INT, .builtin = "20", .min = 0, .max = 1000000,
      .into = INTO(projection_spec, attempts_max),
      .help =
          "After so many the event is a dead letter, and its key goes on; 0: it waits for ever." },
    { "batch.events", .type = SETTING_INT, .builtin = "2000", .min = 1, .max = 10000,
      .into = INTO(projection_spec, batch_events), .help = "Events that are applied at once." },
    { "batch.bytes", .type = SETTING_SIZE, .builtin = "16MiB", .min = 1024, .max = MIB(64),
      .into = INTO(projection_spec, batch_bytes),
      .help = "The most bytes of them; one event may be larger." },
};

static const struct setting TABLE[] = {
    { "managed", .type = SETTING_BOOL, .builtin = "true",
      .into = INTO(projection_table, is_managed),
      .help = "Whether patra makes and changes the table. A table of your own is compared with the "
              "file, and never altered." },
    { "key.type", .type = SETTING_TEXT, .builtin = "aggregate_type",
      .into = INTO(projection_table, type_column),
      .help = "The column with the type of the aggregate (`crossref/works`); `none`: the table has "
              "no such column, and shows aggregates of one type." },
    { "key.id", .type = SETTING_TEXT, .builtin = "aggregate_id",
      .into = INTO(projection_table, id_column),
      .help = "The column with the id of the record or aggregate." },
    { "version", .type = SETTING_TEXT, .builtin = "version",
      .into = INTO(projection_table, version_column),
      .help = "The column with the version of the event that the row shows." },
    { "on_delete", .type = SETTING_CODE, .builtin = "mark", .codes = &PROJECTION_ON_DELETE_CODES,
      .into = INTO(projection_table, on_delete), .help = "What becomes of a deleted row." },
    { "deleted", .type = SETTING_TEXT, .into = INTO(projection_table, deleted_column),
      .help = "`on_delete: mark`: the column that says so; by default `deleted`." },
};

static const struct setting COLUMN[] = {
    { "type", .type = SETTING_CODE, .builtin = "text", .codes = &FIELD_TYPE_CODES,
      .into = INTO(projection_column, type),
      .help = "What its values are; one that does not fit is an error of its event." },
    { "path", .type = SETTING_TEXT, .into = INTO(projection_column, value.path),
      .help = "Where the value is in the event's JSON." },
    { "value", .type = SETTING_TEXT, .into = INTO(projection_column, value.template),
      .help = "Instead of a path: a template, `${lower(column.doi)}`." },
    { "list", .type = SETTING_BOOL, .builtin = "false", .into = INTO(projection_column, is_list),
      .help = "All values that the path finds, as a JSON array; else the first." },
    { "not_null", .type = SETTING_BOOL, .builtin = "false",
      .into = INTO(projection_column, not_null), .help = "A row without a value is an error." },
};

static const struct setting SOURCE[] = {
    { "aggregates", .type = SETTING_TEXTS, .is_required = true,
      .into = INTO_LIST(projection_source, aggregates, aggregate_count),
      .help = "Whose events: `crossref/works`, `video`; a star at the end stands for the rest." },
    { "events", .type = SETTING_TEXTS, .into = INTO_LIST(projection_source, types, type_count),
      .help = "Only events of these types. Without it all, and RecordDeleted deletes." },
    { "effect", .type = SETTING_CODE, .builtin = "replace", .codes = &PROJECTION_EFFECT_CODES,
      .into = INTO(projection_source, effect), .help = "What they do to their row." },
    { "where", .type = SETTING_TEXT, .into = INTO(projection_source, where),
      .help = "Only events for which this is true: a filter expression of JSONPath, where @ is the "
              "event: `@.fields.type == 'journal-article'`." },
};

static const struct setting CHILD[] = {
    { "ordinal", .type = SETTING_TEXT, .builtin = "ordinal",
      .into = INTO(projection_child, ordinal),
      .help = "The column with the number of the row among those of its parent, from 1." },
    { "each", .type = SETTING_TEXT, .into = INTO(projection_child, each),
      .help = "The path of the elements that become rows: `$.fields.authors[*]`." },
};

static const struct projection_part TOP_PARTS[] = {
    { "tables", "The tables, by name. **Required.**" },
    { 0 },
};
static const struct projection_part TABLE_PARTS[] = {
    { "columns", "Its columns, by name, in this order. A text instead of a map is a path, or with "
                 "`${` a template." },
    { "indexes", "A list; each item is a column, or a list of columns." },
    { "from", "A list: whose events the table shows, and how. The first that takes an event "
              "counts. **Required.**" },
    { "children", "Tables of rows that belong to a row of this one, by name." },
    { 0 },
};
static const struct projection_part COLUMN_PARTS[] = { { 0 } };
static const struct projection_part SOURCE_PARTS[] = {
    { "columns", "Paths or templates for these events, by column; others as the column says." },
    { "children", "`each` and `columns` of a child for these events, by name." },
    { 0 },
};
static const struct projection_part CHILD_PARTS[] = {
    { "columns", "As in a table; `$` is the element." },
    { "indexes", "As in a table." },
    { 0 },
};

const struct projection_level PROJECTION_TOP = { "The file", TOP, ARRAY_LEN(TOP), TOP_PARTS };
const struct projection_level PROJECTION_TABLE = { "tables.NAME", TABLE, ARRAY_LEN(TABLE),
                                                   TABLE_PARTS };
const struct projection_level PROJECTION_COLUMN = { "columns.NAME", COLUMN, ARRAY_LEN(COLUMN),
                                                    COLUMN_PARTS };
const struct projection_level PROJECTION_SOURCE = { "from", SOURCE, ARRAY_LEN(SOURCE),
                                                    SOURCE_PARTS };
const struct projection_level PROJECTION_CHILD = { "children.NAME", CHILD, ARRAY_LEN(CHILD),
                                                   CHILD_PARTS };

const struct setting *projection_setting_find(const struct projection_level *level, struct str path)
{
    for (size_t i = 0; i < level->count; i++) {
        if (str_eq(str_of(level->rows[i].path), path))
            return &level->rows[i];
    }
    return NULL;
}

/* ---- the manual ---- */

static void add_level(struct buf *out, const struct projection_level *level)
{
    buf_printf(out, "### %s\n\n| key | value | default | |\n|---|---|---|---|\n", level->title);
    for (size_t i = 0; i < level->count; i++) {
        const struct setting *row = &level->rows[i];

        buf_printf(out, "| `%s` | ", row->path);
        manual_add_type(out, row);
        buf_add(out, STR(" | "));
        if (row->builtin != NULL)
            buf_printf(out, "`%s`", row->builtin);
        buf_printf(out, " | %s%s |\n", row->help, row->is_required ? " **Required.**" : "");
    }
    for (const struct projection_part *part = level->parts; part->name != NULL; part++)
        buf_printf(out, "| `%s` | | | %s |\n", part->name, part->help);
    buf_add_char(out, '\n');
}

void projection_manual_write(struct buf *out)
{
    static const struct projection_level *const LEVELS[] = {
        &PROJECTION_TOP,    &PROJECTION_TABLE, &PROJECTION_COLUMN,
        &PROJECTION_SOURCE, &PROJECTION_CHILD,
    };

    buf_add(out, STR("## Keys\n\n"));
    for (size_t i = 0; i < ARRAY_LEN(LEVELS); i++)
        add_level(out, LEVELS[i]);
    buf_add(out, STR("### Words\n\nCase does not matter, and `-` may be written for `_`.\n"));
    manual_add_words(out, &PROJECTION_START_CODES);
    manual_add_words(out, &SUBSCRIPTION_POLICY_CODES);
    manual_add_words(out, &PROJECTION_ON_DELETE_CODES);
    manual_add_words(out, &PROJECTION_EFFECT_CODES);
    manual_add_words(out, &FIELD_TYPE_CODES);
}
