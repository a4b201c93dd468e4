#include "core/codes.h"

#include <assert.h>

#include "base/attr.h"
#include "core/source_codes.h"

#define ITEM(word, text)               \
    {                                  \
        STR_INIT(word), STR_INIT(text) \
    }
#define TABLE(type, text, items)                                \
    {                                                           \
        STR_INIT(type), STR_INIT(text), items, ARRAY_LEN(items) \
    }

static const struct code_item OPERATION_ITEMS[] = {
    [OPERATION_HARVEST] = ITEM("HARVEST", "new and changed records, forward from the watermark"),
    [OPERATION_BACKFILL] = ITEM("BACKFILL", "history before the watermark, newest first"),
    [OPERATION_UPDATE] = ITEM("UPDATE", "known records fetched again and compared"),
    [OPERATION_METRICS] = ITEM("METRICS", "figures about known records, such as citation counts"),
    [OPERATION_REPLAY] = ITEM("REPLAY", "a window harvested again without moving a cursor"),
};
const struct code_table OPERATION_CODES =
    TABLE("ing_operation", "what a plan does with a source", OPERATION_ITEMS);

static const struct code_item TRIGGER_TYPE_ITEMS[] = {
    [TRIGGER_SCHEDULE] = ITEM("SCHEDULE", "a tick of the source's schedule"),
    [TRIGGER_MANUAL] = ITEM("MANUAL", "a person, by the command line"),
    [TRIGGER_API] = ITEM("API", "a person or program, by the HTTP API"),
    [TRIGGER_SIGNAL] = ITEM("SIGNAL", "a signal about records that need a fresh look"),
};
const struct code_table TRIGGER_TYPE_CODES =
    TABLE("ing_trigger_type", "who asked for a plan", TRIGGER_TYPE_ITEMS);

static const struct code_item UPDATE_DRIVE_ITEMS[] = {
    [UPDATE_BY_TIME] = ITEM("TIME", "the window filters the records"),
    [UPDATE_BY_ID] = ITEM("ID", "a list of ids is fetched; the window only sets the pace"),
};
const struct code_table UPDATE_DRIVE_CODES =
    TABLE("ing_update_drive", "what chooses the records of an UPDATE", UPDATE_DRIVE_ITEMS);

static const struct code_item CANDIDATE_SOURCE_ITEMS[] = {
    [CANDIDATE_STALENESS] = ITEM("STALENESS", "not looked at for long"),
    [CANDIDATE_EXPR_CHANGE] = ITEM("EXPR_CHANGE", "made by an expression that has changed since"),
    [CANDIDATE_SIGNAL] = ITEM("SIGNAL", "named by a signal: retracted, merged, incomplete"),
};
const struct code_table CANDIDATE_SOURCE_CODES =
    TABLE("ing_candidate_source", "why a record is a candidate of UPDATE", CANDIDATE_SOURCE_ITEMS);

static const struct code_item CURSOR_TYPE_ITEMS[] = {
    [CURSOR_TIME] = ITEM("TIME", "an instant; ordered by time"),
    [CURSOR_ID] = ITEM("ID", "a decimal number; ordered by value"),
    [CURSOR_TOKEN] = ITEM("TOKEN", "an opaque handle; not ordered"),
};
const struct code_table CURSOR_TYPE_CODES =
    TABLE("ing_cursor_type", "what a cursor counts", CURSOR_TYPE_ITEMS);

static const struct code_item NAMESPACE_SCOPE_ITEMS[] = {
    [NAMESPACE_GLOBAL] = ITEM("GLOBAL", "one cursor for the source's operation"),
    [NAMESPACE_EXPR] = ITEM("EXPR", "a cursor per expression"),
    [NAMESPACE_CUSTOM] = ITEM("CUSTOM", "a cursor per plan or campaign"),
};
const struct code_table NAMESPACE_SCOPE_CODES =
    TABLE("ing_namespace_scope", "who shares a cursor", NAMESPACE_SCOPE_ITEMS);

