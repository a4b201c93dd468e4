/* patra batch show: the request, every attempt, the response, and what became of each item. */
#include <inttypes.h>

#include "base/instant.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cmd/batch/batch.h"
#include "cmd/batch/batch_archived.h"
#include "cmd/batch/batch_key.h"
#include "data/json.h"
#include "engine/fetch/attempts.h"

enum { ITEMS_SHOWN = 20 };

/* ---- JSON of the store, line by line ---- */

static void print_members(struct str json, struct str name, const char *head, struct arena *arena,
                          FILE *out)
{
    struct error ignored;
    struct json_doc doc;
    struct json_node node;

    if (!json_parse(&doc, arena, json, &ignored)) {
        fprintf(out, "  %-10s%.*s\n", head, STR_ARG(json));
        return;
    }
    node = name.len > 0 ? json_get(&doc, json_root(&doc), name) : json_root(&doc);
    for (struct json_iter it = json_each(&doc, node); json_next(&it);) {
        const struct str key = json_exists(it.name) ? json_string_raw(&doc, it.name) : STR("");

        if (str_eq(key, STR("attempts")) ||
            (name.len == 0 && json_type(&doc, it.value) == JSON_OBJECT &&
             str_eq(key, STR("query"))))
            continue; /* they have lines of their own */
        fprintf(out, "  %-10s%.*s%s%.*s\n", head, STR_ARG(key), key.len > 0 ? " = " : "",
                STR_ARG(json_raw(&doc, it.value)));
        head = "";
    }
}

/* ---- attempts ---- */

static struct str then_text(struct str code)
{
    const int then = code_find(&ATTEMPT_THEN_CODES, code);

    return then < 0 ? STR("given up") : ATTEMPT_THEN_CODES.items[then].meaning;
}

static void print_attempt(const struct view_attempt *attempt, size_t number, FILE *out)
{
    fprintf(out, "  %-10zu%.*s  ", number, STR_ARG(attempt->at));
    if (attempt->status > 0)
        fprintf(out, "HTTP %" PRId64 ", %" PRId64 " bytes, ", attempt->status, attempt->bytes);
    else
        fprintf(out, "no response, ");
    fprintf(out, "%" PRId64 " ms", attempt->took_ms);
    if (attempt->ids > 0)
        fprintf(out, ", %" PRId64 " id%s", attempt->ids, attempt->ids == 1 ? "" : "s");
    if (attempt->retry_after_ms >= 0)
        fprintf(out, ", Retry-After %" PRId64 " ms", attempt->retry_after_ms);
    fprintf(out, "\n            %.*s: %.*s\n            %.*s", STR_ARG(attempt->code),
            STR_ARG(attempt->text), STR_ARG(then_text(attempt->then)));
    if (attempt->wait_ms > 0)
        fprintf(out, " of %" PRId64 " ms", attempt->wait_ms);
    fprintf(out, "\n");
}

static void print_attempts(const struct view_batch *view, FILE *out)
{
    const struct view_attempt_list *list = &view->attempts;

    if (list->count == 0)
        return;
    fprintf(out, "\nattempts before this response\n");
    for (size_t i = 0; i < list->count; i++) {
        if (list->left_out > 0 && i + 1 == list->count)
            fprintf(out, "            %" PRId64 " more are left out\n", list->left_out);
        print_attempt(&list->items[i], i + 1, out);
    }
}

/* ---- items ---- */

static void print_items(const struct view_batch_items *list, bool all, FILE *out)
{
    const size_t shown = all || list->count <= ITEMS_SHOWN ? list->count : ITEMS_SHOWN;

    if (!list->is_kept)
        return;
    fprintf(out, "\nitems:");
    for (size_t i = 0; i < BATCH_ITEM_CODES.count; i++) {
        if (list->counts[i] > 0)
            fprintf(out, " %" PRId64 " %.*s", list->counts[i],
                    STR_ARG(code_of(&BATCH_ITEM_CODES, (int)i)));
    }
    fprintf(out, "\n");
    for (size_t i = 0; i < shown; i++) {
        const struct batch_item *item = &list->items[i];
        const struct str id = item->id.len > 0 ? item->id : STR("(no id)");

        fprintf(out, "  %-12.*s%.*s\n", STR_ARG(code_of(&BATCH_ITEM_CODES, (int)item->kind)),
                STR_ARG(id));
    }
    if (shown < list->count)
        fprintf(out, "  ... and %zu more: --all\n", list->count - shown);
}

