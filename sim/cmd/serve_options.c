#include "sim/cmd/serve_options.h"

#include <string.h>

#include "base/instant.h"
#include "sim/util/key_values.h"
#include "sim/util/time_option.h"

static const char *const FRAMES[] = { "length", "chunked", "close", NULL };
static const char *const TIMES[] = { "real", "virtual", NULL };

enum row_type { ROW_TEXT, ROW_NUMBER, ROW_TIME, ROW_DURATION, ROW_CHOICE, ROW_LIST, ROW_FLAG };

static const struct row {
    const char *name;
    const char *argument; /* as the help shows it; "" for a flag */
    enum row_type type;
    size_t offset;
    int64_t min, max;
    const char *const *choices;
    const char *help;
} rows[] = {
#define AT(member) offsetof(struct serve_options, member)
    { "help", "", ROW_FLAG, AT(help), 0, 0, NULL, "this text" },
    { "listen", "ADDRESS", ROW_TEXT, AT(listen), 0, 0, NULL,
      "IPv4 address to listen on (127.0.0.1)" },
    { "port", "N", ROW_NUMBER, AT(port), -1, 65535, NULL,
      "port for plain HTTP; 0 takes a free one (0), -1 none" },
    { "other-port", "N", ROW_NUMBER, AT(other_port), -1, 65535, NULL,
      "port of the other host, where links lead astray; 0 takes a free one (0), -1 none" },
    { "other-listen", "ADDRESS", ROW_TEXT, AT(other_listen), 0, 0, NULL,
      "its address (127.0.0.2, which is the same machine)" },
    { "ready-file", "FILE", ROW_TEXT, AT(ready_file), 0, 0, NULL,
      "write the 'listening' line to this file as well, once requests are taken" },
    { "until-eof", "", ROW_FLAG, AT(until_eof), 0, 0, NULL,
      "end when standard input ends, too: with the program that started this one" },
    { "now", "TIME", ROW_TIME, AT(now_us), 0, 0, NULL,
      "where virtual time starts (the end of the world)" },
    { "clock-rate", "N", ROW_NUMBER, AT(clock_rate), 0, 1000000, NULL,
      "virtual seconds per real second; 0 stands still (0)" },
    { "gzip", "LEVEL", ROW_NUMBER, AT(gzip_level), 0, 9, NULL,
      "compress replies for clients that take it; 0 never (1)" },
    { "transfer", "FORM", ROW_CHOICE, AT(frame), 0, 0, FRAMES,
      "length, chunked, or close: how replies are framed (length)" },
    { "stall-max", "DURATION", ROW_DURATION, AT(stall_max_us), 0, US_PER_DAY, NULL,
      "no stall lasts longer (10m)" },
    { "fault", "RULE", ROW_LIST, AT(faults), 0, 0, NULL,
      "a line of a fault plan; may be given several times" },
    { "faults", "FILE", ROW_TEXT, AT(fault_file), 0, 0, NULL, "a fault plan" },
    { "fault-seed", "N", ROW_NUMBER, AT(fault_seed), 0, INT64_MAX, NULL,
      "what decides the faults that come by rate (1)" },
    { "tls", "DIR", ROW_TEXT, AT(tls_folder), 0, 0, NULL,
      "serve HTTPS too, with an authority and a certificate made in this folder" },
    { "tls-cert", "FILE", ROW_TEXT, AT(tls_cert), 0, 0, NULL,
      "serve HTTPS too, with this certificate chain (PEM)" },
    { "tls-key", "FILE", ROW_TEXT, AT(tls_key), 0, 0, NULL, "its key (PEM)" },
    { "tls-port", "N", ROW_NUMBER, AT(tls_port), 0, 65535, NULL,
      "port for HTTPS; 0 takes a free one (0)" },
    { "auth", "RULE", ROW_LIST, AT(auths), 0, 0, NULL,
      "a credential that a path wants; may be given several times" },
    { "limit", "RULE", ROW_LIST, AT(limits), 0, 0, NULL,
      "a rate or concurrency that the audit watches; may be given several times" },
    { "audit-off", "RULES", ROW_TEXT, AT(audit_off), 0, 0, NULL,
      "rules the audit leaves out, comma-separated" },
    { "audit-time", "CLOCK", ROW_CHOICE, AT(audit_time), 0, 0, TIMES,
      "real or virtual: by which clock rates are judged (real)" },
    { "retry-grace", "DURATION", ROW_DURATION, AT(retry_grace_us), 0, US_PER_HOUR, NULL,
      "requests that come so soon after a Retry-After were on their way (100ms)" },
    { "repeat-window", "DURATION", ROW_DURATION, AT(repeat_window_us), 0, 365 * US_PER_DAY, NULL,
      "after so much virtual time a page may be fetched again (5m)" },
    { "repeats", "N", ROW_NUMBER, AT(repeats), 0, 1000, NULL,
      "how often an empty or last page may be asked for again (1)" },
    { "audit-mb", "N", ROW_NUMBER, AT(audit_mb), 1, 4096, NULL,
      "megabytes for the list of requests (64)" },
#undef AT
};

