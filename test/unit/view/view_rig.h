/* view_rig: a store on SQLite with the source "demo", and views of it as JSON. */
#ifndef PATRA_TEST_UNIT_VIEW_RIG_H
#define PATRA_TEST_UNIT_VIEW_RIG_H

#include "data/json_write.h"
#include "planning.h"
#include "view/reader.h"

static inline int64_t view_rig_now(struct clock *clock)
{
    (void)clock;
    return NOW_US;
}

static inline struct view_reader view_rig(struct store *store)
{
    static struct clock clock = { .now_us = view_rig_now, .monotonic_us = view_rig_now };

    return (struct view_reader){
        .store = store, .arena = contract_arena(), .now_us = NOW_US, .clock = &clock
    };
}

/* A value under way: what view_rig_begin() returns is written to, view_rig_end() gives the text. */
struct view_rig_json {
    struct buf text;
    struct json_writer w;
};

static inline struct json_writer *view_rig_begin(struct view_rig_json *json)
{
    buf_init(&json->text, contract_arena(), (size_t)1 << 20);
    json_writer_init(&json->w, &json->text);
    return &json->w;
}

static inline struct str view_rig_end(struct view_rig_json *json)
{
    struct error err = { 0 };

    json_writer_finish(&json->w);
    REQUIRE_OK(buf_ok(&json->text, &err), err);
    return buf_str(&json->text);
}

static inline bool view_rig_has(struct str text, const char *needle)
{
    return str_find(text, str_of(needle)) < text.len;
}

/* A harvest of the first three days of 2025: a plan with a task for each. */
static inline struct plan_result view_rig_harvest(struct store *store)
{
    struct plan_request request = planning_request("harvest");

    request.from = maybe("2025-01-01");
    request.to = maybe("2025-01-04");
    return planning_trigger(store, &request);
}

static inline struct store *view_rig_store(void)
{
    struct store *store = contract_store();

    planning_apply(store, &(struct planning_source){ .window = "align: day, max: 1d" });
    return store;
}

#endif
