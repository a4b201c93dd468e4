/* The table of world options, and what reads it. */
#include "sim/world/world_options.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/instant.h"
#include "sim/util/api_date.h"
#include "sim/util/time_option.h"

enum { RECORDS_MAX = 10000000 }; /* ids have eight digits */

enum option_type { TYPE_NUMBER, TYPE_INSTANT, TYPE_SPAN };

#define JANUARY_2026 INT64_C(1767225600000000)

static const struct row {
    struct str name;
    enum option_type type;
    size_t offset;
    int64_t preset;
    int64_t min;
    int64_t max;
    const char *help;
} rows[] = {
#define ROW(name, type, field, preset, min, max, help)                                      \
    {                                                                                       \
        STR_INIT(name), type, offsetof(struct world_options, field), preset, min, max, help \
    }
    ROW("seed", TYPE_NUMBER, seed, 1, 0, INT64_MAX, "seed of everything random"),
    ROW("records", TYPE_NUMBER, records, 10000, 1, RECORDS_MAX, "number of records"),
    ROW("from", TYPE_INSTANT, from_us, JANUARY_2026, 0, INSTANT_MAX, "start of the world"),
    ROW("to", TYPE_INSTANT, to_us, JANUARY_2026 + 90 * US_PER_DAY, 0, INSTANT_MAX,
        "end of the world"),
    ROW("updates-max", TYPE_NUMBER, updates_max, 6, 0, 24, "most updates of a record"),
    ROW("delay", TYPE_SPAN, delay_us, 30 * US_PER_SECOND, 0, US_PER_DAY,
        "most time between a version's date and its appearance"),
    ROW("late-ppm", TYPE_NUMBER, late_ppm, 10000, 0, 1000000,
        "versions that appear late, per million"),
    ROW("late", TYPE_SPAN, late_us, 20 * US_PER_HOUR, 0, 365 * US_PER_DAY,
        "the longest such delay"),
    ROW("future-ppm", TYPE_NUMBER, future_ppm, 1000, 0, 1000000,
        "versions with a date in the future, per million"),
    ROW("future", TYPE_SPAN, future_us, 36 * US_PER_HOUR, 0, 365 * US_PER_DAY,
        "how far in the future at most"),
    ROW("burst-ppm", TYPE_NUMBER, burst_ppm, 120000, 0, 1000000,
        "versions that share their instant with others, per million"),
    ROW("deleted-ppm", TYPE_NUMBER, deleted_ppm, 10000, 0, 500000, "deleted records, per million"),
    ROW("merged-ppm", TYPE_NUMBER, merged_ppm, 5000, 0, 500000,
        "records merged into another, per million"),
    ROW("big-day", TYPE_INSTANT, big_day_us, JANUARY_2026 + 45 * US_PER_DAY, 0, INSTANT_MAX,
        "the day on which many records are created"),
    ROW("big-day-records", TYPE_NUMBER, big_day_records, 0, 0, RECORDS_MAX,
        "additional records created on that day"),
    ROW("scroll-idle", TYPE_SPAN, scroll_idle_us, 5 * US_PER_MINUTE, 0, 365 * US_PER_DAY,
        "an unused Crossref cursor expires after this"),
    ROW("history-idle", TYPE_SPAN, history_idle_us, 8 * US_PER_HOUR, 0, 365 * US_PER_DAY,
        "an unused E-utilities WebEnv expires after this"),
    ROW("token-life", TYPE_SPAN, token_life_us, US_PER_DAY, 0, 365 * US_PER_DAY,
        "OAI and generic tokens expire after this"),
    ROW("pubmed-zone", TYPE_SPAN, pubmed_zone_us, 0, -14 * US_PER_HOUR, 14 * US_PER_HOUR,
        "PubMed's time zone as offset from UTC (-5h: US Eastern)"),
#undef ROW
};

static int64_t *field_of(struct world_options *options, const struct row *row)
{
    return (int64_t *)(void *)((char *)options + row->offset);
}

static int64_t value_of(const struct world_options *options, const struct row *row)
{
    return *(const int64_t *)(const void *)((const char *)options + row->offset);
}

void world_options_init(struct world_options *options)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        *field_of(options, &rows[i]) = rows[i].preset;
}

static bool parse(const struct row *row, struct str text, int64_t *value)
{
    struct api_date date;

    switch (row->type) {
    case TYPE_NUMBER:
        return str_to_i64(text, value);
    case TYPE_SPAN:
        return duration_option_parse(text, value);
    case TYPE_INSTANT:
        if (!api_date_parse(text, &date))
            return false;
        *value = date.from_us;
        return true;
    }
    return false;
}

bool world_options_set(struct world_options *options, struct str name, struct str value,
                       struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t parsed;

        if (!str_eq(rows[i].name, name))
            continue;
        if (!parse(&rows[i], value, &parsed))
            return error_set(err, ERROR_REQUEST, "option.value", "--%.*s: can't read '%.*s'",
                             STR_ARG(name), STR_ARG(value));
        if (parsed < rows[i].min || parsed > rows[i].max)
            return error_set(err, ERROR_REQUEST, "option.range", "--%.*s: '%.*s' is out of range",
                             STR_ARG(name), STR_ARG(value));
        *field_of(options, &rows[i]) = parsed;
        return true;
    }
    return error_set(err, ERROR_REQUEST, "option.unknown", "unknown option --%.*s", STR_ARG(name));
}

bool world_options_check(const struct world_options *options, struct error *err)
{
    if (options->to_us - options->from_us < US_PER_HOUR)
        return error_set(err, ERROR_REQUEST, "option.span",
                         "--to must be at least an hour after --from");
    if (options->big_day_records > options->records)
        return error_set(err, ERROR_REQUEST, "option.big-day",
                         "--big-day-records is more than --records");
    if (options->big_day_records > 0 && (options->big_day_us < options->from_us ||
                                         options->big_day_us + US_PER_DAY > options->to_us))
        return error_set(err, ERROR_REQUEST, "option.big-day",
                         "--big-day is not between --from and --to");
    return true;
}

static void add_value(struct buf *out, const struct row *row, int64_t value)
{
    char text[INSTANT_TEXT_MAX];

    switch (row->type) {
    case TYPE_NUMBER:
        buf_add_i64(out, value);
        break;
    case TYPE_INSTANT:
        buf_add(out, (struct str){ text, instant_format(value, text) });
        break;
    case TYPE_SPAN:
        if (value % US_PER_DAY == 0 && value != 0)
            buf_printf(out, "%" PRId64 "d", value / US_PER_DAY);
        else if (value % US_PER_HOUR == 0 && value != 0)
            buf_printf(out, "%" PRId64 "h", value / US_PER_HOUR);
        else if (value % US_PER_SECOND == 0)
            buf_printf(out, "%" PRId64 "s", value / US_PER_SECOND);
        else
            buf_printf(out, "%" PRId64 "ms", value / US_PER_MS);
        break;
    }
}

void world_options_help(struct buf *out)
{
    static const char *const kinds[] = { "N", "TIME", "SPAN" };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_printf(out, "  --%-16.*s %-5s %s (", STR_ARG(rows[i].name), kinds[rows[i].type],
                   rows[i].help);
        add_value(out, &rows[i], rows[i].preset);
        buf_add(out, STR(")\n"));
    }
}

void world_options_write(const struct world_options *options, struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (i > 0)
            buf_add_char(out, '&');
        buf_add(out, rows[i].name);
        buf_add_char(out, '=');
        add_value(out, &rows[i], value_of(options, &rows[i]));
    }
}
