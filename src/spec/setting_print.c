/* Values as a source file writes them. */
#include <string.h>

#include "base/duration.h"
#include "core/source_codes.h"
#include "data/json.h"
#include "data/json_number.h"
#include "data/utf8.h"
#include "spec/setting_value.h"

#define KIB INT64_C(1024)
#define MIB (KIB * 1024)

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_./$()*+=@;~-", c) != NULL);
}

/* Deliberately narrow: a text is quoted unless it is certain to read back the same without quotes.
 */
static bool is_plain(struct str text)
{
    if (text.len == 0 || json_is_valid(text) || !is_word(text.data[0]) ||
        strchr("*+=@;~-.)", text.data[0]) != NULL)
        return false;
    for (size_t i = 1; i < text.len; i++) {
        const char c = text.data[i];
        const bool goes_on = i + 1 < text.len && is_word(text.data[i + 1]);

        if (!is_word(c) && !((c == ' ' || c == ':') && goes_on))
            return false;
    }
    return true;
}

/* Characters that YAML rejects, folds or interprets between double quotes. */
static bool needs_escape(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point <= 0x9F) || point == 0x2028 || point == 0x2029 ||
           point == 0xFEFF || point == 0xFFFE || point == 0xFFFF;
}

void setting_print_text(struct str text, struct buf *out)
{
    const char *at = text.data, *end = at + text.len;

    if (is_plain(text)) {
        buf_add(out, text);
        return;
    }
    buf_add_char(out, '"');
    while (at < end) {
        const char *from = at;
        const uint32_t point = utf8_next(&at, end);

        if (needs_escape(point))
            buf_printf(out, "\\u%04X", (unsigned)point);
        else if (point == '"' || point == '\\')
            buf_printf(out, "\\%c", (int)point);
        else
            buf_add(out, (struct str){ from, (size_t)(at - from) });
    }
    buf_add_char(out, '"');
}

static void print_code(struct str code, struct buf *out)
{
    for (size_t i = 0; i < code.len; i++)
        buf_add_char(out, code.data[i] >= 'A' && code.data[i] <= 'Z' ? (char)(code.data[i] + 32)
                                                                     : code.data[i]);
}

static void print_node(const struct json_doc *doc, struct json_node node, struct buf *out);

static void print_string(const struct json_doc *doc, struct json_node node, struct buf *out)
{
    struct error err;
    struct str text;

    if (json_string(doc, node, out->arena, &text, &err))
        setting_print_text(text, out);
    else
        out->failed = true;
}

static void print_children(const struct json_doc *doc, struct json_node node, struct buf *out)
{
    const bool is_map = json_type(doc, node) == JSON_OBJECT;
    struct json_iter it;

    buf_add(out, is_map ? STR("{ ") : STR("["));
    for (it = json_each(doc, node); json_next(&it);) {
        if (it.index > 0)
            buf_add(out, STR(", "));
        if (is_map) {
            print_string(doc, it.name, out);
            buf_add(out, STR(": "));
        }
        print_node(doc, it.value, out);
    }
    buf_add(out, is_map ? STR(" }") : STR("]"));
}

static void print_node(const struct json_doc *doc, struct json_node node, struct buf *out)
{
    switch (json_type(doc, node)) {
    case JSON_STRING:
        print_string(doc, node, out);
        break;
    case JSON_OBJECT:
    case JSON_ARRAY:
        if (json_count(doc, node) > 0) {
            print_children(doc, node, out);
            break;
        }
        buf_add(out, json_raw(doc, node));
        break;
    default:
        buf_add(out, json_raw(doc, node));
        break;
    }
}

static void print_json(const struct setting *setting, struct str json, struct buf *out)
{
    const bool is_codes = setting->type == SETTING_CODES || setting->type == SETTING_SHARES;
    struct json_doc doc;
    struct error err;
    struct buf own;

    buf_init(&own, out->arena, out->limit);
    if (!json_parse(&doc, out->arena, json, &err)) {
        out->failed = true; /* rows come from setting_read, or from a store that verified them */
        return;
    }
    print_node(&doc, json_root(&doc), &own);
    out->failed |= own.failed;
    if (is_codes)
        print_code(buf_str(&own), out);
    else
        buf_add(out, buf_str(&own));
}

static void print_size(int64_t bytes, struct buf *out)
{
    if (bytes >= MIB && bytes % MIB == 0)
        buf_printf(out, "%lldMiB", (long long)(bytes / MIB));
    else if (bytes >= KIB && bytes % KIB == 0)
        buf_printf(out, "%lldKiB", (long long)(bytes / KIB));
    else
        buf_add_i64(out, bytes);
}

void setting_print(const struct setting *setting, const struct registry_value *value,
                   struct buf *out)
{
    char text[JSON_NUMBER_TEXT_MAX + DURATION_TEXT_MAX];

    switch (setting_storage(setting)) {
    case REGISTRY_TEXT:
        if (setting->type == SETTING_CODE && setting->codes != &ERROR_LEVEL_CODES)
            print_code(value->text, out);
        else
            setting_print_text(value->text, out);
        break;
    case REGISTRY_INT:
        if (setting->type == SETTING_SIZE)
            print_size(value->number, out);
        else
            buf_add_i64(out, value->number);
        break;
    case REGISTRY_REAL:
        buf_add(out, (struct str){ text, json_number_format(value->real, text) });
        break;
    case REGISTRY_BOOL:
        buf_add(out, value->number != 0 ? STR("true") : STR("false"));
        break;
    case REGISTRY_DURATION:
        buf_add(out, (struct str){ text, duration_format_us(value->number, text) });
        break;
    case REGISTRY_JSON:
        print_json(setting, value->text, out);
        break;
    }
}
