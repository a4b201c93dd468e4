/* patra record export. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/file/file_out.h"
#include "adapter/pack/pack.h"
#include "base/instant.h"
#include "base/text.h"
#include "cli/file.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cmd/record/record.h"
#include "engine/export/export.h"
#include "view/record.h"

enum { TOKEN_BYTES_MAX = 4096, PROGRESS_US = 200000 };

/* A transaction that adds events takes milliseconds; one that takes longer is stuck. */
#define SETTLE_US (10 * US_PER_SECOND)

/* ---- what is asked for ---- */

struct wanted {
    struct export_request request;
    const char *path; /* NULL: standard output */
    enum pack pack;
    const char *token_path; /* NULL: none */
};

/* "jsonl", "csv", "xml", "parquet" by --format, or by the end of the path, or the first. */
static bool choose_format(const struct invocation *invocation, struct wanted *wanted,
                          struct error *err)
{
    const char *named = invocation_value(invocation, "format");
    struct str rest = STR("");
    size_t dot;

    wanted->pack = wanted->path != NULL ? pack_of(str_of(wanted->path), &rest) : PACK_NONE;
    if (named != NULL) {
        wanted->request.format = export_format_named(str_of(named));
        return wanted->request.format != NULL ||
               command_misused(err, "--format: '%s' is not one of jsonl, csv, xml, parquet", named);
    }
    for (dot = rest.len; dot > 0 && rest.data[dot - 1] != '.' && rest.data[dot - 1] != '/';)
        dot--;
    if (dot == 0 || rest.data[dot - 1] != '.')
        wanted->request.format = &EXPORT_JSONL;
    else
        wanted->request.format = export_format_named(str_slice(rest, dot, rest.len));
    return wanted->request.format != NULL ||
           command_misused(err,
                           "the end of %s names none of the formats jsonl, csv, xml, parquet: "
                           "give --format",
                           wanted->path);
}

static bool pack_page(void *self, struct str bytes, struct buf *out, struct error *err)
{
    (void)self;
    return pack_bytes(PACK_ZSTD, bytes, out, err);
}

static bool check_pack(const struct wanted *wanted, struct error *err)
{
    return wanted->request.format != &EXPORT_PARQUET || wanted->pack == PACK_NONE ||
           command_misused(err,
                           "%s: a Parquet file is compressed inside, so that programs can "
                           "read parts of it: leave the end of the name away",
                           wanted->path);
}

/* "3", "3..", "..3", "2..3" */
static bool read_versions(const char *given, struct record_walk *walk, struct error *err)
{
    const char *dots = strstr(given, "..");
    const struct str from = { given, dots != NULL ? (size_t)(dots - given) : strlen(given) };
    const struct str to = dots != NULL ? str_of(dots + 2) : from;

    if ((from.len > 0 && (!str_to_i64(from, &walk->version_from) || walk->version_from < 1)) ||
        (to.len > 0 && (!str_to_i64(to, &walk->version_to) || walk->version_to < 1)) ||
        from.len + to.len == 0 || (walk->version_to > 0 && walk->version_to < walk->version_from))
        return command_misused(err, "--version: '%s' is not a version or a range such as 2..5",
                               given);
    return true;
}

static bool read_changes(const struct invocation *invocation, int64_t now_us,
                         struct record_walk *walk, struct error *err)
{
    const char *after = invocation_value(invocation, "changed-after");
    const char *before = invocation_value(invocation, "changed-before");

    walk->by_change = after != NULL || before != NULL;
    walk->changed_to_us = INSTANT_MAX;
    if (!invocation_instant(invocation, "changed-after", now_us, &walk->changed_from_us, err) ||
        !invocation_instant(invocation, "changed-before", now_us, &walk->changed_to_us, err))
        return false;
    return after == NULL || before == NULL || walk->changed_from_us < walk->changed_to_us ||
           command_misused(err, "--changed-after %s is not before --changed-before %s", after,
                           before);
}

static bool read_walk(const struct invocation *invocation, struct session *session,
                      struct record_walk *walk, struct error *err)
{
    const char *versions = invocation_value(invocation, "version");

    *walk = (struct record_walk){
        .source = str_of(invocation->operands[0]),
        .endpoint = str_of(invocation_value(invocation, "endpoint")),
        .states = invocation_flag(invocation, "with-deleted") ? RECORDS_ALL : RECORDS_LIVE,
    };
    return (versions == NULL || read_versions(versions, walk, err)) &&
           read_changes(invocation, clock_now_us(&session->clock), walk, err);
}

/* A token says that everything before it was exported: with a filter that would not be true. */
static bool check_token(const struct wanted *wanted, struct error *err)
{
    const struct record_walk *walk = &wanted->request.walk;

    if (walk->by_change || walk->version_from > 0 || walk->version_to > 0)
        return command_misused(err, "--changed-after, --changed-before and --version leave records "
                                    "out: not with --since or --token-file");
    return true;
}

