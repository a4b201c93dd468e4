/* The dashboard: its pages and the files they need. */
#include "serve/call.h"
#include "serve/page/boards.h"

enum { LIST_MAX = 200 };

#define PAGE(path_, name_, summary_, run_, ...)                                                \
    {                                                                                          \
        .method = "GET", .path = path_, .name = name_, .summary = summary_, .type = PAGE_TYPE, \
        .access = ROUTE_READS, .params = { __VA_ARGS__ }, .run = run_                          \
    }
#define SOURCE_PATH PARAM_WORD("source", IN_PATH, "The source.")
#define SOURCE_QUERY PARAM_WORD("source", IN_QUERY, "Only of this source.")
#define CODE(name_, codes_, help_)                                                           \
    {                                                                                        \
        .name = name_, .place = IN_QUERY, .kind = PARAM_CODE, .codes = codes_, .help = help_ \
    }
#define INSTANT(name_, help_)                                                  \
    {                                                                          \
        .name = name_, .place = IN_QUERY, .kind = PARAM_INSTANT, .help = help_ \
    }
#define NUMBER(name_, help_)                                                                     \
    {                                                                                            \
        .name = name_, .place = IN_QUERY, .kind = PARAM_NUMBER, .most = INT64_MAX, .help = help_ \
    }

static const struct route ROUTES[] = {
    PAGE("/", "pageNow", "What needs a person, and how far each source is", page_now, { 0 }),
    PAGE("/runs", "pageRuns", "Plans, the newest first", page_runs, SOURCE_QUERY,
         CODE("operation", &OPERATION_CODES, "Only of this operation."),
         CODE("status", &PLAN_STATUS_CODES, "Only plans in this state."),
         NUMBER("before", "Only plans older than this one."), PARAM_LIMIT(LIST_MAX, 25)),
    PAGE("/runs/plan/{plan}", "pagePlan", "A plan, its tasks and slices", page_plan,
         PARAM_ROW("plan", "Its number."), PARAM_AFTER("Slices after this number."),
         PARAM_LIMIT(LIST_MAX, 50)),
    PAGE("/runs/task/{task}", "pageTask", "A task, its runs, and the batches to look at", page_task,
         PARAM_ROW("task", "Its number.")),
    PAGE("/runs/run/{run}", "pageRun", "A run and its batches", page_run,
         PARAM_ROW("run", "Its number."), PARAM_AFTER("Batches after this number."),
         PARAM_LIMIT(LIST_MAX, 100)),
    PAGE("/runs/batch/{run}/{number}", "pageBatch", "A batch: request, attempts, response, items",
         page_batch, PARAM_ROW("run", "The run."), PARAM_ROW("number", "Its number in the run.")),
    PAGE("/cursors", "pageCursors", "How far each source is", page_cursors, { 0 }),
    PAGE("/cursors/{source}", "pageCursor", "The cursors of a source and their events", page_cursor,
         SOURCE_PATH, INSTANT("from", "Where the strips begin."), INSTANT("to", "Where they end.")),
    PAGE("/preview/{source}", "pagePreview", "What a trigger would plan", page_preview, SOURCE_PATH,
         PARAM_WORD("operation", IN_QUERY, "What it would do (backfill)."),
         INSTANT("from", "Start of the window."), INSTANT("to", "End of the window, exclusive."),
         PARAM_LIMIT(LIST_MAX, 20)),
    PAGE("/gate", "pageGate", "What each source allows, and what is used of it", page_gate, { 0 }),
    PAGE("/events", "pageEvents", "Who reads the stream", page_events, { 0 }),
    PAGE("/events/{name}", "pageSubscription", "A subscription, parked keys and dead letters",
         page_subscription, PARAM_WORD("name", IN_PATH, "The subscription.")),
    PAGE("/errors", "pageErrors", "Errors and records in quarantine", page_errors, SOURCE_QUERY,
         INSTANT("from", "Errors since (a day ago)."),
         NUMBER("after", "Quarantined records after this one.")),
    PAGE("/quarantine/{id}", "pageQuarantined", "A record in quarantine", page_quarantined,
         PARAM_ROW("id", "Its number.")),
    PAGE("/records", "pageRecords", "Sources and their records", page_records, { 0 }),
    PAGE("/records/{source}", "pageSourceRecords", "The records of a source", page_source_records,
         SOURCE_PATH, PARAM_SWITCH("deleted", IN_QUERY, "Deleted records instead of the others."),
         PARAM_WORD("after", IN_QUERY, "Begin after this place."), PARAM_LIMIT(LIST_MAX, 50)),
    PAGE("/records/{source}/{id}", "pageRecord", "A record", page_record, SOURCE_PATH,
         PARAM_WORD("id", IN_PATH, "The provider's id."),
         PARAM_WORD("endpoint", IN_QUERY, "Only of this endpoint.")),
    PAGE("/why", "pageWhyAsked", "Where a record is on its way", page_why,
         PARAM_WORD("source", IN_QUERY, "The source."),
         PARAM_WORD("id", IN_QUERY, "The provider's id."),
         INSTANT("date", "The date of a record that is not there.")),
    PAGE("/why/{source}/{id}", "pageWhy", "Where a record is on its way", page_why, SOURCE_PATH,
         PARAM_WORD("id", IN_PATH, "The provider's id."),
         INSTANT("date", "The date of a record that is not there.")),
    { .method = "GET",
      .path = "/login",
      .name = "pageLogin",
      .summary = "Sign in",
      .type = PAGE_TYPE,
      .access = ROUTE_FREE,
      .run = page_login },
    { .method = "POST",
      .path = "/login",
      .name = "signIn",
      .summary = "Sign in",
      .type = PAGE_TYPE,
      .access = ROUTE_FREE,
      .params = { PARAM_WORD("token", IN_BODY, "The token.") },
      .run = page_sign_in },
    { .method = "POST",
      .path = "/logout",
      .name = "signOut",
      .summary = "Sign out",
      .type = PAGE_TYPE,
      .access = ROUTE_FREE,
      .run = page_sign_out },
    { .method = "GET",
      .path = "/style.css",
      .name = "style",
      .summary = "How pages look",
      .type = "text/css; charset=utf-8",
      .access = ROUTE_FREE,
      .run = asset_style },
    { .method = "GET",
      .path = "/script.js",
      .name = "script",
      .summary = "What pages do by themselves",
      .type = "text/javascript; charset=utf-8",
      .access = ROUTE_FREE,
      .run = asset_script },
};

const struct route_group ROUTES_PAGES = { "Pages", ROUTES, ARRAY_LEN(ROUTES) };
