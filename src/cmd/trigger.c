#include "cmd/trigger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/list.h"
#include "data/date.h"
#include "engine/plan_reslice.h"

enum { SLICES_SHOWN = 20, SLICES_SHOWN_MAX = 100000, RESLICES_MAX = 1000 };

/* ---- ids of a file ---- */

struct file_ids {
    struct plan_ids ids; /* first: the iterator */
    FILE *file;
    const char *path;
    char *line;
    size_t capacity;
};

/* One id per line; blank lines do not count. */
static bool next_id(struct plan_ids *ids, struct str *id, bool *has, struct error *err)
{
    struct file_ids *from = (struct file_ids *)ids;
    ssize_t len;

    do {
        errno = 0;
        len = getline(&from->line, &from->capacity, from->file);
        if (len < 0 && ferror(from->file))
            return error_set(err, ERROR_REQUEST, "file.read", "read %s: %s", from->path,
                             strerror(errno));
        *has = len >= 0;
        *id = str_trim((struct str){ from->line, len > 0 ? (size_t)len : 0 });
    } while (*has && id->len == 0);
    return true;
}

static bool open_ids(struct file_ids *ids, const char *path, struct error *err)
{
    *ids = (struct file_ids){ .ids = { next_id }, .path = path };
    ids->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    return ids->file != NULL ||
           error_set(err, ERROR_REQUEST, "file.read", "open %s: %s", path, strerror(errno));
}

static void close_ids(struct file_ids *ids)
{
    free(ids->line);
    if (ids->file != NULL && ids->file != stdin)
        (void)fclose(ids->file);
}

/* ---- options ---- */

/* A date, or how long ago. */
static bool read_instant(const struct invocation *invocation, const char *name, int64_t now_us,
                         struct maybe_instant *instant, struct error *err)
{
    const char *given = invocation_value(invocation, name);
    struct duration ago;
    struct date date;

    if (given == NULL)
        return true;
    instant->is_set = true;
    if (duration_parse(str_of(given), &ago, err) && duration_subtract(now_us, ago, &instant->at_us))
        return true;
    if (!date_parse(date_format_find(STR("auto")), str_of(given), &date, err))
        return error_set(err, ERROR_REQUEST, "trigger.option",
                         "--%s: '%s' is neither a date (2026-01-31, 2026-01-31T10:00:00Z) nor how "
                         "long ago (7d, 12h)",
                         name, given);
    instant->at_us = date.at_us;
    return true;
}

static bool read_overrides(const struct invocation *invocation, struct arena *arena,
                           struct override_list *list, struct error *err)
{
    struct {
        struct override *items;
        size_t count;
    } all = { 0 };
    const char *given;
    int at = 0;

    while ((given = invocation_each(invocation, "set", &at)) != NULL) {
        struct str value = str_of(given);
        const bool has_value = str_find_char(value, '=') < value.len;
        const struct str path = str_cut(&value, '=');
        struct override *one = LIST_ADD(arena, &all);

        if (one == NULL)
            return arena_error(arena, err);
        if (!has_value || path.len == 0)
            return error_set(err, ERROR_REQUEST, "trigger.option",
                             "--set: '%s' is not KEY=VALUE, such as window.max=6h", given);
        *one = (struct override){ path, value };
    }
    *list = (struct override_list){ all.items, all.count };
    return true;
}

static bool read_limit(const struct invocation *invocation, int64_t *limit, struct error *err)
{
    const char *given = invocation_value(invocation, "limit");

    *limit = SLICES_SHOWN;
    if (given == NULL ||
        (str_to_i64(str_of(given), limit) && *limit >= 0 && *limit <= SLICES_SHOWN_MAX))
        return true;
    return error_set(err, ERROR_REQUEST, "trigger.option", "--limit: '%s' is not 0 to %d", given,
                     SLICES_SHOWN_MAX);
}

static bool read_request(const struct invocation *invocation, struct session *session,
                         struct plan_request *request, struct error *err)
{
    const char *stale = invocation_value(invocation, "stale");
    const char *campaign = invocation_value(invocation, "campaign");

    *request = (struct plan_request){
        .source = str_of(invocation->operands[0]),
        .operation =
            invocation->operand_count > 1 ? str_of(invocation->operands[1]) : STR("harvest"),
        .now_us = clock_now_us(&session->clock),
        .trigger = TRIGGER_MANUAL,
        .campaign = str_of(campaign),
    };
    if (stale != NULL && !duration_parse_us(str_of(stale), &request->stale_us, err))
        return error_wrap(err, "--stale");
    if (stale != NULL && request->stale_us == 0)
        request->stale_us = 1; /* "0": whatever was checked before now */
    return read_instant(invocation, "from", request->now_us, &request->from, err) &&
           read_instant(invocation, "to", request->now_us, &request->to, err) &&
           read_overrides(invocation, &session->arena, &request->overrides, err);
}

