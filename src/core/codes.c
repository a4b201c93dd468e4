/* codes: the words and meanings of the dictionaries. */
#include "core/codes.h"

#include <assert.h>

#include "core/source_codes.h"

static const struct code_item OPERATION_ITEMS[] = {
    [OPERATION_HARVEST] =
        CODE_ITEM("HARVEST", "new and changed records, forward from the watermark"),
    [OPERATION_BACKFILL] = CODE_ITEM("BACKFILL", "history before the watermark, newest first"),
    [OPERATION_UPDATE] = CODE_ITEM("UPDATE", "known records fetched again and compared"),
    [OPERATION_METRICS] =
        CODE_ITEM("METRICS", "figures about known records, such as citation counts"),
    [OPERATION_REPLAY] = CODE_ITEM("REPLAY", "a window harvested again without moving a cursor"),
};
const struct code_table OPERATION_CODES =
    CODE_TABLE("ing_operation", "what a plan does with a source", OPERATION_ITEMS);

static const struct code_item TRIGGER_TYPE_ITEMS[] = {
    [TRIGGER_SCHEDULE] = CODE_ITEM("SCHEDULE", "a tick of the source's schedule"),
    [TRIGGER_MANUAL] = CODE_ITEM("MANUAL", "a person, by the command line"),
    [TRIGGER_API] = CODE_ITEM("API", "a person or program, by the HTTP API"),
    [TRIGGER_SIGNAL] = CODE_ITEM("SIGNAL", "a signal about records that must be fetched again"),
};
const struct code_table TRIGGER_TYPE_CODES =
    CODE_TABLE("ing_trigger_type", "who requested a plan", TRIGGER_TYPE_ITEMS);

static const struct code_item UPDATE_DRIVE_ITEMS[] = {
    [UPDATE_BY_TIME] = CODE_ITEM("TIME", "the window filters the records"),
    [UPDATE_BY_ID] = CODE_ITEM("ID", "a list of ids is fetched; the window only sets the pace"),
};
const struct code_table UPDATE_DRIVE_CODES =
    CODE_TABLE("ing_update_drive", "what chooses the records of an UPDATE", UPDATE_DRIVE_ITEMS);

static const struct code_item CANDIDATE_SOURCE_ITEMS[] = {
    [CANDIDATE_STALENESS] = CODE_ITEM("STALENESS", "not checked for a long time"),
    [CANDIDATE_EXPR_CHANGE] =
        CODE_ITEM("EXPR_CHANGE", "read with an expression that has changed since"),
    [CANDIDATE_SIGNAL] = CODE_ITEM("SIGNAL", "named by a signal: retracted, merged, incomplete"),
};
const struct code_table CANDIDATE_SOURCE_CODES = CODE_TABLE(
    "ing_candidate_source", "why a record is a candidate of UPDATE", CANDIDATE_SOURCE_ITEMS);

static const struct code_item CURSOR_TYPE_ITEMS[] = {
    [CURSOR_TIME] = CODE_ITEM("TIME", "an instant; ordered by time"),
    [CURSOR_ID] = CODE_ITEM("ID", "a decimal number; ordered by value"),
    [CURSOR_TOKEN] = CODE_ITEM("TOKEN", "an opaque handle; not ordered"),
};
const struct code_table CURSOR_TYPE_CODES =
    CODE_TABLE("ing_cursor_type", "the type of a cursor's values", CURSOR_TYPE_ITEMS);

static const struct code_item NAMESPACE_SCOPE_ITEMS[] = {
    [NAMESPACE_GLOBAL] = CODE_ITEM("GLOBAL", "one cursor for the source's operation"),
    [NAMESPACE_EXPR] = CODE_ITEM("EXPR", "a cursor per expression"),
    [NAMESPACE_CUSTOM] = CODE_ITEM("CUSTOM", "a cursor per plan or campaign"),
};
const struct code_table NAMESPACE_SCOPE_CODES =
    CODE_TABLE("ing_namespace_scope", "who shares a cursor", NAMESPACE_SCOPE_ITEMS);

