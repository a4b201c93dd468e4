/* The source "demo" and triggers of it, for the tests of the planner. */
#include "planning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "data/date.h"
#include "data/json.h"
#include "engine/source/source_store.h"
#include "port/store_lease.h"
#include "spec/check.h"

enum { SOURCE_MAX = 8192, LIST_MAX = 100000 };

static const char FILE_TEXT[] =
    "source: demo\n"
    "http: { base_url: https://api.example.org }\n"
    "%s\n"
    "endpoints:\n"
    "  works:\n"
    "    role: search\n"
    "    path: /works\n"
    "    query:\n"
    "      since: \"${window.from}\"\n"
    "      until: \"${window.to}\"\n"
    "      offset: \"${page.offset}\"\n"
    "      rows: \"${page.size}\"\n"
    "%s"
    "    page: { type: offset, size: 100%s%s }\n"
    "    window: { key: updated%s%s }\n"
    "    response: { items: $.items, id: $.id, updated_at: $.updated, total: $.total }\n"
    "  work:\n"
    "    role: detail\n"
    "    path: \"/works/${join(ids.list, \\\",\\\")}\"\n"
    "    batch: { id_batch_size: 10 }\n"
    "    response: { items: $.items, id: $.id, updated_at: $.updated }\n"
    "  counts:\n"
    "    role: metrics\n"
    "    path: \"/counts/${join(ids.list, \\\",\\\")}\"\n"
    "    batch: { id_batch_size: 10 }\n"
    "    response: { items: $.items, id: $.id, updated_at: $.updated }\n"
    "%s"
    "operations:\n"
    "%s\n";

static const char OPERATIONS[] = "  harvest: { endpoint: works, every: 1h }\n"
                                 "  backfill: { endpoint: works }\n"
                                 "  update: { endpoint: work, staleness: { after: 30d } }\n"
                                 "  metrics: { endpoint: counts, staleness: { after: 7d } }\n";

void planning_apply(struct store *store, const struct planning_source *source)
{
    struct arena *arena = contract_arena();
    char *text = ARENA_ARRAY(arena, char, SOURCE_MAX);
    struct fault_list faults;
    struct source_applied applied;
    struct source rows;
    struct error err = { 0 };
    static int64_t count;

    REQUIRE(text != NULL, "memory");
    (void)snprintf(text, SOURCE_MAX, FILE_TEXT, source->top != NULL ? source->top : "",
                   source->query != NULL ? source->query : "", source->page != NULL ? ", " : "",
                   source->page != NULL ? source->page : "", source->window != NULL ? ", " : "",
                   source->window != NULL ? source->window : "",
                   source->endpoints != NULL ? source->endpoints : "",
                   source->operations != NULL ? source->operations : OPERATIONS);
    fault_list_init(&faults, arena);
    if (!source_read(arena, &(struct source_text){ .file = str_of(text) }, &faults, &rows))
        REQUIRE(fault_list_ok(&faults, &err), err.text);
    REQUIRE_OK(source_apply(store, arena, &rows, NOW_US - US_PER_HOUR + count++, &applied, &err),
               err);
}

int64_t at(const char *text)
{
    struct date date;
    struct error err = { 0 };

    REQUIRE_OK(date_parse(date_format_find(STR("auto")), str_of(text), &date, &err), err);
    return date.at_us;
}

struct maybe_instant maybe(const char *text)
{
    return text == NULL ? (struct maybe_instant){ 0 } : (struct maybe_instant){ true, at(text) };
}

struct plan_request planning_request(const char *operation)
{
    return (struct plan_request){ .source = STR("demo"),
                                  .operation = str_of(operation),
                                  .now_us = NOW_US,
                                  .trigger = TRIGGER_MANUAL };
}

struct plan_result planning_trigger(struct store *store, const struct plan_request *request)
{
    struct plan_result result;
    struct error err = { 0 };

    REQUIRE_OK(plan_trigger(store, contract_arena(), request, &result, &err), err);
    return result;
}

static int by_slice(const void *left, const void *right)
{
    const struct task *a = left, *b = right;

    return (a->slice_id > b->slice_id) - (a->slice_id < b->slice_id);
}

struct task_list planning_tasks(struct store *store)
{
    const struct task_filter filter = { .source = STR("demo"), .limit = LIST_MAX };
    struct task_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_task_list(store, contract_arena(), &filter, &list, &err), err);
    if (list.count > 0)
        qsort(list.items, list.count, sizeof(list.items[0]), by_slice);
    return list;
}

struct plan_slice_list planning_slices(struct store *store, int64_t plan_id)
{
    struct plan_slice_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_slice_list(store, contract_arena(), plan_id,
                                (struct store_page){ .limit = LIST_MAX }, &list, &err),
               err);
    return list;
}

struct str planning_value(struct str json, const char *path)
{
    struct str rest = str_of(path);
    struct json_doc doc;
    struct json_node node;
    struct error err = { 0 };

    REQUIRE_OK(json_parse(&doc, contract_arena(), json, &err), err);
    node = json_root(&doc);
    while (rest.len > 0)
        node = json_get(&doc, node, str_cut(&rest, '.'));
    if (!json_exists(node))
        return STR("");
    return json_type(&doc, node) == JSON_STRING ? json_string_raw(&doc, node)
                                                : json_raw(&doc, node);
}

/* ---- ending tasks, as executors do ---- */

static struct task_list claim_all(struct store *store)
{
    const struct task_claim claim = {
        .owner = STR("test"), .now_us = INSTANT_MAX, .until_us = INSTANT_MAX, .limit = LIST_MAX
    };
    struct task_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_task_claim(store, contract_arena(), &claim, &list, &err), err);
    return list;
}

static void finish(struct store *store, const struct task *task, enum task_status status,
                   const struct window *covered)
{
    const struct lease lease = { task->id, task->lease_epoch };
    const struct task_end end = { .lease = lease,
                                  .status = status,
                                  .has_reason = status == TASK_PARTIAL,
                                  .reason = PARTIAL_CUT_SHORT,
                                  .covered = covered != NULL ? *covered : (struct window){ 0 },
                                  .now_us = NOW_US };
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_lease_start(store, lease, NOW_US, &held, &err), err);
    REQUIRE(held, "the lease");
    REQUIRE_OK(store_lease_finish(store, &end, &held, &err), err);
    REQUIRE(held, "the lease");
}

void planning_end(struct store *store, int64_t task_id, enum task_status status,
                  const struct window *covered)
{
    const struct task_list list = claim_all(store);
    bool is_found = false;

    for (size_t i = 0; i < list.count; i++) {
        const struct task *task = &list.items[i];
        struct error err = { 0 };
        bool held;

        if (task->id == task_id) {
            finish(store, task, status, covered);
            is_found = true;
            continue;
        }
        REQUIRE_OK(store_lease_release(store,
                                       &(struct lease_release){
                                           .lease = (struct lease){ task->id, task->lease_epoch },
                                           .scheduled_us = task->scheduled_us,
                                           .reason = STR(""),
                                           .now_us = NOW_US },
                                       &held, &err),
                   err);
    }
    REQUIRE(is_found, "a task that is live");
}

void planning_end_all(struct store *store, enum task_status status)
{
    const struct task_list list = claim_all(store);

    for (size_t i = 0; i < list.count; i++)
        finish(store, &list.items[i], status, NULL);
}
