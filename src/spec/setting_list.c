/* Settings that are lists, maps and bodies: from a node of the file to canonical JSON. */
#include "spec/setting_list.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/suggest.h"
#include "data/date.h"
#include "data/json_canonical.h"
#include "data/json_number.h"
#include "data/json_write.h"

enum { BODY_DEPTH_MAX = 16, WORDS_MAX = 64 };

bool value_fault(const struct value_reader *reader, const char *code, struct mark at,
                 const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fault_error(reader->faults, code, at, "%.*s %s", STR_ARG(reader->field), text);
    return false;
}

/* Words are stored in upper case and written in lower case. */
static void lower(struct str word, char out[SETTING_NAME_MAX])
{
    size_t i = 0;

    for (; i < word.len && i < SETTING_NAME_MAX - 1; i++)
        out[i] =
            word.data[i] >= 'A' && word.data[i] <= 'Z' ? (char)(word.data[i] + 32) : word.data[i];
    out[i] = '\0';
}

/* Adds the dictionary, the nearest word first, as a hint to the last fault. */
static void hint_codes(const struct value_reader *reader, const struct code_table *codes,
                       struct str word)
{
    char words[WORDS_MAX][SETTING_NAME_MAX], all[512] = "", typed[SETTING_NAME_MAX];
    const char *names[WORDS_MAX], *near;
    size_t len = 0;