static const struct code_item DIRECTION_ITEMS[] = {
    [DIRECTION_FORWARD] = CODE_ITEM("FORWARD", "towards now"),
    [DIRECTION_BACKFILL] = CODE_ITEM("BACKFILL", "within history"),
};
const struct code_table DIRECTION_CODES =
    CODE_TABLE("ing_cursor_direction", "which way a cursor moves", DIRECTION_ITEMS);

static const struct code_item CURSOR_EVENT_REASON_ITEMS[] = {
    [CURSOR_EVENT_ADVANCE] = CODE_ITEM("ADVANCE", "the cursor may move to the new value"),
    [CURSOR_EVENT_NO_FORWARD] =
        CODE_ITEM("NO_FORWARD", "the candidate was not ahead; kept for audit"),
    [CURSOR_EVENT_COMPENSATE] = CODE_ITEM("TOKEN_COMPENSATE", "a token expired and was replaced"),
    [CURSOR_EVENT_RESET] =
        CODE_ITEM("RESET", "a person set the cursor; later events continue from there"),
};
const struct code_table CURSOR_EVENT_REASON_CODES = CODE_TABLE(
    "ing_cursor_event_reason", "why a cursor event was written", CURSOR_EVENT_REASON_ITEMS);

static const struct code_item WINDOW_MODE_ITEMS[] = {
    [WINDOW_SLIDING] = CODE_ITEM("SLIDING", "bounds are not rounded"),
    [WINDOW_CALENDAR] = CODE_ITEM("CALENDAR", "bounds are rounded down to a calendar boundary"),
};
const struct code_table WINDOW_MODE_CODES =
    CODE_TABLE("reg_window_mode", "how the bounds of a window are rounded", WINDOW_MODE_ITEMS);

static const struct code_item ALIGN_UNIT_ITEMS[] = {
    [ALIGN_NONE] = CODE_ITEM("NONE", "no alignment"),
    [ALIGN_MINUTE] = CODE_ITEM("MINUTE", "minutes, UTC"),
    [ALIGN_HOUR] = CODE_ITEM("HOUR", "hours, UTC"),
    [ALIGN_DAY] = CODE_ITEM("DAY", "days, UTC"),
    [ALIGN_WEEK] = CODE_ITEM("WEEK", "ISO weeks from Monday, UTC"),
    [ALIGN_MONTH] = CODE_ITEM("MONTH", "calendar months, UTC"),
    [ALIGN_QUARTER] = CODE_ITEM("QUARTER", "calendar quarters, UTC"),
    [ALIGN_YEAR] = CODE_ITEM("YEAR", "calendar years, UTC"),
};
const struct code_table ALIGN_UNIT_CODES =
    CODE_TABLE("reg_align_unit", "calendar boundaries", ALIGN_UNIT_ITEMS);

static const struct code_item SLICE_DIMENSION_ITEMS[] = {
    [SLICE_TIME] = CODE_ITEM("TIME", "a piece of the window"),
    [SLICE_PAGE] = CODE_ITEM("PAGE", "a range of pages"),
    [SLICE_ID] = CODE_ITEM("ID", "a hash bucket or range of ids"),
    [SLICE_FEED] = CODE_ITEM("FEED", "from the cursor on, as far as the source goes"),
    [SLICE_FILE] = CODE_ITEM("FILE", "a file of many records"),
};
const struct code_table SLICE_DIMENSION_CODES =
    CODE_TABLE("ing_slice_dimension", "what a plan is divided by", SLICE_DIMENSION_ITEMS);

