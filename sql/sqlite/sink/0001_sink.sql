-- A database that is not a store and has the tables of projections: what a reader of events keeps beside its
-- rows, so that both are one transaction. The tables are those of the store (0004_outbox.sql, 0007_projections.sql).

CREATE TABLE ing_inbox (
    consumer_group TEXT    NOT NULL,
    event_id       TEXT    NOT NULL CHECK (length(event_id) = 36),
    lane           INTEGER NOT NULL,
    stream_pos     INTEGER NOT NULL,
    received_at    INTEGER NOT NULL,
    PRIMARY KEY (consumer_group, event_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX idx_inbox_prune ON ing_inbox (consumer_group, lane, stream_pos);

CREATE TABLE ing_offset (
    consumer_group TEXT    NOT NULL CHECK (consumer_group <> ''),
    subscription   TEXT    NOT NULL CHECK (subscription <> ''),
    lane           INTEGER NOT NULL CHECK (lane >= 0),
    stream_pos     INTEGER NOT NULL CHECK (stream_pos >= 0),
    ack_id         TEXT,
    message_id     TEXT    NOT NULL,
    publish_time   INTEGER NOT NULL,
    lag_us         INTEGER NOT NULL,
    updated_by     TEXT    NOT NULL,
    updated_at     INTEGER NOT NULL,
    lease_owner    TEXT,
    leased_until   INTEGER,
    lease_epoch    INTEGER NOT NULL DEFAULT 0,
    crashes        INTEGER NOT NULL DEFAULT 0, -- leases that ran out at this very position
    PRIMARY KEY (consumer_group, subscription, lane),
    CONSTRAINT ck_offset_lease CHECK ((lease_owner IS NULL) = (leased_until IS NULL))
) STRICT, WITHOUT ROWID;

-- Who reads a subscription now: the lanes are shared among those who are alive. A reader that cannot go
-- on says so here.
CREATE TABLE ing_reader (
    consumer_group TEXT    NOT NULL,
    subscription   TEXT    NOT NULL,
    owner          TEXT    NOT NULL,
    started_at     INTEGER NOT NULL,
    alive_until    INTEGER NOT NULL,
    error          TEXT    NOT NULL, -- the present one; '': none
    error_since    INTEGER,
    PRIMARY KEY (consumer_group, subscription, owner),
    CONSTRAINT ck_reader_error CHECK ((error = '') = (error_since IS NULL))
) STRICT, WITHOUT ROWID;

-- Who moved an offset, from where to where, and why.
CREATE TABLE ing_offset_reset (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    consumer_group TEXT    NOT NULL,
    subscription   TEXT    NOT NULL,
    lane           INTEGER NOT NULL,
    old_pos        INTEGER,
    old_message_id TEXT,
    new_pos        INTEGER NOT NULL,
    new_message_id TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    reset_by       TEXT    NOT NULL,
    reset_at       INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_offset_reset_group ON ing_offset_reset (consumer_group, subscription, id);

-- Keys whose event could not be delivered. Later events of the key are passed over and wait with it.
CREATE TABLE ing_parked (
    consumer_group TEXT    NOT NULL,
    subscription   TEXT    NOT NULL,
    aggregate_type TEXT    NOT NULL,
    aggregate_id   TEXT    NOT NULL,
    record_id      INTEGER, -- NULL: a foreign aggregate
    lane           INTEGER NOT NULL,
    head_version   INTEGER NOT NULL, -- of the event that failed
    seen_version   INTEGER NOT NULL, -- of the last one that was passed over
    attempts_begun INTEGER NOT NULL, -- more than ended, and it stays so: the event kills its reader
    attempts_ended INTEGER NOT NULL,
    policy_code    TEXT    NOT NULL CHECK (policy_code IN ('WAIT', 'SKIP_TO_LATEST')),
    next_retry_at  INTEGER NOT NULL,
    last_error     TEXT    NOT NULL,
    parked_at      INTEGER NOT NULL,
    PRIMARY KEY (consumer_group, subscription, aggregate_type, aggregate_id),
    CONSTRAINT ck_parked_versions CHECK (seen_version >= head_version),
    CONSTRAINT ck_parked_attempts CHECK (attempts_begun >= attempts_ended)
) STRICT, WITHOUT ROWID;

CREATE INDEX idx_parked_retry ON ing_parked (consumer_group, subscription, lane, next_retry_at);

-- Events that were given up, with everything that is needed to deliver them again.
CREATE TABLE ing_dead_letter (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    consumer_group TEXT    NOT NULL,
    subscription   TEXT    NOT NULL,
    event_id       TEXT    NOT NULL CHECK (length(event_id) = 36),
    aggregate_type TEXT    NOT NULL,
    aggregate_id   TEXT    NOT NULL,
    version        INTEGER NOT NULL,
    reason         TEXT    NOT NULL,
    attempts       INTEGER NOT NULL,
    envelope       BLOB    NOT NULL,
    dead_at        INTEGER NOT NULL,
    redriven_at    INTEGER,
    redriven_by    TEXT    NOT NULL DEFAULT '',
    UNIQUE (consumer_group, subscription, event_id)
) STRICT;

-- Projections as they were set up where their tables are. The tables themselves have the names of their files.
CREATE TABLE ing_projection (
    name       TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    spec       TEXT    NOT NULL CHECK (json_valid(spec)),
    spec_hash  TEXT    NOT NULL CHECK (length(spec_hash) = 64),
    applied_by TEXT    NOT NULL,
    applied_at INTEGER NOT NULL,
    rebuild    TEXT    NOT NULL DEFAULT '' -- how far a rebuild is, JSON; '': there is none
) STRICT, WITHOUT ROWID;
