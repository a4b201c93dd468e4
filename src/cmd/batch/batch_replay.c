/* patra batch replay: the request of a batch sent again, and compared. */
#include <inttypes.h>

#include "adapter/pack/pack.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cmd/batch/batch.h"
#include "cmd/batch/batch_key.h"
#include "cmd/source/source_live.h"
#include "engine/archive/archive.h"
#include "engine/source/source_store.h"
#include "spec/check.h"
#include "spec/snapshot.h"
#include "view/replay.h"

enum { RECORDS_SHOWN = 20, BATCHES_MAX = 1000 };

struct replaying {
    const struct invocation *invocation;
    struct session *session;
    struct str owner;
    struct source_live live; /* open until the response is judged: its tokens are masked */
    struct snapshot current; /* of the source in force; json '' = there is none */
    bool is_different;       /* some batch was */
};

/* ---- for people ---- */

static void print_number(const char *what, int64_t then, int64_t now, FILE *out)
{
    if (then == now)
        fprintf(out, "  %-9s %" PRId64 "\n", what, now);
    else
        fprintf(out, "  %-9s %" PRId64 " then, %" PRId64 " now\n", what, then, now);
}

static void print_text(const char *what, struct str then, struct str now, FILE *out)
{
    if (then.len == 0 && now.len == 0)
        return;
    if (str_eq(then, now))
        fprintf(out, "  %-9s %.*s\n", what, STR_ARG(now));
    else
        fprintf(out, "  %-9s %.*s then, %.*s now\n", what,
                STR_ARG(then.len > 0 ? then : STR("none")),
                STR_ARG(now.len > 0 ? now : STR("none")));
}

static void print_records(const struct replay_report *report, bool all, FILE *out)
{
    size_t shown = 0, left = 0;

    if (!report->has_items) {
        fprintf(out, "  records   not compared: the batch did not keep its items\n");
        return;
    }
    fprintf(out, "  records  ");
    for (size_t i = 0; i < REPLAY_KIND_CODES.count; i++) {
        if (report->counts[i] > 0)
            fprintf(out, " %" PRId64 " %.*s", report->counts[i],
                    STR_ARG(code_of(&REPLAY_KIND_CODES, (int)i)));
    }
    fprintf(out, "\n");
    for (size_t i = 0; i < report->records.count; i++) {
        const struct replay_record *record = &report->records.items[i];
        const bool is_told = all || (record->kind != REPLAY_SAME && record->kind != REPLAY_UNKNOWN);

        if (!is_told)
            continue;
        if (!all && shown == RECORDS_SHOWN) {
            left++;
            continue;
        }
        shown++;
        fprintf(out, "    %-8.*s %.*s%s%s\n",
                STR_ARG(code_of(&REPLAY_KIND_CODES, (int)record->kind)),
                STR_ARG(record->id.len > 0 ? record->id : STR("(no id)")),
                record->is_bad ? ", cannot be judged: " : "", record->is_bad ? record->reason : "");
    }
    if (left > 0)
        fprintf(out, "    ... and %zu more: --all\n", left);
}

static void print_report(const struct view_replay *view, bool all, FILE *out)
{
    const struct replay_report *report = view->report;
    const struct replay_side *then = &report->then, *now = &report->now;

    fprintf(out, "batch %" PRId64 "/%" PRId64 ": %s", view->run_id, view->number,
            report->is_identical ? "identical"
            : report->is_same    ? "the same"
                                 : "different: ");
    fprintf(out, "%.*s%s\n", STR_ARG(report->differs),
            view->is_offline ? " (from the archive, no request was sent)" : "");
    if (view->is_source_changed)
        fprintf(out, "  the source has changed since; %s\n",
                view->is_by_current ? "read as it is in force now"
                                    : "read by the snapshot of then");
    if (!report->is_request_same)
        fprintf(out, "  request   is another one now: %.*s\n", STR_ARG(report->request));
    print_number("status", then->status, now->status, out);
    print_text("error", then->code, now->code, out);
    if (now->text.len > 0)
        fprintf(out, "            %.*s\n", STR_ARG(now->text));
    print_number("bytes", then->bytes, now->bytes, out);
    if (then->code.len == 0 || now->code.len == 0)
        print_number("items", then->items, now->items, out);
    if (then->has_total || now->has_total)
        print_number("total", then->total, now->total, out);
    print_text("next", then->next, now->next, out);
    print_text("hash", then->sample, now->sample, out);
    if (then->code.len == 0)
        print_records(report, all, out);
}

