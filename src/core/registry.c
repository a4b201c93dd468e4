/* registry: the columns of each reg_* table, and comparison of rows. */
#include "core/registry.h"

#include <assert.h>

#include "base/attr.h"

#define TEXT(name)          \
    {                       \
        name, REGISTRY_TEXT \
    }
#define INT(name)          \
    {                      \
        name, REGISTRY_INT \
    }
#define REAL(name)          \
    {                       \
        name, REGISTRY_REAL \
    }
#define BOOL(name)          \
    {                       \
        name, REGISTRY_BOOL \
    }
#define DURATION(name)          \
    {                           \
        name, REGISTRY_DURATION \
    }
#define JSON(name)          \
    {                       \
        name, REGISTRY_JSON \
    }

static const struct registry_column provenance[] = {
    TEXT("name"), TEXT("description"), BOOL("enabled"), TEXT("release"), TEXT("template"),
};

static const struct registry_column endpoint[] = {
    TEXT("role"),
    TEXT("method"),
    TEXT("path"),
    BOOL("auth_required"),
    JSON("body"),
    TEXT("response_format"),
    JSON("namespaces"),
    TEXT("id_separator"),
    TEXT("id_case"),
    JSON("may_be_absent"),
    TEXT("detail_endpoint"),
    BOOL("event_payload"),
    BOOL("payload_packed"),
    JSON("files"),
    TEXT("records_of"),
    TEXT("parent_endpoint"),
};

static const struct registry_column operation[] = {
    BOOL("enabled"),
    TEXT("operation"),
    TEXT("target_endpoint"),
    DURATION("every_us"),
    TEXT("cron"),
    INT("priority"),
    INT("budget_requests"),
    INT("budget_records"),
    DURATION("budget_time_us"),
    TEXT("namespace_scope"),
    JSON("shares_with"),
    TEXT("direction"),
    TEXT("drive"),
    TEXT("cursor_type"),
    TEXT("slice_by"),
    INT("pages_per_slice"),
    TEXT("id_slicing"),
    INT("id_buckets"),
    JSON("candidates"),
    DURATION("stale_after_us"),
    INT("stale_buckets"),
    INT("queued_max"),
    INT("running_max"),
};

static const struct registry_column http[] = {
    TEXT("base_url"),
    DURATION("connect_timeout_us"),
    DURATION("read_timeout_us"),
    DURATION("total_timeout_us"),
    BOOL("compression"),
    TEXT("proxy"),
    INT("redirects_max"),
    BOOL("allow_plain_http"),
    INT("body_bytes_max"),
    INT("inflated_bytes_max"),
    TEXT("user_agent"),
    BOOL("redact"),
    JSON("redact_names"),
    DURATION("archive_keep_us"),
    INT("archive_bytes_max"),
};

static const struct registry_column credential[] = {
    TEXT("type"),
    TEXT("location"),
    TEXT("param_name"),
    TEXT("prefix"),
    TEXT("secret_ref"),
    TEXT("username"),
    TEXT("password_ref"),
    BOOL("optional"),
    TEXT("token_url"),
    TEXT("client_id"),
    TEXT("client_secret_ref"),
    TEXT("token_scope"),
    DURATION("token_ttl_us"),
    DURATION("refresh_before_us"),
    TEXT("signing_hook"),
    INT("priority"),
    REAL("per_second"),
    INT("burst"),
    INT("concurrency"),
    INT("quota_day"),
    INT("quota_hour"),
};

static const struct registry_column pagination[] = {
    TEXT("type"),         INT("page_size"),       INT("page_size_min"),
    INT("page_size_max"), INT("pages_max"),       INT("base"),
    TEXT("initial"),      TEXT("next_path"),      TEXT("next_header"),
    BOOL("replayable"),   TEXT("same_token"),     TEXT("order_by"),
    BOOL("tail_probe"),   BOOL("bridge_to_time"), INT("record_cap"),
    INT("id_min"),        INT("id_max"),          BOOL("size_fixed"),
};

static const struct registry_column window[] = {
    TEXT("watermark_key"),   TEXT("granularity"),    BOOL("updated_since"), DURATION("lag_us"),
    DURATION("lookback_us"), DURATION("size_us"),    TEXT("align_to"),      DURATION("max_us"),
    DURATION("min_us"),      DURATION("overlap_us"), BOOL("client_filter"), BOOL("monotonic"),
    TEXT("start_at"),        TEXT("beyond_now"),     TEXT("window_type"),   TEXT("start_id"),
    INT("lookback_ids"),     DURATION("bridge_us"),
};

static const struct registry_column retry[] = {
    INT("attempts_max"), TEXT("backoff"), DURATION("delay_min_us"), DURATION("delay_max_us"),
    REAL("multiplier"),  REAL("jitter"),  JSON("statuses"),         BOOL("on_timeout"),
};

