/* Scalar settings: from a node of the file to a value, with every fault that the value itself
 * shows. */
#include "spec/setting_value.h"

#include <assert.h>
#include <string.h>

#include "base/duration.h"
#include "base/instant.h"
#include "data/date.h"
#include "data/json_number.h"
#include "data/url.h"
#include "spec/setting_list.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Every value is one line without control characters: it is used in requests, logs and tables. */
static bool text_of(const struct value_reader *reader, const struct node *node, struct str *text)
{
    if (node->kind != NODE_SCALAR)
        return value_fault(reader, "spec.type", node->at, "must be a %s, not a %s",
                           setting_type_name(reader->setting->type),
                           node->kind == NODE_LIST ? "list" : "map");
    if (node->style == NODE_PLAIN &&
        (node->text.len == 0 || str_eq(node->text, STR("~")) || str_eq(node->text, STR("null")))) {
        (void)value_fault(reader, "spec.type", node->at, "has no value");
        fault_hint(reader->faults,
                   "remove the key to inherit the value, or write \"\" for an empty text");
        return false;
    }
    for (size_t i = 0; i < node->text.len; i++) {
        const unsigned char c = (unsigned char)node->text.data[i];

        if (c >= 0x20 && c != 0x7F)
            continue;
        (void)value_fault(reader, "spec.control", node_mark(node, reader->file, i),
                          "contains a line break or control character");
        fault_hint(reader->faults, "write long texts with >-, which joins their lines");
        return false;
    }
    *text = node->text;
    return true;
}

static bool read_bool(const struct value_reader *reader, const struct node *node, struct str text,
                      struct registry_value *value)
{
    value->number = str_eq(text, STR("true"));
    if (node->style == NODE_PLAIN && (value->number || str_eq(text, STR("false"))))
        return true;
    (void)value_fault(reader, "spec.type", node->at, "must be true or false, not '%.*s'",
                      STR_ARG(text));
    fault_hint(reader->faults,
               "write true or false in lower case, without quotes; yes and no are not accepted");
    return false;
}

static void print_bound(char out[JSON_NUMBER_TEXT_MAX + DURATION_TEXT_MAX],
                        const struct setting *setting, double bound)
{
    size_t len;

    if (setting->type == SETTING_DURATION)
        len = duration_format_us((int64_t)bound, out);
    else
        len = json_number_format(bound, out);
    out[len] = '\0';
}

static bool in_range(const struct value_reader *reader, const struct node *node, double number)
{
    char min[JSON_NUMBER_TEXT_MAX + DURATION_TEXT_MAX];
    char max[JSON_NUMBER_TEXT_MAX + DURATION_TEXT_MAX];
    const struct setting *setting = reader->setting;

    if (number >= setting->min && number <= setting->max)
        return true;
    print_bound(min, setting, setting->min);
    print_bound(max, setting, setting->max);
    (void)value_fault(reader, "spec.range", node->at, "'%.*s' is out of range",
                      STR_ARG(node->text));
    fault_hint(reader->faults, "use a value from %s to %s", min, max);
    return false;
}

static bool read_int(const struct value_reader *reader, const struct node *node, struct str text,
                     struct registry_value *value)
{
    if (!str_to_i64(text, &value->number))
        return value_fault(reader, "spec.type", node->at, "must be a whole number, not '%.*s'",
                           STR_ARG(text));
    return in_range(reader, node, (double)value->number);
}

/* Digits with an optional fraction; no sign, because no setting is negative. */
static bool is_number(struct str text)
{
    size_t digits = 0, i = 0;

    for (; i < text.len && is_digit(text.data[i]); i++)
        digits++;
    if (digits == 0 || (digits > 1 && text.data[0] == '0'))
        return false;
    if (i < text.len && text.data[i] == '.') {
        if (i + 1 == text.len || !is_digit(text.data[i + 1]))
            return false;
        for (i++; i < text.len && is_digit(text.data[i]);)
            i++;
    }
    return i == text.len;
}

static bool read_real(const struct value_reader *reader, const struct node *node, struct str text,
                      struct registry_value *value)
{
    if (text.len > 30 || !is_number(text))
        return value_fault(reader, "spec.type", node->at, "must be a number, not '%.*s'",
                           STR_ARG(text));
    value->real = json_number_double(text);
    return in_range(reader, node, value->real);
}