static const struct code_item DIRECTION_ITEMS[] = {
    [DIRECTION_FORWARD] = ITEM("FORWARD", "towards now"),
    [DIRECTION_BACKFILL] = ITEM("BACKFILL", "within history"),
};
const struct code_table DIRECTION_CODES =
    TABLE("ing_cursor_direction", "which way a cursor moves", DIRECTION_ITEMS);

static const struct code_item CURSOR_EVENT_REASON_ITEMS[] = {
    [CURSOR_EVENT_ADVANCE] = ITEM("ADVANCE", "the cursor may move to the new value"),
    [CURSOR_EVENT_NO_FORWARD] = ITEM("NO_FORWARD", "the candidate was not ahead; kept for audit"),
    [CURSOR_EVENT_COMPENSATE] = ITEM("TOKEN_COMPENSATE", "a token expired and was replaced"),
};
const struct code_table CURSOR_EVENT_REASON_CODES =
    TABLE("ing_cursor_event_reason", "why a cursor event was written", CURSOR_EVENT_REASON_ITEMS);

static const struct code_item WINDOW_MODE_ITEMS[] = {
    [WINDOW_SLIDING] = ITEM("SLIDING", "bounds as they come out"),
    [WINDOW_CALENDAR] = ITEM("CALENDAR", "bounds taken down to a calendar boundary"),
};
const struct code_table WINDOW_MODE_CODES =
    TABLE("reg_window_mode", "how the bounds of a window lie", WINDOW_MODE_ITEMS);

static const struct code_item ALIGN_UNIT_ITEMS[] = {
    [ALIGN_NONE] = ITEM("NONE", "no alignment"),
    [ALIGN_MINUTE] = ITEM("MINUTE", "minutes, UTC"),
    [ALIGN_HOUR] = ITEM("HOUR", "hours, UTC"),
    [ALIGN_DAY] = ITEM("DAY", "days, UTC"),
    [ALIGN_WEEK] = ITEM("WEEK", "ISO weeks from Monday, UTC"),
    [ALIGN_MONTH] = ITEM("MONTH", "calendar months, UTC"),
    [ALIGN_QUARTER] = ITEM("QUARTER", "calendar quarters, UTC"),
    [ALIGN_YEAR] = ITEM("YEAR", "calendar years, UTC"),
};
const struct code_table ALIGN_UNIT_CODES =
    TABLE("reg_align_unit", "calendar boundaries", ALIGN_UNIT_ITEMS);

static const struct code_item SLICE_DIMENSION_ITEMS[] = {
    [SLICE_TIME] = ITEM("TIME", "a piece of the window"),
    [SLICE_PAGE] = ITEM("PAGE", "a run of pages"),
    [SLICE_ID] = ITEM("ID", "a hash bucket or range of ids"),
};
const struct code_table SLICE_DIMENSION_CODES =
    TABLE("ing_slice_dimension", "along what a plan is cut", SLICE_DIMENSION_ITEMS);

static const struct code_item RESLICE_REASON_ITEMS[] = {
    [RESLICE_TOO_DEEP] = ITEM("TOO_DEEP", "more pages than estimated or allowed"),
    [RESLICE_TOO_MANY_429] = ITEM("TOO_MANY_429", "the source says too often: too many requests"),
    [RESLICE_OVER_CAP] = ITEM("OVER_CAP", "the source's total exceeds what it hands out"),
    [RESLICE_OVERSIZED] = ITEM("OVERSIZED", "a response beyond the size limit"),
    [RESLICE_SLOW] = ITEM("SLOW", "the slice's time or quota ran out"),
};
const struct code_table RESLICE_REASON_CODES =
    TABLE("ing_reslice_reason", "why a slice is cut again", RESLICE_REASON_ITEMS);

