/* `patra-sim verify`: parses its options, opens the store and the truth, prints the report. */
#include "sim/cmd/verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/instant.h"
#include "base/str.h"
#include "sim/util/api_date.h"
#include "sim/util/encode.h"
#include "sim/util/text_out.h"
#include "sim/verify/verify.h"

enum { EXIT_SAME, EXIT_DIFFERENT, EXIT_UNKNOWN };
enum { SHOW_PRESET = 10, ARENA_MAX = 256 << 20 };

static const char *const difference_names[DIFF_COUNT] = {
    [DIFF_MISSING] = "missing",
    [DIFF_EXTRA] = "extra",
    [DIFF_STALE] = "stale",
    [DIFF_WRONG] = "wrong",
    [DIFF_LOST_TOMBSTONE] = "lost_tombstone",
    [DIFF_BURIED] = "buried",
    [DIFF_MISDATED] = "misdated",
};

struct settings {
    struct str store;
    struct str protocol;
    struct str source;
    struct str endpoint;
    struct str url;
    struct str from; /* the window */
    struct str to;
    struct str at;
    struct str field;
    bool json;
    bool help;
    struct verify_options options;
    struct world_options world;
};

/* ---- the command line ---- */

static bool take_map(struct settings *settings, struct str value, struct error *err)
{
    struct verify_options *options = &settings->options;
    struct str to = value;
    const struct str from = str_cut(&to, '=');

    if (from.len == 0 || options->map_count == VERIFY_MAPS_MAX)
        return error_set(err, ERROR_REQUEST, "option.id-map",
                         "--id-map: must be FROM=TO, given at most %d times", VERIFY_MAPS_MAX);
    options->maps[options->map_count++] = (struct id_map){ from, to };
    return true;
}

static bool take_show(struct settings *settings, struct str value, struct error *err)
{
    int64_t show;

    if (!str_to_i64(value, &show) || show < 0 || show > VERIFY_SHOW_MAX)
        return error_set(err, ERROR_REQUEST, "option.show", "--show: must be a number up to %d",
                         VERIFY_SHOW_MAX);
    settings->options.show = (size_t)show;
    return true;
}

/* --from and --to are the window here; the world's own bounds are --world-from and --world-to. */
static bool take_option(struct settings *settings, struct str name, struct str value,
                        struct error *err)
{
    const struct {
        struct str name;
        struct str *place;
    } texts[] = {
        { STR("store"), &settings->store },   { STR("protocol"), &settings->protocol },
        { STR("source"), &settings->source }, { STR("endpoint"), &settings->endpoint },
        { STR("url"), &settings->url },       { STR("from"), &settings->from },
        { STR("to"), &settings->to },         { STR("at"), &settings->at },
        { STR("field"), &settings->field },
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (str_eq(texts[i].name, name)) {
            *texts[i].place = value;
            return true;
        }
    }
    if (str_eq(name, STR("id-map")))
        return take_map(settings, value, err);
    if (str_eq(name, STR("show")))
        return take_show(settings, value, err);
    if (str_eq(name, STR("world-from")) || str_eq(name, STR("world-to")))
        name = str_slice(name, 6, name.len);
    return world_options_set(&settings->world, name, value, err);
}

static bool parse(struct settings *settings, int argc, char **argv, struct error *err)
{
    *settings = (struct settings){ .options.show = SHOW_PRESET };
    world_options_init(&settings->world);
    for (int i = 0; i < argc; i++) {
        struct str value = str_of(argv[i]);
        struct str name;

        if (!str_starts(value, STR("--")))
            return error_set(err, ERROR_REQUEST, "option", "'%s' is not an option", argv[i]);
        value = str_slice(value, 2, value.len);
        name = str_cut(&value, '=');
        if (str_eq(name, STR("json"))) {
            settings->json = true;
        } else if (str_eq(name, STR("help"))) {
            settings->help = true;
        } else if (str_eq(name, STR("absent-tombstones"))) {
            settings->options.absent_tombstones = true;
        } else {
            if (str_find_char(str_of(argv[i]), '=') == str_of(argv[i]).len) {
                if (++i == argc)
                    return error_set(err, ERROR_REQUEST, "option", "--%.*s needs a value",
                                     STR_ARG(name));
                value = str_of(argv[i]);
            }
            if (!take_option(settings, name, value, err))
                return false;
        }
    }
    return true;
}