static const struct code_item RESLICE_REASON_ITEMS[] = {
    [RESLICE_TOO_DEEP] = CODE_ITEM("TOO_DEEP", "more pages than estimated or allowed"),
    [RESLICE_TOO_MANY_429] =
        CODE_ITEM("TOO_MANY_429", "the source refuses too many requests with 429"),
    [RESLICE_OVER_CAP] = CODE_ITEM("OVER_CAP", "the source's total exceeds what it returns"),
    [RESLICE_OVERSIZED] = CODE_ITEM("OVERSIZED", "a response beyond the size limit"),
    [RESLICE_SLOW] = CODE_ITEM("SLOW", "the slice's time or quota ran out"),
};
const struct code_table RESLICE_REASON_CODES =
    CODE_TABLE("ing_reslice_reason", "why a slice is re-sliced", RESLICE_REASON_ITEMS);

static const struct code_item PLAN_STATUS_ITEMS[] = {
    [PLAN_DRAFT] = CODE_ITEM("DRAFT", "created, window known"),
    [PLAN_SLICING] = CODE_ITEM("SLICING", "slices are being made"),
    [PLAN_READY] = CODE_ITEM("READY", "all slices have their task"),
    [PLAN_PARTIAL] = CODE_ITEM("PARTIAL", "stopped at a limit; the next trigger resumes"),
    [PLAN_FAILED] = CODE_ITEM("FAILED", "could not be sliced"),
    [PLAN_CANCELLED] = CODE_ITEM("CANCELLED", "ended by a person"),
};
const struct code_table PLAN_STATUS_CODES =
    CODE_TABLE("ing_plan_status", "states of a plan", PLAN_STATUS_ITEMS);

static const struct code_item SLICE_STATUS_ITEMS[] = {
    [SLICE_PENDING] = CODE_ITEM("PENDING", "without a task yet"),
    [SLICE_READY] = CODE_ITEM("READY", "has its task"),
    [SLICE_SUCCEEDED] = CODE_ITEM("SUCCEEDED", "proved complete; its window is covered"),
    [SLICE_PARTIAL] = CODE_ITEM("PARTIAL", "keeps what it finished; the rest was re-sliced"),
    [SLICE_FAILED] = CODE_ITEM("FAILED", "given up; its window is not covered"),
    [SLICE_CANCELLED] = CODE_ITEM("CANCELLED", "ended by a person"),
};
const struct code_table SLICE_STATUS_CODES =
    CODE_TABLE("ing_slice_status", "states of a slice", SLICE_STATUS_ITEMS);

static const struct code_item TASK_STATUS_ITEMS[] = {
    [TASK_QUEUED] = CODE_ITEM("QUEUED", "waits for a worker"),
    [TASK_DISPATCHED] = CODE_ITEM("DISPATCHED", "leased by a worker"),
    [TASK_EXECUTING] = CODE_ITEM("EXECUTING", "a run is in progress"),
    [TASK_SUCCEEDED] = CODE_ITEM("SUCCEEDED", "complete"),
    [TASK_PARTIAL] = CODE_ITEM("PARTIAL", "ended with holes or cut short"),
    [TASK_FAILED] = CODE_ITEM("FAILED", "given up"),
    [TASK_CANCELLED] = CODE_ITEM("CANCELLED", "ended by a person"),
};
const struct code_table TASK_STATUS_CODES =
    CODE_TABLE("ing_task_status", "states of a task", TASK_STATUS_ITEMS);

static const struct code_item RUN_STATUS_ITEMS[] = {
    [RUN_PLANNED] = CODE_ITEM("PLANNED", "about to begin"),
    [RUN_RUNNING] = CODE_ITEM("RUNNING", "in progress"),
    [RUN_SUCCEEDED] = CODE_ITEM("SUCCEEDED", "complete"),
    [RUN_PARTIAL] = CODE_ITEM("PARTIAL", "ended with holes or cut short"),
    [RUN_FAILED] = CODE_ITEM("FAILED", "ended by an error"),
    [RUN_CANCELLED] = CODE_ITEM("CANCELLED", "ended by a person"),
};
const struct code_table RUN_STATUS_CODES =
    CODE_TABLE("ing_task_run_status", "states of a run", RUN_STATUS_ITEMS);

