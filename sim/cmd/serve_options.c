/* The table of options of `patra-sim serve`, and what reads it. */
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
    { "help", "", ROW_FLAG, AT(help), 0, 0, NULL, "print this help" },
    { "listen", "ADDRESS", ROW_TEXT, AT(listen), 0, 0, NULL,
      "IPv4 address to listen on (127.0.0.1)" },
    { "port", "N", ROW_NUMBER, AT(port), -1, 65535, NULL,
      "port for plain HTTP; 0: a free one, -1: none (0)" },
    { "other-port", "N", ROW_NUMBER, AT(other_port), -1, 65535, NULL,
      "port of the other host, which faulty links point to; 0: a free one, -1: none (0)" },
    { "other-listen", "ADDRESS", ROW_TEXT, AT(other_listen), 0, 0, NULL,
      "address of the other host (127.0.0.2, the same machine)" },
    { "ready-file", "FILE", ROW_TEXT, AT(ready_file), 0, 0, NULL,
      "also write the 'listening' line to this file, once requests are accepted" },
    { "until-eof", "", ROW_FLAG, AT(until_eof), 0, 0, NULL,
      "also stop at the end of standard input: when the program that started it ends" },
    { "now", "TIME", ROW_TIME, AT(now_us), 0, 0, NULL,
      "when virtual time starts (the end of the world)" },
    { "clock-rate", "N", ROW_NUMBER, AT(clock_rate), 0, 1000000, NULL,
      "virtual seconds per real second; 0: the clock stands still (0)" },
    { "gzip", "LEVEL", ROW_NUMBER, AT(gzip_level), 0, 9, NULL,
      "compress responses for clients that accept gzip; 0: never (1)" },
    { "transfer", "FORM", ROW_CHOICE, AT(frame), 0, 0, FRAMES,
      "how responses are framed: length, chunked or close (length)" },
    { "stall-max", "DURATION", ROW_DURATION, AT(stall_max_us), 0, US_PER_DAY, NULL,
      "the longest stall (10m)" },
    { "fault", "RULE", ROW_LIST, AT(faults), 0, 0, NULL,
      "add a rule to the fault plan; may be given several times" },
    { "faults", "FILE", ROW_TEXT, AT(fault_file), 0, 0, NULL,
      "read the fault plan from this file" },
    { "fault-seed", "N", ROW_NUMBER, AT(fault_seed), 0, INT64_MAX, NULL,
      "seed of the faults with a rate (1)" },
    { "tls", "DIR", ROW_TEXT, AT(tls_folder), 0, 0, NULL,
      "also serve HTTPS, with an authority and a certificate created in this folder" },
    { "tls-cert", "FILE", ROW_TEXT, AT(tls_cert), 0, 0, NULL,
      "also serve HTTPS, with this certificate chain (PEM)" },
    { "tls-key", "FILE", ROW_TEXT, AT(tls_key), 0, 0, NULL, "the certificate's key (PEM)" },
    { "tls-port", "N", ROW_NUMBER, AT(tls_port), 0, 65535, NULL,
      "port for HTTPS; 0: a free one (0)" },
    { "auth", "RULE", ROW_LIST, AT(auths), 0, 0, NULL,
      "require a credential for a path; may be given several times" },
    { "limit", "RULE", ROW_LIST, AT(limits), 0, 0, NULL,
      "a rate or concurrency limit for the audit; may be given several times" },
    { "audit-off", "RULES", ROW_TEXT, AT(audit_off), 0, 0, NULL,
      "audit rules to switch off, separated by commas" },
    { "audit-time", "CLOCK", ROW_CHOICE, AT(audit_time), 0, 0, TIMES,
      "the clock by which rates are judged: real or virtual (real)" },
    { "retry-grace", "DURATION", ROW_DURATION, AT(retry_grace_us), 0, US_PER_HOUR, NULL,
      "ignore requests that arrive this soon after a Retry-After was sent (100ms)" },
    { "repeat-window", "DURATION", ROW_DURATION, AT(repeat_window_us), 0, 365 * US_PER_DAY, NULL,
      "a page may be fetched again after this much virtual time (5m)" },
    { "repeats", "N", ROW_NUMBER, AT(repeats), 0, 1000, NULL,
      "how often an empty or last page may be fetched again (1)" },
    { "audit-mb", "N", ROW_NUMBER, AT(audit_mb), 1, 4096, NULL,
      "memory for the list of requests, in MB (64)" },
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

/* Parses one option with its value; *used is the number of words taken. */
static bool take(struct serve_options *options, char **words, int count, int *used,
                 struct error *err)
{
    const struct str word = str_of(words[0]);
    const struct str name = str_slice(word, 2, word.len);
    const struct row *row = find_row(name);
    const bool alone = row != NULL && row->type == ROW_FLAG;

    *used = alone ? 1 : 2;
    if (!str_starts(word, STR("--")))
        return error_set(err, ERROR_REQUEST, "option.unknown", "unexpected argument '%s'",
                         words[0]);
    if (count < *used)
        return error_set(err, ERROR_REQUEST, "option.value", "%s wants a value", words[0]);
    if (row == NULL) /* perhaps a world option */
        return world_options_set(&options->world, name, str_of(words[1]), err);
    return set_value(options, row, alone ? "" : words[1]) ||
           error_set(err, ERROR_REQUEST, "option.value", "%s: '%s' is not valid", words[0],
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
                       "Serves simulated literature APIs, with faults on request.\n\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char head[64];

        (void)snprintf(head, sizeof(head), "--%s %s", rows[i].name, rows[i].argument);
        (void)fprintf(out, "  %-24s %s\n", head, rows[i].help);
    }
    (void)fprintf(out, "\nThe world:\n");
    (void)fwrite(world.data, 1, world.len, out);
    return !world.failed;
}