static bool read_size(const struct value_reader *reader, const struct node *node, struct str text,
                      struct registry_value *value)
{
    static const struct {
        struct str unit;
        int64_t bytes;
    } units[] = {
        { STR_INIT("KiB"), 1024 },
        { STR_INIT("MiB"), INT64_C(1024) * 1024 },
        { STR_INIT("GiB"), INT64_C(1024) * 1024 * 1024 },
        { STR_INIT(""), 1 },
    };
    size_t u = 0;

    while (!str_ends(text, units[u].unit))
        u++;
    if (!str_to_i64(str_slice(text, 0, text.len - units[u].unit.len), &value->number) ||
        value->number < 0 || value->number > INT64_MAX / units[u].bytes) {
        (void)value_fault(reader, "spec.type", node->at, "must be a size, not '%.*s'",
                          STR_ARG(text));
        fault_hint(reader->faults,
                   "write a number of bytes, or a number with KiB, MiB or GiB: 64MiB");
        return false;
    }
    value->number *= units[u].bytes;
    return in_range(reader, node, (double)value->number);
}

static bool read_duration(const struct value_reader *reader, const struct node *node,
                          struct str text, struct registry_value *value)
{
    struct error err;

    if (!duration_parse_us(text, &value->number, &err)) {
        (void)value_fault(reader, "spec.type", node->at, "must be a duration, not '%.*s'",
                          STR_ARG(text));
        fault_hint(reader->faults,
                   "write a number with us, ms, s, m, h, d or w: 500ms, 15m, 1d12h");
        return false;
    }
    return in_range(reader, node, (double)value->number);
}

static bool read_instant(const struct value_reader *reader, const struct node *node,
                         struct str text, struct registry_value *value)
{
    char iso[INSTANT_TEXT_MAX];
    struct date date;
    struct error err;

    if (!date_parse(date_format_find(STR("auto")), text, &date, &err) ||
        date.precision < DATE_DAY) {
        (void)value_fault(reader, "spec.type", node->at, "must be a date, not '%.*s'",
                          STR_ARG(text));
        fault_hint(reader->faults, "write it in UTC: 2026-01-31 or 2026-01-31T10:00:00Z");
        return false;
    }
    value->text = (struct str){ iso, instant_format(date.at_us, iso) };
    value->text = arena_copy(reader->arena, value->text);
    reader->faults->failed |= value->text.data == NULL;
    return value->text.data != NULL;
}

static bool read_url(const struct value_reader *reader, const struct node *node, struct str text,
                     struct registry_value *value)
{
    struct error err;
    struct url url;

    if (!url_parse(text, &url, &err) ||
        (!str_eq(url.scheme, STR("https")) && !str_eq(url.scheme, STR("http")))) {
        (void)value_fault(reader, "spec.url", node->at, "must be an absolute URL");
        fault_hint(reader->faults, "write scheme and host: https://api.example.org/v1");
        return false;
    }
    if (url.userinfo.data != NULL) {
        (void)value_fault(reader, "spec.secret.literal", node->at, "contains a user or password");
        fault_hint(reader->faults, "write them under auth, by reference: secret: env:NAME");
        return false;
    }
    if (url.query.data != NULL || url.fragment.data != NULL) {
        (void)value_fault(reader, "spec.url", node->at, "must not have a query or fragment");
        fault_hint(reader->faults, "write parameters under query");
        return false;
    }
    value->text = text;
    return true;
}

static bool read_name(const struct value_reader *reader, const struct node *node, struct str text,
                      struct registry_value *value)
{
    value->text = text;
    if (setting_is_name(text))
        return true;
    (void)value_fault(reader, "spec.name", node->at, "'%.*s' is not a name", STR_ARG(text));
    fault_hint(reader->faults,
               "use letters, digits, - and _, starting with a letter, at most %d characters",
               SETTING_NAME_MAX);
    return false;
}

bool setting_is_name(struct str text)
{
    if (text.len == 0 || text.len > SETTING_NAME_MAX || !is_letter(text.data[0]))
        return false;
    for (size_t i = 1; i < text.len; i++) {
        const char c = text.data[i];

        if (!is_letter(c) && !is_digit(c) && c != '_' && c != '-')
            return false;
    }
    return true;
}

bool setting_is_header(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];

        if (!is_letter(c) && !is_digit(c) && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL))
            return false;
    }
    return text.len > 0 && text.len <= SETTING_NAME_MAX;
}