static bool show(struct replaying *r, const struct view_replay *view, struct error *err)
{
    struct output output;

    r->is_different |= !view->report->is_same;
    if (invocation_flag(r->invocation, "json")) {
        view_replay_write(output_begin(&output, &r->session->arena), view);
        return output_end(&output, r->invocation->out, err);
    }
    print_report(view, invocation_flag(r->invocation, "all"), r->invocation->out);
    return true;
}

/* ---- the source in force ---- */

/* One that was removed, or whose operation was, has no snapshot now. */
static bool load_current(struct replaying *r, const struct replay *replay, struct error *err)
{
    const int64_t now_us = clock_now_us(&r->session->clock);
    struct error cause;
    struct source source;

    (void)err;
    r->current = (struct snapshot){ 0 };
    if (!source_load(r->session->store, &r->session->arena, replay->plan.source, now_us, &source,
                     &cause) ||
        !snapshot_make(&r->session->arena,
                       &(struct snapshot_request){ .source = &source,
                                                   .operation = replay->spec->operation.name },
                       &r->current, &cause))
        r->current.json = STR("");
    return true;
}

/* ---- one batch ---- */

static struct replay_input input_of(struct replaying *r, const struct batch *batch)
{
    return (struct replay_input){ .store = r->session->store,
                                  .arena = &r->session->arena,
                                  .specs = r->session->specs,
                                  .secrets = &r->session->secrets.source,
                                  .batch = batch,
                                  .now_us = invocation_flag(r->invocation, "offline")
                                                ? batch->created_us
                                                : clock_now_us(&r->session->clock) };
}

static bool send(struct replaying *r, struct replay *replay, struct error *err)
{
    const struct source_live_input input = { .session = r->session,
                                             .source = replay->plan.source,
                                             .operation = replay->plan.operation,
                                             .owner = r->owner,
                                             .secrets = &r->session->secrets.source };
    bool ok = source_live_open(&r->live, &input, err) &&
              source_live_ask(&r->live, replay->endpoint, err) &&
              replay_send(replay, r->live.http, err);

    if (ok)
        source_live_hear(&r->live, replay->endpoint, &replay->reply, replay->reply.status > 0);
    return ok;
}

/* The response of then, from the archive. */
static bool take(struct replaying *r, struct replay *replay, struct error *err)
{
    const struct str hash = replay->evidence.body_hash;
    struct body_packer *packer;
    struct http_response reply;
    struct archive archive;
    bool found = false, ok;

    if (hash.len == 0)
        return error_set(err, ERROR_REQUEST, "replay.archive",
                         "its response was not archived (http.archive_keep of the source)");
    if (!body_packer_open(&packer, err))
        return false;
    archive_init(&archive, packer, r->session->store);
    ok = archive_read(&archive, &r->session->arena, hash, &reply, &found, err);
    archive_release(&archive);
    if (ok && !found)
        return error_set(err, ERROR_REQUEST, "replay.archive",
                         "its archived response is gone: too old, or too much was archived");
    if (ok)
        replay_take(replay, &reply);
    return ok;
}

static bool get_response(struct replaying *r, struct replay *replay, struct error *err)
{
    return invocation_flag(r->invocation, "offline") ? take(r, replay, err) : send(r, replay, err);
}

/* By the source in force: the operation of the same name, if it is still there. */
static bool reopen_by_current(struct replaying *r, const struct replay_input *input,
                              struct replay *replay, struct error *err)
{
    struct replay_input current = *input;

