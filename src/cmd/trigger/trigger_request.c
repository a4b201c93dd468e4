/* The options of commands that plan, read into a plan request. */
#include "cmd/trigger/trigger_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/list.h"
#include "port/store_rate.h"

/* ---- ids of a file ---- */

/* One id per line; blank lines are skipped. */
static bool next_id(struct id_reader *ids, struct str *id, bool *has, struct error *err)
{
    struct trigger_ids *from = (struct trigger_ids *)ids;
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

static bool open_ids(struct trigger_ids *ids, const char *path, struct error *err)
{
    *ids = (struct trigger_ids){ .ids = { next_id }, .path = path };
    ids->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    return ids->file != NULL ||
           error_set(err, ERROR_REQUEST, "file.read", "open %s: %s", path, strerror(errno));
}

/* ---- options ---- */

static bool read_instant(const struct invocation *invocation, const char *name, int64_t now_us,
                         struct maybe_instant *instant, struct error *err)
{
    instant->is_set = invocation_value(invocation, name) != NULL;
    return invocation_instant(invocation, name, now_us, &instant->at_us, err);
}

static bool read_window(const struct invocation *invocation, struct plan_request *plan,
                        struct error *err)
{
    if (!read_instant(invocation, "from", plan->now_us, &plan->from, err) ||
        !read_instant(invocation, "to", plan->now_us, &plan->to, err))
        return false;
    return !plan->from.is_set || !plan->to.is_set || plan->from.at_us <= plan->to.at_us ||
           command_misused(err, "--from %s is after --to %s", invocation_value(invocation, "from"),
                           invocation_value(invocation, "to"));
}

static const struct option_pairs OVERRIDES = { "set", "KEY=VALUE, such as window.max=6h" };

static bool read_overrides(const struct invocation *invocation, struct arena *arena,
                           struct override_list *list, struct error *err)
{
    struct {
        struct override *items;
        size_t count;
    } all = { 0 };
    struct option_pair pair;
    struct override *one;
    int at = 0;

    for (;;) {
        if (!invocation_pair(invocation, &OVERRIDES, &at, &pair, err))
            return false;
        if (pair.key.len == 0)
            break;
        one = LIST_ADD(arena, &all);
        if (one == NULL)
            return arena_error(arena, err);
        *one = (struct override){ pair.key, pair.value };
    }
    *list = (struct override_list){ all.items, all.count };
    return true;
}

static bool read_plan(const struct invocation *invocation, struct session *session,
                      struct plan_request *plan, struct error *err)
{
    const char *stale = invocation_value_if_any(invocation, "stale");

    if (stale != NULL && !invocation_duration(invocation, "stale", &plan->stale_us, err))
        return false;
    if (stale != NULL && plan->stale_us == 0)
        plan->stale_us = 1; /* "0": everything checked before now */
    return read_window(invocation, plan, err) &&
           read_overrides(invocation, &session->arena, &plan->overrides, err);
}

bool trigger_request_read(struct trigger_request *request, const struct invocation *invocation,
                          struct session *session, struct str operation, struct error *err)
{
    const char *path = invocation_value_if_any(invocation, "ids");
    int64_t now_us;

    if (!store_clock(session->store, clock_now_us(&session->clock), &now_us, err))
        return false;
    *request = (struct trigger_request){
        .plan = { .source = str_of(invocation->operands[0]),
                  .operation = operation,
                  .now_us = now_us,
                  .specs = session->specs,
                  .secrets = &session->secrets.source,
                  .random = &session->random,
                  .trigger = TRIGGER_MANUAL,
                  .campaign = str_of(invocation_value_if_any(invocation, "campaign")) },
    };
    if (!read_plan(invocation, session, &request->plan, err) ||
        (path != NULL && !open_ids(&request->ids, path, err)))
        return false;
    if (path != NULL)
        request->plan.ids = &request->ids.ids;
    return true;
}

void trigger_request_close(struct trigger_request *request)
{
    free(request->ids.line);
    if (request->ids.file != NULL && request->ids.file != stdin)
        (void)fclose(request->ids.file);
}

bool trigger_waits(const struct invocation *invocation, const struct error *err,
                   enum exit_code *code)
{
    if (!plan_error_is_paused(err))
        return false;
    (void)command_failed(invocation, err);
    *code = EXIT_LATER;
    return true;
}

void trigger_print_faults(const struct invocation *invocation, struct session *session,
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
