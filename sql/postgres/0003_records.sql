-- What came in (records, quarantine, signals), and the gate it came through (rate, quota).

CREATE TABLE ing_record (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code      text        NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        text        NOT NULL CHECK (endpoint_name <> ''),
    provider_id          text        NOT NULL CHECK (length(provider_id) BETWEEN 1 AND 1024),
    updated_at           timestamptz, -- the source's own; NULL where it has none
    version              bigint      NOT NULL CHECK (version >= 1), -- +1 per visible change
    deleted              boolean     NOT NULL,
    content_hash         text        NOT NULL,
    expr_hash            text        NOT NULL, -- of the expression (its prototype) that read it
    checked_at           timestamptz NOT NULL,
    created_at           timestamptz NOT NULL,
    schedule_instance_id bigint,
    plan_id              bigint,
    slice_id             bigint,
    task_id              bigint,
    run_id               bigint,
    batch_id             bigint,
    -- as received; last, so that reading the rest skips it
    payload              bytea       NOT NULL
);

-- lz4 reads and writes several times faster than the default; a server may be built without it.
DO $$
BEGIN
    ALTER TABLE ing_record ALTER COLUMN payload SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END;
$$;

CREATE UNIQUE INDEX uk_record_provider ON ing_record (provenance_code, endpoint_name, provider_id);
CREATE INDEX idx_record_checked ON ing_record (provenance_code, endpoint_name, checked_at, id);
CREATE INDEX idx_record_expr ON ing_record (provenance_code, endpoint_name, expr_hash, id);

-- A record that could not be judged, with all that is needed to see why.
CREATE TABLE ing_quarantine (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code      text        NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        text        NOT NULL,
    provider_id          text        NOT NULL, -- '' where none could be read
    reason_code          text        NOT NULL CHECK (reason_code <> ''),
    detail               text        NOT NULL,
    batch_position       integer     NOT NULL CHECK (batch_position >= 0),
    schedule_instance_id bigint,
    plan_id              bigint,
    slice_id             bigint,
    task_id              bigint,
    run_id               bigint,
    batch_id             bigint,
    created_at           timestamptz NOT NULL,
    resolved_at          timestamptz,
    payload              bytea       NOT NULL
);

CREATE UNIQUE INDEX uk_quarantine_place ON ing_quarantine (batch_id, batch_position)
    WHERE batch_id IS NOT NULL;
CREATE INDEX idx_quarantine_open ON ing_quarantine (provenance_code, endpoint_name, id)
    WHERE resolved_at IS NULL;

-- "Look at this record again": retracted, merged, incomplete. Open until a plan takes it up.
CREATE TABLE ing_signal (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provenance_code text        NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   text        NOT NULL CHECK (endpoint_name <> ''),
    provider_id     text        NOT NULL CHECK (length(provider_id) BETWEEN 1 AND 1024),
    reason          text        NOT NULL,
    created_by      text        NOT NULL,
    created_at      timestamptz NOT NULL,
    plan_id         bigint, -- that took it up
    consumed_at     timestamptz,
    CONSTRAINT ck_signal_consumed CHECK ((plan_id IS NULL) = (consumed_at IS NULL))
);

CREATE UNIQUE INDEX uk_signal_open ON ing_signal (provenance_code, endpoint_name, provider_id)
    WHERE consumed_at IS NULL;
CREATE INDEX idx_signal_open ON ing_signal (provenance_code, endpoint_name, id)
    WHERE consumed_at IS NULL;

-- ---- the rate gate ----

-- The bucket of a rate key, shared by all processes. Every decision is one short transaction on it.
CREATE TABLE ing_rate_gate (
    rate_key       text             NOT NULL PRIMARY KEY CHECK (rate_key <> ''),
    tokens         double precision NOT NULL,
    refilled_at    timestamptz      NOT NULL,
    -- as learned; survives restarts
    rate_per_s     double precision NOT NULL CHECK (rate_per_s > 0),
    raised_at      timestamptz      NOT NULL,
    cooldown_until timestamptz,
    parked_until   timestamptz, -- quota gone: not before the provider's reset
    in_flight      integer          NOT NULL CHECK (in_flight >= 0),
    version        bigint           NOT NULL CHECK (version >= 1),
    updated_at     timestamptz      NOT NULL
);

-- Permits handed out ahead to a worker; what is not used by then comes back.
CREATE TABLE ing_rate_permit (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rate_key   text             NOT NULL REFERENCES ing_rate_gate,
    owner      text             NOT NULL,
    permits    double precision NOT NULL CHECK (permits > 0),
    expires_at timestamptz      NOT NULL
);

CREATE INDEX idx_permit_expiry ON ing_rate_permit (rate_key, expires_at);

-- Requests counted against the provider's hour or day, by operation.
CREATE TABLE ing_rate_quota (
    rate_key       text        NOT NULL,
    window_code    text        NOT NULL CHECK (window_code IN ('HOUR', 'DAY')),
    window_from    timestamptz NOT NULL,
    operation_code text        NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    used           bigint      NOT NULL CHECK (used >= 0),
    -- booked by the planner, not yet used
    reserved       bigint      NOT NULL CHECK (reserved >= 0),
    PRIMARY KEY (rate_key, window_code, window_from, operation_code)
);
