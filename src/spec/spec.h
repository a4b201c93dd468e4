/* spec: a snapshot, read into types. Planners and executors see nothing else of a source.
 *
 *      snapshot JSON --spec_read--> struct spec      (templates and JSONPaths compiled)
 *
 * Everything is in the arena it was read into or is a view of the snapshot's text, which must live
 * as long. It is never changed, and any number of threads may use it. XPaths stay texts, because
 * only users of the XML module can compile them (data/xml.h).
 *
 * An absent number (page.max_pages, a quota) is 0: none of them can be 0. An absent text is empty.
 * The table of settings names the member that receives each setting (spec/setting_table.c).
 */
#ifndef PATRA_SPEC_SPEC_H
#define PATRA_SPEC_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "core/codes.h"
#include "core/source_codes.h"
#include "data/date.h"
#include "data/jsonpath.h"
#include "data/template.h"

/* ---- where and how requests are sent ---- */

struct spec_http {
    struct str base_url;
    struct template user_agent;
    int64_t connect_timeout_us;
    int64_t read_timeout_us;
    int64_t total_timeout_us;
    int64_t body_max_bytes;
    int64_t inflated_max_bytes;
    int redirects;
    bool compression;
    bool allow_plain_http;
    bool redact;
    struct str proxy; /* may be a reference */
    const struct str *redact_names;
    size_t redact_name_count;
    int64_t archive_keep_us; /* how long full responses are kept; 0: they are not */
    int64_t archive_bytes;   /* the most that they take, packed; 0: any */
};

struct spec_auth { /* references, never secrets */
    enum auth_type type;
    enum auth_location location;
    bool is_optional;
    bool is_required; /* the endpoint refuses requests without it */
    struct str name;
    struct str prefix;
    struct str secret;
    struct str username;
    struct str password;
    struct str token_url;
    struct str client_id;
    struct str client_secret;
    struct str scope;
    int64_t token_ttl_us;
    int64_t refresh_before_us;
    struct str signing_hook;
};

struct spec_rate_limit { /* a value that is not set is 0 */
    double per_second;
    int64_t burst;
    int64_t concurrency;
};

enum { SPEC_CREDENTIALS_MAX = 16 };

/* One of several credentials of a source: how it is sent is said by auth. What is 0 is as the rate
 * settings say. */
struct spec_credential {
    struct str name;
    int64_t priority; /* smaller is used first */
    struct str secret;
    struct str username;
    struct str password;
    struct str client_id;
    struct str client_secret;
    struct spec_rate_limit limit;
    int64_t quota_day;
    int64_t quota_hour;
};

struct spec_param { /* of query, headers, form; in the order they are sent */
    struct str name;
    struct template value;
    bool is_required;
    bool has_default;
    struct str default_value;
};

struct spec_param_list {
    const struct spec_param *items;
    size_t count;
};

struct spec_expr { /* ${expr.NAME} */
    struct str name;
    struct template value;
};

struct spec_value { /* ${params.NAME}: a text, or a reference, read for each request */
    struct str name;
    struct str value;
    bool is_required;
    bool has_default;
    struct str default_value;
    struct str selects; /* a reference that selects: selected_hash() of its value when the plan was
                           made; '' = does not select */
};

/* ---- how fast ---- */

struct spec_rate {
    struct spec_rate_limit limit;
    struct spec_rate_limit with_credential;
    bool adaptive;
    bool per_credential;
    enum rate_scope scope;
    enum meaning_429 meaning_429;
    int64_t cost;
    int64_t quantum;
    int64_t warmup_us;
    int64_t cool_down_us;
    double increase;
    double demote;
    double min;
    int64_t quota_day;
    int64_t quota_hour;
    double quota_margin;
    int quota_shares[OPERATION_REPLAY + 1]; /* percent by operation; 100 when not given */
};

struct spec_retry {
    int max_attempts;
    enum backoff backoff;
    int64_t min_delay_us;
    int64_t max_delay_us;
    double multiplier;
    double jitter;
    bool on_timeout;
    const int *statuses;
    size_t status_count;
};

struct spec_batch {
    int64_t id_batch_size;
    int64_t combine;
    bool split_failed;
};

/* ---- pages and windows ---- */

struct spec_path {               /* one that leads to a list means the list's elements */
    struct str text;             /* empty: there is none */
    const struct jsonpath *json; /* of endpoints whose format is JSON */
};

struct spec_page {
    enum pagination_type type;
    int64_t size;
    int64_t size_min;
    int64_t size_max;
    int64_t max_pages; /* 0: no limit */
    int64_t cap;       /* 0: unknown */
    int64_t id_min;
    int64_t id_max; /* 0: the source cannot be queried by a range of ids */
    int base;
    bool has_initial;
    struct str initial;
    struct spec_path next;
    struct str next_header;
    bool replayable;
    bool tail_probe;
    bool bridge_to_time;
    bool size_fixed; /* the size is not sent */
    enum same_token same_token;
    struct str order_by;
};

struct spec_window {
    enum cursor_type type; /* what a HARVEST continues from */
    struct str key;
    enum granularity granularity;
    bool updated_since;
    bool client_filter;
    bool monotonic;
    int64_t lag_us;
    int64_t lookback_us;
    int64_t size_us;
    int64_t max_us;
    int64_t min_us;
    int64_t overlap_us;
    enum window_mode mode; /* CALENDAR when `align` is set */
    enum align_unit align;
    bool has_start;
    int64_t start_us;
    enum beyond_now beyond_now;
    bool sends_from;      /* requests say where the window begins; not a setting (spec_bounds.h) */
    bool sends_to;        /* ... and where it ends */
    struct str start_id;  /* ID: the first HARVEST reads the ids above it; empty: all */
    int64_t lookback_ids; /* ID */
    bool has_bridge;      /* TOKEN: an expired token is bridged by time */
    int64_t bridge_us;
};

