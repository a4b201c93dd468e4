-- What was received (records, quarantine, signals), and the rate gate (rate, slots, quota).

CREATE TABLE ing_record (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code      text COLLATE "C" NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        text COLLATE "C" NOT NULL CHECK (endpoint_name <> ''),
    provider_id          text COLLATE "C" NOT NULL CHECK (length(provider_id) BETWEEN 1 AND 1024),
    updated_at           timestamptz, -- the source's own; NULL if it has none
    provider_version     text        NOT NULL DEFAULT '', -- the source's own; '' if it has none
    version              bigint      NOT NULL CHECK (version >= 1), -- +1 per visible change
    deleted              boolean     NOT NULL,
    content_hash         text COLLATE "C" NOT NULL,
    expr_hash            text COLLATE "C" NOT NULL, -- of the expression (its prototype) that read it
    observed_at          timestamptz NOT NULL, -- when the request was sent that brought or last confirmed it
    checked_at           timestamptz NOT NULL,
    checked_week         timestamp   NOT NULL -- the indexed form of checked_at: see below
        GENERATED ALWAYS AS (date_trunc('week', checked_at AT TIME ZONE 'UTC')) STORED,
    created_at           timestamptz NOT NULL,
    schedule_instance_id bigint,
    plan_id              bigint,
    slice_id             bigint,
    task_id              bigint,
    run_id               bigint,
    batch_id             bigint,
    -- as received; last, so that reading the rest skips it
    payload              bytea       NOT NULL
) WITH (fillfactor = 50);
-- A record is checked many times, together with the other records of its batch. If no indexed value
-- changes and its page has room, that updates the row and no index (HOT). Half of each page is
-- therefore kept free, and the index of stale records has weeks only. Payloads are in TOAST.

-- lz4 reads and writes several times faster than the default; a server may be built without it.
DO $$
BEGIN
    ALTER TABLE ing_record ALTER COLUMN payload SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END;
$$;

-- The id first: it is nearly unique, so one comparison per step is enough.
CREATE UNIQUE INDEX uk_record_provider ON ing_record (provider_id, endpoint_name, provenance_code);
-- Partial, so that the query planner does not use them to find a record by its id.
CREATE INDEX idx_record_checked ON ing_record (provenance_code, endpoint_name, checked_week, id)
    WHERE NOT deleted;
CREATE INDEX idx_record_expr ON ing_record (provenance_code, endpoint_name, expr_hash, id)
    WHERE NOT deleted;
-- For reading: records of a source in the order in which they came, and their number. Two indexes that are partial instead
-- of one that is not, for the reason above; a deletion moves a record from one to the other.
CREATE INDEX idx_record_live ON ing_record (provenance_code, endpoint_name, id) WHERE NOT deleted;
CREATE INDEX idx_record_deleted ON ing_record (provenance_code, endpoint_name, id) WHERE deleted;

-- The fields of a record for its endpoint's view, by the keys of core/record_view.h. They are apart
-- from the record, because a record that is only checked again must not be copied with its fields.
CREATE TABLE ing_record_fields (
    record_id bigint NOT NULL PRIMARY KEY, -- ing_record.id
    fields    jsonb  NOT NULL
);

-- The views of records that were made by patra source apply, and what each selects.
CREATE TABLE ing_view (
    view_name       text NOT NULL PRIMARY KEY,
    provenance_code text NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   text NOT NULL CHECK (endpoint_name <> ''),
    definition      text NOT NULL,
    UNIQUE (provenance_code, endpoint_name)
);

-- What an expr_hash stands for: the query that fetched a record, and the mapping that read it. The
-- snapshot reads records by this mapping, so that a later one can be compared with it.
CREATE TABLE ing_expr (
    expr_hash       text NOT NULL PRIMARY KEY,
    provenance_code text NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   text NOT NULL, -- whose responses are the records: the details endpoint in two phases
    query_hash      text NOT NULL,
    mapping_hash    text NOT NULL,
    snapshot        text NOT NULL CHECK (snapshot::json IS NOT NULL),
    created_at      timestamptz NOT NULL
);

-- A record that could not be judged, with everything needed to see why.
CREATE TABLE ing_quarantine (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code      text        NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        text        NOT NULL,
    provider_id          text        NOT NULL, -- '' if none could be read
    reason_code          text        NOT NULL CHECK (reason_code <> ''),
    detail               text        NOT NULL,
    batch_position       integer     NOT NULL CHECK (batch_position >= 0),
    schedule_instance_id bigint,
    plan_id              bigint,
    slice_id             bigint,
    task_id              bigint,
    run_id               bigint,
    batch_id             bigint,
    observed_at          timestamptz NOT NULL, -- when the request was sent that brought it
    created_at           timestamptz NOT NULL,
    resolved_at          timestamptz,
    resolution_code      text        CHECK (resolution_code IN ('RETRIED', 'REPLACED', 'DROPPED')),
    resolved_by          text        NOT NULL DEFAULT '',
    resolved_note        text        NOT NULL DEFAULT '',
    payload              bytea       NOT NULL,
    CONSTRAINT ck_quarantine_resolved CHECK ((resolved_at IS NULL) = (resolution_code IS NULL)
        AND (resolved_at IS NULL) = (resolved_by = ''))
);