/* The token file is where the last export left its token; none: this is the first. */
static bool read_token(const struct invocation *invocation, struct session *session,
                       struct wanted *wanted, struct error *err)
{
    const char *since = invocation_value(invocation, "since");

    wanted->token_path = invocation_value(invocation, "token-file");
    if (since == NULL && wanted->token_path == NULL) {
        wanted->request.with_token = wanted->request.walk.by_change == false &&
                                     wanted->request.walk.version_from == 0 &&
                                     wanted->request.walk.version_to == 0;
        return true;
    }
    if (since != NULL && wanted->token_path != NULL)
        return command_misused(err, "give --since or --token-file, not both");
    wanted->request.with_token = true;
    wanted->request.since = str_of(since);
    if (since != NULL && since[0] == '\0')
        return command_misused(err, "--since: the token is empty");
    if (wanted->token_path != NULL && access(wanted->token_path, F_OK) == 0) {
        if (!file_read(&session->arena, wanted->token_path, TOKEN_BYTES_MAX, &wanted->request.since,
                       err))
            return false;
        wanted->request.since = str_trim(wanted->request.since);
        if (wanted->request.since.len == 0)
            return error_set(err, ERROR_REQUEST, "export.token",
                             "%s is empty: remove it to export everything", wanted->token_path);
    }
    return check_token(wanted, err);
}

static bool read_wanted(const struct invocation *invocation, struct session *session,
                        struct wanted *wanted, struct error *err)
{
    *wanted = (struct wanted){ .path = invocation_value(invocation, "output") };
    wanted->request =
        (struct export_request){ .store = session->store,
                                 .clock = &session->clock,
                                 .specs = session->specs,
                                 .wait_us = SETTLE_US,
                                 .fields_only = invocation_flag(invocation, "fields-only") };
    if (wanted->path != NULL && strcmp(wanted->path, "-") == 0)
        wanted->path = NULL;
    if (invocation_flag(invocation, "json") && wanted->path == NULL)
        return command_misused(err,
                               "--json prints a summary where the records would go: give --output");
    wanted->request.codec = (struct parquet_codec){ PARQUET_ZSTD, pack_page, NULL };
    return choose_format(invocation, wanted, err) && check_pack(wanted, err) &&
           read_walk(invocation, session, &wanted->request.walk, err) &&
           read_token(invocation, session, wanted, err);
}

/* ---- progress ---- */

struct progress {
    struct export_listener listener;
    struct clock *clock;
    FILE *talk; /* NULL: none */
    int64_t next_us;
    bool is_shown;
};

static void show_page(struct export_listener *listener, const struct export_result *so_far)
{
    struct progress *progress = (struct progress *)listener;
    char room[128];
    struct arena arena;
    struct buf text;

    if (progress->talk == NULL || clock_monotonic_us(progress->clock) < progress->next_us)
        return;
    progress->next_us = clock_monotonic_us(progress->clock) + PROGRESS_US;
    arena_init(&arena, 4096);
    buf_init(&text, &arena, sizeof(room));
    text_count(&text, so_far->records);
    buf_add(&text, STR(" records, "));
    text_bytes(&text, so_far->bytes);
    fprintf(progress->talk, "\r\033[K%.*s", STR_ARG(buf_str(&text)));
    (void)fflush(progress->talk);
    arena_release(&arena);
    progress->is_shown = true;
}

static void clear_progress(const struct progress *progress)
{
    if (progress->is_shown)
        fprintf(progress->talk, "\r\033[K");
}

/* ---- what became of it ---- */

static bool print_json(const struct wanted *wanted, const struct export_result *result,
                       struct session *session, FILE *out, struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, &session->arena);

    json_write_object(w);
    json_write_member_str(w, STR("file"), str_of(wanted->path));
    json_write_member_str(w, STR("format"), str_of(wanted->request.format->name));
    json_write_member_i64(w, STR("records"), result->records);
    json_write_member_i64(w, STR("deleted"), result->deleted);
    json_write_member_i64(w, STR("withoutFields"), result->unread);
    json_write_member_i64(w, STR("bytes"), result->bytes);
    if (result->token.len > 0)
        json_write_member_str(w, STR("token"), result->token);
    json_write_member_bool(w, STR("settled"), result->is_settled);
    json_write_end(w);
    return output_end(&output, out, err);
}

static void print_summary(const struct wanted *wanted, const struct export_result *result,
                          FILE *talk)
{
    fprintf(talk, "%" PRId64 " record%s exported", result->records,
            result->records == 1 ? "" : "s");
    if (result->deleted > 0)
        fprintf(talk, ", %" PRId64 " of them deleted", result->deleted);
    if (wanted->path != NULL)
        fprintf(talk, " to %s", wanted->path);
    fprintf(talk, "\n");
    if (result->token.len > 0 && wanted->token_path != NULL)
        fprintf(talk, "what changes from now on: --token-file %s\n", wanted->token_path);
    else if (result->token.len > 0)
        fprintf(talk, "what changes from now on: --since %.*s\n", STR_ARG(result->token));
}