static const struct code_item BATCH_STATUS_ITEMS[] = {
    [BATCH_PLANNED] = CODE_ITEM("PLANNED", "about to be requested"),
    [BATCH_RUNNING] = CODE_ITEM("RUNNING", "requested"),
    [BATCH_SUCCEEDED] = CODE_ITEM("SUCCEEDED", "committed"),
    [BATCH_SKIPPED] = CODE_ITEM("SKIPPED", "already committed before; nothing was written"),
    [BATCH_FAILED] = CODE_ITEM("FAILED", "given up"),
};
const struct code_table BATCH_STATUS_CODES =
    CODE_TABLE("ing_task_run_batch_status", "states of a batch", BATCH_STATUS_ITEMS);

static const struct code_item PAUSE_KIND_ITEMS[] = {
    [PAUSE_PAUSED] = CODE_ITEM("PAUSED", "by a person"),
    [PAUSE_STOPPED] = CODE_ITEM("STOPPED", "by a fatal error, until a person lifts it"),
};
const struct code_table PAUSE_KIND_CODES =
    CODE_TABLE("ing_pause_kind", "why a source is paused", PAUSE_KIND_ITEMS);

static const struct code_item SUBSCRIPTION_KIND_ITEMS[] = {
    [SUBSCRIPTION_PROJECTION] = CODE_ITEM("PROJECTION", "keeps a table up to date"),
    [SUBSCRIPTION_RELAY] = CODE_ITEM("RELAY", "hands events on to a bus"),
    [SUBSCRIPTION_IMPORT] = CODE_ITEM("IMPORT", "takes events out of a foreign outbox"),
};
const struct code_table SUBSCRIPTION_KIND_CODES =
    CODE_TABLE("ing_subscription_kind", "what a subscription does", SUBSCRIPTION_KIND_ITEMS);

static const struct code_item SUBSCRIPTION_POLICY_ITEMS[] = {
    [POLICY_WAIT] = CODE_ITEM("WAIT", "the key waits, and all its later events with it"),
    [POLICY_SKIP_TO_LATEST] =
        CODE_ITEM("SKIP_TO_LATEST", "the key waits; then only its latest event is delivered"),
    [POLICY_STOP] = CODE_ITEM("STOP", "the subscription stops, for a person"),
};
const struct code_table SUBSCRIPTION_POLICY_CODES =
    CODE_TABLE("ing_subscription_policy", "what becomes of a key whose event is not delivered",
               SUBSCRIPTION_POLICY_ITEMS);

static const struct code_item SUBSCRIPTION_STATE_ITEMS[] = {
    [SUBSCRIPTION_ACTIVE] = CODE_ITEM("ACTIVE", "events are delivered"),
    [SUBSCRIPTION_PAUSED] = CODE_ITEM("PAUSED", "held by a person"),
    [SUBSCRIPTION_STOPPED] = CODE_ITEM("STOPPED", "ended by an event or an error, for a person"),
};
const struct code_table SUBSCRIPTION_STATE_CODES =
    CODE_TABLE("ing_subscription_state", "states of a subscription", SUBSCRIPTION_STATE_ITEMS);

static const struct code_item PARTIAL_REASON_ITEMS[] = {
    [PARTIAL_HOLES] = CODE_ITEM("HOLES", "walked to the end, some records or pages missing"),
    [PARTIAL_CUT_SHORT] = CODE_ITEM("CUT_SHORT", "stopped before the end"),
    [PARTIAL_DEAD_END] = CODE_ITEM("DEAD_END", "the source's pages lead nowhere"),
    [PARTIAL_OVER_BUDGET] = CODE_ITEM("OVER_BUDGET", "many more requests than its pages need"),
    [PARTIAL_CRASHED] = CODE_ITEM("CRASHED", "its workers died, again and again"),
};
const struct code_table PARTIAL_REASON_CODES =
    CODE_TABLE("ing_partial_reason", "why a run is partial", PARTIAL_REASON_ITEMS);

