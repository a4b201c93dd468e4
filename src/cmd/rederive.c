/* patra rederive: reads stored records again by the source's present mapping. */
#include "cmd/rederive.h"

#include <inttypes.h>

#include "adapter/pack/pack.h"
#include "cli/output.h"
#include "cli/session.h"
#include "engine/rederive/rederive.h"
#include "engine/reharvest/reharvest.h"
#include "engine/source/source_store.h"
#include "spec/check.h"

enum { PROGRESS_RECORDS = 10000 };

struct progress {
    struct rederive_listener listener;
    FILE *talk;   /* NULL: none */
    int64_t next; /* a line when this many were read */
};

static void show_page(struct rederive_listener *listener, const struct rederive_result *so_far)
{
    struct progress *progress = (struct progress *)listener;

    if (progress->talk == NULL || so_far->read < progress->next)
        return;
    fprintf(progress->talk, "%" PRId64 " records read, %" PRId64 " changed\n", so_far->read,
            so_far->changed);
    progress->next = so_far->read + PROGRESS_RECORDS;
}

/* ---- for people ---- */

static void print_fields(const struct rederive_result *result, FILE *out)
{
    for (size_t i = 0; i < result->fields.count; i++) {
        const struct rederive_field *field = &result->fields.items[i];

        fprintf(out, "%.*s: differs in %" PRId64 " record%s\n", STR_ARG(field->name),
                field->changed, field->changed == 1 ? "" : "s");
        for (size_t k = 0; k < field->example_count; k++) {
            const struct rederive_example *example = &field->examples[k];
            const struct str from = example->from.len > 0 ? example->from : STR("(none)");
            const struct str to = example->to.len > 0 ? example->to : STR("(none)");

            fprintf(out, "  %.*s: %.*s -> %.*s\n", STR_ARG(example->id), STR_ARG(from),
                    STR_ARG(to));
        }
    }
}

static void print_result(const struct rederive_result *result, bool is_diff, FILE *out)
{
    if (is_diff)
        print_fields(result, out);
    fprintf(out,
            "%" PRId64 " record%s of an old mapping: %" PRId64 " %s (%" PRId64 " deleted), %" PRId64
            " unchanged, %" PRId64 " %s\n",
            result->read, result->read == 1 ? "" : "s", result->changed,
            is_diff ? "would change" : "changed", result->deleted, result->unchanged, result->bad,
            is_diff ? "would be quarantined" : "quarantined");
    if (result->unknown > 0)
        fprintf(out,
                "%" PRId64 " expression%s left alone: the store does not know their mapping; an "
                "update requests their records again\n",
                result->unknown, result->unknown == 1 ? "" : "s");
    if (result->orphans > 0)
        fprintf(out,
                "%" PRId64 " expression%s left alone: no operation of the source reads their "
                "endpoint now\n",
                result->orphans, result->orphans == 1 ? "" : "s");
}

static void print_archive(const struct reharvest_result *result, bool is_diff, FILE *out)
{
    if (result->responses + result->unreadable + result->masked == 0)
        return;
    fprintf(out,
            "%" PRId64 " archived response%s, %" PRId64 " record%s: %" PRId64 " %s, %" PRId64
            " %s, %" PRId64 " deleted, %" PRId64 " unchanged, %" PRId64
            " older than stored, %" PRId64 " cannot be judged\n",
            result->responses, result->responses == 1 ? "" : "s", result->records,
            result->records == 1 ? "" : "s", result->created, is_diff ? "would be new" : "new",
            result->updated, is_diff ? "would change" : "changed", result->deleted,
            result->unchanged, result->older, result->bad);
    if (result->unreadable > 0)
        fprintf(out, "%" PRId64 " archived responses are not pages of this source now\n",
                result->unreadable);
    if (result->masked > 0)
        fprintf(out, "%" PRId64 " archived responses left alone: secrets were taken out of them\n",
                result->masked);
}

/* ---- for programs ---- */

static void write_archive(struct json_writer *w, const struct reharvest_result *result)
{
    json_write_name(w, STR("archive"));
    json_write_object(w);
    json_write_member_i64(w, STR("responses"), result->responses);
    json_write_member_i64(w, STR("records"), result->records);
    json_write_member_i64(w, STR("created"), result->created);
    json_write_member_i64(w, STR("updated"), result->updated);
    json_write_member_i64(w, STR("deleted"), result->deleted);
    json_write_member_i64(w, STR("unchanged"), result->unchanged);
    json_write_member_i64(w, STR("older"), result->older);
    json_write_member_i64(w, STR("bad"), result->bad);
    json_write_member_i64(w, STR("unreadable"), result->unreadable);
    json_write_member_i64(w, STR("masked"), result->masked);
    json_write_end(w);
}

