-- The Registry: the configuration of each source. Every table begins with the same columns
-- (src/core/registry.h). Durations are microseconds, booleans 0 or 1, JSON is canonical text.
-- effective_to IS NULL: in force.

-- the source itself
CREATE TABLE reg_provenance (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    name TEXT,
    description TEXT,
    enabled INTEGER CHECK (enabled IN (0, 1)),
    release TEXT,
    template TEXT,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_provenance_in_force ON reg_provenance (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- an endpoint: its role, how requests to it are made, how responses are read
CREATE TABLE reg_prov_endpoint_def (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    role TEXT,
    method TEXT,
    path TEXT,
    auth_required INTEGER CHECK (auth_required IN (0, 1)),
    body TEXT CHECK (body IS NULL OR json_valid(body)),
    response_format TEXT,
    namespaces TEXT CHECK (namespaces IS NULL OR json_valid(namespaces)),
    id_separator TEXT,
    id_case TEXT,
    may_be_absent TEXT CHECK (may_be_absent IS NULL OR json_valid(may_be_absent)),
    detail_endpoint TEXT,
    event_payload INTEGER CHECK (event_payload IN (0, 1)),
    payload_packed INTEGER CHECK (payload_packed IN (0, 1)),
    files TEXT CHECK (files IS NULL OR json_valid(files)),
    records_of TEXT,
    parent_endpoint TEXT,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_endpoint_def_in_force ON reg_prov_endpoint_def (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- row_key = its name, usually that of the operation: which endpoint, how often, with what budget
CREATE TABLE reg_prov_operation_cfg (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    enabled INTEGER CHECK (enabled IN (0, 1)),
    operation TEXT,
    target_endpoint TEXT,
    every_us INTEGER CHECK (every_us >= 0),
    cron TEXT,
    priority INTEGER,
    budget_requests INTEGER,
    budget_records INTEGER,
    budget_time_us INTEGER CHECK (budget_time_us >= 0),
    namespace_scope TEXT,
    shares_with TEXT CHECK (shares_with IS NULL OR json_valid(shares_with)),
    direction TEXT,
    drive TEXT,
    cursor_type TEXT,
    slice_by TEXT,
    pages_per_slice INTEGER,
    id_slicing TEXT,
    id_buckets INTEGER,
    candidates TEXT CHECK (candidates IS NULL OR json_valid(candidates)),
    stale_after_us INTEGER CHECK (stale_after_us >= 0),
    stale_buckets INTEGER,
    queued_max INTEGER,
    running_max INTEGER,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_operation_cfg_in_force ON reg_prov_operation_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- where and how requests are sent
CREATE TABLE reg_prov_http_cfg (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    base_url TEXT,
    connect_timeout_us INTEGER CHECK (connect_timeout_us >= 0),
    read_timeout_us INTEGER CHECK (read_timeout_us >= 0),
    total_timeout_us INTEGER CHECK (total_timeout_us >= 0),
    compression INTEGER CHECK (compression IN (0, 1)),
    proxy TEXT,
    redirects_max INTEGER,
    allow_plain_http INTEGER CHECK (allow_plain_http IN (0, 1)),
    body_bytes_max INTEGER,
    inflated_bytes_max INTEGER,
    user_agent TEXT,
    redact INTEGER CHECK (redact IN (0, 1)),
    redact_names TEXT CHECK (redact_names IS NULL OR json_valid(redact_names)),
    archive_keep_us INTEGER CHECK (archive_keep_us >= 0),
    archive_bytes_max INTEGER,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_http_cfg_in_force ON reg_prov_http_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- where a secret is (env:NAME, file:PATH), never the secret
CREATE TABLE reg_prov_credential (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    type TEXT,
    location TEXT,
    param_name TEXT,
    prefix TEXT,
    secret_ref TEXT,
    username TEXT,
    password_ref TEXT,
    optional INTEGER CHECK (optional IN (0, 1)),
    token_url TEXT,
    client_id TEXT,
    client_secret_ref TEXT,
    token_scope TEXT,
    token_ttl_us INTEGER CHECK (token_ttl_us >= 0),
    refresh_before_us INTEGER CHECK (refresh_before_us >= 0),
    signing_hook TEXT,
    priority INTEGER,
    per_second REAL,
    burst INTEGER,
    concurrency INTEGER,
    quota_day INTEGER,
    quota_hour INTEGER,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_credential_in_force ON reg_prov_credential (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- how pages follow one another
CREATE TABLE reg_prov_pagination_cfg (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    type TEXT,
    page_size INTEGER,
    page_size_min INTEGER,
    page_size_max INTEGER,
    pages_max INTEGER,
    base INTEGER,
    initial TEXT,
    next_path TEXT,
    next_header TEXT,
    replayable INTEGER CHECK (replayable IN (0, 1)),
    same_token TEXT,
    order_by TEXT,
    tail_probe INTEGER CHECK (tail_probe IN (0, 1)),
    bridge_to_time INTEGER CHECK (bridge_to_time IN (0, 1)),
    record_cap INTEGER,
    id_min INTEGER,
    id_max INTEGER,
    size_fixed INTEGER CHECK (size_fixed IN (0, 1)),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_pagination_cfg_in_force ON reg_prov_pagination_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- how windows of time are divided and advanced
CREATE TABLE reg_prov_window_offset_cfg (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    watermark_key TEXT,
    granularity TEXT,
    updated_since INTEGER CHECK (updated_since IN (0, 1)),
    lag_us INTEGER CHECK (lag_us >= 0),
    lookback_us INTEGER CHECK (lookback_us >= 0),
    size_us INTEGER CHECK (size_us >= 0),
    align_to TEXT,
    max_us INTEGER CHECK (max_us >= 0),
    min_us INTEGER CHECK (min_us >= 0),
    overlap_us INTEGER CHECK (overlap_us >= 0),
    client_filter INTEGER CHECK (client_filter IN (0, 1)),
    monotonic INTEGER CHECK (monotonic IN (0, 1)),
    start_at TEXT,
    beyond_now TEXT,
    window_type TEXT,
    start_id TEXT,
    lookback_ids INTEGER,
    bridge_us INTEGER CHECK (bridge_us >= 0),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_window_offset_cfg_in_force ON reg_prov_window_offset_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- what is retried, and after how long
CREATE TABLE reg_prov_retry_cfg (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    attempts_max INTEGER,
    backoff TEXT,
    delay_min_us INTEGER CHECK (delay_min_us >= 0),
    delay_max_us INTEGER CHECK (delay_max_us >= 0),
    multiplier REAL,
    jitter REAL,
    statuses TEXT CHECK (statuses IS NULL OR json_valid(statuses)),
    on_timeout INTEGER CHECK (on_timeout IN (0, 1)),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_retry_cfg_in_force ON reg_prov_retry_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- how many requests may be sent to a source per second, hour and day
CREATE TABLE reg_prov_rate_limit_cfg (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    per_second REAL,
    burst INTEGER,
    concurrency INTEGER,
    adaptive INTEGER CHECK (adaptive IN (0, 1)),
    key_scope TEXT,
    per_credential INTEGER CHECK (per_credential IN (0, 1)),
    cost INTEGER,
    warmup_us INTEGER CHECK (warmup_us >= 0),
    cool_down_us INTEGER CHECK (cool_down_us >= 0),
    increase REAL,
    demote REAL,
    per_second_min REAL,
    provider_limit REAL,
    credential_per_second REAL,
    credential_burst INTEGER,
    credential_concurrency INTEGER,
    credential_provider_limit REAL,
    quota_day INTEGER,
    quota_hour INTEGER,
    quota_margin REAL,
    quota_shares TEXT CHECK (quota_shares IS NULL OR json_valid(quota_shares)),
    meaning_429 TEXT,
    quantum INTEGER,
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_rate_limit_cfg_in_force ON reg_prov_rate_limit_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- how many ids one request may contain
CREATE TABLE reg_prov_batching_cfg (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    id_batch_size INTEGER,
    id_batch_max INTEGER,
    combine_min INTEGER,
    split_failed INTEGER CHECK (split_failed IN (0, 1)),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_batching_cfg_in_force ON reg_prov_batching_cfg (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- row_key = LOCATION:name: what goes into a request
CREATE TABLE reg_prov_api_param_map (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    value TEXT,
    required INTEGER CHECK (required IN (0, 1)),
    default_value TEXT,
    selects INTEGER CHECK (selects IN (0, 1)),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_api_param_map_in_force ON reg_prov_api_param_map (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- the functions that templates may call
CREATE TABLE reg_prov_expr_capability (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    functions TEXT CHECK (functions IS NULL OR json_valid(functions)),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_expr_capability_in_force ON reg_prov_expr_capability (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- row_key = '' for the rules, else the name of an expression
CREATE TABLE reg_prov_expr_render_rule (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    expression TEXT,
    timezone TEXT,
    time_format TEXT,
    null_policy TEXT,
    date_formats TEXT CHECK (date_formats IS NULL OR json_valid(date_formats)),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_prov_expr_render_rule_in_force ON reg_prov_expr_render_rule (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;

-- row_key = KIND:name: paths into a response, and rules that judge it
CREATE TABLE reg_expr_field_dict (
    id INTEGER PRIMARY KEY,
    provenance_code TEXT NOT NULL,
    endpoint_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    template_columns TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    effective_from INTEGER NOT NULL,
    effective_to INTEGER CHECK (effective_to > effective_from),
    path TEXT,
    parts TEXT CHECK (parts IS NULL OR json_valid(parts)),
    required INTEGER CHECK (required IN (0, 1)),
    statuses TEXT CHECK (statuses IS NULL OR json_valid(statuses)),
    header TEXT,
    equals TEXT,
    contains TEXT,
    level TEXT,
    meaning TEXT,
    error_code TEXT,
    future_tolerance_us INTEGER CHECK (future_tolerance_us >= 0),
    allowed TEXT CHECK (allowed IS NULL OR json_valid(allowed)),
    type TEXT,
    list INTEGER CHECK (list IN (0, 1)),
    UNIQUE (provenance_code, endpoint_name, row_key, effective_from)
) STRICT;
CREATE UNIQUE INDEX reg_expr_field_dict_in_force ON reg_expr_field_dict (provenance_code, endpoint_name, row_key)
    WHERE effective_to IS NULL;