static const struct code_item PLAN_STATUS_ITEMS[] = {
    [PLAN_DRAFT] = ITEM("DRAFT", "created, window known"),
    [PLAN_SLICING] = ITEM("SLICING", "slices are being made"),
    [PLAN_READY] = ITEM("READY", "all slices have their task"),
    [PLAN_PARTIAL] = ITEM("PARTIAL", "stopped at a limit; the next trigger resumes"),
    [PLAN_FAILED] = ITEM("FAILED", "could not be sliced"),
    [PLAN_CANCELLED] = ITEM("CANCELLED", "ended by a person"),
};
const struct code_table PLAN_STATUS_CODES =
    TABLE("ing_plan_status", "states of a plan", PLAN_STATUS_ITEMS);

static const struct code_item SLICE_STATUS_ITEMS[] = {
    [SLICE_PENDING] = ITEM("PENDING", "without a task yet"),
    [SLICE_READY] = ITEM("READY", "has its task"),
    [SLICE_SUCCEEDED] = ITEM("SUCCEEDED", "proved complete; its window is covered"),
    [SLICE_PARTIAL] = ITEM("PARTIAL", "keeps what it finished; the rest was cut again"),
    [SLICE_FAILED] = ITEM("FAILED", "given up; its window is not covered"),
    [SLICE_CANCELLED] = ITEM("CANCELLED", "ended by a person"),
};
const struct code_table SLICE_STATUS_CODES =
    TABLE("ing_slice_status", "states of a slice", SLICE_STATUS_ITEMS);

static const struct code_item TASK_STATUS_ITEMS[] = {
    [TASK_QUEUED] = ITEM("QUEUED", "waits for a worker"),
    [TASK_DISPATCHED] = ITEM("DISPATCHED", "leased by a worker"),
    [TASK_EXECUTING] = ITEM("EXECUTING", "a run is under way"),
    [TASK_SUCCEEDED] = ITEM("SUCCEEDED", "complete"),
    [TASK_PARTIAL] = ITEM("PARTIAL", "ended with holes or cut short"),
    [TASK_FAILED] = ITEM("FAILED", "given up"),
    [TASK_CANCELLED] = ITEM("CANCELLED", "ended by a person"),
};
const struct code_table TASK_STATUS_CODES =
    TABLE("ing_task_status", "states of a task", TASK_STATUS_ITEMS);

static const struct code_item RUN_STATUS_ITEMS[] = {
    [RUN_PLANNED] = ITEM("PLANNED", "about to begin"),
    [RUN_RUNNING] = ITEM("RUNNING", "under way"),
    [RUN_SUCCEEDED] = ITEM("SUCCEEDED", "complete"),
    [RUN_PARTIAL] = ITEM("PARTIAL", "ended with holes or cut short"),
    [RUN_FAILED] = ITEM("FAILED", "ended by an error"),
    [RUN_CANCELLED] = ITEM("CANCELLED", "ended by a person"),
};
const struct code_table RUN_STATUS_CODES =
    TABLE("ing_task_run_status", "states of a run", RUN_STATUS_ITEMS);

static const struct code_item BATCH_STATUS_ITEMS[] = {
    [BATCH_PLANNED] = ITEM("PLANNED", "about to be requested"),
    [BATCH_RUNNING] = ITEM("RUNNING", "requested"),
    [BATCH_SUCCEEDED] = ITEM("SUCCEEDED", "committed"),
    [BATCH_SKIPPED] = ITEM("SKIPPED", "already committed before; nothing was written"),
    [BATCH_FAILED] = ITEM("FAILED", "given up"),
};
const struct code_table BATCH_STATUS_CODES =
    TABLE("ing_task_run_batch_status", "states of a batch", BATCH_STATUS_ITEMS);