static const struct code_item ENDPOINT_ROLE_ITEMS[] = {
    [ENDPOINT_SEARCH] = CODE_ITEM("SEARCH", "lists records or their ids"),
    [ENDPOINT_DETAIL] = CODE_ITEM("DETAIL", "returns records by id"),
    [ENDPOINT_METRICS] = CODE_ITEM("METRICS", "returns figures about records by id"),
    [ENDPOINT_BULK] =
        CODE_ITEM("BULK", "files of many records, one on each line or in each element"),
};
const struct code_table ENDPOINT_ROLE_CODES =
    CODE_TABLE("reg_endpoint_role", "what an endpoint is for", ENDPOINT_ROLE_ITEMS);

static const struct code_item HTTP_METHOD_ITEMS[] = {
    [HTTP_GET] = CODE_ITEM("GET", "all parameters in the URL"),
    [HTTP_POST] = CODE_ITEM("POST", "parameters in the body"),
};
const struct code_table HTTP_METHOD_CODES =
    CODE_TABLE("http_method", "HTTP methods", HTTP_METHOD_ITEMS);

static const struct code_item PARAM_LOCATION_ITEMS[] = {
    [PARAM_QUERY] = CODE_ITEM("QUERY", "in the query of the URL"),
    [PARAM_HEADER] = CODE_ITEM("HEADER", "in a header"),
    [PARAM_PATH] = CODE_ITEM("PATH", "in the path of the URL"),
    [PARAM_BODY] = CODE_ITEM("BODY", "in the body"),
};
const struct code_table PARAM_LOCATION_CODES =
    CODE_TABLE("reg_param_location", "where a parameter goes", PARAM_LOCATION_ITEMS);

static const struct code_item AUTH_TYPE_ITEMS[] = {
    [AUTH_NONE] = CODE_ITEM("NONE", "no credential"),
    [AUTH_API_KEY] = CODE_ITEM("API_KEY", "a key in header, query or body"),
    [AUTH_BASIC] = CODE_ITEM("BASIC", "user and password"),
    [AUTH_BEARER] = CODE_ITEM("BEARER", "a fixed bearer token"),
    [AUTH_OAUTH2] = CODE_ITEM("OAUTH2", "a bearer token by client credentials, refreshed"),
    [AUTH_CUSTOM] = CODE_ITEM("CUSTOM", "a signing hook"),
};
const struct code_table AUTH_TYPE_CODES =
    CODE_TABLE("reg_auth_type", "how requests are authenticated", AUTH_TYPE_ITEMS);

static const struct code_item AUTH_LOCATION_ITEMS[] = {
    [AUTH_IN_HEADER] = CODE_ITEM("HEADER", "in a header"),
    [AUTH_IN_QUERY] = CODE_ITEM("QUERY", "in the query of the URL"),
    [AUTH_IN_BODY] = CODE_ITEM("BODY", "in the body of a POST"),
};
const struct code_table AUTH_LOCATION_CODES =
    CODE_TABLE("reg_auth_location", "where a credential goes", AUTH_LOCATION_ITEMS);

static const struct code_item PAGINATION_TYPE_ITEMS[] = {
    [PAGINATION_OFFSET] = CODE_ITEM("OFFSET", "offset and limit"),
    [PAGINATION_PAGE] = CODE_ITEM("PAGE", "page number and size"),
    [PAGINATION_TOKEN] = CODE_ITEM("TOKEN", "a handle on the next page, from body or header"),
    [PAGINATION_URL] = CODE_ITEM("URL", "the next page's whole URL, from body or Link header"),
    [PAGINATION_TIME] =
        CODE_ITEM("TIME", "the window advances; there are no page numbers or tokens"),
    [PAGINATION_SINGLE] = CODE_ITEM("SINGLE", "a single response has everything"),
    [PAGINATION_ID] = CODE_ITEM("ID", "a feed: each page begins after the highest id received"),
};
const struct code_table PAGINATION_TYPE_CODES =
    CODE_TABLE("reg_pagination_type", "how the next page is requested", PAGINATION_TYPE_ITEMS);

