/* patra source test: the request of an operation, and the page that a response becomes. */
#include "cmd/source/source_test.h"
#include "core/cursor.h"

#include <inttypes.h>
#include <string.h>

#include "adapter/system/system.h"
#include "base/list.h"
#include "cli/file.h"
#include "engine/slice/slicing.h"
#include "engine/source/source_store.h"
#include "spec/check.h"
#include "spec/file_names.h"
#include "spec/snapshot.h"

#define TEST_BYTES_MAX ((size_t)512 << 20)
/* A look at a source, not a harvest. */
enum { PAGES_MAX = 100 };

/* ---- stand-ins for secrets ---- */

static bool stand_in_get(struct secret_source *source, struct str reference, struct secret *secret,
                         struct error *err)
{
    (void)source;
    (void)reference;
    (void)err;
    memcpy(secret->bytes, "***", 3);
    secret->len = 3;
    return true;
}

struct secret_source source_test_stand_in(void)
{
    return (struct secret_source){ stand_in_get };
}

/* ---- the source ---- */

static bool is_file(const char *operand)
{
    const struct str text = str_of(operand);

    return str_eq(text, STR("-")) || str_find_char(text, '/') < text.len ||
           str_ends(text, STR(".yaml")) || str_ends(text, STR(".yml"));
}

/* With --set, the source in force is written as a file and read again with the changes. */
static bool load(struct source_test *test, bool *clean, struct error *err)
{
    struct arena *arena = &test->session.arena;
    struct source_text text;
    struct fault_list faults;
    struct buf out;

    if (!source_load(test->session.store, arena, str_of(test->invocation->operands[0]),
                     clock_now_us(&test->session.clock), &test->source, err) ||
        !source_edits(test->invocation, arena, &text.edits, err))
        return false;
    *clean = true;
    if (text.edits.count == 0)
        return true;
    buf_init(&out, arena, SOURCE_FILE_BYTES_MAX);
    source_write(&test->source, &out);
    if (!buf_ok(&out, err))
        return false;
    text.file = buf_str(&out);
    fault_list_init(&faults, arena);
    return (source_lint(arena, NULL, &text, &faults, &test->source) &&
            fault_list_ok(&faults, err)) ||
           (!fault_list_ok(&faults, err) && error_wrap(err, "with --set"));
}

static bool open_source(struct source_test *test, bool *clean, struct error *err)
{
    const struct invocation *invocation = test->invocation;
    const char *operand = invocation->operands[0];

    if (!is_file(operand) || invocation_value(invocation, "store") != NULL) {
        if (!session_open(&test->session, invocation, err))
            return false;
    } else {
        test->session = (struct session){ .clock = system_clock() };
        arena_init(&test->session.arena, TEST_BYTES_MAX);
    }
    if (is_file(operand))
        return source_file_read(&(struct source_file){ invocation, &test->session.arena, operand },
                                &test->source, clean, err);
    return load(test, clean, err);
}

/* ---- its operation ---- */

static struct str default_operation(const struct source *source)
{
    const struct registry_row *first = source_next_operation(source, NULL);

    if (source_find_operation(source, STR("harvest")) != NULL)
        return STR("harvest");
    return first != NULL ? first->key : STR("harvest");
}

static bool compile(struct source_test *test, struct error *err)
{
    const char *given = invocation_value(test->invocation, "operation");
    struct snapshot snapshot;

    test->operation = given != NULL ? str_of(given) : default_operation(&test->source);
    return snapshot_make(
               &test->session.arena,
               &(struct snapshot_request){ .source = &test->source, .operation = test->operation },
               &snapshot, err) &&
           spec_read(&test->session.arena, snapshot.json, &test->spec, err);
}

/* ---- its slice ---- */

/* Without bounds: the last slice that a harvest would request now. */
static bool make_window(struct source_test *test, struct error *err)
{
    const struct spec_window *window = &test->spec.endpoint.window;
    const int64_t step_us = granularity_us(window->granularity);
    const int64_t unit_us = window->min_us > step_us ? window->min_us : step_us;
    const int64_t now_us = clock_now_us(&test->session.clock);
    const int64_t edge_us = now_us - window->lag_us;
    const struct slice_cut cut = { .max_us = window->max_us,
                                   .min_us = window->min_us,
                                   .overlap_us = window->overlap_us,
                                   .align = window->align,
                                   .granularity = window->granularity };
    struct window own;

    own.to_us = edge_us - edge_us % unit_us;
    if (!invocation_instant(test->invocation, "to", now_us, &own.to_us, err))
        return false;
    own.from_us = own.to_us - window->max_us;
    if (!invocation_instant(test->invocation, "from", now_us, &own.from_us, err))
        return false;
    if (own.from_us >= own.to_us)
        return command_misused(err, "--from must be before --to");
    test->slice = (struct slice){ .dimension = SLICE_TIME,
                                  .window = own,
                                  .query = slice_query_of(&cut, own),
                                  .expected_records = SLICE_UNKNOWN,
                                  .expected_requests = SLICE_UNKNOWN };
    return true;
}