    if (!invocation_flag(r->invocation, "current"))
        return true;
    if (r->current.json.len == 0)
        return error_set(err, ERROR_REQUEST, "replay.current",
                         "the source in force has no such operation");
    replay_close(replay);
    current.snapshot = r->current.json;
    return replay_open(replay, &current, err);
}

static bool replay_one(struct replaying *r, const struct batch *batch, struct error *err)
{
    const struct replay_input input = input_of(r, batch);
    struct replay replay = { 0 };
    struct view_replay view = { .run_id = batch->run_id,
                                .number = batch->number,
                                .is_offline = invocation_flag(r->invocation, "offline"),
                                .is_by_current = invocation_flag(r->invocation, "current"),
                                .report = &replay.report };
    bool ok = replay_open(&replay, &input, err) && load_current(r, &replay, err) &&
              reopen_by_current(r, &input, &replay, err) && get_response(r, &replay, err) &&
              replay_judge(&replay, err);

    if (ok) {
        view.is_source_changed =
            !str_eq(str_of(r->current.fingerprint), replay.plan.spec_fingerprint);
        ok = show(r, &view, err);
    }
    replay_close(&replay);
    source_live_close(&r->live);
    return ok || error_wrap(err, "batch %" PRId64 "/%" PRId64, batch->run_id, batch->number);
}

/* ---- the command ---- */

/* Of a run: the batch that matters, or with --every all of them. */
static bool replay_run(struct replaying *r, int64_t run_id, struct error *err)
{
    struct batch_list list;

    if (!store_batch_list(r->session->store, &r->session->arena, run_id,
                          (struct store_page){ .limit = BATCHES_MAX }, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!replay_one(r, &list.items[i], err))
            return false;
    }
    return true;
}

static bool replay(const struct invocation *invocation, struct session *session,
                   enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct replaying r = { .invocation = invocation,
                           .session = session,
                           .owner = STR("patra batch replay") };
    struct view_batch_key key;
    struct view_batch view;
    struct batch batch;
    bool found;

    if (!batch_key_read(invocation->operands[0], &key, err) ||
        !view_batch(&reader, &key, &view, err))
        return false;
    if (invocation_flag(invocation, "every")) {
        if (!replay_run(&r, key.run_id, err))
            return false;
    } else {
        /* The view's texts are masked. */
        if (!store_batch_get(session->store, &session->arena, view.batch.run_id, view.batch.number,
                             &batch, &found, err) ||
            !replay_one(&r, &batch, err))
            return false;
    }
    if (r.is_different)
        *code = EXIT_FOUND;
    return true;
}

static enum exit_code cmd_replay(const struct invocation *invocation)
{
    return session_run(invocation, replay);
}

const struct command COMMAND_BATCH_REPLAY = {
    .name = "replay",
    .summary = "send the request of a batch again and compare; nothing is stored",
    .operands = "RUN/NUMBER | RUN",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Makes the request of a batch again, by the snapshot of then, sends it once with a\n"
        "permit of the rate gate, and compares the response with the one of then: status,\n"
        "error, counts, the next page, hashes, and each record: same, changed, gone or new.\n"
        "With --offline nothing is sent: the archived response is read again.\n"
        "Nothing is stored and no cursor moves. It also says whether the source has changed\n"
        "since. RUN alone replays the batch of the run that failed, or else the last one in\n"
        "which something was wrong. To fetch a window again and store it, see patra replay.\n"
        "The exit code is 0 if the response is the same as then, a failure included; 1 if it\n"
        "differs; 3 if there is no permit now; 4 if the batch cannot be replayed.",
    .options = { { "offline", NULL, "Send nothing: read the response of then from the archive." },
                 { "current", NULL, "By the source in force, not by the snapshot of then." },
                 { "every", NULL, "Replay every batch of the run, one request each." },
                 { "all", NULL, "Show every record, not only those that differ." },
                 { "json", NULL, "Print a JSON object per batch." },
                 SESSION_OPTION },
    .run = cmd_replay,
};