static void print_warnings(const struct export_result *result, FILE *talk)
{
    if (!result->is_settled)
        fprintf(talk, "a transaction was writing all the time, or this is a standby server: the "
                      "next export repeats this one\n");
    if (result->unread > 0)
        fprintf(talk, "%" PRId64 " record%s without fields, such as %.*s\n", result->unread,
                result->unread == 1 ? " is" : "s are", STR_ARG(result->unread_example));
}

/* ---- the command ---- */

static bool open_sink(const struct wanted *wanted, struct byte_sink **sink, struct error *err)
{
    struct byte_sink *file;

    if (wanted->path != NULL ? !file_out_open(wanted->path, &file, err)
                             : !file_out_fd(STDOUT_FILENO, "standard output", &file, err))
        return false;
    if (pack_open(wanted->pack, file, sink, err))
        return true;
    byte_sink_close(file);
    return false;
}

/* The token is written last: an export that is not whole is repeated. */
static bool run_export(const struct invocation *invocation, struct session *session,
                       struct wanted *wanted, struct export_result *result, struct error *err)
{
    struct progress progress = { .listener.page = show_page,
                                 .clock = &session->clock,
                                 .talk =
                                     isatty(fileno(invocation->talk)) ? invocation->talk : NULL };
    struct byte_sink *sink = NULL;
    bool ok;

    if (!open_sink(wanted, &sink, err))
        return false;
    wanted->request.sink = sink;
    wanted->request.listener = &progress.listener;
    ok = export_run(&session->arena, &wanted->request, result, err) && byte_sink_end(sink, err);
    byte_sink_close(sink);
    clear_progress(&progress);
    if (!ok || wanted->token_path == NULL)
        return ok;
    return file_out_text(wanted->token_path,
                         arena_printf(&session->arena, "%.*s\n", STR_ARG(result->token)), err) ||
           error_wrap(err, "the records were exported, but not the token");
}

static bool export_records(const struct invocation *invocation, struct session *session,
                           enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct export_result result;
    struct wanted wanted;

    (void)signal(SIGPIPE, SIG_IGN); /* a reader that has gone is an error with a text */
    if (!read_wanted(invocation, session, &wanted, err) ||
        !view_record_names(&reader, wanted.request.walk.source, wanted.request.walk.endpoint,
                           err) ||
        !run_export(invocation, session, &wanted, &result, err))
        return false;
    if (result.unread > 0)
        *code = EXIT_FOUND;
    print_warnings(&result, invocation->talk);
    if (invocation_flag(invocation, "json"))
        return print_json(&wanted, &result, session, invocation->out, err);
    print_summary(&wanted, &result, invocation->talk);
    return true;
}

static enum exit_code cmd_export(const struct invocation *invocation)
{
    return session_run(invocation, export_records);
}

const struct command RECORD_EXPORT = {
    .name = "export",
    .summary = "write records to a file or to standard output",
    .operands = "SOURCE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Writes the records of a source by endpoint, in the order in which they were first\n"
        "stored: as JSON Lines (the whole payload with what patra knows of it, or the fields),\n"
        "as CSV or Parquet (the fields; in Parquet with their types), or as XML. The format\n"
        "follows from the end of FILE unless --format gives it; .gz and .zst compress. FILE is\n"
        "there as a whole or not at all: it gets its name when it is complete.\n"
        "\n"
        "Every export without a filter ends with a token. With --since TOKEN only the records\n"
        "that changed after that export are written, deleted ones as tombstones. --token-file\n"
        "reads the token from a file, where there is one, and writes the next one to it, so that\n"
        "a nightly job needs nothing else. No change is left out, but a record that changed\n"
        "while an export ran may be in the next one again: of all lines of one id, the last is\n"
        "right. The exit code is 1 if fields of a record could not be derived.",
    .options = { { "output", "FILE", "Write to FILE (default: standard output)." },
                 { "format", "FORMAT", "jsonl, csv, xml or parquet." },
                 { "fields-only", NULL, "Write the fields instead of the payload." },
                 { "endpoint", "ENDPOINT", "Only records of this endpoint." },
                 { "since", "TOKEN", "Only what changed after the export that gave this token." },
                 { "token-file", "FILE",
                   "Read the token from FILE, and write the next one to it." },
                 { "changed-after", "TIME", "Only records whose version was stored since." },
                 { "changed-before", "TIME", "Only records whose version was stored before." },
                 { "version", "N..M", "Only records with such a version: 3, 2.., ..5." },
                 { "with-deleted", NULL, "Write deleted records too, without their content." },
                 { "json", NULL, "Print a summary as JSON; needs --output." },
                 SESSION_OPTION },
    .letters = { { 'o', "output" } },
    .run = cmd_export,
};