    for (size_t i = 0; i < codes->count && i < WORDS_MAX; i++) {
        lower(codes->items[i].code, words[i]);
        names[i] = words[i];
        if (len < sizeof(all))
            len +=
                (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    lower(word, typed);
    near = suggest(str_of(typed), names, codes->count < WORDS_MAX ? codes->count : WORDS_MAX);
    if (near != NULL)
        fault_hint(reader->faults, "did you mean %s? the words are: %s", near, all);
    else
        fault_hint(reader->faults, "use one of: %s", all);
}

bool value_code(const struct value_reader *reader, const struct node *node, struct str *code)
{
    const struct code_table *codes = reader->setting->codes;
    const int value = code_find_written(codes, node->text);

    if (value >= 0) {
        *code = code_of(codes, value);
        return true;
    }
    (void)value_fault(reader, "spec.code", node->at, "'%.*s' is not in the dictionary %.*s",
                      STR_ARG(node->text), STR_ARG(codes->type));
    hint_codes(reader, codes, node->text);
    return false;
}

static bool write_status(const struct value_reader *reader, const struct node *node,
                         struct json_writer *w)
{
    int64_t status;

    if (!str_to_i64(node->text, &status) || status < 100 || status > 599)
        return value_fault(reader, "spec.type", node->at, "'%.*s' is not an HTTP status",
                           STR_ARG(node->text));
    json_write_i64(w, status);
    return true;
}

static bool write_date_format(const struct value_reader *reader, const struct node *node,
                              struct json_writer *w)
{
    const char *names[WORDS_MAX], *near;
    size_t count = 0;

    if (date_format_find(node->text) != NULL) {
        json_write_str(w, node->text);
        return true;
    }
    for (; count < date_formats_count && count < WORDS_MAX; count++)
        names[count] = date_formats[count].name;
    near = suggest(node->text, names, count);
    (void)value_fault(reader, "spec.date-format", node->at, "'%.*s' is not a date format",
                      STR_ARG(node->text));
    if (near != NULL)
        fault_hint(reader->faults, "did you mean %s?", near);
    else
        fault_hint(reader->faults,
                   "use rfc3339, epoch_ms or another format of docs/source-format.md");
    return false;
}

static bool write_text(const struct value_reader *reader, const struct node *node,
                       struct json_writer *w)
{
    if (node->text.len == 0)
        return value_fault(reader, "spec.type", node->at, "contains an empty text");
    json_write_str(w, node->text);
    return true;
}

static bool write_code(const struct value_reader *reader, const struct node *node,
                       struct json_writer *w)
{
    struct str code;

    if (!value_code(reader, node, &code))
        return false;
    json_write_str(w, code);
    return true;
}

static bool write_item(const struct value_reader *reader, const struct node *node,
                       struct json_writer *w)
{
    if (node->is_broken)
        return false;
    if (node->kind != NODE_SCALAR)
        return value_fault(reader, "spec.type", node->at, "must be a %s",
                           setting_type_name(reader->setting->type));
    switch (reader->setting->type) {
    case SETTING_STATUSES:
        return write_status(reader, node, w);
    case SETTING_CODES:
        return write_code(reader, node, w);
    case SETTING_DATE_FORMATS:
        return write_date_format(reader, node, w);
    default:
        return write_text(reader, node, w);
    }
}

static bool write_list(const struct value_reader *reader, const struct node *node,
                       struct json_writer *w)
{
    bool is_good = true;

    if (node->kind == NODE_MAP)
        return value_fault(reader, "spec.type", node->at, "must be a %s",
                           setting_type_name(reader->setting->type));
    if (node->kind == NODE_SCALAR && reader->setting->type == SETTING_PATHS)
        return write_item(reader, node, w);
    json_write_array(w);
    if (node->kind == NODE_SCALAR)
        is_good = write_item(reader, node, w);
    for (size_t i = 0; i < node->count; i++)
        is_good &= write_item(reader, node->entries[i].value, w);
    json_write_end(w);
    return is_good;
}

/* operation: percent */
static bool write_share(const struct value_reader *reader, const struct node_entry *entry,
                        struct json_writer *w, int64_t *sum)
{
    const struct node key = { .text = entry->key, .at = entry->at };
    struct str code;
    int64_t share;

    if (!value_code(reader, &key, &code))
        return false;
    if (!str_to_i64(entry->value->text, &share) || share < 1 || share > 100)
        return value_fault(reader, "spec.range", entry->value->at,
                           "must give each operation 1 to 100 percent");
    json_write_name(w, code);
    json_write_i64(w, share);
    *sum += share;
    return true;
}

static bool write_namespace(const struct value_reader *reader, const struct node_entry *entry,
                            struct json_writer *w)
{
    if (!setting_is_name(entry->key))
        return value_fault(reader, "spec.name", entry->at, "'%.*s' is not a prefix",
                           STR_ARG(entry->key));
    if (entry->value->kind != NODE_SCALAR || entry->value->text.len == 0)
        return value_fault(reader, "spec.type", entry->value->at, "must map prefixes to URIs");
    json_write_name(w, entry->key);
    json_write_str(w, entry->value->text);
    return true;
}

static bool write_map(const struct value_reader *reader, const struct node *node,
                      struct json_writer *w)
{
    int64_t sum = 0;
    bool is_good = true;

    if (node->kind != NODE_MAP)
        return value_fault(reader, "spec.type", node->at, "must be a %s",
                           setting_type_name(reader->setting->type));
    json_write_object(w);
    for (size_t i = 0; i < node->count; i++) {
        if (reader->setting->type == SETTING_SHARES)
            is_good &= write_share(reader, &node->entries[i], w, &sum);
        else
            is_good &= write_namespace(reader, &node->entries[i], w);
    }
    json_write_end(w);
    if (sum <= 100)
        return is_good;
    return value_fault(reader, "spec.rate.shares", node->at, "adds up to more than 100 percent");
}

static bool write_tree(const struct value_reader *reader, const struct node *node, int depth,
                       struct json_writer *w);

static bool write_children(const struct value_reader *reader, const struct node *node, int depth,
                           struct json_writer *w)
{
    bool is_good = true;

    if (depth == BODY_DEPTH_MAX) {
        json_write_null(w); /* the writer expects a value here */
        return value_fault(reader, "spec.range", node->at, "is nested deeper than %d levels",
                           BODY_DEPTH_MAX);
    }
    if (node->kind == NODE_MAP)
        json_write_object(w);
    else
        json_write_array(w);
    for (size_t i = 0; i < node->count; i++) {
        if (node->kind == NODE_MAP)
            json_write_name(w, node->entries[i].key);
        is_good = write_tree(reader, node->entries[i].value, depth + 1, w) && is_good;
    }
    json_write_end(w);
    return is_good;
}

/* Only in a body do plain scalars have JSON's types: true, null and 10 are not texts. */
static bool write_tree(const struct value_reader *reader, const struct node *node, int depth,
                       struct json_writer *w)
{
    if (node->kind == NODE_SCALAR && node->style == NODE_PLAIN && json_is_valid(node->text))
        json_write_raw(w, node->text);
    else if (node->kind == NODE_SCALAR)
        json_write_str(w, node->text);
    else
        return write_children(reader, node, depth, w);
    return !node->is_broken;
}

bool value_list(const struct value_reader *reader, const struct node *node, struct str *json)
{
    struct json_writer w;
    struct error err;
    struct buf out;
    bool is_good;

    buf_init(&out, reader->arena, (size_t)2 * SOURCE_BYTES_MAX);
    json_writer_init(&w, &out);
    switch (reader->setting->type) {
    case SETTING_BODY:
        is_good = write_tree(reader, node, 0, &w);
        break;
    case SETTING_SHARES:
    case SETTING_NAMESPACES:
        is_good = write_map(reader, node, &w);
        break;
    default:
        is_good = write_list(reader, node, &w);
        break;
    }
    if (!is_good)
        return false;
    json_writer_finish(&w);
    if (buf_ok(&out, &err) && json_canonical_text(reader->arena, buf_str(&out), json, &err))
        return true;
    if (err.level != ERROR_DATA) {
        reader->faults->failed = true;
        return false;
    }
    return value_fault(reader, "spec.type", node->at, "has no canonical form: %s", err.text);
}