static bool add_item(struct serve_list *list, const char *value)
{
    if (list->count == SERVE_LIST_MAX)
        return false;
    list->items[list->count++] = value;
    return true;
}

static bool set_value(struct serve_options *options, const struct row *row, const char *value)
{
    void *place = (char *)options + row->offset;

    switch (row->type) {
    case ROW_TEXT:
        *(const char **)place = value;
        return value[0] != '\0';
    case ROW_NUMBER:
        return str_to_i64(str_of(value), place) && *(int64_t *)place >= row->min &&
               *(int64_t *)place <= row->max;
    case ROW_TIME:
        return time_option_parse(str_of(value), place);
    case ROW_DURATION:
        return duration_option_parse(str_of(value), place) && *(int64_t *)place >= row->min &&
               *(int64_t *)place <= row->max;
    case ROW_CHOICE:
        *(int *)place = key_values_choice(str_of(value), row->choices);
        return *(int *)place >= 0;
    case ROW_LIST:
        return add_item(place, value);
    case ROW_FLAG:
        *(bool *)place = true;
        return true;
    }
    return false;
}

static const struct row *find_row(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (str_eq(name, str_of(rows[i].name)))
            return &rows[i];
    }
    return NULL;
}

/* One option with its value; *used: how many words that were. */
static bool take(struct serve_options *options, char **words, int count, int *used,
                 struct error *err)
{
    const struct str word = str_of(words[0]);
    const struct str name = str_slice(word, 2, word.len);
    const struct row *row = find_row(name);
    const bool alone = row != NULL && row->type == ROW_FLAG;

    *used = alone ? 1 : 2;
    if (!str_starts(word, STR("--")))
        return error_set(err, ERROR_REQUEST, "option.unknown", "what is '%s'?", words[0]);
    if (count < *used)
        return error_set(err, ERROR_REQUEST, "option.value", "%s wants a value", words[0]);
    if (row == NULL) /* it may be the world's */
        return world_options_set(&options->world, name, str_of(words[1]), err);
    return set_value(options, row, alone ? "" : words[1]) ||
           error_set(err, ERROR_REQUEST, "option.value", "%s %s is not possible", words[0],
                     words[1]);
}

bool serve_options_parse(struct serve_options *options, int argc, char **argv, struct error *err)
{
    *options = (struct serve_options){
        .listen = "127.0.0.1",
        .other_listen = "127.0.0.2",
        .gzip_level = 1,
        .stall_max_us = 10 * US_PER_MINUTE,
        .fault_seed = 1,
        .retry_grace_us = 100 * US_PER_MS,
        .repeat_window_us = 5 * US_PER_MINUTE,
        .repeats = 1,
        .audit_mb = 64,
        .now_us = INT64_MIN,
    };
    world_options_init(&options->world);
    for (int i = 0, used; i < argc; i += used) {
        if (!take(options, argv + i, argc - i, &used, err))
            return false;
    }
    if (options->now_us == INT64_MIN)
        options->now_us = options->world.to_us;
    return world_options_check(&options->world, err);
}

bool serve_options_help(FILE *out, struct arena *arena)
{
    struct buf world;

    buf_init(&world, arena, 64 << 10);
    world_options_help(&world);
    (void)fprintf(out, "usage: patra-sim serve [OPTION]...\n\n"
                       "Serves made-up literature APIs, misbehaving as told.\n\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char head[64];

        (void)snprintf(head, sizeof(head), "--%s %s", rows[i].name, rows[i].argument);
        (void)fprintf(out, "  %-24s %s\n", head, rows[i].help);
    }
    (void)fprintf(out, "\nThe world:\n");
    (void)fwrite(world.data, 1, world.len, out);
    return !world.failed;
}
