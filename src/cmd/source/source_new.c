/* patra source new: a first source file, guessed from a URL and one answer to it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/system/system.h"
#include "base/list.h"
#include "cli/output.h"
#include "cmd/source/source.h"
#include "cmd/source/source_live.h"
#include "data/url.h"
#include "engine/guess/guess.h"
#include "spec/check.h"
#include "spec/setting_value.h"
#include "spec/snapshot.h"

#define NEW_BYTES_MAX ((size_t)512 << 20)

struct source_new {
    const struct invocation *invocation;
    struct session session; /* without a store where none is named and none is there */
    struct str name;
    struct str url;
};

/* ---- the file ---- */

/* The text of a guess, and the source that it is. */
static bool write_file(struct source_new *new, const struct guess *guess, struct buf *text,
                       struct source *source, struct error *err)
{
    struct fault_list faults;

    buf_init(text, &new->session.arena, SOURCE_FILE_BYTES_MAX);
    guess_write(guess, text);
    if (!buf_ok(text, err))
        return false;
    fault_list_init(&faults, &new->session.arena);
    return (source_lint(&new->session.arena, NULL, &(struct source_text){ .file = buf_str(text) },
                        &faults, source) &&
            fault_list_ok(&faults, err)) ||
           (!fault_list_ok(&faults, err) && error_wrap(err, "the file that was guessed"));
}

/* Never over a file that is there: a person may have worked on it. */
static bool save(const char *path, const struct buf *text, struct error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (file == NULL)
        return error_set(err, ERROR_REQUEST, "file.write", "%s: %s%s", path, strerror(errno),
                         errno == EEXIST ? "; remove it, or name another with --output" : "");
    if (fwrite(text->data, 1, text->len, file) != text->len || fflush(file) != 0) {
        (void)fclose(file);
        return error_set(err, ERROR_REQUEST, "file.write", "%s: %s", path, strerror(errno));
    }
    return fclose(file) == 0 ||
           error_set(err, ERROR_REQUEST, "file.write", "%s: %s", path, strerror(errno));
}

/* ---- the answer ---- */

struct names {
    struct str *items;
    size_t count;
};

/* The parameters whose values must not be shown. */
static bool secret_names(struct source_new *new, const struct guess *guess, struct names *names,
                         struct error *err)
{
    for (size_t i = 0; i < guess->param_count; i++) {
        struct str *slot;

        if (!guess_is_secret(guess->params[i].name, guess->params[i].value))
            continue;
        slot = LIST_ADD(&new->session.arena, names);
        if (slot == NULL)
            return arena_error(&new->session.arena, err);
        *slot = guess->params[i].name;
    }
    return true;
}

static bool send(struct source_new *new, const struct guess *guess, struct source_live *live,
                 const struct spec *spec, struct http_response *reply, struct error *err)
{
    const struct http_header headers[] = { { STR("User-Agent"), STR("patra") } };
    struct http_request request = { .url = new->url,
                                    .headers = headers,
                                    .header_count = ARRAY_LEN(headers),
                                    .allow_plain_http = guess->is_plain_http };
    struct names names = { 0 };
    bool ok;

    if (!secret_names(new, guess, &names, err))
        return false;
    request.secret_names = names.items;
    request.secret_count = names.count;
    if (!source_live_ask(live, &spec->endpoint, err))
        return false;
    ok = http_send(live->http, &new->session.arena, &request, reply, err);
    source_live_hear(live, &spec->endpoint, reply, ok);
    return ok;
}

/* The rate gate knows sources, so the URL alone is made into one first. */
static bool ask(struct source_new *new, struct http_response *reply, struct error *err)
{
    const struct guess_input input = { .name = new->name, .url = new->url };
    struct source_live live = { 0 };
    struct system_secrets secrets;
    struct snapshot snapshot;
    struct source source;
    struct guess guess;
    struct spec spec;
    struct buf text;
    bool ok;

    system_secrets_init(&secrets, NULL);
    ok = guess_make(&guess, &new->session.arena, &input, err) &&
         write_file(new, &guess, &text, &source, err) &&
         snapshot_make(&new->session.arena,
                       &(struct snapshot_request){ .source = &source, .operation = STR("harvest") },
                       &snapshot, err) &&
         spec_read(&new->session.arena, snapshot.json, &spec, err) &&
         source_live_open(&live,
                          &(struct source_live_input){ .session = &new->session,
                                                       .source = new->name,
                                                       .operation = spec.operation.operation,
                                                       .owner = STR("patra source new"),
                                                       .secrets = &secrets.source },
                          err) &&
         send(new, &guess, &live, &spec, reply, err);
    source_live_close(&live);
    return ok;
}

/* Where an answer is from that nothing can be guessed from: a file, or the URL without the
 * parameters, which may be secret. */
