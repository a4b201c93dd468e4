-- What came in (records, quarantine, signals), and the gate it came through (rate, quota).

CREATE TABLE ing_record (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    provenance_code      TEXT    NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        TEXT    NOT NULL CHECK (endpoint_name <> ''),
    provider_id          TEXT    NOT NULL CHECK (length(provider_id) BETWEEN 1 AND 1024),
    updated_at           INTEGER, -- the source's own; NULL where it has none
    version              INTEGER NOT NULL CHECK (version >= 1), -- +1 per visible change
    deleted              INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    content_hash         TEXT    NOT NULL,
    expr_hash            TEXT    NOT NULL, -- of the expression (its prototype) that read it
    checked_at           INTEGER NOT NULL,
    created_at           INTEGER NOT NULL,
    schedule_instance_id INTEGER,
    plan_id              INTEGER,
    slice_id             INTEGER,
    task_id              INTEGER,
    run_id               INTEGER,
    batch_id             INTEGER,
    payload              BLOB    NOT NULL -- as received; last, so that reading the rest skips it
) STRICT;

CREATE UNIQUE INDEX uk_record_provider ON ing_record (provenance_code, endpoint_name, provider_id);
CREATE INDEX idx_record_checked ON ing_record (provenance_code, endpoint_name, checked_at, id);
CREATE INDEX idx_record_expr ON ing_record (provenance_code, endpoint_name, expr_hash, id);

-- A record that could not be judged, with all that is needed to see why.
CREATE TABLE ing_quarantine (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    provenance_code      TEXT    NOT NULL CHECK (provenance_code <> ''),
    endpoint_name        TEXT    NOT NULL,
    provider_id          TEXT    NOT NULL, -- '' where none could be read
    reason_code          TEXT    NOT NULL CHECK (reason_code <> ''),
    detail               TEXT    NOT NULL,
    batch_position       INTEGER NOT NULL CHECK (batch_position >= 0),
    schedule_instance_id INTEGER,
    plan_id              INTEGER,
    slice_id             INTEGER,
    task_id              INTEGER,
    run_id               INTEGER,
    batch_id             INTEGER,
    created_at           INTEGER NOT NULL,
    resolved_at          INTEGER,
    payload              BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX uk_quarantine_place ON ing_quarantine (batch_id, batch_position)
    WHERE batch_id IS NOT NULL;
CREATE INDEX idx_quarantine_open ON ing_quarantine (provenance_code, endpoint_name, id)
    WHERE resolved_at IS NULL;

-- "Look at this record again": retracted, merged, incomplete. Open until a plan takes it up.
CREATE TABLE ing_signal (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    provenance_code TEXT    NOT NULL CHECK (provenance_code <> ''),
    endpoint_name   TEXT    NOT NULL CHECK (endpoint_name <> ''),
    provider_id     TEXT    NOT NULL CHECK (length(provider_id) BETWEEN 1 AND 1024),
    reason          TEXT    NOT NULL,
    created_by      TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    plan_id         INTEGER, -- that took it up
    consumed_at     INTEGER,
    CONSTRAINT ck_signal_consumed CHECK ((plan_id IS NULL) = (consumed_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX uk_signal_open ON ing_signal (provenance_code, endpoint_name, provider_id)
    WHERE consumed_at IS NULL;
CREATE INDEX idx_signal_open ON ing_signal (provenance_code, endpoint_name, id)
    WHERE consumed_at IS NULL;

-- ---- the rate gate ----

-- The bucket of a rate key, shared by all processes. Every decision is one short transaction on it.
CREATE TABLE ing_rate_gate (
    rate_key       TEXT    NOT NULL PRIMARY KEY CHECK (rate_key <> ''),
    tokens         REAL    NOT NULL,
    refilled_at    INTEGER NOT NULL,
    rate_per_s     REAL    NOT NULL CHECK (rate_per_s > 0), -- as learned; survives restarts
    raised_at      INTEGER NOT NULL,
    cooldown_until INTEGER,
    parked_until   INTEGER, -- quota gone: not before the provider's reset
    in_flight      INTEGER NOT NULL CHECK (in_flight >= 0),
    version        INTEGER NOT NULL CHECK (version >= 1),
    updated_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Permits handed out ahead to a worker; what is not used by then comes back.
CREATE TABLE ing_rate_permit (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    rate_key   TEXT    NOT NULL REFERENCES ing_rate_gate,
    owner      TEXT    NOT NULL,
    permits    REAL    NOT NULL CHECK (permits > 0),
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_permit_expiry ON ing_rate_permit (rate_key, expires_at);

-- Requests counted against the provider's hour or day, by operation.
CREATE TABLE ing_rate_quota (
    rate_key       TEXT    NOT NULL,
    window_code    TEXT    NOT NULL CHECK (window_code IN ('HOUR', 'DAY')),
    window_from    INTEGER NOT NULL,
    operation_code TEXT    NOT NULL
        CHECK (operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')),
    used           INTEGER NOT NULL CHECK (used >= 0),
    reserved       INTEGER NOT NULL CHECK (reserved >= 0), -- booked by the planner, not yet used
    PRIMARY KEY (rate_key, window_code, window_from, operation_code)
) STRICT, WITHOUT ROWID;
