/* codes: the words of the dictionaries, and the enums that represent them in the program.
 *
 * In C a choice is an enum, so that a switch over it is checked; in tables, snapshots, YAML and
 * events it is a stable upper-case word. The tables below map one to the other:
 *
 *      struct str word = code_of(&OPERATION_CODES, OPERATION_HARVEST);      "HARVEST"
 *      int value = code_find(&OPERATION_CODES, STR("HARVEST"));             OPERATION_HARVEST
 *      if (value < 0) ... the word is not in the dictionary ...
 *
 * The same tables fill sys_dict_type and sys_dict_item, and the lists in error texts. Words are
 * never renamed and never reused, because databases contain them. Enum values are valid in this
 * process only and must not be stored. Every enum counts from 0 without gaps.
 */
#ifndef PATRA_CORE_CODES_H
#define PATRA_CORE_CODES_H

#include <stddef.h>

#include "base/attr.h"
#include "base/str.h"

struct code_item {
    struct str code;    /* "HARVEST" */
    struct str meaning; /* one sentence, for dictionaries and help */
};

struct code_table {
    struct str type; /* the dictionary's name in sys_dict_type: "ing_operation" */
    struct str meaning;
    const struct code_item *items; /* by enum value */
    size_t count;
};

/* For tables of constants. */
#define CODE_ITEM(word, text)          \
    {                                  \
        STR_INIT(word), STR_INIT(text) \
    }
#define CODE_TABLE(type, text, items)                           \
    {                                                           \
        STR_INIT(type), STR_INIT(text), items, ARRAY_LEN(items) \
    }

/* The word of a value, which must be one of the table's enum. Never freed. */
struct str code_of(const struct code_table *table, int value);

/* The value of a word as stored, compared exactly; -1 if the table does not have the word. */
int code_find(const struct code_table *table, struct str code);

/* The same for words that people write: any case, '-' equals '_' ("api-key" is API_KEY). */
int code_find_written(const struct code_table *table, struct str word);

/* Every table of this header and of core/source_codes.h, for filling and checking dictionaries. */
extern const struct code_table *const CODE_TABLES[];
extern const size_t CODE_TABLE_COUNT;

/* ---- what is done ---- */

enum operation {
    OPERATION_HARVEST,
    OPERATION_BACKFILL,
    OPERATION_UPDATE,
    OPERATION_METRICS, /* like UPDATE, for endpoints of role METRICS, in a separate namespace */
    OPERATION_REPLAY,  /* harvests a window again; moves no forward cursor */
};
extern const struct code_table OPERATION_CODES;

enum trigger_type { TRIGGER_SCHEDULE, TRIGGER_MANUAL, TRIGGER_API, TRIGGER_SIGNAL };
extern const struct code_table TRIGGER_TYPE_CODES;

/* What chooses the records of an UPDATE or METRICS operation. */
enum update_drive { UPDATE_BY_TIME, UPDATE_BY_ID };
extern const struct code_table UPDATE_DRIVE_CODES;

enum candidate_source { CANDIDATE_STALENESS, CANDIDATE_EXPR_CHANGE, CANDIDATE_SIGNAL };
extern const struct code_table CANDIDATE_SOURCE_CODES;

/* ---- cursors ---- */

enum cursor_type { CURSOR_TIME, CURSOR_ID, CURSOR_TOKEN };
extern const struct code_table CURSOR_TYPE_CODES;

enum namespace_scope { NAMESPACE_GLOBAL, NAMESPACE_EXPR, NAMESPACE_CUSTOM };
extern const struct code_table NAMESPACE_SCOPE_CODES;

enum direction { DIRECTION_FORWARD, DIRECTION_BACKFILL };
extern const struct code_table DIRECTION_CODES;

enum cursor_event_reason {
    CURSOR_EVENT_ADVANCE,
    CURSOR_EVENT_NO_FORWARD,
    CURSOR_EVENT_COMPENSATE,
    CURSOR_EVENT_RESET, /* made by a person; the only one that may go back */
};
extern const struct code_table CURSOR_EVENT_REASON_CODES;

/* ---- windows and slices ---- */

enum window_mode { WINDOW_SLIDING, WINDOW_CALENDAR };
extern const struct code_table WINDOW_MODE_CODES;

enum align_unit {
    ALIGN_NONE,
    ALIGN_MINUTE,
    ALIGN_HOUR,
    ALIGN_DAY,
    ALIGN_WEEK, /* ISO weeks: they begin on Monday */
    ALIGN_MONTH,
    ALIGN_QUARTER,
    ALIGN_YEAR,
};
extern const struct code_table ALIGN_UNIT_CODES;

enum slice_dimension { SLICE_TIME, SLICE_PAGE, SLICE_ID, SLICE_FEED, SLICE_FILE };
extern const struct code_table SLICE_DIMENSION_CODES;