static const struct code_item PARTIAL_REASON_ITEMS[] = {
    [PARTIAL_HOLES] = ITEM("HOLES", "walked to the end, some records or pages missing"),
    [PARTIAL_CUT_SHORT] = ITEM("CUT_SHORT", "stopped before the end"),
};
const struct code_table PARTIAL_REASON_CODES =
    TABLE("ing_partial_reason", "why a run is partial", PARTIAL_REASON_ITEMS);

static const struct code_item ENDPOINT_ROLE_ITEMS[] = {
    [ENDPOINT_SEARCH] = ITEM("SEARCH", "lists records or their ids"),
    [ENDPOINT_DETAIL] = ITEM("DETAIL", "gives records by id"),
    [ENDPOINT_METRICS] = ITEM("METRICS", "gives figures about records by id"),
};
const struct code_table ENDPOINT_ROLE_CODES =
    TABLE("reg_endpoint_role", "what an endpoint is for", ENDPOINT_ROLE_ITEMS);

static const struct code_item HTTP_METHOD_ITEMS[] = {
    [HTTP_GET] = ITEM("GET", "all parameters in the URL"),
    [HTTP_POST] = ITEM("POST", "parameters in the body"),
};
const struct code_table HTTP_METHOD_CODES = TABLE("http_method", "HTTP methods", HTTP_METHOD_ITEMS);

static const struct code_item PARAM_LOCATION_ITEMS[] = {
    [PARAM_QUERY] = ITEM("QUERY", "in the query of the URL"),
    [PARAM_HEADER] = ITEM("HEADER", "in a header"),
    [PARAM_PATH] = ITEM("PATH", "in the path of the URL"),
    [PARAM_BODY] = ITEM("BODY", "in the body"),
};
const struct code_table PARAM_LOCATION_CODES =
    TABLE("reg_param_location", "where a parameter goes", PARAM_LOCATION_ITEMS);

static const struct code_item AUTH_TYPE_ITEMS[] = {
    [AUTH_NONE] = ITEM("NONE", "no credential"),
    [AUTH_API_KEY] = ITEM("API_KEY", "a key in header, query or body"),
    [AUTH_BASIC] = ITEM("BASIC", "user and password"),
    [AUTH_BEARER] = ITEM("BEARER", "a fixed bearer token"),
    [AUTH_OAUTH2] = ITEM("OAUTH2", "a bearer token by client credentials, refreshed"),
    [AUTH_CUSTOM] = ITEM("CUSTOM", "a signing hook"),
};
const struct code_table AUTH_TYPE_CODES =
    TABLE("reg_auth_type", "how requests are authenticated", AUTH_TYPE_ITEMS);

static const struct code_item AUTH_LOCATION_ITEMS[] = {
    [AUTH_IN_HEADER] = ITEM("HEADER", "in a header"),
    [AUTH_IN_QUERY] = ITEM("QUERY", "in the query of the URL"),
    [AUTH_IN_BODY] = ITEM("BODY", "in the body of a POST"),
};
const struct code_table AUTH_LOCATION_CODES =
    TABLE("reg_auth_location", "where a credential goes", AUTH_LOCATION_ITEMS);

static const struct code_item PAGINATION_TYPE_ITEMS[] = {
    [PAGINATION_OFFSET] = ITEM("OFFSET", "offset and limit"),
    [PAGINATION_PAGE] = ITEM("PAGE", "page number and size"),
    [PAGINATION_TOKEN] = ITEM("TOKEN", "a handle on the next page, from body or header"),
    [PAGINATION_URL] = ITEM("URL", "the next page's whole URL, from body or Link header"),
    [PAGINATION_TIME] = ITEM("TIME", "the window itself moves on"),
    [PAGINATION_SINGLE] = ITEM("SINGLE", "one response is all"),
};
const struct code_table PAGINATION_TYPE_CODES =
    TABLE("reg_pagination_type", "how pages follow one another", PAGINATION_TYPE_ITEMS);