static void write_examples(struct json_writer *w, const struct rederive_field *field)
{
    json_write_name(w, STR("examples"));
    json_write_array(w);
    for (size_t i = 0; i < field->example_count; i++) {
        json_write_object(w);
        json_write_member_str(w, STR("id"), field->examples[i].id);
        json_write_member_str(w, STR("from"), field->examples[i].from);
        json_write_member_str(w, STR("to"), field->examples[i].to);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_fields(struct json_writer *w, const struct rederive_field_list *fields)
{
    json_write_name(w, STR("fields"));
    json_write_object(w);
    for (size_t i = 0; i < fields->count; i++) {
        json_write_name(w, fields->items[i].name);
        json_write_object(w);
        json_write_member_i64(w, STR("changed"), fields->items[i].changed);
        write_examples(w, &fields->items[i]);
        json_write_end(w);
    }
    json_write_end(w);
}

static bool print_json(const struct rederive_result *result, const struct reharvest_result *archive,
                       bool is_diff, struct session *session, FILE *out, struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, &session->arena);

    json_write_object(w);
    json_write_member_bool(w, STR("diff"), is_diff);
    json_write_member_i64(w, STR("read"), result->read);
    json_write_member_i64(w, STR("changed"), result->changed);
    json_write_member_i64(w, STR("deleted"), result->deleted);
    json_write_member_i64(w, STR("unchanged"), result->unchanged);
    json_write_member_i64(w, STR("bad"), result->bad);
    json_write_member_i64(w, STR("unknownExpressions"), result->unknown);
    json_write_member_i64(w, STR("orphanExpressions"), result->orphans);
    write_fields(w, &result->fields);
    write_archive(w, archive);
    json_write_end(w);
    return output_end(&output, out, err);
}

/* ---- the command ---- */

static bool load(const struct invocation *invocation, struct session *session,
                 struct rederive_request *request, struct source *source, struct error *err)
{
    struct fault_list faults;

    if (!source_load(session->store, &session->arena, str_of(invocation->operands[0]),
                     request->now_us, source, err))
        return false;
    fault_list_init(&faults, &session->arena);
    source_check(&session->arena, NULL, source, &faults);
    if (!fault_list_ok(&faults, err))
        return false;
    if (invocation->operand_count > 1)
        request->endpoint = str_of(invocation->operands[1]);
    if (request->endpoint.len > 0 &&
        source_row(source, REGISTRY_ENDPOINT, request->endpoint, STR("")) == NULL)
        return error_set(err, ERROR_REQUEST, "rederive.endpoint", "%.*s has no endpoint %.*s",
                         STR_ARG(source->registry.code), STR_ARG(request->endpoint));
    return true;
}

/* Archived responses, where there are any; only for the source as a whole. */
static bool read_archive(struct session *session, const struct rederive_request *request,
                         struct reharvest_result *result, struct error *err)
{
    struct archived_batch_list batches;
    struct body_packer *packer;
    struct archive archive;
    bool ok;

    *result = (struct reharvest_result){ 0 };
    if (request->endpoint.len > 0)
        return true;
    if (!store_archive_batches(session->store, &session->arena, request->source->registry.code,
                               (struct store_page){ .limit = 1 }, &batches, err))
        return false;
    if (batches.count == 0)
        return true;
    if (!body_packer_open(&packer, err))
        return false;
    archive_init(&archive, packer, session->store);
    ok = reharvest(session->store,
                   &(struct reharvest_request){ .source = request->source,
                                                .archive = &archive,
                                                .specs = session->specs,
                                                .secrets = &session->secrets.source,
                                                .random = &session->random,
                                                .now_us = request->now_us,
                                                .is_dry = request->is_dry },
                   result, err);
    archive_release(&archive);
    return ok;
}

static bool run(const struct invocation *invocation, struct session *session, enum exit_code *code,
                struct error *err)
{
    const bool as_json = invocation_flag(invocation, "json");
    struct progress progress = { .listener.page = show_page,
                                 .talk = as_json ? NULL : invocation->talk,
                                 .next = PROGRESS_RECORDS };
    struct source source;
    struct rederive_request request = { .source = &source,
                                        .now_us = clock_now_us(&session->clock),
                                        .is_dry = invocation_flag(invocation, "diff"),
                                        .random = &session->random,
                                        .listener = &progress.listener,
                                        .specs = session->specs };
    struct rederive_result result;
    struct reharvest_result archive;

    if (!load(invocation, session, &request, &source, err) ||
        !rederive(session->store, &session->arena, &request, &result, err) ||
        !read_archive(session, &request, &archive, err))
        return false;
    if (result.bad + archive.bad > 0 ||
        (request.is_dry &&
         result.changed + archive.created + archive.updated + archive.deleted > 0))
        *code = EXIT_FOUND;
    if (as_json)
        return print_json(&result, &archive, request.is_dry, session, invocation->out, err);
    print_result(&result, request.is_dry, invocation->out);
    print_archive(&archive, request.is_dry, invocation->out);
    return true;
}

static enum exit_code cmd_rederive(const struct invocation *invocation)
{
    return session_run(invocation, run);
}

const struct command COMMAND_REDERIVE = {
    .name = "rederive",
    .summary = "read stored records again by a changed mapping",
    .operands = "SOURCE [ENDPOINT]",
    .operands_min = 1,
    .operands_max = 2,
    .description =
        "Reads stored records again after the mapping of a source was changed: its fields, and\n"
        "the paths of updated_at, version, deleted and merged_into. No request is sent. A record\n"
        "in which something differs gets a new version and an event; one that the new mapping\n"
        "cannot read keeps its state and is quarantined. A run that was stopped is continued by\n"
        "the next one, and harvests may run at the same time. Of a source with an archive\n"
        "(http.archive_keep), all archived responses are then read again by the source in force, "
        "also\n"
        "items that were quarantined or looked for in wrong places; what is new or differs is\n"
        "stored as a version with its event, and nothing that was fetched since is overwritten.\n"
        "With --diff nothing is written; it shows which fields would differ, in how many\n"
        "records, and examples. The exit code is 1 if a record cannot be read, or with --diff if\n"
        "a record would change.",
    .options = { { "diff", NULL, "Write nothing; show what would change." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_rederive,
};
