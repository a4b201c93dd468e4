/* patra bus test: connects, publishes one marked message, and reads it back where that is possible,
 * step by step. */
#include <inttypes.h>
#include <unistd.h>

#include "adapter/bus_open.h"
#include "base/uuid.h"
#include "cli/output.h"
#include "cmd/bus/bus.h"
#include "data/json_write.h"
#include "engine/message/wire_read.h"

#define STEP_TIMEOUT_US (30 * US_PER_SECOND)
/* How far before its publication reading begins: clocks of other machines differ. */
#define SEEK_BEFORE_US (10 * US_PER_SECOND)
enum { STEPS_MAX = 8, PAGE = 100 };

struct step {
    const char *name;
    bool ok;
    struct str detail; /* what was found, or the error */
    const char *code;  /* of the error */
    int64_t took_us;
};

struct trial {
    struct arena *arena;
    struct clock *clock;
    struct random_source random;
    const struct bus_spec *spec;
    struct bus *bus;
    char id[UUID_TEXT_MAX];
    struct step steps[STEPS_MAX];
    size_t count;
    int64_t since_us;
    enum error_level level; /* of the first failure */
};

/* ---- steps ---- */

static void begin_step(struct trial *trial, const char *name)
{
    trial->steps[trial->count] = (struct step){ .name = name };
    trial->since_us = clock_monotonic_us(trial->clock);
}

static void end_step(struct trial *trial, struct str detail)
{
    struct step *step = &trial->steps[trial->count++];

    step->ok = true;
    step->detail = detail;
    step->took_us = clock_monotonic_us(trial->clock) - trial->since_us;
}

static bool fail_step(struct trial *trial, const struct error *err)
{
    struct step *step = &trial->steps[trial->count++];

    step->detail = arena_copy(trial->arena, str_of(err->text));
    step->code = err->code;
    step->took_us = clock_monotonic_us(trial->clock) - trial->since_us;
    trial->level = err->level;
    return false;
}

static bool connect_bus(struct trial *trial, const struct bus_parts *parts, bool create)
{
    struct error err;
    bool made = false;

    begin_step(trial, "open");
    if (!bus_open(parts, &trial->bus, &err))
        return fail_step(trial, &err);
    end_step(trial, bus_type_word(trial->spec->type));
    if (create && (trial->bus->capabilities & BUS_CREATE) != 0) {
        begin_step(trial, "create");
        if (!bus_create(trial->bus, STEP_TIMEOUT_US, &made, &err))
            return fail_step(trial, &err);
        end_step(trial, made ? STR("made what was missing") : STR("everything was there"));
    }
    begin_step(trial, "check");
    if (!bus_check(trial->bus, STEP_TIMEOUT_US, &err))
        return fail_step(trial, &err);
    end_step(trial, STR("it can be reached, and has what is published to"));
    return true;
}

static struct bus_message make_probe(struct trial *trial)
{
    static const struct bus_attribute attributes[] = {
        { STR_INIT("event_type"), STR_INIT(WIRE_PROBE_TYPE) },
    };
    unsigned char random[UUID_RANDOM_BYTES];
    struct uuid_state state = { 0 };

    random_source_bytes(&trial->random, random, sizeof(random));
    uuid_format(uuid_make(&state, clock_now_us(trial->clock), random), trial->id);
    return (struct bus_message){ .event_id = str_of(trial->id),
                                 .key = STR("patra/probe"),
                                 .version = 1,
                                 .attributes = attributes,
                                 .attribute_count = ARRAY_LEN(attributes),
                                 .content_type = STR("application/json"),
                                 .body = arena_printf(
                                     trial->arena, "{\"probe\":true,\"id\":\"%s\"}", trial->id) };
}