/* ---- the whole ---- */

static void print_batch(const struct view_batch *view, bool all, struct arena *arena, FILE *out)
{
    const struct batch *batch = &view->batch;
    char at[INSTANT_TEXT_MAX];

    (void)instant_format(batch->created_us, at);
    fprintf(out, "batch %" PRId64 "/%" PRId64 ": %.*s of %.*s/%.*s, %.*s, %s\n", batch->run_id,
            batch->number, STR_ARG(code_of(&OPERATION_CODES, (int)view->task.operation)),
            STR_ARG(view->task.source), STR_ARG(view->task.endpoint),
            STR_ARG(code_of(&BATCH_STATUS_CODES, (int)batch->status)), at);
    fprintf(out,
            "  part of   plan %" PRId64 ", slice %" PRId64 ", task %" PRId64 ", run %" PRId64
            " by %.*s\n",
            batch->plan_id, batch->slice_id, batch->task_id, batch->run_id,
            STR_ARG(view->run.lease_owner));
    if (view->archived.len > 0)
        fprintf(out, "  read from %.*s\n", STR_ARG(view->archived));
    if (view->numbers.level.len > 0)
        fprintf(out, "  failed    %.*s (%.*s, %.*s)\n", STR_ARG(view->numbers.text),
                STR_ARG(view->numbers.level), STR_ARG(view->numbers.code));
    fprintf(out, "\n");
    print_members(batch->request_digest, STR(""), "request", arena, out);
    print_members(batch->request_digest, STR("query"), "query", arena, out);
    print_attempts(view, out);
    fprintf(out, "\n");
    print_members(batch->response_digest, STR(""), "response", arena, out);
    fprintf(out, "  took      %" PRId64 " ms\n", view->numbers.latency_ms);
    if (view->evidence.body_hash.len > 0)
        fprintf(out, "  archived  %.*s\n", STR_ARG(view->evidence.body_hash));
    print_items(&view->items, all, out);
}

static bool find(const struct view_reader *reader, const struct view_batch_key *key,
                 struct view_batch *view, struct error *err)
{
    return view_batch(reader, key, view, err) ||
           (view_batch_error_is_archived(err) && batch_archived(reader, key, view, err));
}

static bool show(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_batch_key key;
    struct view_batch view;
    struct output output;

    (void)code;
    if (!batch_key_read(invocation->operands[0], &key, err) || !find(&reader, &key, &view, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_batch_write(output_begin(&output, &session->arena), &view);
        return output_end(&output, invocation->out, err);
    }
    print_batch(&view, invocation_flag(invocation, "all"), &session->arena, invocation->out);
    return true;
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show);
}

const struct command COMMAND_BATCH_SHOW = {
    .name = "show",
    .summary = "show a request, its attempts, its response and what became of it",
    .operands = "RUN/NUMBER | RUN",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Shows one batch: the request as it was sent, without secrets; every attempt before the\n"
        "response that counts, with what came and why it was sent again; the response's status,\n"
        "counts, hints and hash; and what became of each item: stored, changed, unchanged,\n"
        "quarantined. E-mail addresses and phone numbers are masked. RUN alone shows the batch\n"
        "of the run that failed, or else the last one in which something was wrong. A batch that\n"
        "patra retention has archived is read from its file, if that is on this machine; what\n"
        "became of each item is not in it.",
    .options = { { "all", NULL, "Show every item, not only the first 20." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_show,
};