enum reslice_reason {
    RESLICE_TOO_DEEP,
    RESLICE_TOO_MANY_429,
    RESLICE_OVER_CAP,
    RESLICE_OVERSIZED,
    RESLICE_SLOW,
};
extern const struct code_table RESLICE_REASON_CODES;

/* ---- states; for the transitions see core/states.h ---- */

enum plan_status {
    PLAN_DRAFT,
    PLAN_SLICING,
    PLAN_READY,
    PLAN_PARTIAL,
    PLAN_FAILED,
    PLAN_CANCELLED,
};
extern const struct code_table PLAN_STATUS_CODES;

enum slice_status {
    SLICE_PENDING,
    SLICE_READY,
    SLICE_SUCCEEDED, /* its own window is covered */
    SLICE_PARTIAL,   /* it keeps what it finished; children have the rest */
    SLICE_FAILED,
    SLICE_CANCELLED,
};
extern const struct code_table SLICE_STATUS_CODES;

enum task_status {
    TASK_QUEUED,
    TASK_DISPATCHED,
    TASK_EXECUTING,
    TASK_SUCCEEDED,
    TASK_PARTIAL,
    TASK_FAILED,
    TASK_CANCELLED,
};
extern const struct code_table TASK_STATUS_CODES;

enum run_status {
    RUN_PLANNED,
    RUN_RUNNING,
    RUN_SUCCEEDED,
    RUN_PARTIAL,
    RUN_FAILED,
    RUN_CANCELLED,
};
extern const struct code_table RUN_STATUS_CODES;

enum batch_status {
    BATCH_PLANNED,
    BATCH_RUNNING,
    BATCH_SUCCEEDED,
    BATCH_SKIPPED,
    BATCH_FAILED,
};
extern const struct code_table BATCH_STATUS_CODES;

/* Why a source or endpoint is paused. */
enum pause_kind { PAUSE_PAUSED, PAUSE_STOPPED };
extern const struct code_table PAUSE_KIND_CODES;

/* ---- subscriptions: who reads the stream ---- */

enum subscription_kind { SUBSCRIPTION_PROJECTION, SUBSCRIPTION_RELAY, SUBSCRIPTION_IMPORT };
extern const struct code_table SUBSCRIPTION_KIND_CODES;

/* What becomes of a key whose event cannot be delivered. */
enum subscription_policy { POLICY_WAIT, POLICY_SKIP_TO_LATEST, POLICY_STOP };
extern const struct code_table SUBSCRIPTION_POLICY_CODES;

enum subscription_state { SUBSCRIPTION_ACTIVE, SUBSCRIPTION_PAUSED, SUBSCRIPTION_STOPPED };
extern const struct code_table SUBSCRIPTION_STATE_CODES;

/* Why a run or task ended PARTIAL. */
enum partial_reason {
    PARTIAL_HOLES,
    PARTIAL_CUT_SHORT,
    PARTIAL_DEAD_END,    /* a person must look at it: it would end there again */
    PARTIAL_OVER_BUDGET, /* ... the same */
    PARTIAL_CRASHED,     /* whoever ran it died, again and again */
};
extern const struct code_table PARTIAL_REASON_CODES;

/* ---- requests and responses ---- */

enum endpoint_role { ENDPOINT_SEARCH, ENDPOINT_DETAIL, ENDPOINT_METRICS, ENDPOINT_BULK };
extern const struct code_table ENDPOINT_ROLE_CODES;

enum http_method { HTTP_GET, HTTP_POST };
extern const struct code_table HTTP_METHOD_CODES;

enum param_location { PARAM_QUERY, PARAM_HEADER, PARAM_PATH, PARAM_BODY };
extern const struct code_table PARAM_LOCATION_CODES;

enum auth_type { AUTH_NONE, AUTH_API_KEY, AUTH_BASIC, AUTH_BEARER, AUTH_OAUTH2, AUTH_CUSTOM };
extern const struct code_table AUTH_TYPE_CODES;

enum auth_location { AUTH_IN_HEADER, AUTH_IN_QUERY, AUTH_IN_BODY };
extern const struct code_table AUTH_LOCATION_CODES;

enum pagination_type {
    PAGINATION_OFFSET,
    PAGINATION_PAGE,
    PAGINATION_TOKEN,
    PAGINATION_URL,
    PAGINATION_TIME,
    PAGINATION_SINGLE,
    PAGINATION_ID,
};
extern const struct code_table PAGINATION_TYPE_CODES;

enum response_format { RESPONSE_JSON, RESPONSE_XML };
extern const struct code_table RESPONSE_FORMAT_CODES;

enum null_policy { NULL_OMIT, NULL_EMPTY, NULL_ERROR };
extern const struct code_table NULL_POLICY_CODES;

/* ---- the rate gate ---- */

enum rate_decision { RATE_ALLOW, RATE_WAIT, RATE_REJECT };
extern const struct code_table RATE_DECISION_CODES;

#endif