static bool publish_probe(struct trial *trial)
{
    const struct bus_message probe = make_probe(trial);
    struct bus_receipt receipt;
    struct error err;

    begin_step(trial, "publish");
    if (!bus_publish(
            trial->bus, trial->arena,
            &(struct bus_publish){
                .messages = &probe, .count = 1, .timeout_us = STEP_TIMEOUT_US, .wake_fd = -1 },
            &receipt, &err))
        return fail_step(trial, &err);
    if (receipt.outcome != BUS_ACKED) {
        (void)error_set(&err, receipt.outcome == BUS_REFUSED ? ERROR_REQUEST : ERROR_TRANSIENT,
                        "bus.refused", "the message was not taken: %.*s", STR_ARG(receipt.reason));
        return fail_step(trial, &err);
    }
    end_step(trial, arena_printf(trial->arena, "probe %s is acknowledged%s%.*s", trial->id,
                                 receipt.ack_id.len > 0 ? " as " : "", STR_ARG(receipt.ack_id)));
    return true;
}

/* ---- reading it back ---- */

static bool find_probe(struct trial *trial, struct bus *reader, bool *found, struct error *err)
{
    const int64_t until_us = clock_monotonic_us(trial->clock) + STEP_TIMEOUT_US;

    *found = false;
    while (!*found) {
        const int64_t left_us = until_us - clock_monotonic_us(trial->clock);
        struct bus_settlement settlements[PAGE];
        struct bus_delivery_list page;

        if (left_us <= 0)
            return true;
        if (!bus_poll(reader, trial->arena,
                      &(struct bus_poll){ PAGE, (size_t)16 << 20, left_us, -1 }, &page, err))
            return false;
        for (size_t i = 0; i < page.count; i++) {
            *found |= str_eq(page.items[i].message.event_id, str_of(trial->id));
            settlements[i] = (struct bus_settlement){ page.items[i].handle, BUS_ACK };
        }
        if (!bus_settle(reader, settlements, page.count, err))
            return false;
    }
    return true;
}

/* By a group of its own, which is forgotten afterwards. A subscription of Pub/Sub has no groups: it
 * would take messages away from who reads it. */
static bool read_probe(struct trial *trial, const struct bus_parts *parts, int64_t from_us)
{
    const unsigned needed = BUS_READ | BUS_SEEK_TIME;
    const struct str group =
        arena_printf(trial->arena, "patra-probe-%016" PRIx64, random_source_u64(&trial->random));
    struct bus *reader = NULL;
    bool found = false, ok;
    struct error err, unused;

    if ((trial->bus->capabilities & needed) != needed || trial->spec->type == BUS_TYPE_PUBSUB)
        return true;
    begin_step(trial, "read");
    if (!bus_open(parts, &reader, &err))
        return fail_step(trial, &err);
    ok = bus_subscribe(reader, group, &(struct bus_flow){ PAGE, (size_t)16 << 20 }, &err) &&
         bus_seek(reader, from_us, &err) && find_probe(trial, reader, &found, &err);
    if (!bus_forget(reader, &unused) && ok)
        ok = false, err = unused;
    bus_close(reader);
    if (ok && !found)
        ok = error_set(&err, ERROR_TRANSIENT, "bus.timeout",
                       "the probe was acknowledged, and did not come back in time");
    if (!ok)
        return fail_step(trial, &err);
    end_step(trial, STR("the probe came back"));
    return true;
}

/* ---- the report ---- */

static bool print_json(const struct trial *trial, FILE *out, struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, trial->arena);

    json_write_object(w);
    json_write_member_str(w, STR("bus"), trial->spec->name);
    json_write_member_bool(w, STR("ok"), trial->level == ERROR_NONE);
    json_write_name(w, STR("steps"));
    json_write_array(w);
    for (size_t i = 0; i < trial->count; i++) {
        const struct step *step = &trial->steps[i];

        json_write_object(w);
        json_write_member_str(w, STR("step"), str_of(step->name));
        json_write_member_bool(w, STR("ok"), step->ok);
        json_write_member_str(w, STR("detail"), step->detail);
        if (!step->ok)
            json_write_member_str(w, STR("code"), str_of(step->code));
        json_write_member_i64(w, STR("tookUs"), step->took_us);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
    return output_end(&output, out, err);
}