/* ---- doing it ---- */

/* A person sees all that is wrong at once, as lint shows it. */
static void print_faults(const struct invocation *invocation, struct session *session,
                         const struct plan_result *result)
{
    struct buf text;

    if (result->faults == NULL || result->faults->errors == 0)
        return;
    buf_init(&text, &session->arena, (size_t)1 << 20);
    for (size_t i = 0; i < result->faults->count; i++)
        fault_print(&result->faults->items[i], (struct str){ 0 }, &text);
    fprintf(invocation->talk, "%.*s", STR_ARG(buf_str(&text)));
}

static bool print_all(const struct invocation *invocation, struct session *session,
                      const struct plan_request *request, const struct plan_result *result,
                      const struct trigger_preview *preview, struct error *err)
{
    if (invocation_flag(invocation, "json"))
        return trigger_print_json(request, result, preview, &session->arena, invocation->out, err);
    return trigger_print(request, result, preview, &session->arena, invocation->out, err);
}

static bool fire(const struct invocation *invocation, struct session *session,
                 const struct plan_request *request, int64_t limit, struct error *err)
{
    const struct plan_reslice_request first = { .owner = STR("patra trigger"),
                                                .now_us = request->now_us,
                                                .limit = RESLICES_MAX };
    struct plan_reslice_result again;
    struct trigger_preview preview;
    struct plan_result result = { 0 };
    bool ok;

    if (invocation_flag(invocation, "dry-run")) {
        trigger_preview_init(&preview, &session->arena, limit);
        ok = plan_preview(session->store, &session->arena, request, &preview.viewer, &result, err);
    } else {
        /* What executors asked to be cut again goes first: else it is planned as it was. */
        ok = plan_reslice(session->store, &first, &again, err) &&
             plan_trigger(session->store, &session->arena, request, &result, err);
    }
    if (!ok) {
        print_faults(invocation, session, &result);
        return false;
    }
    return print_all(invocation, session, request, &result,
                     invocation_flag(invocation, "dry-run") ? &preview : NULL, err);
}

static bool trigger(const struct invocation *invocation, struct session *session,
                    enum exit_code *code, struct error *err)
{
    const char *path = invocation_value(invocation, "ids");
    struct file_ids ids = { 0 };
    struct plan_request request;
    int64_t limit;
    bool ok;

    if (!read_request(invocation, session, &request, err) || !read_limit(invocation, &limit, err) ||
        (path != NULL && !open_ids(&ids, path, err))) {
        fprintf(invocation->talk, "patra: %s\n", err->text);
        *code = EXIT_USAGE;
        return true;
    }
    if (path != NULL)
        request.ids = &ids.ids;
    ok = fire(invocation, session, &request, limit, err);
    close_ids(&ids);
    return ok;
}

static enum exit_code cmd_trigger(const struct invocation *invocation)
{
    return session_run(invocation, trigger);
}

const struct command COMMAND_TRIGGER = {
    .name = "trigger",
    .summary = "plan an operation of a source now",
    .operands = "SOURCE [OPERATION]",
    .operands_min = 1,
    .operands_max = 2,
    .description =
        "Makes a plan and its tasks; executors do the rest. OPERATION is harvest (the default),\n"
        "backfill, update, metrics, replay, or the name an operation has in the source's file.\n"
        "What is covered or under way is not planned again, so triggering twice is harmless.\n"
        "With --dry-run nothing is written: the window is shown, why each bound is what it is,\n"
        "and the slices. See docs/planning.md.",
    .options = { { "from", "INSTANT", "Not before this: a date, or how long ago (7d)." },
                 { "to", "INSTANT", "Not from this on." },
                 { "campaign", "NAME",
                   "backfill, replay: continue, or begin, this one; else the bounds name it." },
                 { "ids", "FILE", "update, metrics: these records, one id per line; - is stdin." },
                 { "stale", "DURATION",
                   "update, metrics: records not checked for this long, and no others." },
                 { "set", "KEY=VALUE", "Change a setting for this plan; may be repeated." },
                 { "dry-run", NULL, "Write nothing; show the window and the slices." },
                 { "limit", "N", "Slices that a dry run shows (20)." },
                 { "json", NULL, "JSON instead of a text." },
                 SESSION_OPTION },
    .run = cmd_trigger,
};