/* ---- responses ---- */

struct spec_rule {
    const int *statuses; /* none: any */
    size_t status_count;
    struct spec_path path;
    struct str header;
    bool has_equals;
    struct str equals;
    struct str contains;
    enum value_kind type; /* success_when */
    enum rule_meaning meaning;
    enum error_level level;
    struct str code;
};

struct spec_rule_list {
    const struct spec_rule *items;
    size_t count;
};

struct spec_field { /* of the published record, or captured for phase two */
    struct str name;
    struct spec_path path;
    bool is_required;
    const struct str *values; /* all that it may have; none: any */
    size_t value_count;
    enum field_type type;
    bool is_list;
};

struct spec_field_list {
    const struct spec_field *items;
    size_t count;
};

struct spec_namespace {
    struct str prefix;
    struct str uri;
};

enum { SPEC_ID_PARTS_MAX = 8, SPEC_DATE_PATHS_MAX = 4 };

struct spec_response {
    enum response_format format;
    const struct spec_namespace *namespaces;
    size_t namespace_count;
    struct spec_path items;
    struct spec_path id[SPEC_ID_PARTS_MAX];
    size_t id_count;
    struct str id_separator;
    enum letter_case id_case;
    struct spec_path updated_at[SPEC_DATE_PATHS_MAX]; /* the first that finds something counts */
    size_t updated_at_count;
    const struct date_format *const *date_formats;
    size_t date_format_count;
    bool has_future_tolerance; /* false: RECORD_FUTURE_TOLERANCE_US */
    int64_t future_tolerance_us;
    struct spec_path version;
    struct spec_path total;
    struct str total_header; /* in place of the path */
    struct spec_path has_more;
    bool may_be_absent[RESPONSE_PART_UPDATED_AT + 1]; /* in a response that has items */
    struct spec_path sequence;                        /* window.type ID; empty: the record's id */
    struct spec_path latest;                          /* window.type ID */
    struct spec_path sync_token;                      /* window.type TOKEN */
    struct spec_path deleted;
    struct spec_path merged_into;
    struct spec_rule_list success_when; /* all must hold */
    struct spec_rule_list error_when;   /* the first that applies decides */
    struct spec_field_list history;
    struct spec_field_list fields;
};

/* ---- the whole ---- */

struct spec_endpoint {
    struct str name;
    enum endpoint_role role;
    enum http_method method;
    struct template path;
    struct spec_param_list query;
    struct spec_param_list headers;
    struct spec_param_list form;
    struct str json; /* the body; its texts are templates; empty: none */
    const struct str
        *files; /* BULK: names and ranges of them (spec/file_names.h); none: one file */
    size_t file_count;
    struct str records_of; /* BULK: the endpoint; empty: as record_home() finds */
    struct str parent;     /* DETAIL: whose records it is requested for; empty: for its own */
    struct spec_http http;
    struct spec_auth auth;
    struct spec_rate rate;
    struct spec_retry retry;
    struct spec_batch batch;
    enum null_policy null_policy;
    const struct spec_expr *exprs;
    size_t expr_count;
    struct spec_page page;
    struct spec_window window; /* of the first endpoint */
    struct spec_response response;
    bool event_payload;  /* events carry the whole record */
    bool payload_packed; /* payloads of records are stored packed */
    /* Where the source has several credentials: a copy of the endpoint for each, with its name,
     * its auth and its rate, in the order of use. The endpoint itself is as the first. */
    struct str credential; /* '': there is one at most */
    const struct spec_endpoint *variants;
    size_t variant_count;
};

struct spec_operation {
    struct str name;
    enum operation operation;
    int priority;
    enum namespace_scope namespace_scope;
    const struct str *shares_with; /* other endpoints with the same cursor */
    size_t shares_with_count;
    enum direction direction;
    enum update_drive drive;
    enum cursor_type cursor;
    enum slice_dimension slice_by;
    int64_t slice_pages;
    enum id_slicing slice_ids;
    int64_t slice_buckets;
    bool candidates[CANDIDATE_SIGNAL + 1];
    int64_t stale_after_us;
    int64_t stale_buckets;
    int64_t budget_requests;
    int64_t budget_records;
    int64_t budget_time_us;
    int64_t queued_max;
    int64_t running_max;
};

struct spec {
    struct str source;
    struct spec_operation operation;
    struct spec_endpoint endpoint;
    bool is_two_phase;
    struct spec_endpoint detail; /* phase two */
    const struct spec_value *params;
    size_t param_count;
    const struct spec_credential *credentials;
    size_t credential_count;
};

/* True when requests do not say both ends of the window: what is outside of it is listed, too. */
static inline bool spec_is_open_ended(const struct spec *spec)
{
    return !spec->endpoint.window.sends_from || !spec->endpoint.window.sends_to;
}

/* How far before the cursor an operation searches again, for records that appear late. */
static inline int64_t spec_late_us(const struct spec *spec)
{
    return spec->operation.operation == OPERATION_HARVEST ? spec->endpoint.window.lookback_us : 0;
}

/* "spec.unreadable" (L4) when the text is not a snapshot of a version that this patra knows. patra
 * itself wrote it, so a person must look at the store. */
bool spec_read(struct arena *arena, struct str json, struct spec *spec,
               struct error *err) MUST_CHECK;

#endif
