/* random_source: sources made of random settings with random good values, for properties that must
 * have any value a file can have. The rows need not make sense together.
 */
#ifndef PATRA_TEST_RANDOM_SOURCE_H
#define PATRA_TEST_RANDOM_SOURCE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/date.h"
#include "spec/setting.h"
#include "spec/setting_value.h"
#include "spec/source.h"
#include "test.h"

struct random_source {
    struct arena *arena;
    unsigned seed;
    struct source source;
};

static inline size_t pick(struct random_source *random, size_t count)
{
    return (size_t)rand_r(&random->seed) % count;
}

static inline struct str random_text(struct random_source *random)
{
    static const char *const pieces[] = { "a", "Z",  "7",  " ", ":", ": ",  "#", " #",
                                          "'", "\"", "\\", "-", "$", "é",   "€", "[",
                                          "]", "{",  "}",  ",", "&", "true" };
    char text[64] = "t";

    for (size_t n = pick(random, 6); n > 0; n--)
        strcat(text, pieces[pick(random, ARRAY_LEN(pieces))]);
    return arena_copy(random->arena, str_of(text));
}

/* Flow YAML that a setting of this type takes. */
static inline const char *random_flow(struct random_source *random, const struct setting *setting)
{
    static const char *const bodies[] = { "{ a: 1, b: [x, \"1\", true] }", "[]", "hello",
                                          "{ n: null, t: \"${page.size}\" }" };
    static const char *const paths[] = { "$.id", "[$.source, $.id]", "[a, b, c]" };
    static const char *const shares[] = { "{}", "{ harvest: 60, update: 40 }", "{ backfill: 5 }" };
    static const char *const lists[] = { "[]", "[a]", "[a, \"b c\", \"1\"]" };
    static const char *const statuses[] = { "[429, 503]", "[500]", "[]" };
    static const char *const dates[] = { "[auto]", "[epoch_ms, rfc3339]" };
    static const char *const spaces[] = { "{}", "{ a: \"http://a.example/\" }", "{ a: x, b: y }" };
    static char words[64];

    switch (setting->type) {
    case SETTING_BODY:
        return bodies[pick(random, ARRAY_LEN(bodies))];
    case SETTING_PATHS:
        return paths[pick(random, ARRAY_LEN(paths))];
    case SETTING_SHARES:
        return shares[pick(random, ARRAY_LEN(shares))];
    case SETTING_STATUSES:
        return statuses[pick(random, ARRAY_LEN(statuses))];
    case SETTING_DATE_FORMATS:
        return dates[pick(random, ARRAY_LEN(dates))];
    case SETTING_NAMESPACES:
        return spaces[pick(random, ARRAY_LEN(spaces))];
    case SETTING_CODES:
        (void)snprintf(words, sizeof(words), "[%s]",
                       setting->codes->items[pick(random, setting->codes->count)].code.data);
        return words;
    default:
        return lists[pick(random, ARRAY_LEN(lists))];
    }
}

static inline struct str random_number(struct random_source *random, const struct setting *setting)
{
    const double span = setting->max - setting->min;
    const double at = setting->min + span * (double)pick(random, 1000) / 1000;

    if (setting->type == SETTING_REAL)
        return arena_printf(random->arena, "%.3f", at < 0.001 ? 0.5 : at);
    if (setting->type == SETTING_DURATION)
        return arena_printf(random->arena, "%lldus", (long long)at);
    return arena_printf(random->arena, "%lld", (long long)at);
}

/* As a file would write it. */
static inline struct str random_written(struct random_source *random, const struct setting *setting)
{
    switch (setting->type) {
    case SETTING_BOOL:
        return pick(random, 2) == 0 ? STR("true") : STR("false");
    case SETTING_CODE:
        return setting->codes->items[pick(random, setting->codes->count)].code;
    case SETTING_INT:
    case SETTING_REAL:
    case SETTING_SIZE:
    case SETTING_DURATION:
        return random_number(random, setting);
    case SETTING_INSTANT:
        return arena_printf(random->arena, "20%02zu-0%zu-01", pick(random, 100),
                            1 + pick(random, 9));
    case SETTING_SCHEDULE:
        return arena_printf(random->arena, "%zu * * * *", pick(random, 60));
    case SETTING_URL:
        return arena_printf(random->arena, "https://h%zu.example.org", pick(random, 100));
    case SETTING_NAME:
    case SETTING_HEADER:
        return arena_printf(random->arena, "n%zu", pick(random, 100));
    case SETTING_SECRET:
        return arena_printf(random->arena, "env:KEY_%zu", pick(random, 100));
    default:
        return random_text(random);
    }
}

