/* The reference of docs/source-format.md, printed from the tables. */
#include "spec/manual.h"

#include <string.h>

#include "base/duration.h"
#include "core/source_codes.h"
#include "data/date.h"
#include "data/json_number.h"
#include "data/template.h"
#include "spec/setting_value.h"

/* Escapes what would start a cell of a Markdown table. */
static void add_text(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '|')
            buf_add_char(out, '\\');
        buf_add_char(out, text.data[i]);
    }
}

static void add_code(struct buf *out, struct str word)
{
    for (size_t i = 0; i < word.len; i++)
        buf_add_char(out, word.data[i] >= 'A' && word.data[i] <= 'Z' ? (char)(word.data[i] + 32)
                                                                     : word.data[i]);
}

/* ---- settings ---- */

static void add_bound(struct buf *out, const struct setting *setting, double bound)
{
    struct registry_value value = { .is_set = true, .number = (int64_t)bound, .real = bound };

    setting_print(setting, &value, out);
}

void manual_add_type(struct buf *out, const struct setting *setting)
{
    if (setting->type == SETTING_CODE) {
        for (size_t i = 0; i < setting->codes->count; i++) {
            buf_add(out, i > 0 ? STR(", ") : STR(""));
            if (setting->codes == &ERROR_LEVEL_CODES)
                buf_add(out, setting->codes->items[i].code);
            else
                add_code(out, setting->codes->items[i].code);
        }
        return;
    }
    buf_add(out, str_of(setting_type_name(setting->type)));
    if (setting->max <= setting->min)
        return;
    buf_add(out, STR(", "));
    add_bound(out, setting, setting->min);
    buf_add(out, STR(" to "));
    add_bound(out, setting, setting->max);
}

static void add_marks(struct buf *out, const struct setting *setting)
{
    if (setting->is_required)
        buf_add(out, STR(" **Required.**"));
    if (setting->is_override)
        buf_add(out, STR(" A trigger may set it."));
}

static void add_setting(struct buf *out, const struct setting *setting)
{
    buf_printf(out, "| `%s` | ", setting->path);
    manual_add_type(out, setting);
    buf_add(out, STR(" | "));
    if (setting->builtin != NULL)
        buf_printf(out, "`%s`", setting->builtin);
    buf_add(out, STR(" | "));
    add_text(out, str_of(setting->help));
    add_marks(out, setting);
    buf_add(out, STR(" |\n"));
}

static const char *place_of(unsigned at)
{
    if (at == (AT_SOURCE | AT_ENDPOINT))
        return "at the top of the file for all endpoints, or under `endpoints.NAME` for one";
    if (at == AT_SOURCE)
        return "at the top of the file";
    return at == AT_ENDPOINT ? "under `endpoints.NAME`" : "under `operations.NAME`";
}

/* A group is the settings below one name that may be written in the same places. */
static struct str group_of(const struct setting *setting)
{
    struct str rest = str_of(setting->path);
    const struct str first = str_cut(&rest, '.');

    if (rest.len > 0 && setting->at != AT_OPERATION && !str_eq(first, STR("query")) &&
        !str_eq(first, STR("headers")) && !str_eq(first, STR("form")) &&
        !str_eq(first, STR("fields")) && !str_eq(first, STR("details")))
        return first;
    return setting->at == AT_SOURCE     ? STR("the source itself")
           : setting->at == AT_ENDPOINT ? STR("endpoints")
                                        : STR("operations");
}

static void add_groups(struct buf *out)
{
    struct str group = { 0 };
    unsigned at = 0;

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &SETTINGS[i];

        if (!str_eq(group_of(setting), group)) {
            group = group_of(setting);
            at = 0;
            buf_printf(out, "\n### %.*s\n", STR_ARG(group));
        }
        if (setting->at != at) {
            at = setting->at;
            buf_printf(out, "\nWritten %s.\n\n", place_of(at));
            buf_add(out, STR("| setting | value | default | |\n|---|---|---|---|\n"));
        }
        add_setting(out, setting);
    }
}

/* ---- words ---- */

static bool is_first_use(const struct setting *setting)
{
    for (const struct setting *other = SETTINGS; other < setting; other++) {
        if (other->codes == setting->codes)
            return false;
    }
    return setting->codes != NULL;
}

void manual_add_words(struct buf *out, const struct code_table *codes)
{
    buf_printf(out, "\n**%.*s**: %.*s\n\n", STR_ARG(codes->type), STR_ARG(codes->meaning));
    for (size_t c = 0; c < codes->count; c++) {
        buf_add(out, STR("- `"));
        if (codes == &ERROR_LEVEL_CODES)
            buf_add(out, codes->items[c].code);
        else
            add_code(out, codes->items[c].code);
        buf_printf(out, "`: %.*s\n", STR_ARG(codes->items[c].meaning));
    }
}

static void add_words(struct buf *out)
{
    buf_add(out, STR("\n## Words\n\nCase does not matter, and `-` may be written for `_`.\n"));
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (is_first_use(&SETTINGS[i]))
            manual_add_words(out, SETTINGS[i].codes);
    }
}

/* ---- templates and dates ---- */

static void add_templates(struct buf *out)
{
    buf_add(out, STR("\n## Template variables\n\n| variable | |\n|---|---|\n"));
    for (size_t s = 0; s < TEMPLATE_SCOPES; s++) {
        if (s == TEMPLATE_CONST || s == TEMPLATE_EVENT || s == TEMPLATE_COLUMN)
            continue; /* source files have params instead; the others are of projections */
        if (template_scopes[s].free_names)
            buf_printf(out, "| `%s.NAME` | %s |\n", template_scopes[s].name,
                       template_scopes[s].help);
        for (size_t v = 0; v < template_variables_count; v++) {
            if (template_variables[v].scope == (enum template_scope)s)
                buf_printf(out, "| `%s.%s` | %s |\n", template_scopes[s].name,
                           template_variables[v].name, template_variables[v].help);
        }
    }
    buf_add(out, STR("\n## Template functions\n\n| function | |\n|---|---|\n"));
    for (size_t i = 0; template_function(i) != NULL; i++)
        buf_printf(out, "| `%s(%s)` | %s |\n", template_function(i)->name,
                   template_function(i)->arguments, template_function(i)->help);
}

static void add_dates(struct buf *out)
{
    buf_add(out, STR("\n## Date formats\n\n| format | example | |\n|---|---|---|\n"));
    for (size_t i = 0; i < date_formats_count; i++)
        buf_printf(out, "| `%s` | `%s` | %s |\n", date_formats[i].name, date_formats[i].example,
                   date_formats[i].help);
}

void manual_write(struct buf *out)
{
    buf_add(out, STR("## Settings\n"));
    add_groups(out);
    add_words(out);
    add_templates(out);
    add_dates(out);
}