static const struct registry_column rate_limit[] = {
    REAL("per_second"),
    INT("burst"),
    INT("concurrency"),
    BOOL("adaptive"),
    TEXT("key_scope"),
    BOOL("per_credential"),
    INT("cost"),
    DURATION("warmup_us"),
    DURATION("cool_down_us"),
    REAL("increase"),
    REAL("demote"),
    REAL("per_second_min"),
    REAL("provider_limit"),
    REAL("credential_per_second"),
    INT("credential_burst"),
    INT("credential_concurrency"),
    REAL("credential_provider_limit"),
    INT("quota_day"),
    INT("quota_hour"),
    REAL("quota_margin"),
    JSON("quota_shares"),
    TEXT("meaning_429"),
    INT("quantum"),
};

static const struct registry_column batching[] = {
    INT("id_batch_size"),
    INT("id_batch_max"),
    INT("combine_min"),
    BOOL("split_failed"),
};

static const struct registry_column param[] = {
    TEXT("value"),
    BOOL("required"),
    TEXT("default_value"),
    BOOL("selects"),
};

static const struct registry_column expr_capability[] = {
    JSON("functions"),
};

static const struct registry_column expr_render[] = {
    TEXT("expression"),  TEXT("timezone"),     TEXT("time_format"),
    TEXT("null_policy"), JSON("date_formats"),
};

static const struct registry_column field[] = {
    TEXT("path"),
    JSON("parts"),
    BOOL("required"),
    JSON("statuses"),
    TEXT("header"),
    TEXT("equals"),
    TEXT("contains"),
    TEXT("level"),
    TEXT("meaning"),
    TEXT("error_code"),
    DURATION("future_tolerance_us"),
    JSON("allowed"),
    TEXT("type"),
    BOOL("list"),
};

#define TABLE(name, columns)              \
    {                                     \
        name, columns, ARRAY_LEN(columns) \
    }

static const struct registry_table tables[REGISTRY_TABLE_COUNT] = {
    [REGISTRY_PROVENANCE] = TABLE("reg_provenance", provenance),
    [REGISTRY_ENDPOINT] = TABLE("reg_prov_endpoint_def", endpoint),
    [REGISTRY_OPERATION] = TABLE("reg_prov_operation_cfg", operation),
    [REGISTRY_HTTP] = TABLE("reg_prov_http_cfg", http),
    [REGISTRY_CREDENTIAL] = TABLE("reg_prov_credential", credential),
    [REGISTRY_PAGINATION] = TABLE("reg_prov_pagination_cfg", pagination),
    [REGISTRY_WINDOW] = TABLE("reg_prov_window_offset_cfg", window),
    [REGISTRY_RETRY] = TABLE("reg_prov_retry_cfg", retry),
    [REGISTRY_RATE_LIMIT] = TABLE("reg_prov_rate_limit_cfg", rate_limit),
    [REGISTRY_BATCHING] = TABLE("reg_prov_batching_cfg", batching),
    [REGISTRY_PARAM] = TABLE("reg_prov_api_param_map", param),
    [REGISTRY_EXPR_CAPABILITY] = TABLE("reg_prov_expr_capability", expr_capability),
    [REGISTRY_EXPR_RENDER] = TABLE("reg_prov_expr_render_rule", expr_render),
    [REGISTRY_FIELD] = TABLE("reg_expr_field_dict", field),
};

const struct registry_table *registry_table(enum registry_table_id id)
{
    assert(id < REGISTRY_TABLE_COUNT);
    return &tables[id];
}

int registry_column(enum registry_table_id id, struct str name)
{
    const struct registry_table *table = registry_table(id);

    for (size_t i = 0; i < table->column_count; i++) {
        if (str_eq(str_of(table->columns[i].name), name))
            return (int)i;
    }
    return -1;
}

bool registry_value_eq(enum registry_type type, const struct registry_value *a,
                       const struct registry_value *b)
{
    if (a->is_set != b->is_set)
        return false;
    if (!a->is_set)
        return true;
    switch (type) {
    case REGISTRY_TEXT:
    case REGISTRY_JSON:
        return str_eq(a->text, b->text);
    case REGISTRY_REAL:
        return a->real == b->real;
    case REGISTRY_INT:
    case REGISTRY_BOOL:
    case REGISTRY_DURATION:
        return a->number == b->number;
    }
    return false;
}

bool registry_row_eq(const struct registry_row *a, const struct registry_row *b)
{
    const struct registry_table *table = registry_table(a->table);

    if (a->table != b->table || a->position != b->position || !str_eq(a->endpoint, b->endpoint) ||
        !str_eq(a->key, b->key))
        return false;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!registry_value_eq(table->columns[i].type, &a->values[i], &b->values[i]) ||
            a->values[i].is_template != b->values[i].is_template)
            return false;
    }
    return true;
}