static inline struct registry_value random_value(struct random_source *random,
                                                 const struct setting *setting)
{
    struct fault_list faults;
    const struct value_reader reader = { random->arena, &faults, { 0 }, STR("x"), setting };
    struct registry_value value;
    struct node node = { .kind = NODE_SCALAR };
    bool is_read;

    fault_list_init(&faults, random->arena);
    if (setting_storage(setting) == REGISTRY_JSON)
        is_read = setting_read_text(&reader, str_of(random_flow(random, setting)), &value);
    else {
        node.text = random_written(random, setting);
        is_read = setting_read(&reader, &node, &value);
    }
    if (!is_read)
        test_note("%s: %.*s", setting->path, STR_ARG(faults.items[0].message));
    REQUIRE(is_read, setting->path);
    return value;
}

/* Sets a value, in a row that is made when it is not there. */
static inline void random_set(struct random_source *random, const struct setting *setting,
                              struct str endpoint, struct str key, int32_t position,
                              struct registry_value value)
{
    struct registry_source *registry = &random->source.registry;
    const struct registry_row *found = source_row(&random->source, setting->table, endpoint, key);
    struct registry_row *row;

    if (found != NULL)
        row = &registry->rows[found - registry->rows];
    else {
        REQUIRE(registry->count < SOURCE_ROWS_MAX, "room");
        row = &registry->rows[registry->count++];
        *row = (struct registry_row){
            .table = setting->table, .endpoint = endpoint, .key = key, .position = position
        };
        row->values = ARENA_ARRAY(random->arena, struct registry_value,
                                  registry_table(setting->table)->column_count);
    }
    row->values[setting_column(setting)] = value;
}

static inline void random_level(struct random_source *random, enum setting_level level,
                                struct str endpoint, struct str operation, int32_t position)
{
    static const char *const names[] = { "alpha", "Beta", "gamma_2" };

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &SETTINGS[i];
        const bool is_set = setting->key != NULL && strchr(setting->key, '*') != NULL;
        const size_t count = is_set ? ARRAY_LEN(names) : 1;

        /* A template brings rows of its own; test_source_template.c has those. */
        if (strcmp(setting->path, "template") == 0)
            continue;
        for (size_t n = 0; (setting->at & level) != 0 && n < count; n++) {
            char index[2] = { (char)('0' + n), '\0' };
            const struct str name = str_of(setting->is_list ? index : names[n]);
            const struct str key =
                level == AT_OPERATION
                    ? operation
                    : setting_key(random->arena, setting, arena_copy(random->arena, name));

            /* Lists have no holes: every rule has at least its path. */
            if (!setting->is_required && !(setting->is_list && setting->type == SETTING_PATH) &&
                pick(random, 3) != 0)
                continue;
            random_set(random, setting, endpoint, key,
                       level == AT_OPERATION ? position : (int32_t)(is_set ? n : 0),
                       random_value(random, setting));
        }
    }
}

/* Two endpoints, two operations, and about a third of all that can be said. */
static inline void random_source(struct random_source *random, struct arena *arena, unsigned seed)
{
    static const char *const endpoints[] = { "search", "detail-2" };
    static const char *const operations[] = { "harvest", "catch-up" };
    const struct setting *any = &SETTINGS[0];

    *random = (struct random_source){ .arena = arena, .seed = seed };
    random->source.registry.code = STR("random");
    random->source.registry.rows = ARENA_ARRAY(arena, struct registry_row, SOURCE_ROWS_MAX);
    random_set(random, any, STR(""), STR(""), 0, random_value(random, any));
    for (size_t i = 0; i < ARRAY_LEN(endpoints); i++) {
        random_set(random, setting_find(AT_ENDPOINT, STR("path")), str_of(endpoints[i]), STR(""),
                   (int32_t)i, (struct registry_value){ .is_set = true, .text = STR("/p") });
        random_level(random, AT_ENDPOINT, str_of(endpoints[i]), STR(""), 0);
    }
    random_level(random, AT_SOURCE, STR(""), STR(""), 0);
    for (size_t i = 0; i < ARRAY_LEN(operations); i++)
        random_level(random, AT_OPERATION, STR(""), str_of(operations[i]), (int32_t)i);
}

#endif