static const struct code_item RESPONSE_FORMAT_ITEMS[] = {
    [RESPONSE_JSON] = ITEM("JSON", "read with JSONPath"),
    [RESPONSE_XML] = ITEM("XML", "read with XPath"),
};
const struct code_table RESPONSE_FORMAT_CODES =
    TABLE("reg_response_format", "formats of responses", RESPONSE_FORMAT_ITEMS);

static const struct code_item NULL_POLICY_ITEMS[] = {
    [NULL_OMIT] = ITEM("OMIT", "a parameter without value is left out"),
    [NULL_EMPTY] = ITEM("EMPTY", "a parameter without value is sent empty"),
    [NULL_ERROR] = ITEM("ERROR", "a parameter without value stops the request"),
};
const struct code_table NULL_POLICY_CODES =
    TABLE("reg_null_policy", "what becomes of a missing value", NULL_POLICY_ITEMS);

static const struct code_item RATE_DECISION_ITEMS[] = {
    [RATE_ALLOW] = ITEM("ALLOW", "send now"),
    [RATE_WAIT] = ITEM("WAIT", "send at the time given"),
    [RATE_REJECT] = ITEM("REJECT", "not before the deadline; schedule again"),
};
const struct code_table RATE_DECISION_CODES =
    TABLE("ing_rate_decision", "answers of the rate gate", RATE_DECISION_ITEMS);

const struct code_table *const CODE_TABLES[] = {
    &ALIGN_UNIT_CODES,       &AUTH_LOCATION_CODES,       &AUTH_TYPE_CODES,
    &BACKOFF_CODES,          &BATCH_STATUS_CODES,        &BEYOND_NOW_CODES,
    &CANDIDATE_SOURCE_CODES, &CURSOR_EVENT_REASON_CODES, &CURSOR_TYPE_CODES,
    &DIRECTION_CODES,        &ENDPOINT_ROLE_CODES,       &ERROR_LEVEL_CODES,
    &GRANULARITY_CODES,      &HTTP_METHOD_CODES,         &ID_SLICING_CODES,
    &LETTER_CASE_CODES,      &MEANING_429_CODES,         &NAMESPACE_SCOPE_CODES,
    &NULL_POLICY_CODES,      &OPERATION_CODES,           &PAGINATION_TYPE_CODES,
    &PARAM_LOCATION_CODES,   &PARTIAL_REASON_CODES,      &PLAN_STATUS_CODES,
    &RATE_DECISION_CODES,    &RATE_SCOPE_CODES,          &RESLICE_REASON_CODES,
    &RESPONSE_FORMAT_CODES,  &RULE_MEANING_CODES,        &RUN_STATUS_CODES,
    &SAME_TOKEN_CODES,       &SLICE_DIMENSION_CODES,     &SLICE_STATUS_CODES,
    &TASK_STATUS_CODES,      &TRIGGER_TYPE_CODES,        &UPDATE_DRIVE_CODES,
    &WINDOW_MODE_CODES,
};
const size_t CODE_TABLE_COUNT = ARRAY_LEN(CODE_TABLES);

struct str code_of(const struct code_table *table, int value)
{
    assert(value >= 0);
    assert((size_t)value < table->count);
    return table->items[value].code;
}

int code_find(const struct code_table *table, struct str code)
{
    for (size_t i = 0; i < table->count; i++) {
        if (str_eq(table->items[i].code, code))
            return (int)i;
    }
    return -1;
}

static char folded(char c)
{
    if (c >= 'a' && c <= 'z')
        return (char)(c - 'a' + 'A');
    return c == '-' ? '_' : c;
}

static bool is_written_as(struct str code, struct str word)
{
    if (code.len != word.len)
        return false;
    for (size_t i = 0; i < code.len; i++) {
        if (code.data[i] != folded(word.data[i]))
            return false;
    }
    return true;
}

int code_find_written(const struct code_table *table, struct str word)
{
    for (size_t i = 0; i < table->count; i++) {
        if (is_written_as(table->items[i].code, word))
            return (int)i;
    }
    return -1;
}