static void print_text(const struct trial *trial, FILE *out)
{
    fprintf(out, "%.*s\n", STR_ARG(trial->spec->name));
    for (size_t i = 0; i < trial->count; i++) {
        const struct step *step = &trial->steps[i];

        fprintf(out, "  %-4s  %-8s  %.*s", step->ok ? "ok" : "FAIL", step->name,
                STR_ARG(step->detail));
        if (step->ok)
            fprintf(out, " (%" PRId64 " ms)\n", step->took_us / 1000);
        else
            fprintf(out, " (%s)\n", step->code);
    }
}

static bool try_spec(const struct invocation *invocation, struct trial *trial,
                     struct secret_source *secrets, enum exit_code *code, struct error *err)
{
    const struct bus_parts parts = { trial->spec, secrets, trial->clock };
    const int64_t from_us = clock_now_us(trial->clock) - SEEK_BEFORE_US;
    bool ok = connect_bus(trial, &parts, invocation_flag(invocation, "create"));

    if (ok && !invocation_flag(invocation, "no-probe"))
        ok = publish_probe(trial) && read_probe(trial, &parts, from_us);
    bus_close(trial->bus);
    if (!ok)
        *code = trial->level == ERROR_TRANSIENT ? EXIT_LATER : EXIT_FOUND;
    if (invocation_flag(invocation, "json"))
        return print_json(trial, invocation->out, err);
    print_text(trial, invocation->out);
    return true;
}

/* ---- a file, or an applied bus ---- */

static bool test_applied(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    struct trial trial = { .arena = &session->arena,
                           .clock = &session->clock,
                           .random = session->random };
    struct subscription row;
    struct bus_spec spec;

    if (!bus_find(session, str_of(invocation->operands[0]), &row, &spec, err))
        return false;
    trial.spec = &spec;
    return try_spec(invocation, &trial, &session->secrets.source, code, err);
}

static enum exit_code test_file(const struct invocation *invocation)
{
    struct clock clock = system_clock();
    enum exit_code code = EXIT_DONE;
    struct system_secrets secrets;
    struct trial trial = { .clock = &clock, .random = system_random() };
    struct bus_spec spec;
    struct arena arena;
    struct error err;
    bool clean, ok;

    arena_init(&arena, (size_t)256 << 20);
    system_secrets_init(&secrets, NULL);
    trial.arena = &arena;
    trial.spec = &spec;
    ok = bus_file_read(invocation, &arena, invocation->operands[0], &spec, &clean, &err);
    if (ok && !clean)
        code = EXIT_FOUND;
    else if (ok)
        ok = try_spec(invocation, &trial, &secrets.source, &code, &err);
    if (!ok)
        code = command_failed(invocation, &err);
    arena_release(&arena);
    return code;
}

static enum exit_code cmd_test(const struct invocation *invocation)
{
    if (access(invocation->operands[0], R_OK) == 0)
        return test_file(invocation);
    return session_run(invocation, test_applied);
}

const struct command COMMAND_BUS_TEST = {
    .name = "test",
    .summary = "try a bus: connect, publish a probe, read it back",
    .operands = "FILE|BUS",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Tries a bus file, or a bus that is applied, and prints a line per step: the adapter is\n"
        "loaded, the bus answers and has what is published to, one message is published, and\n"
        "where the bus can be read by a group of its own (nats, kafka) it is read back. The\n"
        "message has the event type PatraProbe and the key patra/probe; readers of the bus see\n"
        "it. The exit code is 1 if a step fails, 3 if it may succeed later.",
    .options = { { "create", NULL,
                   "Make the stream or topic where it is missing, as the file's create settings "
                   "say." },
                 { "no-probe", NULL, "Publish nothing: only connect and look." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_test,
};