static bool read_ids(struct source_test *test, struct error *err)
{
    struct {
        struct str *items;
        size_t count;
    } ids = { 0 };
    const char *given;
    int at = 0;

    while ((given = invocation_each(test->invocation, "id", &at)) != NULL) {
        struct str *id = LIST_ADD(&test->session.arena, &ids);

        if (id == NULL)
            return arena_error(&test->session.arena, err);
        *id = str_of(given);
    }
    test->ids = ids.items;
    test->id_count = ids.count;
    return true;
}

/* One id or two: the part of the window with these ids and all ids between them. */
static bool make_part(struct source_test *test, struct error *err)
{
    const struct spec_page *page = &test->spec.endpoint.page;
    int64_t first, last;

    if (page->id_max == 0)
        return command_misused(
            err,
            "--id: %.*s lists records by window and has no range of ids (page.id_max); choose "
            "an operation by id with --operation",
            STR_ARG(test->operation));
    if (test->id_count > 2 || !str_to_i64(test->ids[0], &first) ||
        !str_to_i64(test->ids[test->id_count - 1], &last) || first > last || first < page->id_min ||
        last > page->id_max)
        return command_misused(err,
                               "--id: give the first and the last id of a range, between %" PRId64
                               " and %" PRId64 " (page.id_min, page.id_max)",
                               page->id_min, page->id_max);
    test->slice.part = (struct id_range){ first, last + 1 };
    test->id_count = 0;
    return true;
}

/* A feed from where its first harvest begins, or from the given id or token. */
static bool make_feed(struct source_test *test, struct error *err)
{
    const struct spec_window *window = &test->spec.endpoint.window;
    struct str after = window->start_id;

    if (invocation_value(test->invocation, "from") != NULL ||
        invocation_value(test->invocation, "to") != NULL)
        return command_misused(err,
                               "--from and --to are dates, and %.*s is a feed: give the %s to "
                               "continue from with --id",
                               STR_ARG(test->spec.endpoint.name),
                               window->type == CURSOR_ID ? "id" : "token");
    if (test->id_count > 1)
        return command_misused(err, "--id: a feed continues from one %s",
                               window->type == CURSOR_ID ? "id" : "token");
    if (test->id_count == 1)
        after = test->ids[0];
    if (window->type == CURSOR_ID && after.len > 0 && !cursor_id_is_valid(after))
        return command_misused(err, "--id: '%.*s' is not a whole number", STR_ARG(after));
    test->id_count = 0;
    test->slice =
        (struct slice){ .dimension = SLICE_FEED,
                        .feed = { .type = window->type,
                                  .after = after.len > 0 ? after : (struct str){ NULL, 0 } },
                        .expected_records = SLICE_UNKNOWN,
                        .expected_requests = SLICE_UNKNOWN };
    return true;
}

/* The first file, or the one that --id names. */
static bool make_file(struct source_test *test, struct error *err)
{
    const struct spec_endpoint *endpoint = &test->spec.endpoint;
    struct file_names names = { .items = endpoint->files, .count = endpoint->file_count };

    if (invocation_value(test->invocation, "from") != NULL ||
        invocation_value(test->invocation, "to") != NULL)
        return command_misused(err, "--from and --to are dates, and %.*s is a file",
                               STR_ARG(endpoint->name));
    if (test->id_count > 1)
        return command_misused(err, "--id: name one file");
    test->slice = (struct slice){ .dimension = SLICE_FILE,
                                  .expected_records = SLICE_UNKNOWN,
                                  .expected_requests = 1 };
    if (test->id_count == 1)
        test->slice.file = test->ids[0];
    else if (!file_names_next(&names, &test->session.arena, &test->slice.file))
        return arena_error(&test->session.arena, err);
    test->id_count = 0;
    return true;
}