static void print_help(void)
{
    struct arena arena;
    struct buf help;

    arena_init(&arena, 1 << 16);
    buf_init(&help, &arena, 1 << 16);
    world_options_help(&help);
    (void)printf(
        "usage: patra-sim verify --store DSN --protocol P --source NAME [OPTION]...\n\n"
        "Compares the records of a patra store with those that a perfect harvest would hold.\n\n"
        "  --store DSN          sqlite:PATH, a path, or postgresql://...\n"
        "  --protocol P         the form of the records: crossref, pubmed, oai, ...\n"
        "  --source NAME        the store's provenance_code\n"
        "  --endpoint E         its endpoint_name; needed when the source has several\n"
        "  --from T, --to T     the window, half-open (the whole world)\n"
        "  --at T               the time of the last harvest (the end of the world; with --url: "
        "now)\n"
        "  --field F            the window's date: updated, created, deposited, entrez, published\n"
        "  --url URL            use the world of a running server, http://127.0.0.1:PORT\n"
        "  --id-map FROM=TO     replace FROM by TO in every expected id; may be given several "
        "times\n"
        "  --absent-tombstones  deleted records may be missing from the store\n"
        "  --show N             print the first N ids of each kind of difference (10)\n"
        "  --json               print JSON\n\n"
        "The world, without --url; its bounds are --world-from and --world-to:\n%.*s",
        STR_ARG(buf_str(&help)));
    arena_release(&arena);
}

/* ---- both sides ---- */

static bool take_instant(struct str text, const char *name, int64_t *at_us, struct error *err)
{
    struct api_date date;

    if (text.len == 0)
        return true;
    if (!api_date_parse(text, &date))
        return error_set(err, ERROR_REQUEST, "option.time", "--%s: '%.*s' is not a time", name,
                         STR_ARG(text));
    *at_us = date.from_us;
    return true;
}

static struct truth_reader *open_local(const struct settings *settings,
                                       const struct body_form *form, struct error *err)
{
    struct truth_query query = { .form = form,
                                 .from_us = settings->world.from_us,
                                 .to_us = settings->world.to_us,
                                 .at_us = settings->world.to_us };

    if (!take_instant(settings->from, "from", &query.from_us, err) ||
        !take_instant(settings->to, "to", &query.to_us, err) ||
        !take_instant(settings->at, "at", &query.at_us, err))
        return NULL;
    if (!truth_field(settings->field, &query.field)) {
        (void)error_set(err, ERROR_REQUEST, "option.field", "--field: unknown field '%.*s'",
                        STR_ARG(settings->field));
        return NULL;
    }
    return truth_reader_local(&settings->world, &query, err);
}

static struct truth_reader *open_remote(const struct settings *settings,
                                        const struct body_form *form, struct arena *arena,
                                        struct error *err)
{
    const struct {
        const char *name;
        struct str value;
    } params[] = {
        { "protocol=", settings->protocol },
        { "&from=", settings->from },
        { "&to=", settings->to },
        { "&at=", settings->at },
        { "&field=", settings->field },
    };
    struct buf query;

    buf_init(&query, arena, 4096);
    for (size_t i = 0; i < ARRAY_LEN(params); i++) {
        if (params[i].value.len == 0)
            continue;
        buf_add(&query, str_of(params[i].name));
        encode_percent(&query, params[i].value);
    }
    if (!buf_ok(&query, err))
        return NULL;
    return truth_reader_remote(settings->url, buf_str(&query), form, err);
}

static bool run(const struct settings *settings, struct arena *arena, struct verify_report *report,
                struct error *err)
{
    const struct body_form *form = body_form_find(settings->protocol);
    struct store_reader *store;
    struct truth_reader *truth;
    bool ok = false;

    if (settings->store.len == 0 || settings->source.len == 0 || form == NULL)
        return error_set(err, ERROR_REQUEST, "option.missing",
                         form == NULL && settings->protocol.len > 0
                             ? "--protocol: unknown"
                             : "--store, --protocol and --source are required (try --help)");
    store = store_reader_open(settings->store, settings->source, settings->endpoint, err);
    if (store == NULL)
        return error_wrap(err, "open the store");
    truth = settings->url.len > 0 ? open_remote(settings, form, arena, err)
                                  : open_local(settings, form, err);
    if (truth != NULL) {
        ok = verify_compare(arena, store, truth, &settings->options, report, err);
        truth->close(truth);
    }
    store->close(store);
    return ok;
}

