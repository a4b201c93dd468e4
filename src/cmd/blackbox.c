/* patra blackbox export and list. */
#include "cmd/blackbox.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "adapter/file/file_out.h"
#include "base/instant.h"
#include "base/list.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/who.h"
#include "data/hash.h"
#include "port/store_archive.h"
#include "port/store_run.h"
#include "view/batch.h"
#include "view/trace.h"

#define EXPIRES_US (7 * US_PER_DAY) /* 004 section 14.11 */
enum { FOLDER_MODE = 0700, BATCHES_MAX = 1000, FILE_BYTES_MAX = 64 << 20, LIST_MAX = 1000 };

struct part { /* a file of the pack */
    struct str name;
    char hash[HASH_HEX_MAX];
    int64_t bytes;
};

struct pack {
    struct session *session;
    const char *folder;
    struct part *items;
    size_t count;
    int64_t batches;
    bool is_cut; /* there are more batches than a pack has */
};

static bool write_part(struct pack *pack, struct str name, struct str text, struct error *err)
{
    struct arena *arena = &pack->session->arena;
    struct part *part = LIST_ADD(arena, pack);
    const struct str path = arena_printf(arena, "%s/%.*s", pack->folder, STR_ARG(name));
    struct hash_sum sum;

    if (part == NULL || path.data == NULL)
        return arena_error(arena, err);
    if (!hash_of(text, &sum, err) || !file_out_text(path.data, text, err))
        return false;
    part->name = name;
    part->bytes = (int64_t)text.len;
    hash_hex(&sum, part->hash);
    return true;
}

static bool write_trace(struct pack *pack, const struct view_trace *view, struct error *err)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, &pack->session->arena, FILE_BYTES_MAX);
    json_writer_init(&w, &text);
    view_trace_write(&w, view);
    return buf_ok(&text, err) && write_part(pack, STR("trace.json"), buf_str(&text), err);
}

static bool write_batch(struct pack *pack, const struct view_reader *reader,
                        const struct view_batch_key *key, struct error *err)
{
    struct arena *arena = &pack->session->arena;
    struct view_batch view;
    struct json_writer w;
    struct buf text;
    struct str name;

    if (!view_batch(reader, key, &view, err))
        return false;
    buf_init(&text, arena, FILE_BYTES_MAX);
    json_writer_init(&w, &text);
    view_batch_write(&w, &view);
    name = arena_printf(arena, "batch-%" PRId64 "-%" PRId64 ".json", key->run_id, key->number);
    if (name.data == NULL)
        return arena_error(arena, err);
    return buf_ok(&text, err) && write_part(pack, name, buf_str(&text), err);
}

/* Every batch of the run, retried ones and those in which nothing was wrong, too. */
static bool write_run(struct pack *pack, int64_t run_id, struct error *err)
{
    const struct view_reader reader = session_reader(pack->session);
    struct store_page page = { .limit = 100 };
    struct batch_list list;

    do {
        if (!store_batch_list(reader.store, reader.arena, run_id, page, &list, err))
            return false;
        for (size_t i = 0; i < list.count; i++) {
            const struct view_batch_key key = { run_id, list.items[i].number };

            if (pack->batches == BATCHES_MAX) {
                pack->is_cut = true;
                return true;
            }
            pack->batches++;
            page.after = list.items[i].number;
            if (!write_batch(pack, &reader, &key, err))
                return false;
        }
    } while ((int64_t)list.count == page.limit);
    return true;
}

static bool write_all(struct pack *pack, const struct view_trace *view, struct error *err)
{
    if (!write_trace(pack, view, err))
        return false;
    for (size_t t = 0; t < view->task_count; t++) {
        for (size_t r = 0; r < view->tasks[t].run_count; r++) {
            if (!write_run(pack, view->tasks[t].runs[r].run.id, err))
                return false;
        }
    }
    return true;
}