static bool make_slice(struct source_test *test, struct error *err)
{
    if (!read_ids(test, err))
        return false;
    if (test->spec.operation.slice_by == SLICE_FEED)
        return make_feed(test, err);
    if (test->spec.operation.slice_by == SLICE_FILE)
        return make_file(test, err);
    if (test->spec.endpoint.role == ENDPOINT_SEARCH)
        return make_window(test, err) && (test->id_count == 0 || make_part(test, err));
    test->slice =
        (struct slice){ .dimension = SLICE_ID, .expected_records = 1, .expected_requests = 1 };
    if (test->id_count > 0)
        return true;
    if (test->spec.endpoint.parent.len > 0)
        return command_misused(err,
                               "%.*s requests the children of records of %.*s: give the id of "
                               "one with --id",
                               STR_ARG(test->operation), STR_ARG(test->spec.endpoint.parent));
    return command_misused(err, "%.*s requests records by id: give one with --id",
                           STR_ARG(test->operation));
}

/* ---- the whole ---- */

static bool show(struct source_test *test, const struct source_test_result *result,
                 struct error *err)
{
    if (invocation_flag(test->invocation, "json"))
        return source_test_print_json(test, result, err);
    return source_test_print(test, result, err);
}

/* One page as it was read; false with a failure of our own only. */
static bool read_one(struct probe *probe, const struct http_response *reply,
                     struct source_test_result *result, struct error *failure, struct error *err)
{
    struct probe *pages = (struct probe *)result->pages;

    result->is_answered = true;
    result->is_page = probe_read(probe, reply, failure);
    if (!result->is_page) {
        result->failure = failure;
        return true;
    }
    pages[result->page_count++] = *probe;
    return probe_warn(probe, err);
}

/* Requests pages until the list ends, one cannot be read, or there are as many as were wanted. */
static bool read_live(struct source_test *test, struct probe *probe,
                      struct source_test_result *result, struct error *failure, struct error *err)
{
    struct source_live live = { 0 };
    struct system_secrets secrets;
    struct http_response reply;
    bool ok;

    system_secrets_init(&secrets, NULL);
    probe->input.secrets = &secrets.source;
    ok = source_test_open(test, &live, &secrets.source, err);
    while (ok) {
        ok = source_test_send(&live, probe, err);
        reply = probe->reply;
        ok = ok && read_one(probe, &reply, result, failure, err);
        if (!ok || !result->is_page || result->page_count == (size_t)test->pages ||
            probe->decision.step != PAGE_GO_ON)
            break;
        ok = probe_turn(probe, err);
    }
    source_live_close(&live);
    return ok;
}

static bool try_response(struct source_test *test, struct probe *probe,
                         struct source_test_result *result, struct error *failure,
                         struct error *err)
{
    const char *fixture = invocation_value(test->invocation, "fixture");
    struct http_response reply;

    result->pages = ARENA_ARRAY(&test->session.arena, struct probe, (size_t)test->pages);
    if (result->pages == NULL)
        return arena_error(&test->session.arena, err);
    if (invocation_flag(test->invocation, "live")) {
        if (!read_live(test, probe, result, failure, err))
            return false;
    } else if (fixture == NULL)
        return true;
    else if (!source_saved_read(&test->session.arena, fixture, &reply, err) ||
             !read_one(probe, &reply, result, failure, err))
        return false;
    return result->page_count == 0 || probe_warn_paths(probe, err);
}

static size_t count_bad(const struct source_test_result *result)
{
    size_t bad = 0;

    for (size_t i = 0; i < result->page_count; i++)
        bad += result->pages[i].listing.bad.count;
    return bad;
}

struct part {
    struct probe probe;
    struct slice slice;
};

/* The request for the lower half of the window's ids, in case the window is above the cap. */
static bool open_part(struct source_test *test, struct part *part, struct secret_source *secrets,
                      struct source_test_result *result, struct error *err)
{
    struct reslice_ids_request request;
    struct reslice_ids out;

    if (test->slice.dimension != SLICE_TIME || id_range_is_valid(test->slice.part) ||
        !slicing_ids(&test->spec, test->slice.part, &request))
        return true;
    reslice_ids(&request, &out);
    part->slice = test->slice;
    part->slice.part = out.count > 0 ? out.children[0] : request.ids;
    if (!probe_open(&part->probe, &test->session.arena,
                    &(struct probe_input){ .spec = &test->spec,
                                           .slice = &part->slice,
                                           .secrets = secrets,
                                           .now_us = clock_now_us(&test->session.clock) },
                    err))
        return error_wrap(err, "a part by ids");
    result->part = &part->probe.shown;
    result->part_ids = part->slice.part;
    return true;
}