CREATE UNIQUE INDEX uk_quarantine_place ON ing_quarantine (batch_id, batch_position)
    WHERE batch_id IS NOT NULL;
-- The same bytes are quarantined only once.
CREATE INDEX idx_quarantine_record ON ing_quarantine
    (provenance_code, endpoint_name, provider_id, octet_length(payload));
CREATE INDEX idx_quarantine_open ON ing_quarantine (provenance_code, endpoint_name, id)
    WHERE resolved_at IS NULL;
-- For every batch: has one of its records been quarantined before?
CREATE INDEX idx_quarantine_known ON ing_quarantine (provenance_code, endpoint_name, provider_id)
    WHERE resolved_at IS NULL AND provider_id <> '';

-- A request to fetch a record again: retracted, merged, incomplete. Open until a plan takes it.
CREATE TABLE ing_signal (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text        NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   text        NOT NULL CHECK (endpoint_name <> ''),
    provider_id     text        NOT NULL CHECK (length(provider_id) BETWEEN 1 AND 1024),
    reason          text        NOT NULL,
    http_status     integer     NOT NULL DEFAULT 0, -- of the response that refused the record; 0: none
    detail          text        NOT NULL DEFAULT '', -- that response or failure in words
    created_by      text        NOT NULL,
    created_at      timestamptz NOT NULL,
    plan_id         bigint, -- the plan that took it; NULL: settled without a plan
    consumed_at     timestamptz,
    closed_by       text        NOT NULL DEFAULT '', -- who settled it without a plan
    CONSTRAINT ck_signal_consumed CHECK (plan_id IS NULL OR consumed_at IS NOT NULL),
    CONSTRAINT ck_signal_closed CHECK (closed_by = '' OR (plan_id IS NULL AND consumed_at IS NOT NULL))
);

CREATE UNIQUE INDEX uk_signal_open ON ing_signal (provenance_code, endpoint_name, provider_id)
    WHERE consumed_at IS NULL;
CREATE INDEX idx_signal_open ON ing_signal (provenance_code, endpoint_name, id)
    WHERE consumed_at IS NULL;
CREATE INDEX idx_signal_plan ON ing_signal (plan_id, provider_id) WHERE plan_id IS NOT NULL;
-- For the number of attempts.
CREATE INDEX idx_signal_taken ON ing_signal (provenance_code, endpoint_name, provider_id)
    WHERE plan_id IS NOT NULL;

-- ---- the rate gate ----

-- The bucket of a rate key (core/bucket.h), shared by all processes; in millionths of a permit.
CREATE TABLE ing_rate_gate (
    rate_key       text        NOT NULL PRIMARY KEY CHECK (rate_key <> ''),
    tokens         bigint      NOT NULL,
    carry          bigint      NOT NULL,
    refilled_at    timestamptz NOT NULL,
    rate           bigint      NOT NULL CHECK (rate > 0), -- the learned rate; survives restarts
    provider_rate  bigint      NOT NULL CHECK (provider_rate >= 0),
    raised_at      timestamptz NOT NULL,
    demoted_at     timestamptz NOT NULL,
    cooldown_until timestamptz NOT NULL,
    line_until     timestamptz NOT NULL,
    started_at     timestamptz NOT NULL,
    parked_until   timestamptz NOT NULL, -- quota used up: suspended until the provider's reset
    has_credential boolean     NOT NULL, -- as the last requests were sent
    refused_at     timestamptz, -- the credential was refused and is not used; NULL: no
    refused_status integer,
    version        bigint      NOT NULL CHECK (version >= 1),
    updated_at     timestamptz NOT NULL
);

-- Requests in progress, if a source limits them; the slot of a dead holder expires.
CREATE TABLE ing_rate_permit (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rate_key   text        NOT NULL CHECK (rate_key <> ''),
    owner      text        NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE INDEX idx_permit_expiry ON ing_rate_permit (rate_key, expires_at);

-- Requests counted towards the provider's hourly or daily quota, by the class of their operation.
CREATE TABLE ing_rate_quota (
    rate_key    text        NOT NULL CHECK (rate_key <> ''),
    window_code text        NOT NULL CHECK (window_code IN ('HOUR', 'DAY')),
    window_from timestamptz NOT NULL,
    class_code  text        NOT NULL CHECK (class_code IN ('HARVEST', 'UPDATE', 'BACKFILL')),
    used        bigint      NOT NULL CHECK (used >= 0),
    booked      bigint      NOT NULL CHECK (booked >= 0), -- promised to tasks, not yet sent
    PRIMARY KEY (rate_key, window_code, window_from, class_code)
);
