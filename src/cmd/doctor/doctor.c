/* patra doctor. */
#include "cmd/doctor/doctor.h"

#include <string.h>

#include "base/list.h"
#include "cli/output.h"

#define SLOW_US (50 * US_PER_MS)

void doctor_add(struct doctor *doctor, const char *check, struct str text, struct str todo)
{
    struct doctor_finding *finding = LIST_ADD(&doctor->session->arena, doctor);

    if (finding != NULL)
        *finding = (struct doctor_finding){ check, text, todo };
}

static bool print_json(const struct doctor *doctor, struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, &doctor->session->arena);

    json_write_object(w);
    json_write_member_i64(w, STR("checks"), (int64_t)doctor->checks);
    json_write_name(w, STR("findings"));
    json_write_array(w);
    for (size_t i = 0; i < doctor->count; i++) {
        json_write_object(w);
        json_write_member_str(w, STR("check"), str_of(doctor->items[i].check));
        json_write_member_str(w, STR("text"), doctor->items[i].text);
        json_write_member_str(w, STR("todo"), doctor->items[i].todo);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
    return output_end(&output, doctor->invocation->out, err);
}

static void print_text(const struct doctor *doctor)
{
    FILE *out = doctor->invocation->out;

    for (size_t i = 0; i < doctor->count; i++)
        fprintf(out, "%s: %.*s\n    %.*s\n", doctor->items[i].check, STR_ARG(doctor->items[i].text),
                STR_ARG(doctor->items[i].todo));
    fprintf(out, "%zu checks, %zu finding%s\n", doctor->checks, doctor->count,
            doctor->count == 1 ? "" : "s");
}

/* A store that cannot be used as it is: that is the finding. Others are failures of the command. */
static bool note_refusal(struct doctor *doctor, const struct error *err)
{
    static const struct {
        const char *code, *todo;
    } known[] = {
        { "store.schema", "Run patra init: it applies the migrations that are missing. Make a "
                          "backup first" },
        { "store.newer", "Use the version of patra that made it, here too" },
        { "store.migration", "Another build of patra made this store: use that one" },
        { "store.dictionary", "Run patra init: it restores the words" },
        { "store.lanes", "Use the patra that made the database" },
        { "store.corrupt", "Restore a backup" },
    };

    doctor->checks++;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (strcmp(err->code, known[i].code) != 0)
            continue;
        doctor_add(doctor, "store.open", arena_copy(&doctor->session->arena, str_of(err->text)),
                   str_of(known[i].todo));
        return true;
    }
    return false;
}

static bool examine(struct doctor *doctor, struct error *err)
{
    return doctor_store(doctor, err) && doctor_disk(doctor, err) &&
           (!invocation_flag(doctor->invocation, "deep") || doctor_deep(doctor, err)) &&
           (!invocation_flag(doctor->invocation, "live") || doctor_live(doctor, err));
}

static enum exit_code cmd_doctor(const struct invocation *invocation)
{
    struct session session = { 0 };
    struct doctor doctor = { .invocation = invocation, .session = &session, .slow_us = SLOW_US };
    enum exit_code code = EXIT_DONE;
    struct error err;
    bool ok = session_open(&session, invocation, &err) &&
              invocation_duration(invocation, "slow", &doctor.slow_us, &err) &&
              examine(&doctor, &err);

    if (!ok)
        ok = note_refusal(&doctor, &err);
    if (ok && session.arena.failed)
        ok = arena_error(&session.arena, &err);
    if (ok && invocation_flag(invocation, "json"))
        ok = print_json(&doctor, &err);
    else if (ok)
        print_text(&doctor);
    if (!ok)
        code = command_failed(invocation, &err);
    else if (doctor.count > 0)
        code = EXIT_FOUND;
    session_close(&session);
    return code;
}

const struct command COMMAND_DOCTOR = {
    .name = "doctor",
    .summary = "examine the store and what it stands on",
    .operands_max = 0,
    .description =
        "Looks for what makes a store slow, unsafe or full, and prints for each finding what to\n"
        "do: a database that is broken or has another schema; indexes that are missing; tables\n"
        "that grow because nothing is removed; transactions that are open for long; leases that\n"
        "nobody puts back; a clock that is wrong; notes (LISTEN) that do not arrive; a disk or a\n"
        "database that answers slowly. With --live, one request to each source, by its rate\n"
        "gate. Reads all of a SQLite file. With --deep, it also compares each index of a SQLite\n"
        "file with its table, and each record with its hash: bytes that a disk or somebody else\n"
        "has changed are found even where the database is none the wiser. That reads everything.\n"
        "Changes nothing. The exit code is 0 without a finding and 1 with one; 3 and 4 if the\n"
        "store cannot be opened for another reason.",
    .options = { { "deep", NULL, "Also compare indexes with tables, records with hashes, and count records." },
                 { "live", NULL, "Also send one request to each source." },
                 { "slow", "DURATION", "What counts as slow (50ms)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_doctor,
};