bool setting_is_reference(struct str text)
{
    struct str name;

    if (str_starts(text, STR("file:")))
        return text.len > 6 && text.data[5] == '/';
    if (!str_starts(text, STR("env:")))
        return false;
    name = str_slice(text, 4, text.len);
    for (size_t i = 0; i < name.len; i++) {
        if (!is_letter(name.data[i]) && name.data[i] != '_' && (i == 0 || !is_digit(name.data[i])))
            return false;
    }
    return name.len > 0;
}

/* The message does not quote the text: it may be the secret. */
static bool read_secret(const struct value_reader *reader, const struct node *node, struct str text,
                        struct registry_value *value)
{
    value->text = text;
    if (setting_is_reference(text))
        return true;
    (void)value_fault(reader, "spec.secret.literal", node->at,
                      "must be a reference to the secret, not the secret itself");
    fault_hint(reader->faults,
               "write env:NAME for an environment variable, or file:/absolute/path");
    return false;
}

static bool read_value(const struct value_reader *reader, const struct node *node, struct str text,
                       struct registry_value *value)
{
    const size_t at = str_find(text, STR("://"));
    const struct str host = str_slice(text, at + 3, text.len);

    value->text = text;
    if (at < text.len && str_find_char(host, '@') < str_find_char(host, '/')) {
        (void)value_fault(reader, "spec.secret.literal", node->at, "contains a user or password");
        fault_hint(reader->faults, "put the whole URL into an environment variable: env:NAME");
        return false;
    }
    if ((!str_starts(text, STR("env:")) && !str_starts(text, STR("file:"))) ||
        setting_is_reference(text))
        return true;
    (void)value_fault(reader, "spec.reference", node->at, "is not a valid reference");
    fault_hint(reader->faults,
               "write env:NAME for an environment variable, or file:/absolute/path");
    return false;
}

static bool read_header(const struct value_reader *reader, const struct node *node, struct str text,
                        struct registry_value *value)
{
    value->text = text;
    if (setting_is_header(text))
        return true;
    return value_fault(reader, "spec.name", node->at, "'%.*s' is not a header name", STR_ARG(text));
}

static bool read_scalar(const struct value_reader *reader, const struct node *node, struct str text,
                        struct registry_value *value)
{
    switch (reader->setting->type) {
    case SETTING_BOOL:
        return read_bool(reader, node, text, value);
    case SETTING_INT:
        return read_int(reader, node, text, value);
    case SETTING_REAL:
        return read_real(reader, node, text, value);
    case SETTING_SIZE:
        return read_size(reader, node, text, value);
    case SETTING_DURATION:
        return read_duration(reader, node, text, value);
    case SETTING_INSTANT:
        return read_instant(reader, node, text, value);
    case SETTING_URL:
        return read_url(reader, node, text, value);
    case SETTING_NAME:
        return read_name(reader, node, text, value);
    case SETTING_SECRET:
        return read_secret(reader, node, text, value);
    case SETTING_VALUE:
        return read_value(reader, node, text, value);
    case SETTING_HEADER:
        return read_header(reader, node, text, value);
    case SETTING_CODE:
        return value_code(reader, node, &value->text);
    default:
        value->text = text;
        return true;
    }
}

bool setting_read(const struct value_reader *reader, const struct node *node,
                  struct registry_value *value)
{
    struct str text = { 0 };

    *value = (struct registry_value){ 0 };
    if (node->is_broken)
        return false;
    if (setting_storage(reader->setting) == REGISTRY_JSON)
        value->is_set = value_list(reader, node, &value->text);
    else
        value->is_set = text_of(reader, node, &text) && read_scalar(reader, node, text, value);
    return value->is_set;
}

bool setting_read_text(const struct value_reader *reader, struct str text,
                       struct registry_value *value)
{
    struct node scalar = { .kind = NODE_SCALAR, .style = NODE_PLAIN, .text = text };
    const struct node *node = &scalar;

    if (setting_storage(reader->setting) == REGISTRY_JSON || str_starts(text, STR("\""))) {
        node = node_read(reader->arena, text, reader->faults);
        if (node == NULL)
            return false;
    }
    return setting_read(reader, node, value);
}

bool setting_builtin(struct arena *arena, const struct setting *setting,
                     struct registry_value *value)
{
    struct fault_list faults;
    const struct value_reader reader = { arena, &faults, { 0 }, str_of(setting->path), setting };
    bool is_read;

    *value = (struct registry_value){ 0 };
    if (setting->builtin == NULL)
        return true;
    fault_list_init(&faults, arena);
    is_read = setting_read_text(&reader, str_of(setting->builtin), value);
    assert(is_read || faults.failed);
    return is_read;
}