static bool probe_and_show(struct source_test *test, enum exit_code *code, struct error *err)
{
    struct secret_source stand_in = source_test_stand_in();
    struct source_test_result result = { 0 };
    struct unset_list unset = { 0 };
    struct part part = { 0 };
    struct probe probe;
    struct error failure;
    bool ok;

    ok = probe_open(&probe, &test->session.arena,
                    &(struct probe_input){ .spec = &test->spec,
                                           .slice = &test->slice,
                                           .ids = test->ids,
                                           .id_count = test->id_count,
                                           .secrets = &stand_in,
                                           .now_us = clock_now_us(&test->session.clock) },
                    err) &&
         open_part(test, &part, &stand_in, &result, err) &&
         unset_find(&test->session.arena, &test->spec, &unset, err) &&
         try_response(test, &probe, &result, &failure, err);
    result.probe = &probe;
    result.unset = unset.items;
    result.unset_count = unset.count;
    if (ok && ((result.is_answered && !result.is_page) || count_bad(&result) > 0))
        *code = EXIT_FOUND;
    ok = ok && show(test, &result, err);
    probe_close(&part.probe);
    probe_close(&probe);
    return ok;
}

static bool run(struct source_test *test, enum exit_code *code, struct error *err)
{
    bool clean;

    if (!open_source(test, &clean, err))
        return false;
    if (!clean) {
        *code = EXIT_FOUND;
        fprintf(test->invocation->talk, "patra: nothing was tested\n");
        return true;
    }
    if (!compile(test, err))
        return false;
    if (invocation_flag(test->invocation, "faults"))
        return source_test_faults(test, code, err);
    return make_slice(test, err) && probe_and_show(test, code, err);
}

static enum exit_code cmd_source_test(const struct invocation *invocation)
{
    const int ways = invocation_flag(invocation, "live") + invocation_flag(invocation, "faults") +
                     (invocation_value(invocation, "fixture") != NULL);
    struct source_test test = { .invocation = invocation };
    enum exit_code code = EXIT_DONE;
    struct error err;

    if (invocation_value(invocation, "pages") != NULL && !invocation_flag(invocation, "live")) {
        fprintf(invocation->talk, "patra: --pages is for --live: a saved response is one page\n");
        return EXIT_USAGE;
    }
    if (ways > 1) {
        fprintf(invocation->talk, "patra: --live, --fixture and --faults exclude each other; "
                                  "give one of them\n");
        return EXIT_USAGE;
    }
    if (!invocation_number(invocation, "pages", (struct option_range){ 1, PAGES_MAX, 1 },
                           &test.pages, &err) ||
        !run(&test, &code, &err))
        code = command_failed(invocation, &err);
    session_close(&test.session);
    return code;
}

const struct command COMMAND_SOURCE_TEST = {
    .name = "test",
    .summary = "try a source: its request, a response, or every fault",
    .operands = "SOURCE|FILE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Shows the first request that an operation would send, without its secrets. With\n"
        "--live, sends it once, with a permit of the rate gate if there is a store; with --pages,\n"
        "follows the list for some pages, with a permit for each. With --fixture, reads a saved\n"
        "response instead, such as a file written by curl -i. Then it shows the page as patra\n"
        "reads it: records, how many of them have each field and a value that does not fit its\n"
        "type, what would be quarantined and why, what comes next, and warnings. The exit code is\n"
        "1 if the response is not a page, or some of its records are bad.\n"
        "\n"
        "With --faults, points the source at patra-sim on the loopback interface and fetches a\n"
        "slice with each of its faults. The exit code is 1 if records go missing unnoticed.\n"
        "\n"
        "A name is a source in force; no request is sent while it is paused. A FILE need not be\n"
        "applied. Nothing is ever stored. See docs/writing-a-source.md.",
    .options = { { "live", NULL, "Send the request." },
                 { "pages", "N", "--live: follow the list for up to N pages (default: 1)." },
                 { "all", NULL, "Show every record, not only the first of each page." },
                 { "fixture", "FILE",
                   "Read a saved response, with its header in FILE.head or at its start." },
                 { "faults", NULL, "Try every fault of patra-sim." },
                 { "protocol", "NAME", "--faults: the protocol of patra-sim (default: guessed)." },
                 { "operation", "NAME", "The operation (default: harvest, else the first one)." },
                 { "from", "INSTANT", "Start of the window: a date, or how long ago (7d)." },
                 { "to", "INSTANT", "End of the window, exclusive." },
                 { "id", "ID",
                   "Request this id; may be repeated. For operations by window, the first and the "
                   "last id of a range." },
                 SOURCE_SET_OPTION,
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_source_test,
};