/* The manifest lists all files with their hashes; its own hash is in the audit row. */
static bool write_manifest(struct pack *pack, struct evidence_pack *row, struct error *err)
{
    struct arena *arena = &pack->session->arena;
    struct json_writer w;
    struct buf text;

    buf_init(&text, arena, FILE_BYTES_MAX);
    json_writer_init(&w, &text);
    json_write_object(&w);
    json_write_member_str(&w, STR("subject"), row->subject);
    json_write_member_str(&w, STR("reason"), row->reason);
    json_write_member_str(&w, STR("exportedBy"), row->exported_by);
    json_write_member_instant(&w, STR("exportedAt"), row->created_us);
    json_write_member_instant(&w, STR("expiresAt"), row->expires_us);
    json_write_member_str(&w, STR("patra"), STR(PATRA_VERSION));
    json_write_member_bool(&w, STR("isCut"), pack->is_cut);
    json_write_name(&w, STR("files"));
    json_write_array(&w);
    for (size_t i = 0; i < pack->count; i++) {
        json_write_object(&w);
        json_write_member_str(&w, STR("name"), pack->items[i].name);
        json_write_member_i64(&w, STR("bytes"), pack->items[i].bytes);
        json_write_member_str(&w, STR("sha256"), str_of(pack->items[i].hash));
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    if (!buf_ok(&text, err) || !write_part(pack, STR("manifest.json"), buf_str(&text), err))
        return false;
    row->sha256 = str_of(pack->items[pack->count - 1].hash);
    return true;
}

static bool read_request(const struct invocation *invocation, struct session *session,
                         struct view_trace_key *key, struct evidence_pack *row, struct error *err)
{
    const int kind = code_find_written(&TRACE_KIND_CODES, str_of(invocation->operands[0]));
    const char *reason = invocation_value(invocation, "reason");
    int64_t expires_us = EXPIRES_US;

    *key = (struct view_trace_key){ .kind = (enum trace_kind)kind };
    if (kind < 0 || key->kind == TRACE_BATCH)
        return command_misused(err, "'%s' is none of plan, task, run", invocation->operands[0]);
    if (reason == NULL || reason[0] == '\0')
        return command_misused(err, "--reason says what the evidence is for; it is kept");
    if (!invocation_row(invocation, 1, invocation->operands[0], &key->id, err) ||
        !invocation_duration(invocation, "expires", &expires_us, err))
        return false;
    *row = (struct evidence_pack){ .path = str_of(invocation->operands[2]),
                                   .reason = str_of(reason),
                                   .exported_by = who_am_i(&session->arena),
                                   .created_us = clock_now_us(&session->clock) };
    row->expires_us = row->created_us + expires_us;
    row->subject = arena_printf(&session->arena, "%s %" PRId64, invocation->operands[0], key->id);
    return row->subject.data != NULL || arena_error(&session->arena, err);
}

static bool export_pack(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct pack pack = { .session = session, .folder = invocation->operands[2] };
    struct view_trace_key key;
    struct evidence_pack row;
    struct view_trace view;
    int64_t id = 0;

    (void)code;
    if (!read_request(invocation, session, &key, &row, err) ||
        !view_trace(&reader, &key, &view, err))
        return false;
    if (mkdir(pack.folder, FOLDER_MODE) != 0)
        return error_set(err, ERROR_REQUEST, "file.write", "%s: %s", pack.folder, strerror(errno));
    if (!write_all(&pack, &view, err) || !write_manifest(&pack, &row, err) ||
        !store_archive_pack_add(session->store, &row, &id, err))
        return false;
    fprintf(invocation->out,
            "pack %" PRId64 ": %" PRId64 " batches of %.*s in %s%s\nmanifest %.*s\n", id,
            pack.batches, STR_ARG(row.subject), pack.folder,
            pack.is_cut ? ", and there are more" : "", STR_ARG(row.sha256));
    return true;
}

static enum exit_code cmd_export(const struct invocation *invocation)
{
    return session_run(invocation, export_pack);
}

static const struct command export_command = {
    .name = "export",
    .summary = "write the evidence of a run, task or plan to a folder",
    .operands = "plan|task|run ID DIR",
    .operands_min = 3,
    .operands_max = 3,
    .description =
        "Makes the folder DIR with trace.json, a file per batch (the request without secrets,\n"
        "every attempt, the response, what became of each item), and manifest.json, which has the\n"
        "SHA-256 of each. E-mail addresses and phone numbers are masked. Up to 1,000 batches. Who\n"
        "exported what, when, why and until when it may be kept is recorded (patra blackbox\n"
        "list), with the hash of the manifest.",
    .options = { { "reason", "TEXT", "What it is for; required." },
                 { "expires", "DURATION", "How long it may be kept (7d)." },
                 SESSION_OPTION },
    .run = cmd_export,
};

/* ---- list ---- */

static void write_list(struct json_writer *w, const struct evidence_pack_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        const struct evidence_pack *pack = &list->items[i];

        json_write_object(w);
        json_write_member_i64(w, STR("id"), pack->id);
        json_write_member_str(w, STR("subject"), pack->subject);
        json_write_member_str(w, STR("path"), pack->path);
        json_write_member_str(w, STR("sha256"), pack->sha256);
        json_write_member_str(w, STR("reason"), pack->reason);
        json_write_member_str(w, STR("exportedBy"), pack->exported_by);
        json_write_member_instant(w, STR("exportedAt"), pack->created_us);
        json_write_member_instant(w, STR("expiresAt"), pack->expires_us);
        json_write_end(w);
    }
    json_write_end(w);
}

static bool list_packs(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    static const char *const heads[] = { "PACK", "OF", "BY", "AT", "EXPIRES", "STATE" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct evidence_pack_list list;
    struct columns columns;
    struct output output;

    (void)code;
    if (!store_archive_packs(session->store, &session->arena, LIST_MAX, &list, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        write_list(output_begin(&output, &session->arena), &list);
        return output_end(&output, invocation->out, err);
    }
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list.count; i++) {
        const struct evidence_pack *pack = &list.items[i];

        columns_i64(&columns, pack->id);
        columns_cell(&columns, pack->subject);
        columns_cell(&columns, pack->exported_by);
        columns_brief(&columns, pack->created_us, now_us);
        columns_brief(&columns, pack->expires_us, now_us);
        columns_cell(&columns, pack->expires_us <= now_us ? STR("expired") : STR("valid"));
        columns_note(&columns, pack->reason);
    }
    return columns_print(&columns, invocation->out, err);
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_packs);
}

static const struct command list_command = {
    .name = "list",
    .summary = "list who exported evidence, when and why",
    .operands_max = 0,
    .description = "Lists the exports, the latest first. One that has expired is to be deleted\n"
                   "wherever it was copied to; patra does not know where that is.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_list,
};

static const struct command *const children[] = { &export_command, &list_command, NULL };

const struct command COMMAND_BLACKBOX = {
    .name = "blackbox",
    .summary = "hand evidence of what happened on",
    .description = "Evidence of the black box as files, with an audit row. See docs/blackbox.md.",
    .children = children,
};
