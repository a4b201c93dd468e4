/* Lookups in the table of settings: by path, by group, by set. */
#include "spec/setting.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"

const struct setting *setting_find(enum setting_level level, struct str path)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if ((SETTINGS[i].at & level) != 0 && str_eq(str_of(SETTINGS[i].path), path))
            return &SETTINGS[i];
    }
    return NULL;
}

/* True when the setting's path continues after `path`; `rest` is what follows the dot. */
static bool is_below(const struct setting *setting, struct str path, struct str *rest)
{
    const struct str whole = str_of(setting->path);

    if (path.len == 0) {
        *rest = whole;
        return true;
    }
    if (whole.len <= path.len || whole.data[path.len] != '.' || !str_starts(whole, path))
        return false;
    *rest = str_slice(whole, path.len + 1, whole.len);
    return true;
}

bool setting_is_group(enum setting_level level, struct str path)
{
    struct str rest;

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if ((SETTINGS[i].at & level) != 0 && is_below(&SETTINGS[i], path, &rest))
            return true;
    }
    return false;
}

bool setting_is_set(enum setting_level level, struct str path)
{
    struct str rest;

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if ((SETTINGS[i].at & level) != 0 && is_below(&SETTINGS[i], path, &rest))
            return str_starts(rest, STR("*."));
    }
    return false;
}

const struct setting *setting_short(enum setting_level level, struct str path)
{
    struct str rest;

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if ((SETTINGS[i].at & level) != 0 && SETTINGS[i].is_short &&
            is_below(&SETTINGS[i], path, &rest))
            return &SETTINGS[i];
    }
    return NULL;
}

const struct setting *setting_next(enum setting_level level, struct str path,
                                   const struct setting *after, struct str *part)
{
    const struct setting *setting = after == NULL ? SETTINGS : after + 1;
    struct str rest, last = { 0 };

    if (after != NULL && is_below(after, path, &rest))
        last = str_cut(&rest, '.');
    for (; setting < SETTINGS + SETTING_COUNT; setting++) {
        if ((setting->at & level) == 0 || !is_below(setting, path, &rest))
            continue;
        *part = str_cut(&rest, '.');
        if (after == NULL || !str_eq(*part, last))
            return setting;
    }
    return NULL;
}

const struct setting_set *setting_set(enum setting_level level, struct str path)
{
    for (size_t i = 0; i < SETTING_SET_COUNT; i++) {
        if (SETTING_SETS[i].level == level && str_eq(str_of(SETTING_SETS[i].path), path))
            return &SETTING_SETS[i];
    }
    return NULL;
}

const struct setting *setting_set_next(const struct setting_set *set, const struct setting *after)
{
    const struct setting *setting = after == NULL ? SETTINGS : after + 1;
    struct str rest;

    for (; setting < SETTINGS + SETTING_COUNT; setting++) {
        if ((setting->at & set->level) != 0 && is_below(setting, str_of(set->path), &rest))
            return setting;
        if (after != NULL)
            return NULL; /* they are adjacent */
    }
    return NULL;
}

struct str setting_key_prefix(const struct setting *setting)
{
    const struct str key = setting->key != NULL ? str_of(setting->key) : STR("");

    return str_slice(key, 0, str_find_char(key, '*'));
}

struct str setting_name(const struct setting *setting)
{
    const char *dot = strrchr(setting->path, '.');

    return str_of(dot != NULL ? dot + 1 : setting->path);
}

const char *setting_type_name(enum setting_type type)
{
    static const char *const names[] = {
        [SETTING_TEXT] = "text",
        [SETTING_URL] = "URL",
        [SETTING_NAME] = "name",
        [SETTING_CODE] = "word",
        [SETTING_BOOL] = "true or false",
        [SETTING_INT] = "whole number",
        [SETTING_REAL] = "number",
        [SETTING_SIZE] = "size in bytes",
        [SETTING_DURATION] = "duration",
        [SETTING_INSTANT] = "date",
        [SETTING_SCHEDULE] = "cron line",
        [SETTING_TEMPLATE] = "template",
        [SETTING_PATH] = "path",
        [SETTING_PATHS] = "path or list of paths",
        [SETTING_HEADER] = "header name",
        [SETTING_SECRET] = "reference to a secret",
        [SETTING_VALUE] = "text or reference",
        [SETTING_TEXTS] = "list of texts",
        [SETTING_CODES] = "list of words",
        [SETTING_STATUSES] = "list of HTTP statuses",
        [SETTING_FUNCTIONS] = "list of functions",
        [SETTING_DATE_FORMATS] = "list of date formats",
        [SETTING_NAMESPACES] = "map of prefixes to URIs",
        [SETTING_SHARES] = "map of operations to percent",
        [SETTING_BODY] = "JSON body",
    };

    assert((size_t)type < ARRAY_LEN(names));
    return names[type];
}

struct str setting_member(const struct setting *setting, char out[SETTING_MEMBER_MAX])
{
    const struct str name = setting_name(setting);
    const struct str unit = setting->type == SETTING_DURATION ? STR("_us")
                            : setting->type == SETTING_SIZE   ? STR("_bytes")
                                                              : STR("");

    assert(name.len + unit.len <= SETTING_MEMBER_MAX);
    memcpy(out, name.data, name.len);
    memcpy(out + name.len, unit.data, unit.len);
    return (struct str){ out, name.len + unit.len };
}

bool setting_is_in_detail(const struct setting *setting)
{
    return !str_starts(str_of(setting->path), STR("window."));
}

enum registry_type setting_storage(const struct setting *setting)
{
    switch (setting->type) {
    case SETTING_TEXT:
    case SETTING_URL:
    case SETTING_NAME:
    case SETTING_CODE:
    case SETTING_INSTANT:
    case SETTING_SCHEDULE:
    case SETTING_TEMPLATE:
    case SETTING_PATH:
    case SETTING_HEADER:
    case SETTING_SECRET:
    case SETTING_VALUE:
        return REGISTRY_TEXT;
    case SETTING_BOOL:
        return REGISTRY_BOOL;
    case SETTING_INT:
    case SETTING_SIZE:
        return REGISTRY_INT;
    case SETTING_REAL:
        return REGISTRY_REAL;
    case SETTING_DURATION:
        return REGISTRY_DURATION;
    case SETTING_PATHS:
    case SETTING_TEXTS:
    case SETTING_CODES:
    case SETTING_STATUSES:
    case SETTING_FUNCTIONS:
    case SETTING_DATE_FORMATS:
    case SETTING_NAMESPACES:
    case SETTING_SHARES:
    case SETTING_BODY:
        break;
    }
    return REGISTRY_JSON;
}

int setting_column(const struct setting *setting)
{
    const int column = registry_column(setting->table, str_of(setting->column));

    assert(column >= 0);
    return column;
}

struct str setting_key(struct arena *arena, const struct setting *setting, struct str name)
{
    const struct str key = setting->key != NULL ? str_of(setting->key) : STR("");
    const size_t star = str_find_char(key, '*');

    if (star == key.len)
        return key;
    return arena_printf(arena, "%.*s%.*s", (int)star, key.data, STR_ARG(name));
}