static bool not_an_answer(struct source_new *new, const char *sample, struct error *err)
{
    struct str rest = new->url;
    struct buf url;

    if (sample != NULL)
        return error_wrap(err, "%s", sample);
    buf_init(&url, &new->session.arena, NEW_BYTES_MAX);
    url_redact(&url, str_cut(&rest, '?'), NULL, 0);
    return error_wrap(err, "GET %.*s", STR_ARG(buf_str(&url)));
}

/* ---- what is printed ---- */

static void tell_one(FILE *out, const char *what, const struct guess_found *found)
{
    static const char *const names[] = { "not guessed", "weak", "likely", "sure" };

    if (found->path.len > 0)
        fprintf(out, "  %-10s %.*s (%s)\n", what, STR_ARG(found->path), names[found->certainty]);
}

static void tell(const struct guess *guess, FILE *out)
{
    fprintf(out, "guessed\n");
    tell_one(out, "items", &guess->items);
    tell_one(out, "id", &guess->id);
    tell_one(out, "updated_at", &guess->updated_at);
    tell_one(out, "total", &guess->total);
    tell_one(out, "next", &guess->page.next);
    if (guess->missing.count > 0)
        fprintf(out, "not guessed\n");
    for (size_t i = 0; i < guess->missing.count; i++)
        fprintf(out, "  %.*s\n", STR_ARG(guess->missing.items[i]));
}

/* ---- the whole ---- */

static bool open_session(struct source_new *new, struct error *err)
{
    const char *named = getenv("PATRA_STORE");

    if (invocation_value(new->invocation, "store") != NULL || (named != NULL && named[0] != '\0') ||
        access("patra.db", F_OK) == 0)
        return session_open(&new->session, new->invocation, err);
    new->session = (struct session){ .clock = system_clock() };
    arena_init(&new->session.arena, NEW_BYTES_MAX);
    return true;
}

static bool run(struct source_new *new, enum exit_code *code, struct error *err)
{
    const char *sample = invocation_value(new->invocation, "sample");
    const char *output = invocation_value(new->invocation, "output");
    struct http_response reply = { 0 };
    struct source source;
    struct guess guess;
    struct buf text;

    if (!setting_is_name(new->name))
        return command_misused(err,
                               "'%.*s' cannot be the name of a source: use letters, digits, - "
                               "and _, beginning with a letter",
                               STR_ARG(new->name));
    if (new->url.len == 0)
        return command_misused(err, "--url is missing: the address of a list of the API");
    if (!open_session(new, err))
        return false;
    if (!guess_make(&guess, &new->session.arena,
                    &(struct guess_input){ .name = new->name, .url = new->url }, err))
        return error_wrap(err, "--url");
    if (!(sample != NULL ? source_saved_read(&new->session.arena, sample, &reply, err)
                         : ask(new, &reply, err)))
        return false;
    if (!guess_make(&guess, &new->session.arena,
                    &(struct guess_input){ .name = new->name,
                                           .url = new->url,
                                           .reply = &reply,
                                           .now_us = clock_now_us(&new->session.clock) },
                    err))
        return not_an_answer(new, sample, err);
    if (!write_file(new, &guess, &text, &source, err))
        return false;
    if (guess.items.path.len == 0 || guess.id.path.len == 0)
        *code = EXIT_FOUND;
    if (!(output != NULL ? save(output, &text, err)
                         : output_text(new->invocation->out, &text, err)))
        return false;
    tell(&guess, new->invocation->talk);
    return true;
}

static enum exit_code cmd_source_new(const struct invocation *invocation)
{
    struct source_new new = { .invocation = invocation,
                              .name = str_of(invocation->operands[0]),
                              .url = str_of(invocation_value(invocation, "url")) };
    enum exit_code code = EXIT_DONE;
    struct error err;

    if (!run(&new, &code, &err))
        code = command_failed(invocation, &err);
    session_close(&new.session);
    return code;
}

const struct command COMMAND_SOURCE_NEW = {
    .name = "new",
    .summary = "write a first source file, guessed from a URL and an answer",
    .operands = "NAME",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Requests the URL once, or reads a saved answer to it, and guesses where the records,\n"
        "their ids and dates, the total and the next page are. Writes a source file for the\n"
        "source NAME with a comment for each guess: why, and how sure. What could not be guessed\n"
        "is marked TODO, and listed on standard error. The file passes lint.\n"
        "\n"
        "Write dates into the URL as the API's filter wants them: they become the window. A key,\n"
        "password or mail address in the URL is not written to the file, only the name of the\n"
        "environment variable to set. Where there is a store, the request takes a permit of the\n"
        "rate gate. The exit code is 1 if the list of records or their id was not found.",
    .options = { { "url", "URL", "The address of a page of the list, with its parameters." },
                 { "sample", "FILE",
                   "Read a saved answer, with its header in FILE.head or at its start (curl -i)." },
                 { "output", "FILE", "Write to a new file (default: standard output)." },
                 SESSION_OPTION },
    .letters = { { 'o', "output" } },
    .run = cmd_source_new,
};
