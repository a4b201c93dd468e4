-- The Registry: the configuration of each source. Every table begins with the same columns
-- (src/core/registry.h). Durations are microseconds; JSON is canonical text, unchanged because it is
-- hashed.
-- effective_to IS NULL: in force.

-- the source itself
CREATE TABLE reg_provenance (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    name text,
    description text,
    enabled boolean,
    release text,
    template text,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_provenance_in_force ON reg_provenance (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- an endpoint: its role, how requests to it are made, how responses are read
CREATE TABLE reg_prov_endpoint_def (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    role text,
    method text,
    path text,
    auth_required boolean,
    body text CHECK (body IS NULL OR body::json IS NOT NULL),
    response_format text,
    namespaces text CHECK (namespaces IS NULL OR namespaces::json IS NOT NULL),
    id_separator text,
    id_case text,
    may_be_absent text CHECK (may_be_absent IS NULL OR may_be_absent::json IS NOT NULL),
    detail_endpoint text,
    event_payload boolean,
    payload_packed boolean,
    files text CHECK (files IS NULL OR files::json IS NOT NULL),
    records_of text,
    parent_endpoint text,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_endpoint_def_in_force ON reg_prov_endpoint_def (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- row_key = its name, usually that of the operation: which endpoint, how often, with what budget
CREATE TABLE reg_prov_operation_cfg (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    enabled boolean,
    operation text,
    target_endpoint text,
    every_us bigint CHECK (every_us >= 0),
    cron text,
    priority bigint,
    budget_requests bigint,
    budget_records bigint,
    budget_time_us bigint CHECK (budget_time_us >= 0),
    namespace_scope text,
    shares_with text CHECK (shares_with IS NULL OR shares_with::json IS NOT NULL),
    direction text,
    drive text,
    cursor_type text,
    slice_by text,
    pages_per_slice bigint,
    id_slicing text,
    id_buckets bigint,
    candidates text CHECK (candidates IS NULL OR candidates::json IS NOT NULL),
    stale_after_us bigint CHECK (stale_after_us >= 0),
    stale_buckets bigint,
    queued_max bigint,
    running_max bigint,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_operation_cfg_in_force ON reg_prov_operation_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- where and how requests are sent
CREATE TABLE reg_prov_http_cfg (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    base_url text,
    connect_timeout_us bigint CHECK (connect_timeout_us >= 0),
    read_timeout_us bigint CHECK (read_timeout_us >= 0),
    total_timeout_us bigint CHECK (total_timeout_us >= 0),
    compression boolean,
    proxy text,
    redirects_max bigint,
    allow_plain_http boolean,
    body_bytes_max bigint,
    inflated_bytes_max bigint,
    user_agent text,
    redact boolean,
    redact_names text CHECK (redact_names IS NULL OR redact_names::json IS NOT NULL),
    archive_keep_us bigint CHECK (archive_keep_us >= 0),
    archive_bytes_max bigint,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_http_cfg_in_force ON reg_prov_http_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- where a secret is (env:NAME, file:PATH), never the secret
CREATE TABLE reg_prov_credential (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    type text,
    location text,
    param_name text,
    prefix text,
    secret_ref text,
    username text,
    password_ref text,
    optional boolean,
    token_url text,
    client_id text,
    client_secret_ref text,
    token_scope text,
    token_ttl_us bigint CHECK (token_ttl_us >= 0),
    refresh_before_us bigint CHECK (refresh_before_us >= 0),
    signing_hook text,
    priority bigint,
    per_second double precision,
    burst bigint,
    concurrency bigint,
    quota_day bigint,
    quota_hour bigint,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_credential_in_force ON reg_prov_credential (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- how pages follow one another
CREATE TABLE reg_prov_pagination_cfg (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    type text,
    page_size bigint,
    page_size_min bigint,
    page_size_max bigint,
    pages_max bigint,
    base bigint,
    initial text,
    next_path text,
    next_header text,
    replayable boolean,
    same_token text,
    order_by text,
    tail_probe boolean,
    bridge_to_time boolean,
    record_cap bigint,
    id_min bigint,
    id_max bigint,
    size_fixed boolean,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_pagination_cfg_in_force ON reg_prov_pagination_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- how windows of time are divided and advanced
CREATE TABLE reg_prov_window_offset_cfg (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    watermark_key text,
    granularity text,
    updated_since boolean,
    lag_us bigint CHECK (lag_us >= 0),
    lookback_us bigint CHECK (lookback_us >= 0),
    size_us bigint CHECK (size_us >= 0),
    align_to text,
    max_us bigint CHECK (max_us >= 0),
    min_us bigint CHECK (min_us >= 0),
    overlap_us bigint CHECK (overlap_us >= 0),
    client_filter boolean,
    monotonic boolean,
    start_at text,
    beyond_now text,
    window_type text,
    start_id text,
    lookback_ids bigint,
    bridge_us bigint CHECK (bridge_us >= 0),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_window_offset_cfg_in_force ON reg_prov_window_offset_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- what is retried, and after how long
CREATE TABLE reg_prov_retry_cfg (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    attempts_max bigint,
    backoff text,
    delay_min_us bigint CHECK (delay_min_us >= 0),
    delay_max_us bigint CHECK (delay_max_us >= 0),
    multiplier double precision,
    jitter double precision,
    statuses text CHECK (statuses IS NULL OR statuses::json IS NOT NULL),
    on_timeout boolean,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_retry_cfg_in_force ON reg_prov_retry_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- how many requests may be sent to a source per second, hour and day
CREATE TABLE reg_prov_rate_limit_cfg (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    per_second double precision,
    burst bigint,
    concurrency bigint,
    adaptive boolean,
    key_scope text,
    per_credential boolean,
    cost bigint,
    warmup_us bigint CHECK (warmup_us >= 0),
    cool_down_us bigint CHECK (cool_down_us >= 0),
    increase double precision,
    demote double precision,
    per_second_min double precision,
    provider_limit double precision,
    credential_per_second double precision,
    credential_burst bigint,
    credential_concurrency bigint,
    credential_provider_limit double precision,
    quota_day bigint,
    quota_hour bigint,
    quota_margin double precision,
    quota_shares text CHECK (quota_shares IS NULL OR quota_shares::json IS NOT NULL),
    meaning_429 text,
    quantum bigint,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_rate_limit_cfg_in_force ON reg_prov_rate_limit_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- how many ids one request may contain
CREATE TABLE reg_prov_batching_cfg (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    id_batch_size bigint,
    id_batch_max bigint,
    combine_min bigint,
    split_failed boolean,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_batching_cfg_in_force ON reg_prov_batching_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- row_key = LOCATION:name: what goes into a request
CREATE TABLE reg_prov_api_param_map (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    value text,
    required boolean,
    default_value text,
    selects boolean,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_api_param_map_in_force ON reg_prov_api_param_map (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- the functions that templates may call
CREATE TABLE reg_prov_expr_capability (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    functions text CHECK (functions IS NULL OR functions::json IS NOT NULL),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_expr_capability_in_force ON reg_prov_expr_capability (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- row_key = '' for the rules, else the name of an expression
CREATE TABLE reg_prov_expr_render_rule (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    expression text,
    timezone text,
    time_format text,
    null_policy text,
    date_formats text CHECK (date_formats IS NULL OR date_formats::json IS NOT NULL),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_prov_expr_render_rule_in_force ON reg_prov_expr_render_rule (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- row_key = KIND:name: paths into a response, and rules that judge it
CREATE TABLE reg_expr_field_dict (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text NOT NULL,
    endpoint_name text NOT NULL,
    row_key text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    template_columns text NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    effective_from timestamptz NOT NULL,
    effective_to timestamptz CHECK (effective_to > effective_from),
    path text,
    parts text CHECK (parts IS NULL OR parts::json IS NOT NULL),
    required boolean,
    statuses text CHECK (statuses IS NULL OR statuses::json IS NOT NULL),
    header text,
    equals text,
    contains text,
    level text,
    meaning text,
    error_code text,
    future_tolerance_us bigint CHECK (future_tolerance_us >= 0),
    allowed text CHECK (allowed IS NULL OR allowed::json IS NOT NULL),
    type text,
    list boolean,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
);
CREATE UNIQUE INDEX reg_expr_field_dict_in_force ON reg_expr_field_dict (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;