/* ---- the report ---- */

static size_t sum(const size_t *counts, size_t count)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += counts[i];
    return total;
}

static size_t shown(const struct settings *settings, const struct verify_report *report, int kind)
{
    return report->counts[kind] < settings->options.show ? report->counts[kind]
                                                         : settings->options.show;
}

static void print_table(const struct settings *settings, const struct verify_report *report)
{
    (void)printf("%-16s %10zu  (%zu live, %zu deleted, %zu merged)\n", "must hold",
                 sum(report->expected, ARRAY_LEN(report->expected)), report->expected[TRUTH_LIVE],
                 report->expected[TRUTH_DELETED], report->expected[TRUTH_MERGED]);
    (void)printf("%-16s %10zu\n", "in the store", report->rows);
    (void)printf("%-16s %10zu  (%zu without a date)\n", "right", report->right, report->undated);
    (void)printf("%-16s %10zu\n", "may be held", report->allowed);
    for (int kind = 0; kind < DIFF_COUNT; kind++) {
        (void)printf("%-16s %10zu", difference_names[kind], report->counts[kind]);
        for (size_t i = 0; i < shown(settings, report, kind); i++)
            (void)printf("%s%.*s", i == 0 ? "  " : ", ", STR_ARG(report->ids[kind][i]));
        (void)printf("\n");
    }
}

static bool print_json(const struct settings *settings, const struct verify_report *report,
                       struct arena *arena, struct error *err)
{
    struct buf out;

    buf_init(&out, arena, 64 << 20);
    buf_printf(
        &out,
        "{\"protocol\":\"%.*s\",\"must_hold\":%zu,\"live\":%zu,\"deleted\":%zu,\"merged\":%zu,"
        "\"rows\":%zu,\"right\":%zu,\"undated\":%zu,\"allowed\":%zu,\"differences\":%zu",
        STR_ARG(settings->protocol), sum(report->expected, ARRAY_LEN(report->expected)),
        report->expected[TRUTH_LIVE], report->expected[TRUTH_DELETED],
        report->expected[TRUTH_MERGED], report->rows, report->right, report->undated,
        report->allowed, sum(report->counts, DIFF_COUNT));
    for (int kind = 0; kind < DIFF_COUNT; kind++) {
        buf_printf(&out, ",\"%s\":{\"count\":%zu,\"first\":[", difference_names[kind],
                   report->counts[kind]);
        for (size_t i = 0; i < shown(settings, report, kind); i++) {
            buf_add(&out, i > 0 ? STR(",\"") : STR("\""));
            text_add_json(&out, report->ids[kind][i], JSON_PLAIN);
            buf_add_char(&out, '"');
        }
        buf_add(&out, STR("]}"));
    }
    buf_add(&out, STR("}\n"));
    if (!buf_ok(&out, err))
        return false;
    (void)fwrite(out.data, 1, out.len, stdout);
    return true;
}

int verify_main(int argc, char **argv)
{
    struct verify_report *report = calloc(1, sizeof(*report));
    struct settings settings;
    struct error err = { 0 };
    struct arena arena;
    int code = EXIT_UNKNOWN;

    arena_init(&arena, ARENA_MAX);
    if (report == NULL) {
        (void)error_set(&err, ERROR_FATAL, "memory", "no memory");
    } else if (parse(&settings, argc, argv, &err)) {
        if (settings.help) {
            print_help();
            code = EXIT_SAME;
        } else if (run(&settings, &arena, report, &err) &&
                   (!settings.json || print_json(&settings, report, &arena, &err))) {
            if (!settings.json)
                print_table(&settings, report);
            code = sum(report->counts, DIFF_COUNT) > 0 ? EXIT_DIFFERENT : EXIT_SAME;
        }
    }
    if (code == EXIT_UNKNOWN)
        (void)fprintf(stderr, "patra-sim verify: %s\n", err.text);
    arena_release(&arena);
    free(report);
    return code;
}