static const struct code_item RESPONSE_FORMAT_ITEMS[] = {
    [RESPONSE_JSON] = CODE_ITEM("JSON", "read with JSONPath"),
    [RESPONSE_XML] = CODE_ITEM("XML", "read with XPath"),
};
const struct code_table RESPONSE_FORMAT_CODES =
    CODE_TABLE("reg_response_format", "formats of responses", RESPONSE_FORMAT_ITEMS);

static const struct code_item NULL_POLICY_ITEMS[] = {
    [NULL_OMIT] = CODE_ITEM("OMIT", "a parameter without value is left out"),
    [NULL_EMPTY] = CODE_ITEM("EMPTY", "a parameter without value is sent empty"),
    [NULL_ERROR] = CODE_ITEM("ERROR", "a parameter without value stops the request"),
};
const struct code_table NULL_POLICY_CODES =
    CODE_TABLE("reg_null_policy", "what happens to a parameter without a value", NULL_POLICY_ITEMS);

static const struct code_item RATE_DECISION_ITEMS[] = {
    [RATE_ALLOW] = CODE_ITEM("ALLOW", "send now"),
    [RATE_WAIT] = CODE_ITEM("WAIT", "send at the time given"),
    [RATE_REJECT] = CODE_ITEM("REJECT", "not possible before the deadline; schedule again"),
};
const struct code_table RATE_DECISION_CODES =
    CODE_TABLE("ing_rate_decision", "decisions of the rate gate", RATE_DECISION_ITEMS);

const struct code_table *const CODE_TABLES[] = {
    &ALIGN_UNIT_CODES,        &AUTH_LOCATION_CODES,       &AUTH_TYPE_CODES,
    &BACKOFF_CODES,           &BATCH_STATUS_CODES,        &BEYOND_NOW_CODES,
    &CANDIDATE_SOURCE_CODES,  &CURSOR_EVENT_REASON_CODES, &CURSOR_TYPE_CODES,
    &DIRECTION_CODES,         &ENDPOINT_ROLE_CODES,       &ERROR_LEVEL_CODES,
    &FIELD_TYPE_CODES,        &GRANULARITY_CODES,         &HTTP_METHOD_CODES,
    &ID_SLICING_CODES,        &LETTER_CASE_CODES,         &MEANING_429_CODES,
    &NAMESPACE_SCOPE_CODES,   &NULL_POLICY_CODES,         &OPERATION_CODES,
    &PAGINATION_TYPE_CODES,   &PARAM_LOCATION_CODES,      &PARTIAL_REASON_CODES,
    &PAUSE_KIND_CODES,        &PLAN_STATUS_CODES,         &RATE_DECISION_CODES,
    &RATE_SCOPE_CODES,        &RESLICE_REASON_CODES,      &RESPONSE_FORMAT_CODES,
    &RESPONSE_PART_CODES,     &RULE_MEANING_CODES,        &RUN_STATUS_CODES,
    &SAME_TOKEN_CODES,        &SLICE_DIMENSION_CODES,     &SLICE_STATUS_CODES,
    &SUBSCRIPTION_KIND_CODES, &SUBSCRIPTION_POLICY_CODES, &SUBSCRIPTION_STATE_CODES,
    &TASK_STATUS_CODES,       &TIME_FORMAT_CODES,         &TIME_ZONE_CODES,
    &TRIGGER_TYPE_CODES,      &UPDATE_DRIVE_CODES,        &VALUE_KIND_CODES,
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
        if (folded(code.data[i]) != folded(word.data[i]))
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
