/* Signals: gathered, with whether an update will take them, and written as JSON. */
#include "view/signals.h"

#include "base/list.h"
#include "engine/source/source_store.h"
#include "spec/snapshot.h"
#include "spec/spec.h"

bool view_signal_list(const struct view_reader *reader, const struct signal_filter *filter,
                      struct view_signal_list *list, struct error *err)
{
    struct signal_list signals;

    *list = (struct view_signal_list){ 0 };
    if (!store_signal_list(reader->store, reader->arena, filter, &signals, err) ||
        (signals.count == 0 && !view_source_check(reader, filter->source, err)))
        return false;
    *list = (struct view_signal_list){ .items = signals.items,
                                       .count = signals.count,
                                       .is_full = (int64_t)signals.count == filter->limit };
    return true;
}

/* ---- who takes them ---- */

bool view_signals_are_taken(const struct view_reader *reader, struct str source, bool *are_taken,
                            struct error *err)
{
    const struct registry_row *row = NULL;
    struct source rows;

    *are_taken = false;
    if (!source_load(reader->store, reader->arena, source, reader->now_us, &rows, err))
        return false;
    while (!*are_taken && (row = source_next_operation(&rows, row)) != NULL) {
        const struct snapshot_request request = { .source = &rows, .operation = row->key };
        struct snapshot snapshot;
        struct error ignored; /* an operation that does not compile takes nothing */
        struct spec spec;

        *are_taken = source_operation_code(row) == OPERATION_UPDATE &&
                     snapshot_make(reader->arena, &request, &snapshot, &ignored) &&
                     spec_read(reader->arena, snapshot.json, &spec, &ignored) &&
                     spec.operation.drive == UPDATE_BY_ID &&
                     spec.operation.candidates[CANDIDATE_SIGNAL];
    }
    return true;
}

/* Whether an earlier signal of the list is of the same source. */
static bool is_repeated(const struct view_signal_list *list, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (str_eq(list->items[i].source, list->items[at].source))
            return true;
    }
    return false;
}

bool view_signal_list_idle(const struct view_reader *reader, const struct view_signal_list *list,
                           struct view_source_names *idle, struct error *err)
{
    bool are_taken;

    *idle = (struct view_source_names){ 0 };
    for (size_t i = 0; i < list->count; i++) {
        struct str *name;

        if (is_repeated(list, i))
            continue;
        if (!view_signals_are_taken(reader, list->items[i].source, &are_taken, err))
            return false;
        if (are_taken)
            continue;
        name = LIST_ADD(reader->arena, idle);
        if (name == NULL)
            return arena_error(reader->arena, err);
        *name = list->items[i].source;
    }
    return true;
}

struct str view_signals_idle_text(struct arena *arena, struct str source)
{
    return arena_printf(arena,
                        "no update takes them: %.*s has no update by id. Add one to its file, or "
                        "drop them with patra signal drop %.*s",
                        STR_ARG(source), STR_ARG(source));
}

/* ---- JSON ---- */

void view_signal_list_write(struct json_writer *w, const struct view_signal_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        const struct signal *signal = &list->items[i];

        json_write_object(w);
        json_write_member_i64(w, STR("id"), signal->id);
        json_write_member_str(w, STR("source"), signal->source);
        json_write_member_str(w, STR("endpoint"), signal->endpoint);
        json_write_member_str(w, STR("recordId"), signal->provider_id);
        json_write_member_str(w, STR("reason"), signal->reason);
        if (signal->http_status > 0)
            json_write_member_i64(w, STR("httpStatus"), signal->http_status);
        if (signal->detail.len > 0)
            json_write_member_str(w, STR("detail"), signal->detail);
        json_write_member_str(w, STR("by"), signal->created_by);
        json_write_member_instant(w, STR("since"), signal->created_us);
        json_write_member_i64(w, STR("tried"), signal->tried);
        json_write_end(w);
    }
    json_write_end(w);
}
