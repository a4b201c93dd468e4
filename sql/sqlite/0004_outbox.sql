-- The outbox, the stream, and what consumers keep.

-- An event, written in the transaction of the change it describes, after the record's row is locked,
-- and never changed: who has read it is written elsewhere. It says only what neither its record nor
-- its batch does (src/engine/event/record_event.h).
CREATE TABLE ing_outbox (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    record_id      INTEGER, -- whose event it is; NULL: a foreign aggregate's
    version        INTEGER NOT NULL CHECK (version >= 1),
    batch_id       INTEGER, -- which knows run, task, slice and plan
    occurred_at    INTEGER NOT NULL,
    event_id       TEXT    NOT NULL CHECK (length(event_id) = 36), -- not indexed: nobody asks by it
    lane           INTEGER NOT NULL CHECK (lane BETWEEN 0 AND 63),
    schema_version INTEGER NOT NULL CHECK (schema_version >= 1),
    event_type     TEXT    NOT NULL CHECK (event_type <> ''),
    aggregate_type TEXT, -- of a foreign one
    aggregate_id   TEXT,
    body           BLOB    NOT NULL,
    CONSTRAINT ck_outbox_key CHECK
        (CASE WHEN record_id IS NULL THEN coalesce(aggregate_type, '') <> '' AND coalesce(aggregate_id, '') <> ''
              ELSE aggregate_type IS NULL AND aggregate_id IS NULL END)
) STRICT;

CREATE UNIQUE INDEX uk_outbox_version ON ing_outbox (record_id, version) WHERE record_id IS NOT NULL;
CREATE UNIQUE INDEX uk_outbox_foreign ON ing_outbox (aggregate_id, aggregate_type, version)
    WHERE record_id IS NULL;

-- ---- the stream: events in the order in which everybody reads them ----

-- How far the sequencer is (src/engine/publish/sequencer.h), and who it is. One row.
CREATE TABLE ing_stream_head (
    one          INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    lane_count   INTEGER NOT NULL CHECK (lane_count >= 1), -- keys hash to so many lanes, for ever
    cursor_id    INTEGER NOT NULL, -- the highest id of the outbox that was looked at
    horizon_id   INTEGER NOT NULL, -- up to it every id is in the stream, or will never be an event
    pruned_id    INTEGER NOT NULL DEFAULT 0, -- the highest id of the events that were removed; 0: none
    lease_owner  TEXT,
    leased_until INTEGER,
    lease_epoch  INTEGER NOT NULL,
    CONSTRAINT ck_head_horizon CHECK (horizon_id <= cursor_id),
    CONSTRAINT ck_head_pruned CHECK (pruned_id <= horizon_id),
    CONSTRAINT ck_head_lease CHECK ((lease_owner IS NULL) = (leased_until IS NULL))
) STRICT;

CREATE TABLE ing_stream_lane (
    lane     INTEGER NOT NULL PRIMARY KEY CHECK (lane >= 0),
    last_pos INTEGER NOT NULL CHECK (last_pos >= 0) -- the last one given out, without gaps
) STRICT;

-- A row for each event: the ids of one round in an array, as PostgreSQL has them, would need functions
-- that SQLite lacks.
CREATE TABLE ing_stream (
    lane         INTEGER NOT NULL,
    pos          INTEGER NOT NULL,
    outbox_id    INTEGER NOT NULL,
    sequenced_at INTEGER NOT NULL,
    PRIMARY KEY (lane, pos)
) STRICT, WITHOUT ROWID;

CREATE INDEX idx_stream_id ON ing_stream (outbox_id); -- where an event is, and what a new sequencer finds

INSERT INTO ing_stream_head (one, lane_count, cursor_id, horizon_id, lease_epoch) VALUES (1, 64, 0, 0, 0);
INSERT INTO ing_stream_lane (lane, last_pos)
    WITH RECURSIVE lanes (lane) AS (VALUES (0) UNION ALL SELECT lane + 1 FROM lanes WHERE lane < 63)
    SELECT lane, 0 FROM lanes;

-- ---- subscriptions: who reads the stream, and how far each one is ----

-- As it was applied. Each has offsets, leases and parked keys of its own.
CREATE TABLE ing_subscription (
    name         TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    kind_code    TEXT    NOT NULL CHECK (kind_code IN ('PROJECTION', 'RELAY', 'IMPORT')),
    spec         TEXT    NOT NULL CHECK (json_valid(spec)),
    spec_hash    TEXT    NOT NULL CHECK (length(spec_hash) = 64),
    policy_code  TEXT    NOT NULL CHECK (policy_code IN ('WAIT', 'SKIP_TO_LATEST', 'STOP')),
    state_code   TEXT    NOT NULL CHECK (state_code IN ('ACTIVE', 'PAUSED', 'STOPPED')),
    state_reason TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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

CREATE INDEX idx_dead_letter_key ON ing_dead_letter (aggregate_id, aggregate_type);
